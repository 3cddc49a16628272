"""Force samples: the table that a probe writes and symbolic regression reads.

One Parquet file, one row per (orbit, time). The schema is the contract between `worldmodel` and
`symreg`: `ForceSamples` checks it whenever it is made, written or read.

Columns (float64 unless said): `orbit` (int64; rows of one orbit are one statistical unit), `time`
(yr), `r` (au), `x`, `y`[, `z`] (au), `a_x`, `a_y`[, `a_z`] (au/yr^2, as the probe gives them),
`a_norm` (au/yr^2). Optional: `true_a_x`, `true_a_y`[, `true_a_z`] (the law's own value), `gm`
(au^3/yr^2), `mass`, `m1`, `m2` (M_sun), `steps_since_kick` (int64), `body` (int64), and
`sigma_a_x`, `sigma_a_y`[, `sigma_a_z`] (au/yr^2, standard errors of the accelerations), `v_x`,
`v_y`[, `v_z`] (au/yr, the velocity of what is accelerated).

With two visible bodies a row holds the acceleration of the first, and `x`, `y` are its position
relative to the second, `v_x`, `v_y` its own velocity; `m1` and `m2` are the masses, and `x1`, `y1`,
`ax1`, `ay1`, `x2`, ... the position (au) and acceleration (au/yr^2) of each body about the
barycentre.
"""

import html
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from orbits.files import json_of, of_json, parsing, require_input, written_aside
from orbits.plot import plot_forces
from orbits.tables import LARGEST, as_frame, numbers_of
from orbits.units import GM_SUN, UNITS, G

FORMAT = "orbitlaw-force-samples"
FORMAT_VERSION = 1
REQUIRED = ("orbit", "time", "r", "x", "y", "a_x", "a_y", "a_norm")


@dataclass(frozen=True)
class SampleAttributes:
    """The attributes in use, with their types; others may be any JSON."""

    law: str | None = None
    readout: str | None = None
    states: str | None = None
    dt: float | None = None
    metrics: dict[str, Any] | None = None


@dataclass(frozen=True)
class ForceSamples:
    """Force samples and their attributes: what a probe gives and a recovery takes.

    Attributes:
        table: one row per (orbit, time), columns as in the module's docstring.
        attributes: `readout`, `states`, `model`, `law`, `dt`, `metrics`, ... as in the file.
        name: where the table comes from, for messages.
    """

    table: pd.DataFrame
    attributes: dict[str, Any] = field(default_factory=dict)
    name: str = field(default="the table", compare=False)

    def __post_init__(self) -> None:
        """Check the schema.

        Raises:
            ValueError: if the table breaks it (says how).
        """
        object.__setattr__(self, "table", _checked(as_frame(self.table), self.name))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "ForceSamples":
        """The force samples of a Parquet file, with their attributes.

        Raises:
            ValueError: if the file is missing, is not Parquet, or breaks the schema (says how).
        """
        path = require_input(path)
        with parsing(path, "Parquet file"), path.open("rb") as file:
            arrow = pq.read_table(file, page_checksum_verification=True)
            table = arrow.to_pandas()
        attributes = _attributes(path, (arrow.schema.metadata or {}).get(b"orbitlaw"))
        return cls(table, attributes, str(path))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file, whole or not at all.

        Raises:
            ValueError: if an attribute is missing: `readout` (its name), `states` (`orbit`,
                `kicked`, `planets`), `model` (its identity), `law` (that generated the data, or
                None) and `dt` (yr) are needed; any JSON is allowed.
        """
        required = ("readout", "states", "model", "law", "dt")
        missing = [name for name in required if name not in self.attributes]
        if missing:
            raise ValueError(f"force samples lack the attributes {', '.join(missing)}.")
        header = {"format": FORMAT, "format_version": FORMAT_VERSION, "units": UNITS}
        content = {b"orbitlaw": json.dumps({**header, **self.attributes}).encode()}
        arrow = pa.Table.from_pandas(self.table, preserve_index=False)
        with written_aside(path) as aside:
            pq.write_table(arrow.replace_schema_metadata(content), aside, write_page_checksum=True)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def metrics(self) -> dict[str, Any]:
        """Quality of the accelerations, as measured by the probe."""
        return self.attributes.get("metrics") or {}

    @property
    def law(self) -> str | None:
        """The law that generated the data, if known."""
        return self.attributes.get("law")

    def plot(self, axes: Any = None) -> Any:
        """Attraction against distance, with the true law's where it is known.

        Args:
            axes: where to draw; by default a new figure.

        Returns:
            The matplotlib `Axes`.
        """
        return plot_forces(self.table, axes)

    def __repr__(self) -> str:
        a = self.attributes
        what = f"{a.get('readout', 'forces')}, {a.get('states', 'all')} states, law {self.law}"
        return f"{len(self)} force samples ({what})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>" + (
            self.table.head(8).to_html(float_format=lambda value: f"{value:.5g}", border=0)
        )


def _attributes(path: Path, metadata: bytes | None) -> dict[str, Any]:
    """The attributes of a file; those in use with their types."""
    if not metadata:
        return {}
    try:
        attributes = json_of(metadata)
    except ValueError as error:
        raise ValueError(f"{path}: its attributes cannot be read ({error}).") from None
    kind = attributes.get("format") if isinstance(attributes, dict) else attributes
    if kind != FORMAT:
        raise ValueError(f"{path} holds {kind!r:.40}, not {FORMAT!r}; give it force samples.")
    of_json(SampleAttributes, attributes, f"{path}: its attributes")
    return attributes


def _checked(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table with the schema's types; `r` and `a_norm` agree with their components to 1e-6."""
    missing = [column for column in REQUIRED if column not in table.columns]
    if missing:
        raise ValueError(
            f"{name} lacks the column(s) {', '.join(missing)}; it has {', '.join(table.columns)}. "
            f"Force samples need {', '.join(REQUIRED)}."
        )
    if table.empty:
        raise ValueError(f"{name} holds no rows; force samples need at least one.")
    optional = (
        "z", "a_z", "true_a_x", "true_a_y", "true_a_z", "gm", "mass", "m1", "m2", "body",
        "steps_since_kick", "sigma_a_x", "sigma_a_y", "sigma_a_z", "x1", "y1", "z1", "x2", "y2",
        "z2", "ax1", "ay1", "az1", "ax2", "ay2", "az2", "v_x", "v_y", "v_z",
    )  # fmt: skip
    columns = [column for column in (*REQUIRED, *optional) if column in table.columns]
    table = table.loc[:, columns].copy()
    for column in columns:
        kind = "int64" if column in ("orbit", "steps_since_kick", "body") else "float64"
        values = numbers_of(table[column])
        if np.any(np.isnan(values) & table[column].notna().to_numpy()):
            raise ValueError(f"{name}: the column {column} is not numeric.")
        bad = int(np.count_nonzero(~(np.abs(values) <= LARGEST)))
        if bad:
            raise ValueError(
                f"{name}: the column {column} has {bad} value(s) that are not finite or above "
                f"{LARGEST:g}, of {len(table)}; drop those rows, or find out where they come from."
            )
        if kind == "int64" and pd.api.types.is_integer_dtype(table[column]):
            continue  # a whole number of 19 digits, which may name an orbit, is no float
        table[column] = values.astype(kind)
    for norm, components in (("r", "xyz"), ("a_norm", ("a_x", "a_y", "a_z"))):
        parts = [table[c].to_numpy() for c in components if c in table.columns]
        length = np.sqrt(np.sum(np.square(parts), axis=0))
        if not np.allclose(table[norm], length, rtol=1e-6, atol=1e-12):
            raise ValueError(f"{name}: the column {norm} is not the length of its components.")
    return table


def axes_of(table: pd.DataFrame) -> tuple[str, ...]:
    """The axes of a table: ("x", "y") or ("x", "y", "z")."""
    return ("x", "y", "z") if "z" in table.columns else ("x", "y")


def vectors(table: pd.DataFrame, prefix: str = "") -> np.ndarray:
    """(row, axis) array of the columns `prefix` + axis: "" positions, "a_" accelerations."""
    return table[[prefix + axis for axis in axes_of(table)]].to_numpy()


def attracting_gm(table: pd.DataFrame) -> np.ndarray:
    """(row,) GM of the attracting body, au^3/yr^2: the centre, or the second of two bodies.

    That of the Sun if unknown.
    """
    if "gm" not in table and "m2" not in table:
        return np.full(len(table), GM_SUN)
    return (table["gm"] if "gm" in table else G * table["m2"]).to_numpy()
