"""Generating a dataset: shards made in parallel, vouched for one by one, resumed from markers."""

import math
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from tqdm import tqdm

from orbits import dataset
from orbits.command.cluster import connect
from orbits.config import GenerateConfig
from orbits.ephemeris import PLANETS
from orbits.records.files import sha256_of_json
from orbits.records.places import Place
from orbits.records.provenance import provenance
from orbits.systems import CHECKED_SHARE, Recipe, make_shard, resolve

TRIAL_ORBITS = 8
"""Orbits made before anything is written: their speed gives the estimate of time."""

STARTING_WORKERS = 3.0
"""Seconds of work on one core below which no further process is started."""

DISK_MARGIN = 1.05
"""Free space wanted over the estimated size: metadata and markers."""


def generate(path: str | os.PathLike[str], config: GenerateConfig) -> dict[str, Any]:
    """Make a dataset, or finish one that was begun with the same configuration.

    Args:
        path: a local folder or an fsspec address.
        config: what to make.

    Returns:
        `orbits`, `shards`, `made` (shards made now), `bytes`, `seconds` and `integration`, the
        measured errors and drifts.

    Raises:
        ValueError: if the configuration is impossible, the path holds something else, another
            process writes there, or the disk is too small; nothing has been written then.
    """
    began = time.monotonic()
    recipe = resolve(config)
    config, identity = recipe.config, recipe.identity
    per_shard = config.shard_orbits
    shards = math.ceil(config.orbits / per_shard)
    fingerprint = sha256_of_json(identity)
    place = Place(path)
    dataset.begun(place, identity)
    bytes_needed = estimate_bytes(recipe)
    _require_space(place, bytes_needed)
    speed = _trial(recipe)
    with place.alone():
        if not (dataset.begun(place, identity) and dataset.is_laid_out(place)):
            description = {
                "law": recipe.law.spec,
                "sampling": "bound" if recipe.bound else "arcs",
                **provenance(identity),
            }
            if config.system == "solar":
                description["bodies"] = ["sun", *PLANETS]
            dataset.create(
                place, recipe.system, recipe.sizes, config.dt, description, config.dtype, per_shard
            )
        markers = {
            shard: dataset.read_marker(place, shard, fingerprint, checksums=True)
            for shard in range(shards)
        }
        pending = [shard for shard, marker in markers.items() if marker is None]
        for shard in pending:
            place.remove(dataset.marker_name(shard))
        place.remove_partial_files()
        seconds = config.orbits * len(pending) / shards / speed
        workers = min(config.workers or _workers_worth(seconds), max(1, len(pending)))
        print(
            f"{place}: {config.orbits} orbits of {config.samples} states under {recipe.law.spec}, "
            f"{bytes_needed / 1e6:.3g} MB in {shards} shards ({shards - len(pending)} there "
            f"already); engine {config.engine}, {config.scheduler or f'{workers} worker(s)'}, "
            f"about {seconds / workers:.0f} s",
            file=sys.stderr,
        )
        jobs = [(place.address, recipe, shard, per_shard, fingerprint) for shard in pending]
        with tqdm(
            total=config.orbits,
            initial=sum(marker["orbits"] for marker in markers.values() if marker),
            unit="orbit",
            disable=None,
            file=sys.stderr,
        ) as bar:
            for marker in _work(jobs, workers, config.scheduler):
                markers[marker["shard"]] = marker
                bar.update(marker["orbits"])
        integration = summarise(
            [marker for _, marker in sorted(markers.items()) if marker is not None],
            recipe.config.engine,
            recipe.check_engine,
        )
        if pending or not dataset.read_attributes(place)["complete"]:
            dataset.finish(place, {"integration": integration})
    return {
        "orbits": config.orbits,
        "shards": shards,
        "made": len(pending),
        "bytes": bytes_needed,
        "seconds": time.monotonic() - began,
        "integration": integration,
    }


def estimate_bytes(recipe: Recipe) -> int:
    """Size of the dataset's arrays."""
    total = 0
    for variable in dataset.variables(recipe.system).values():
        item = np.dtype(variable.dtype or recipe.config.dtype).itemsize
        total += item * math.prod(recipe.sizes[dim] for dim in variable.dims)
    return total


def summarise(markers: list[dict[str, Any]], engine: str, check_engine: str) -> dict[str, Any]:
    """The worst error and drifts of all shards."""
    found = [marker["quality"] for marker in markers]
    summary: dict[str, Any] = {
        "engine": engine,
        "check_engine": check_engine,
        "orbits_checked": sum(quality["checked"] for quality in found),
    }
    for name in found[0]:
        if name != "checked":
            summary[f"max_{name}"] = max(quality[name] for quality in found)
    return summary


def _require_space(place: Place, bytes_needed: int) -> None:
    free = place.free_bytes()
    held = place.size("zarr.json") is not None
    if free is not None and not held and free < DISK_MARGIN * bytes_needed:
        raise ValueError(
            f"the dataset needs {bytes_needed / 1e9:.3g} GB and {place} has {free / 1e9:.3g} GB "
            "free; take fewer orbits or samples, or another disk."
        )


def _trial(recipe: Recipe) -> float:
    """Orbits per second on one core, from a few orbits; compilation is not counted."""

    def seconds(count: int, check: bool) -> float:
        began = time.perf_counter()
        make_shard(recipe, count, 0, check)
        return time.perf_counter() - began

    seconds(1, check=False)
    making = seconds(TRIAL_ORBITS, check=False)
    checking = max(0.0, seconds(TRIAL_ORBITS, check=True) - making)
    return 1 / (making / TRIAL_ORBITS + CHECKED_SHARE * checking)


def _workers_worth(seconds: float) -> int:
    """One process per core, or this one alone where starting others would take longer."""
    return 1 if seconds < STARTING_WORKERS else os.cpu_count() or 1


def _work(
    jobs: list[tuple[str, Recipe, int, int, str]], workers: int, scheduler: str
) -> Iterator[dict[str, Any]]:
    """Markers of the shards as they are finished."""
    if scheduler:
        yield from _work_on_cluster(jobs, scheduler)
    elif workers == 1:
        yield from (_make_and_write(*job) for job in jobs)
    else:
        import joblib

        parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
        yield from parallel(joblib.delayed(_make_and_write)(*job) for job in jobs)


def _work_on_cluster(
    jobs: list[tuple[str, Recipe, int, int, str]], scheduler: str
) -> Iterator[dict[str, Any]]:
    """The same on a dask cluster, whose workers must reach the dataset's address."""
    client = connect(scheduler)
    from distributed import as_completed

    with client:
        futures = [client.submit(_make_and_write, *job, pure=False) for job in jobs]
        for future in as_completed(futures):
            yield future.result()


def _make_and_write(
    address: str, recipe: Recipe, shard: int, per_shard: int, fingerprint: str
) -> dict[str, Any]:
    config = recipe.config
    count = min(per_shard, config.orbits - shard * per_shard)
    arrays, quality = make_shard(recipe, count, shard)
    marker = {"seed": config.seed, "configuration_sha256": fingerprint, "quality": quality}
    return dataset.write_shard(Place(address), shard, arrays, marker)


def run(path: str, config: GenerateConfig) -> None:
    """The command `orbits generate`."""
    summary = generate(path, config)
    integration = summary["integration"]
    lines = [f"{path}: {summary['orbits']} orbits in {summary['shards']} shards, complete."]
    lines += [f"  {name:30s} {_shown(value)}" for name, value in integration.items()]
    print("\n".join(lines))


def _shown(value: Any) -> str:
    return f"{value:.2e}" if isinstance(value, float) else str(value)
