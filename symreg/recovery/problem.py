"""The problem for a recovery: samples, references to compare with, and what else must hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from orbits.force_samples import ForceSamples
from orbits.forces import UNKNOWN, parse_law
from orbits.tables import Source, named_rows, read_columns
from orbits.units import ONE, Unit
from symreg.engines.base import TARGET
from symreg.fit.refine import Law
from symreg.fit.samples import Samples
from symreg.formulas.units import parse_units, strength_unit, units_in_headers
from symreg.recovery.config import RecoverConfig
from symreg.recovery.force_field import (
    radial_field,
)
from symreg.recovery.gates import Gate, share
from symreg.recovery.references import Reference, in_units, of_field, of_its_own, of_table, shape
from symreg.recovery.thresholds import THRESHOLDS
from symreg.recovery.user_table import (
    UserTable,
    assigned,
    full_headers,
    in_own_order,
    in_written_names,
    label_columns,
    read_user_table,
    require_names,
    samples_of,
    sigma_column,
    spreadsheet,
    telling,
    with_indicators,
    written_names,
)


@dataclass(frozen=True)
class Problem:
    """A table ready for the search.

    Attributes:
        references: to compare with.
        asked: whether they were requested, or are all the known ones.
        rows: of the table.
        notes: what was done to the rows.
        non_central: part of the acceleration across the line to the centre, if the target is its
            radial part.
        gates: other conditions, whatever is found.
        metrics: of the probe that wrote the table.
        any_law: whether the table may follow any law: a user's own, or forces from data with an
            unknown law.
        columns: names of columns that formulas cannot contain, by their spelling there.
        group_values: of the column whose groups have their own constants.
        every: all rows of a large table that the samples are part of.
        component: whether the target is one component of a vector, which no law is named by.
        screened: whether outliers were sought before: where each row's error is known.
        floor: relative error of the target that no law need explain, unless another is given.
        labels: unused columns of text that may tell groups apart.
        source: of the rows, for the names of these.
        beyond: chance that noise alone makes a free curve of the motion better than a law, None if
            unknown.
    """

    samples: Samples
    references: Sequence[Reference]
    asked: bool
    rows: int
    notes: tuple[str, ...] = ()
    non_central: float | None = None
    gates: tuple[Gate, ...] = ()
    metrics: dict[str, Any] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    any_law: bool = True
    columns: dict[str, str] = field(default_factory=dict)
    group_values: tuple[str | int | float, ...] = ()
    every: Samples | None = None
    floor: float = 0.0
    labels: tuple[str, ...] = ()
    source: Source = field(default_factory=pd.DataFrame)
    component: bool = False
    screened: bool = False
    beyond: Callable[[Law], float | None] = lambda _: None

    def noted(
        self,
        notes: tuple[str, ...],
        gates: tuple[Gate, ...] = (),
        metrics: Mapping[str, Any] | None = None,
    ) -> "Problem":
        """The same with notes, other conditions, and more numbers."""
        return replace(
            self, notes=(*self.notes, *notes), gates=(*self.gates, *gates),
            metrics=self.metrics | dict(metrics or {}),
        )  # fmt: skip

    @property
    def si_units(self) -> dict[str, str]:
        """Units for an engine that knows dimensions; the target's under its own name."""
        names = {self.samples.target: TARGET}
        return {names.get(name, name): unit.si_text for name, unit in self.units.items()}

    def named_rows(self, chosen: np.ndarray) -> str:
        """Some of the samples, as they are counted in the table."""
        numbers = self.samples.row_numbers
        rows = np.arange(len(chosen)) if numbers is None else numbers
        return named_rows(self.source, sorted(rows[chosen].tolist()))

    def spelt(self, config: RecoverConfig) -> RecoverConfig:
        """The options with columns in formulas as the samples spell them."""
        written = {name: text for text, name in self.columns.items()}
        guesses = (
            each if each.endswith(".csv") else in_written_names(each, written)
            for each in config.guesses
        )  # fmt: skip
        form = None if config.form is None else in_written_names(config.form, written)
        return replace(config, form=form, guesses=tuple(guesses))

    def constant_unit(self, spec: str | None, strength: str) -> Unit | None:
        """The unit of the constant in front of a reference, if the columns have units."""
        for reference in self.references if self.units else ():
            if reference.spec == spec and reference.strength == strength:
                try:
                    return strength_unit(shape(reference), self.units, self.samples.target)
                except ValueError:
                    continue
        return None


def of_force_samples(samples: ForceSamples, config: RecoverConfig) -> Problem:
    """The radial attraction in force samples, or the force between their two bodies."""
    field = radial_field(samples.table)
    wanted = config.law or (None if samples.law == UNKNOWN else samples.law)
    gates: tuple[Gate, ...] = ()
    if field.third_law is not None:
        gates = (_third_law(field.third_law),)
    radial = field.samples
    if wanted is None or config.error_floor is not None:
        radial = replace(radial, smooth=None)  # the floor that was given counts
    references = of_field(field.samples.names, field.constants, wanted)
    if wanted is not None and _is_spelling(wanted, samples.law):
        two = "m1" in (*radial.names, *field.constants)  # the force, not the acceleration, is read
        gm = None if two else field.constants.get("gm")
        references = [of_its_own(reference, wanted, gm) for reference in references]
    return Problem(
        radial,
        references,
        wanted is not None,
        len(samples),
        (*field.notes, *(_whose(samples) if wanted is None else ())),
        field.non_central,
        gates,
        samples.metrics,
        any_law=wanted is None,
    )


def _whose(samples: ForceSamples) -> tuple[str, ...]:
    """Whose acceleration it is, if several bodies attract one another."""
    bodies = samples.attributes.get("bodies") or []
    if len(bodies) < 2:
        return ()
    whose = f"that of {bodies[0]} towards {bodies[1]}"
    if len(bodies) > 2:
        whose = f"that of each other body as seen from {bodies[0]}, which all of them attract"
    return (
        f"the acceleration is {whose}; `symreg weigh` finds the law between the {len(bodies)} "
        "bodies and their masses",
    )


POSITIVE = {"counts": "0 or more", "logarithmic": "positive"}
"""What a target with such errors is."""


def of_user_table(source: Source, config: RecoverConfig) -> Problem:
    """A table of the user's own: any column as a function of any others, in any units.

    Raises:
        ValueError: for anything wrong with the table, the columns, the units or the law.
    """
    if not isinstance(source, pd.DataFrame) and (sheet := spreadsheet(source)) is not None:
        source = sheet
    _, there = read_columns(source)
    assert config.target is not None  # for the type checker: a user's table has one
    targets, listed = (full_headers(texts, there) for texts in ((config.target,), config.features))
    if not listed:
        raise ValueError(
            "--features is missing; name the columns that the target may depend on: "
            "--features r,m1,m2."
        )
    if len(targets) > 1:
        raise ValueError(
            f"--target is one column, not {', '.join(targets)}: make one of them, such as the "
            "part along a line, or search each alone."
        )
    config = replace(config, target=targets[0], features=listed)
    target, *features = names = (*targets, *listed)
    require_names(target, features)
    if config.per_group in names:
        raise ValueError(
            f"--per-group {config.per_group} is the target or a feature too; it can be one."
        )
    read = _columns(source, names, config)
    units, unused = units_in_headers(names)
    if config.units:
        units, unused = _units(config, names), ""
    written = written_names(names, read_columns(source)[1])
    if renamed := {name: text for name, text in written.items() if name != text}:
        # groups and standard errors keep their columns, whatever they are called
        read = replace(
            read, table=_copied(read.table, renamed),
            every=None if read.every is None else _copied(read.every, renamed),
        )  # fmt: skip
        units = {written[name]: unit for name, unit in units.items()}
        target = written[target]
    features, left_out = telling(read.table, [written[name] for name in listed])
    sigmas = _sigmas(config)
    of_features = {written[name]: given for name, given in sigmas.items()}
    samples, *every = (
        samples_of(replace(read, table=table), target, features, config.groups, config.sigma,
                   of_features, config.trials)
        for table in (read.table, read.every)
        if table is not None
    )  # fmt: skip
    least = float(np.min(samples.y))
    unsuited = least < 0 if config.errors == "counts" else least <= 0
    if config.errors in POSITIVE and unsuited:
        raise ValueError(
            f"--errors {config.errors}: {target} must be {POSITIVE[config.errors]}, and its least "
            f"value is {least:g}. Give --errors additive, or leave it out."
        )
    law = config.law if config.law is None else in_written_names(config.law, written)
    references = [] if config.per_group else of_table(features, law)
    asked = config.law is not None
    if units:
        references = [in_units(reference, units, target, asked) for reference in references]
    notes = _renamings(renamed)
    if samples.feature_errors is not None:
        errors = ", ".join(f"{name} ({given})" for name, given in sigmas.items())
        notes += (f"constants are fitted by orthogonal distances, with the errors of {errors}",)
    notes += (unused,) * bool(unused)
    columns = {text: name for name, text in renamed.items()}
    values: tuple[str | int | float, ...] = ()
    if config.per_group:
        if config.law:
            raise ValueError("--law cannot be given with --per-group; leave it out.")
        taken = (target, *features)
        samples, values = with_indicators(samples, read.table, config.per_group, taken)
        every = []  # each group has rows enough
        units = units | dict.fromkeys(samples.names[len(features) :], ONE) if units else units
    return Problem(
        samples, references, asked, read.rows, (*read.notes, *notes, *left_out), units=units,
        columns=columns, group_values=values, every=every[0] if every else None,
        labels=() if config.per_group or config.groups else label_columns(source, names),
        source=source,
    )  # fmt: skip


def _units(config: RecoverConfig, names: Sequence[str]) -> dict[str, Unit]:
    return parse_units(assigned(config.units, names, "units", "name=unit, as in r=au"), names)


def _sigmas(config: RecoverConfig) -> dict[str, str]:
    form = "feature=column, or a number: r=s_r, r=0.02 or r=5%"
    return assigned(config.sigma_of, config.features, "sigma-of", form)


def _copied(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The table with those columns under other names too."""
    return table.assign(**{text: table[name] for name, text in names.items()})


def _renamings(renamed: Mapping[str, str]) -> tuple[str, ...]:
    """A note on columns that formulas write otherwise."""
    each = ", ".join(f"{text} is the column {name!r}" for name, text in renamed.items())
    return (each,) * bool(renamed)


def _columns(source: Source, names: Sequence[str], config: RecoverConfig) -> UserTable:
    """Those columns, the target first, plus groups and standard errors."""
    sigmas = _sigmas(config)
    numbers = (
        *names,
        *filter(None, map(sigma_column, (config.sigma, config.trials, *sigmas.values()))),
    )
    labels = [name for name in (config.groups, config.per_group) if name and name not in numbers]
    read = read_user_table(
        source,
        list(dict.fromkeys([*numbers, *labels])),
        config.seed,
        labels,
        config.bad_rows,
        (names[0], sigma_column(config.sigma) or ""),
    )
    return in_own_order(read, names[0], labels)


def _is_spelling(text: str, law: str | None) -> bool:
    """Whether a text is the law that samples name, however it is spelled."""
    try:
        return law is not None and parse_law(text).spec == parse_law(law).spec
    except ValueError:
        return False  # a formula of other columns, or no law known


def _third_law(unbalanced: float | None) -> Gate:
    most = THRESHOLDS.third_law
    return share("third law", unbalanced, most, "|m1 a1 + m2 a2| over |m1 a1|")
