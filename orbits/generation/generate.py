"""Generating a dataset: shards made in parallel, resuming from those already finished."""

import itertools
import os
import shutil
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import xarray as xr

from orbits import dataset
from orbits.cluster import cluster_pool, require_cluster
from orbits.config import GenerateConfig
from orbits.dataset.schema import Layout
from orbits.generation.recipe import Recipe, resolve
from orbits.generation.shard import CHECKED_SHARE, Arrays, Quality, make_shard
from orbits.memory import gigabytes, require_memory
from orbits.options import keywords_of, options_from
from orbits.printing import is_terminal
from orbits.progress import Wanted, bar
from orbits.provenance import provenance
from orbits.workers import lost_worker, worker_count, worker_pool

Call = tuple[Recipe, Layout, Path | None, int]
Finished = tuple[int, Arrays, Quality]
"""A shard: its number, arrays and quality."""

DISK_MARGIN = 1.05
"""Free space over the estimated size, for metadata."""


@keywords_of(GenerateConfig)
def generate(
    out: str | os.PathLike[str] | None = None,
    config: GenerateConfig | None = None,
    *,
    progress: Wanted = None,
    **options: Any,
) -> xr.Dataset:
    """Orbits under a law of force.

        orbits.generate(law="newton", orbits=1000, seed=0)            # in memory
        orbits.generate("train.zarr", law="newton", orbits=1_000_000)  # written, then opened

    Both give the same numbers. A dataset begun at `out` with the same configuration is continued.

    Args:
        out: folder to write to; without it, everything stays in memory.
        config: what to generate.
        progress: False for no bar; by default a terminal and a notebook show one.
        **options: fields of `GenerateConfig` that differ from `config`.

    Returns:
        The dataset, as `orbits.dataset` describes it; the attribute `integration` holds the
        measured errors and drifts.

    Raises:
        ValueError: for an unknown option or an impossible configuration; if `out` holds something
            else, another process writes there, or the disk is too small. Then nothing has been
            written.
    """
    recipe = resolve(options_from(GenerateConfig, config, options))
    if out is not None:
        write(out, recipe, progress=progress)
        return dataset.open_dataset(out)
    layout, workers = layout_of(recipe), recipe.config.workers
    _require_memory(layout, recipe.config.orbits)
    if layout.shards == 1:
        workers = 1  # one shard is one process's work
    workers = workers or _workers_worth(recipe.config.orbits / _trial(recipe))
    workers = min(workers, layout.shards)
    shards = _made(recipe, layout, None, range(layout.shards), workers, progress)
    _, arrays, qualities = zip(*sorted(shards, key=lambda each: each[0]), strict=True)
    return dataset.in_memory(layout, arrays, {"integration": summarise(list(qualities), recipe)})


def write(
    path: str | os.PathLike[str],
    recipe: Recipe,
    announce: Callable[[str], object] | None = None,
    progress: Wanted = None,
) -> int:
    """Write a dataset, or finish one that was begun with the same configuration.

    `announce` is called with one line on the work ahead, before it starts. Returns the number of
    shards made now.
    """
    folder, layout = dataset.folder_of(path), layout_of(recipe)
    begun, needed = dataset.begun(folder, recipe.identity), layout.size_in_bytes
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(existing).free
    if not begun and free < DISK_MARGIN * needed:
        raise ValueError(
            f"the dataset needs {gigabytes(needed)} and {folder} has {gigabytes(free)} "
            "free; take fewer orbits or samples, or another disk."
        )
    _require_memory(layout, layout.shard_orbits)
    require_cluster(recipe.config.scheduler)
    speed = _trial(recipe)
    with dataset.alone(folder):
        manifest = dataset.begin(folder, layout)
        pending = [shard for shard in range(layout.shards) if shard not in manifest.shards]
        seconds = layout.sizes["orbit"] * len(pending) / layout.shards / speed
        workers = recipe.config.workers or _workers_worth(seconds)
        workers = min(workers, max(1, len(pending)))
        if announce:
            config = recipe.config
            announce(
                f"{folder}: {config.orbits} orbits of {config.samples} states under "
                f"{recipe.law.spec}, {layout.size_in_bytes / 1e6:.3g} MB in {layout.shards} shards "
                f"({layout.shards - len(pending)} there already); simulator {config.simulator}, "
                f"{config.scheduler or f'{workers} worker(s)'}, about {seconds / workers:.0f} s"
            )
        began = reported = written = time.monotonic()
        try:
            with closing(_made(recipe, layout, folder, pending, workers, progress)) as results:
                for shard, _, quality in results:
                    manifest.shards[shard] = quality
                    if time.monotonic() - written > 0.2:  # a killed process loses no more
                        manifest.write(folder)
                        written = time.monotonic()
                    # on a terminal a bar says it; elsewhere a line twice a minute
                    waited = time.monotonic() - reported > 30  # s
                    if announce and waited and not is_terminal(sys.stderr):
                        reported = time.monotonic()
                        announce(
                            f"{len(manifest.shards)} of {layout.shards} shards, "
                            f"{reported - began:.0f} s"
                        )
        finally:
            if pending:
                manifest.write(folder)
        if not manifest.complete:
            qualities = [quality for _, quality in sorted(manifest.shards.items())]
            dataset.finish(folder, manifest, {"integration": summarise(qualities, recipe)})
    return len(pending)


def layout_of(recipe: Recipe) -> Layout:
    """What the dataset will hold, and its provenance."""
    config = recipe.config
    described: dict[str, Any] = {
        "law": recipe.law.spec,
        "sampling": "bound" if recipe.bound else "arcs",
        **provenance(recipe.identity),
    }
    return Layout(
        recipe.config.system, recipe.sizes, config.dt, described, config.dtype, config.shard_orbits
    )


def summarise(qualities: list[Quality], recipe: Recipe) -> dict[str, Any]:
    """The worst error and drifts of all shards."""
    names = sorted(set(qualities[0]) - {"checked", "crc32"})
    return {
        "simulator": recipe.config.simulator,
        "check_simulator": recipe.check_simulator,
        "orbits_checked": sum(quality["checked"] for quality in qualities),
        **{f"max_{name}": max(quality[name] for quality in qualities) for name in names},
    }


def _require_memory(layout: Layout, orbits: int) -> None:
    size = min(1.0, orbits / layout.sizes["orbit"]) * layout.size_in_bytes
    require_memory(
        4 * size,  # of the result: it is made in float64, and has derivatives
        f"{min(orbits, layout.sizes['orbit'])} orbits at a time",
        "take fewer samples, smaller shards (--shard-orbits), or write to disk",
    )


def _trial(recipe: Recipe) -> float:
    """Orbits per second on one core, from a few; compilation is not counted."""

    def seconds(count: int, check: bool) -> float:
        began = time.perf_counter()
        make_shard(recipe, count, 0, check)
        return time.perf_counter() - began

    seconds(1, check=False)
    count = 8
    making = seconds(count, check=False)
    checking = max(0.0, seconds(count, check=True) - making)
    return 1 / (making / count + CHECKED_SHARE * checking)


def _workers_worth(seconds: float) -> int:
    """One process per core, or only this one where starting others would take longer."""
    return 1 if seconds < 3 else worker_count()  # 3 s, as others take to start


def _made(
    recipe: Recipe, layout: Layout, folder: Path | None, shards: Sequence[int], workers: int,
    progress: Wanted,
) -> Generator[Finished]:  # fmt: skip
    """Every shard as it finishes: its number, arrays and quality; with a bar."""
    total = layout.sizes["orbit"]
    done = min(total, (layout.shards - len(shards)) * layout.shard_orbits)
    calls: list[Call] = [(recipe, layout, folder, shard) for shard in shards]
    results: Iterator[Finished] = (_make(*call) for call in calls)
    if workers > 1 or recipe.config.scheduler:
        results = _side_by_side(calls, workers, recipe.config.scheduler)
    with bar(progress, desc="generate", total=total, initial=done, unit="orbit") as shown:
        for shard, arrays, quality in results:
            yield shard, arrays, quality
            rows = layout.orbits_of(shard)
            shown.update(rows.stop - rows.start)


def _side_by_side(calls: Sequence[Call], workers: int, scheduler: str) -> Iterator[Finished]:
    """Every shard as it finishes, made by processes of this machine or of a dask cluster."""
    modules = [__name__, "orbits.simulators.scipy_ivp", "heyoka"]
    ahead = iter(calls)
    try:
        with ExitStack() as stack:
            pool: Executor
            if scheduler:
                pool, workers = stack.enter_context(cluster_pool(scheduler))
            else:
                pool = stack.enter_context(worker_pool(workers, modules))
            # no more than two shards a worker wait: what is made in memory comes back whole
            pending = {pool.submit(_make, *call) for call in itertools.islice(ahead, 2 * workers)}
            while pending:
                ended, pending = wait(pending, return_when=FIRST_COMPLETED)
                pending |= {pool.submit(_make, *c) for c in itertools.islice(ahead, len(ended))}
                for future in ended:
                    yield future.result()
    except BrokenProcessPool:
        raise lost_worker("making orbits") from None


def _make(recipe: Recipe, layout: Layout, folder: Path | None, shard: int) -> Finished:
    """A shard, whose arrays are written into the folder or, without one, given back."""
    rows = layout.orbits_of(shard)
    arrays, quality = make_shard(recipe, rows.stop - rows.start, shard)
    if folder is None:
        return shard, arrays, quality
    return shard, {}, quality | dataset.write_shard(folder, shard, arrays)
