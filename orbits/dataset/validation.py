"""Checking a dataset against the written format and against physics."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from orbits import dataset
from orbits.dataset.consistency import physical_problems
from orbits.dataset.schema import array_problems, attribute_problem, require_format, variables
from orbits.forces import known_law
from orbits.memory import out_of_resources
from orbits.options import checked


@checked
def validate(data: dataset.Data) -> list[str]:
    """Everything wrong with a dataset; empty if nothing is.

    Checks schema and units, missing shards and the checksum of every chunk, sample times, finite
    values, velocities against positions, the drift of energy and angular momentum, and whether the
    dataset opens as it does for every other command.

    Args:
        data: the path of a dataset; or a dataset, whose files are not checked.

    Raises:
        ValueError: if there is no dataset of orbits at all.
    """
    if isinstance(data, xr.Dataset):
        require_format(data.attrs, "the dataset")
        problem = attribute_problem(data.attrs)
        return [problem] if problem else _problems(data)
    path = dataset.folder_of(data)
    attributes = dataset.read_attributes(path)
    problem = attribute_problem(attributes)
    if problem:
        return [problem]
    manifest = dataset.Manifest.read(path)
    if manifest is None:
        return ["it is unfinished, or its metadata were changed; run the command that made it"]
    try:
        damaged = dataset.unfinished_shards(path, attributes, manifest, read=True)
        missing = dataset.unfinished_shards(path, attributes, manifest)
        problems = _problems(dataset.open_arrays(path), missing)
    except Exception as error:  # damaged metadata make zarr raise anything
        if out_of_resources(error):
            raise
        return [f"the arrays cannot be read ({str(error) or type(error).__name__:.200})"]
    if damaged:
        which = ", ".join(map(str, damaged[:20])) + "..." * (len(damaged) > 20)
        problems.append(f"{len(damaged)} shard(s) missing, damaged or of another dataset: {which}")
    elif not manifest.complete:
        problems.append("it is not complete; run the command that made it again")
    if problems:
        return problems
    try:
        dataset.open_dataset(path)
    except ValueError as error:
        return [str(error).removesuffix(".")]
    return []


def _problems(data: xr.Dataset, missing: Sequence[int] = ()) -> list[str]:
    """What is wrong with the arrays and, if their form is right, with their numbers.

    Numbers are checked shard by shard, as far as they can be read; each kind of problem is reported
    once. What is there in place of a missing shard, perhaps a pipe, is not read.
    """
    problems = array_problems(data)
    if problems:
        return problems
    law, per_shard = known_law(data.attrs["law"]), data.attrs["shard_orbits"]
    orbits_by_problem: dict[str, list[int]] = {}
    for shard in sorted(set(range(data.attrs["shards"])) - set(missing)):
        first = shard * per_shard
        some = data.isel(orbit=slice(first, first + per_shard))
        try:
            values = {name: some[name].values for name in variables(data.attrs["system"])}
        except (ValueError, OSError):  # zarr's own checksum
            continue
        for what, bad in physical_problems(law, data.attrs, values):
            orbits_by_problem.setdefault(what, []).extend(first + np.flatnonzero(bad))
    return [
        f"{what} in {len(rows)} orbit(s), the first: {', '.join(map(str, rows[:5]))}"
        for what, rows in orbits_by_problem.items()
        if rows
    ]
