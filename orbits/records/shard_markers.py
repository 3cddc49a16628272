"""Markers: each vouches for the files of one shard of a dataset."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orbits.records.places import Place
from orbits.records.typed import of_json


@dataclass(frozen=True)
class ShardFile:
    """A file as it was written."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class ShardMarker:
    """What `.markers/shard-00000.json` says: a shard's files, and how well it was integrated."""

    shard: int
    orbits: int
    configuration_sha256: str
    files: dict[str, ShardFile]
    quality: dict[str, Any] = field(default_factory=dict)
    """Measured errors and drifts; none of an ephemeris."""
    seed: int | None = None
    """Root of all randomness; none of an ephemeris."""


def marker_name(shard: int) -> str:
    """Where a shard's marker lies."""
    return f".markers/shard-{shard:05d}.json"


def shard_file(name: str, dimensions: int, shard: int) -> str:
    """Where a shard of an array lies."""
    return "/".join([name, "c", str(shard), *("0" * (dimensions - 1))])


def read_marker(
    place: Place,
    shard: int,
    configuration_sha256: str,
    dimensions: Mapping[str, int],
    checksums: bool = False,
) -> ShardMarker | None:
    """A shard's marker if it vouches for all files of the shard and they are there, else None.

    Args:
        place: the dataset.
        shard: its number.
        configuration_sha256: of the configuration that the shard must belong to.
        dimensions: number of dimensions of every array by orbit.
        checksums: read the files and compare; otherwise only their sizes are.
    """
    try:
        marker = of_json(ShardMarker, place.read_json(marker_name(shard)), marker_name(shard))
    except ValueError:
        return None
    expected = {shard_file(name, count, shard) for name, count in dimensions.items()}
    if not all(isinstance(value, (int, float)) for value in marker.quality.values()):
        return None
    own = (marker.shard, marker.configuration_sha256, set(marker.files))
    if own != (shard, configuration_sha256, expected):
        return None
    for name, file in marker.files.items():
        if place.size(name) != file.bytes:
            return None
        if checksums and place.sha256(name) != file.sha256:
            return None
    return marker


def checksums_of(markers: Iterable[ShardMarker]) -> dict[str, str]:
    """The checksum of every file that markers vouch for."""
    return {name: file.sha256 for marker in markers for name, file in marker.files.items()}
