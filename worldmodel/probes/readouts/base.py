"""The contract of probes, and what each returns. Imports no torch.

A probe is a file here with a class `ReadOut`, a frozen dataclass of its own options:

    @dataclass(frozen=True)
    class Spread(ReadOut):
        \"\"\"How far predictions lie apart.\"\"\"

        name: ClassVar[str] = "spread"
        what: ClassVar[str] = "how far predictions lie apart"

        quantile: float = 0.5
        \"\"\"Of the distances from their mean.\"\"\"

        def read(self, experiment):
            predicted = experiment.predictor.predict(experiment.arcs())
            far = np.abs(predicted - np.nanmean(predicted))
            metrics = {"spread": float(np.nanquantile(far, self.quantile))}
            return Reading(metrics, experiment.states, f"spread {metrics['spread']:.3g}")

`--readout "spread(quantile=0.9)"` is then known to every command, and nothing else need know of it.
A file elsewhere is found after `worldmodel.probes.readouts.__path__.append(folder)`. Options are
read for every command line: what is heavy (torch, pandas, the laws) comes from `worldmodel.probes`,
at its first use.
"""

import html
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar

import orbits
from orbits.files import write_json
from orbits.options import Options, hints_of
from orbits.palette import CYCLE
from orbits.printing import facts, html_table, table, wrapped
from worldmodel import probes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Reading:
    """What a probe found."""

    metrics: dict[str, Any]
    """Numbers by name."""
    states: str
    """Which states were read: `orbit`, `kicked` or `planets`."""
    text: str
    """The metrics for a terminal."""
    table: "pd.DataFrame | None" = None
    """Force samples, if the probe yields them."""
    details: dict[str, Any] = field(default_factory=dict)
    """Anything else for the file."""
    kind: "type[ReadOut] | None" = None
    """The probe, added by `worldmodel.probe`."""
    origin: dict[str, Any] = field(default_factory=dict)
    """Probe, model, law, data and provenance, added by `worldmodel.probe`."""

    @property
    def attributes(self) -> dict[str, Any]:
        """All but the table."""
        reading = {"states": self.states, "metrics": self.metrics, **self.details}
        return self.origin | reading

    @property
    def forces(self) -> "orbits.ForceSamples":
        """The table with the attributes.

        Raises:
            ValueError: if the probe has no table.
        """
        if self.table is None:
            raise ValueError("this probe gives numbers and no force samples.")
        return orbits.ForceSamples(self.table, self.attributes)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON file."""
        return {"format": "orbitlaw-probe", "format_version": 1, **self.attributes}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write force samples (Parquet), or JSON if there are none."""
        if self.table is not None:
            self.forces.write(path)
        else:
            write_json(path, self.to_dict())

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """The probe's own picture: a curve, a map, or bars of its numbers.

        Args:
            axes: where to draw; by default a new figure.
        """
        from orbits.plot import new_axes, own_style

        kind = ReadOut if self.kind is None else self.kind
        with own_style():
            return kind.draw(self, new_axes() if axes is None else axes)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Reading({self.states} states; {', '.join(self.metrics)})"

    def _repr_html_(self) -> str:
        words = {} if self.kind is None else self.kind.labels
        rows = [
            (words.get(name, name.replace("_", " ")), _shown(value))
            for name, value in self.metrics.items()
            if value is None or isinstance(value, int | float)
        ]
        title = html.escape(self.text.split("\n\n")[0])
        return f"<p>{title}</p>{html_table(rows)}<p>Its picture: <code>.plot()</code></p>"


@dataclass(frozen=True)
class ShownOrbits:
    """The orbits that a run gives to a probe."""

    orbits: int
    """At most so many."""
    samples: int | None = None
    """States in each of its own orbits; None: as in the training orbits."""
    seed: int | None = None
    """Added to the run's seed for its own orbits, different for every probe with any; None: it
    reads held-out orbits."""


@dataclass(frozen=True)
class ReadOut(Options, ABC):
    """One way to read what a model has learned, with its options."""

    name: ClassVar[str]
    """As in `--readout`."""
    what: ClassVar[str]
    """A few words for the help."""
    question: ClassVar[str] = ""
    """Its question, as a sentence for a report."""
    labels: ClassVar[Mapping[str, str]] = {}
    """Its metrics in words, where their names are not self-explanatory."""
    writes_table: ClassVar[bool] = False
    """Whether it yields force samples (Parquet) rather than metrics and details (JSON)."""
    controls: ClassVar[tuple[str, ...] | None] = None
    """Names of the controls that make sense; None: all."""
    least_orbits: ClassVar[int] = 1
    """Orbits it needs."""
    of_networks: ClassVar[bool] = False
    """Whether it works only for networks of `worldmodel train`."""

    def __str__(self) -> str:
        """As `parse_readout` reads it: the name, and the options that are not the defaults."""
        usual = type(self)()
        words = []
        for name in hints_of(type(self)):
            value = getattr(self, name)
            if value != getattr(usual, name):
                several = value if isinstance(value, tuple) else (value,)
                words.append(f"{name}={' '.join(str(each).lower() for each in several)}")
        return f"{self.name}({', '.join(words)})" if words else self.name

    def shown(self, held_out: int, context_length: int) -> ShownOrbits:
        """The orbits that a run gives it: by default the held-out ones, of which there are so
        many."""
        return ShownOrbits(held_out)

    @property
    def controls_of_a_run(self) -> tuple[str, ...] | None:
        """Names of the controls of which a run asks it too; None: all that the run has."""
        return None if self.controls is None else ()

    @property
    def of_a_control(self) -> "ReadOut":
        """The probe as a run asks it of a control: by default the same."""
        return self

    @classmethod
    def draw(cls, reading: Reading, axes: "Axes") -> "Axes":
        """The picture of a reading: its force samples, or else bars of its numbers."""
        if cls.writes_table:
            return reading.forces.plot(axes)
        numbers = {n: v for n, v in reading.metrics.items() if isinstance(v, float)}  # no counts
        names = [fill(cls.labels.get(name, name.replace("_", " ")), 30) for name in numbers]
        axes.barh(names, list(numbers.values()), color=CYCLE[0])
        axes.invert_yaxis()
        return axes

    @abstractmethod
    def read(self, experiment: "probes.Experiment") -> Reading:
        """Read the model.

        Raises:
            ValueError: if the experiment's model, data or options do not fit.
        """


def side_by_side(
    title: str, columns: Mapping[str, Mapping[str, Any]], labels: Mapping[str, str] | None = None
) -> str:
    """Numbers for a terminal: a row per metric, a column per model or control."""
    words = labels or {}
    names = dict.fromkeys(name for own in columns.values() for name in own)
    rows = {
        words.get(name, name.replace("_", " ")): [_shown(own.get(name)) for own in columns.values()]
        for name in names
    }
    if len(columns) == 1:
        shown = facts({name: value for name, (value,) in rows.items()})
    else:
        shown = table([("", *columns), *((name, *values) for name, values in rows.items())])
    return f"{wrapped(title)}\n\n{shown}"


def _shown(value: Any) -> str:
    """A number, with its interval if any."""
    if isinstance(value, Mapping):
        low, high = value["low"], value["high"]
        return f"{_shown(value['value'])} ({low:.4g} to {high:.4g})" if low is not None else "none"
    return "none" if value is None else f"{value:.4g}"
