"""A dataset's attributes: what they must be for anything to read it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orbits.forces import known_law
from orbits.records.files import sha256_of_json
from orbits.records.typed import of_json
from orbits.units import UNITS

FORMAT = "principia-orbits"
FORMAT_VERSION = 1
SYSTEMS = ("relative", "barycentric", "nbody", "planets")
DTYPES = ("float32", "float64")

MOST_SHARDS = 1_000_000
"""Shards of a dataset: a billion orbits."""

FINGERPRINT = "document_sha256"
"""Attribute of a complete dataset: the fingerprint of `zarr.json` without it."""


@dataclass(frozen=True)
class Attributes:
    """The attributes that every dataset has, with their types."""

    format: str
    format_version: int
    system: str
    law: str
    dt: float
    dtype: str
    units: dict[str, str]
    configuration: dict[str, Any]
    configuration_sha256: str
    versions: dict[str, str]
    shards: int
    shard_orbits: int
    complete: bool
    git_commit: str | None = None
    sampling: str | None = None
    frame: str | None = None
    centre: str | None = None
    gm_is: str | None = None


def require_format(attributes: Any, name: str) -> None:
    """Refuse attributes that are of no dataset of orbits.

    Args:
        attributes: of the dataset.
        name: of the dataset, for the message.

    Raises:
        ValueError: says what they are instead.
    """
    attributes = attributes if isinstance(attributes, Mapping) else {}
    if attributes.get("format") != FORMAT:
        raise ValueError(
            f"{name} has the format {attributes.get('format')!r:.40}, not {FORMAT!r}; "
            "`orbits generate` makes such a dataset."
        )
    if attributes.get("format_version") != FORMAT_VERSION:
        raise ValueError(
            f"{name} has the format version {attributes.get('format_version')!r:.40}; this program "
            f"reads version {FORMAT_VERSION}."
        )
    if attributes.get("system") not in SYSTEMS:
        raise ValueError(f"{name} has an unknown system, {attributes.get('system')!r:.40}.")


def attribute_problems(attributes: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the attributes of a dataset of the right format."""
    needed = ("law", "dt", "dtype", "units", "configuration", "configuration_sha256", "versions",
              "shards", "shard_orbits", "complete")  # fmt: skip
    problems = [f"the attribute {name} is missing" for name in needed if name not in attributes]
    if problems:
        return problems
    try:
        typed = of_json(Attributes, dict(attributes), "the attributes")
    except ValueError as error:
        return [str(error).removesuffix(".")]
    if typed.units != UNITS:
        problems.append(f"the units are {typed.units!r:.80}, not {UNITS}")
    if not (math.isfinite(typed.dt) and typed.dt > 0):
        problems.append(f"dt is {typed.dt!r}; it must be a number of years above 0")
    if typed.dtype not in DTYPES:
        problems.append(f"dtype is {typed.dtype!r:.40}; it must be one of {', '.join(DTYPES)}")
    if not 1 <= typed.shards <= MOST_SHARDS:
        problems.append(f"shards is {typed.shards}; it must be 1 to {MOST_SHARDS}")
    if typed.shard_orbits < 1:
        problems.append(f"shard_orbits is {typed.shard_orbits}; it must be at least 1")
    if typed.configuration_sha256 != sha256_of_json(typed.configuration):
        problems.append("the configuration is not the one that was fingerprinted")
    problems += _optional_problems(attributes)
    try:
        known_law(typed.law)
    except ValueError as error:
        problems.append(str(error).removesuffix("."))
    return problems


def _optional_problems(attributes: Mapping[str, Any]) -> list[str]:
    """What is wrong with the attributes that not every dataset has."""
    problems = []
    measured = attributes.get("integration", {})
    if not isinstance(measured, dict) or any(
        not isinstance(value, (str, int, float)) for value in measured.values()
    ):
        problems.append(f"integration is {measured!r:.40}; it must hold numbers and names")
    bodies = attributes.get("bodies", ["sun"])
    if not isinstance(bodies, (list, tuple)) or not all(isinstance(b, str) for b in bodies):
        problems.append(f"bodies is {bodies!r:.40}; it must be a list of names")
    if attributes["system"] == "planets" and "bodies" not in attributes:
        problems.append("the attribute bodies is missing")
    return problems
