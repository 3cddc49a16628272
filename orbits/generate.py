"""Generating a dataset: shards made in parallel, vouched for one by one, resumed from markers."""

import math
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from tqdm import tqdm

from orbits import dataset
from orbits.config import GenerateConfig
from orbits.files import sha256_of_json
from orbits.provenance import provenance
from orbits.storage import Place
from orbits.systems import Recipe, make_shard, resolve

TRIAL_ORBITS = 8
"""Orbits made before anything is written: their speed gives the estimate of time."""

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
    per_shard = dataset.shard_orbits(config.orbits, config.shard_orbits)
    shards = math.ceil(config.orbits / per_shard)
    identity = _identity(recipe, per_shard)
    fingerprint = sha256_of_json(identity)
    place = Place(path)
    begun = _begun(place, fingerprint, identity)
    bytes_needed = estimate_bytes(config)
    _require_space(place, bytes_needed)
    speed = _trial(recipe)
    with place.alone():
        if not begun:
            description = {
                "law": recipe.law.spec,
                "sampling": "bound" if recipe.bound else "arcs",
                **provenance(identity),
            }
            sizes = {"orbit": config.orbits, "time": config.samples, "axis": config.dimensions}
            dataset.create(
                place, "relative", sizes, config.dt, description, config.dtype, per_shard
            )
        markers = {
            shard: dataset.read_marker(place, shard, fingerprint, checksums=True)
            for shard in range(shards)
        }
        pending = [shard for shard, marker in markers.items() if marker is None]
        workers = min(config.workers or os.cpu_count() or 1, max(1, len(pending)))
        _announce(place, config, recipe, bytes_needed, speed, len(pending), shards, workers)
        jobs = [(place.address, recipe, shard, per_shard, fingerprint) for shard in pending]
        with tqdm(
            total=config.orbits,
            initial=sum(marker["orbits"] for marker in markers.values() if marker),
            unit="orbit",
            disable=None,
            file=sys.stderr,
        ) as bar:
            for marker in _work(jobs, workers):
                markers[marker["shard"]] = marker
                bar.update(marker["orbits"])
        integration = summarise(
            [marker for _, marker in sorted(markers.items()) if marker is not None],
            recipe.engine,
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


def estimate_bytes(config: GenerateConfig) -> int:
    """Size of the dataset's arrays."""
    states = 2 * config.samples * config.dimensions * (4 if config.dtype == "float32" else 8)
    return config.orbits * (states + 3 * 8)


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


def _identity(recipe: Recipe, per_shard: int) -> dict[str, Any]:
    """Whatever decides the bits: the resolved configuration without the number of workers."""
    resolved = replace(
        recipe.config,
        law=recipe.law.spec,
        semi_major_axis=recipe.ranges.semi_major_axis,
        eccentricity=recipe.ranges.eccentricity,
        engine=recipe.engine,
        shard_orbits=per_shard,
    )
    identity = asdict(resolved)
    del identity["workers"]
    return identity


def _begun(place: Place, fingerprint: str, identity: dict[str, Any]) -> bool:
    """Whether the place holds the beginning of this very dataset.

    Raises:
        ValueError: if it holds anything else.
    """
    if place.is_empty():
        return False
    advice = "choose another path, or remove it"
    if place.read_json("zarr.json") is None:
        raise ValueError(f"{place} exists and is not a dataset; {advice}.")
    attributes = dataset.read_attributes(place)
    if attributes["configuration_sha256"] == fingerprint:
        return True
    theirs = attributes.get("configuration", {})
    differing = [
        f"{key} {theirs.get(key)} there, {_plain(value)} here"
        for key, value in identity.items()
        if theirs.get(key) != _plain(value)
    ]
    raise ValueError(
        f"{place} holds another dataset ({'; '.join(differing) or 'of another kind'}); {advice}."
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


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
    make_shard(recipe, 1, 0)
    began = time.perf_counter()
    make_shard(recipe, TRIAL_ORBITS, 0)
    return TRIAL_ORBITS / (time.perf_counter() - began)


def _announce(
    place: Place,
    config: GenerateConfig,
    recipe: Recipe,
    bytes_needed: int,
    speed: float,
    pending: int,
    shards: int,
    workers: int,
) -> None:
    share = pending / shards
    seconds = config.orbits * share / speed / workers
    print(
        f"{place}: {config.orbits} orbits of {config.samples} states under {recipe.law.spec}, "
        f"{bytes_needed / 1e6:.3g} MB in {shards} shards ({shards - pending} there already); "
        f"engine {recipe.engine}, {workers} worker(s), about {seconds:.0f} s",
        file=sys.stderr,
    )


def _work(jobs: list[tuple[str, Recipe, int, int, str]], workers: int) -> Iterator[dict[str, Any]]:
    """Markers of the shards as they are finished."""
    if workers == 1:
        yield from (_make_and_write(*job) for job in jobs)
        return
    import joblib

    parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    yield from parallel(joblib.delayed(_make_and_write)(*job) for job in jobs)


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
