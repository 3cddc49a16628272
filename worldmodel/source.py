"""A data set as the package reads it: its facts, and some of its orbits. Imports no torch."""

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from jaxtyping import Float

from orbits.files import sha256_of_json

if TYPE_CHECKING:
    import xarray as xr

Data: TypeAlias = "str | os.PathLike[str] | xr.Dataset"
"""A data set of `orbits`, or its path."""


@dataclasses.dataclass(frozen=True)
class DataFacts:
    """Facts of a data set that a run records."""

    path: str
    """Where it was."""
    fingerprint: str
    """Of its law, step, shape and first orbit: the same for the same data anywhere."""
    law: str
    """The law of force, as `orbits.forces.known_law` reads it."""
    system: str
    """`relative`, `barycentric`, `nbody` or `planets`."""
    dt: float
    """Time between two states, yr."""
    orbits: int
    """Number of orbits."""
    samples: int
    """States in each orbit."""
    bodies: int
    """Bodies in each state."""
    axes: int
    """Coordinates of each body."""


@dataclasses.dataclass(frozen=True)
class Trajectories:
    """Orbits in memory.

    position, velocity: (orbit, time, body, axis), au and au/yr. gm: (orbit,), au^3/yr^2. index:
    (orbit,) their numbers in the data set. body: (orbit,) which planet it is, for planets.
    """

    facts: DataFacts
    position: Float[np.ndarray, "orbit time body axis"]
    velocity: Float[np.ndarray, "orbit time body axis"]
    gm: Float[np.ndarray, " orbit"]
    index: np.ndarray
    body: np.ndarray | None = None


class DatasetSource:
    """A checked data set, to read orbits from.

    Args:
        data: its path, or the data set itself, as `orbits.dataset.open_dataset` gives it.

    Raises:
        ValueError: if it cannot be read, or states neither its law nor its step.
    """

    def __init__(self, data: "Data") -> None:
        from orbits.dataset import as_dataset

        self.dataset = as_dataset(data)
        where = (
            str(Path(data).resolve())
            if isinstance(data, (str, os.PathLike))
            else str(data.encoding.get("source", "data set in memory"))
        )
        attributes = self.dataset.attrs
        sizes = self.dataset.sizes
        first = self.dataset["position"].isel(orbit=0).values
        described: dict[str, Any] = {
            "law": str(attributes["law"]),
            "system": str(attributes["system"]),
            "dt": float(attributes["dt"]),
            "orbits": sizes["orbit"],
            "samples": sizes["time"],
            "bodies": sizes.get("body", 1),
            "axes": sizes["axis"],
        }
        fingerprint = sha256_of_json({**described, "first": first.astype("float32")})
        self.facts = DataFacts(path=where, fingerprint=fingerprint, **described)

    def masses(self, index: np.ndarray) -> Float[np.ndarray, "orbit body"]:
        """Masses of the bodies in some of the orbits, M_sun; NaN if unknown."""
        return np.asarray(self.dataset["mass"].isel(orbit=index).values, dtype=np.float64)

    def read(self, index: Iterable[int]) -> Trajectories:
        """Some orbits, by their numbers; ValueError if a state is not finite (says which orbit)."""
        numbers = np.fromiter(index, dtype=np.int64)
        contiguous = len(numbers) and np.all(np.diff(numbers) == 1)
        chosen = slice(numbers[0], numbers[-1] + 1) if contiguous else numbers
        part = self.dataset.isel(orbit=chosen)
        position, velocity = part["position"].values, part["velocity"].values
        finite = np.isfinite(position) & np.isfinite(velocity)
        bad = ~finite.all(axis=tuple(range(1, position.ndim)))
        if bad.any():
            raise ValueError(
                f"{self.facts.path}: orbit {numbers[np.argmax(bad)]} holds positions or "
                "velocities that are not finite numbers; `orbits validate` lists what is "
                "missing, `orbits generate` with the same options completes it."
            )
        if position.ndim == 3:
            position, velocity = position[:, :, None], velocity[:, :, None]
        gm = np.asarray(part["gm"].values, dtype=np.float64)
        body = part["body"].values if self.facts.system == "planets" else None
        return Trajectories(self.facts, position, velocity, gm, numbers, body)


def spread(first: int, stop: int, most: int) -> np.ndarray:
    """At most so many of first, ..., stop − 1, evenly spread."""
    return np.linspace(first, stop - 1, min(most, stop - first)).round().astype(int)


def require_long_enough(facts: DataFacts, context_length: int) -> None:
    """Raise ValueError if orbits are too short for one context."""
    if facts.samples < context_length + 1:
        raise ValueError(
            f"{facts.path} has {facts.samples} states in each orbit, but context_length "
            f"{context_length} needs {context_length + 1}; give a shorter context or generate "
            f"with --samples {context_length + 1} or more."
        )
