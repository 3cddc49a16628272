"""Recovering the law of a table of the user's own: any target, any features, any units."""

from dataclasses import replace
from typing import Any

import numpy as np

from symreg.engines.pysr import TARGET
from symreg.formulas.expressions import symbol
from symreg.formulas.units import (
    G_DIMENSION,
    GM_DIMENSION,
    Unit,
    gravitational_constant,
    parse_units,
    strength_unit,
)
from symreg.recovery import evidence, references
from symreg.recovery.config import RecoverConfig
from symreg.recovery.isotropy import anisotropy
from symreg.recovery.recover import Progress, recover_samples
from symreg.recovery.references import Reference
from symreg.recovery.result import RecoveryResult
from symreg.recovery.two_body import COLUMNS, SPATIAL, pair_force
from symreg.recovery.user_tables import (
    columns_in,
    group_numbers,
    read_user_table,
    samples_of,
    sigma_column,
)
from symreg.recovery.words import explain


def recover_table(
    path: str, config: RecoverConfig, progress: Progress | None = None
) -> RecoveryResult:
    """Search the law of a user's table and hold it against a reference law.

    With one target, that column is searched against the features. With the components of a
    vector (a_x, a_y[, a_z]) and positions among the features, its radial part is. With `pair`,
    the force between two bodies is taken from their accelerations and masses.

    Raises:
        ValueError: for whatever is wrong with the table, the columns, the units or the law.
    """
    if config.pair:
        return _pair(path, config, progress)
    targets, features = config.target_names, config.feature_names
    if not features:
        raise ValueError(
            "--features is missing; name the columns that the target may depend on: "
            "--features r,m1,m2."
        )
    if len(targets) > 1:
        return _vector(path, targets, features, config, progress)
    columns = [*targets, *features]
    sigma = sigma_column(config.sigma)
    extra = [name for name in (config.groups, sigma) if name and name not in columns]
    read = read_user_table(path, [*columns, *extra], config.seed)
    samples = samples_of(read, targets[0], features, config.groups, config.sigma)
    known = references.of_table(features, config.law)
    units = parse_units(config.unit_texts, (targets[0], *features)) if config.units else None
    if units is not None:
        known = [_with_unit(r, units, targets[0], config.law is not None) for r in known]
    base = None
    if units is not None:
        base = {name: unit.si_text for name, unit in units.items()}
        base[TARGET] = base.pop(targets[0])
    result = recover_samples(samples, known, config.law is not None, config, None, progress, base)
    if units is not None:
        result = _with_constant_unit(result, known, units, targets[0])
    return _finished(result, read.rows, read.notes)


def _vector(
    path: str,
    targets: tuple[str, ...],
    features: tuple[str, ...],
    config: RecoverConfig,
    progress: Progress | None,
) -> RecoveryResult:
    _refuse(config, ("units",), "the components of a vector")
    axes = [name for name in features if name in ("x", "y", "z")]
    if len(axes) != len(targets):
        raise ValueError(
            f"{len(targets)} targets are the components of a vector: give as many coordinates "
            f"(x, y, z) among the features, in the same order; they are {', '.join(features)}."
        )
    others = [name for name in features if name not in (*axes, "r")]
    extra = [name for name in (config.groups, sigma_column(config.sigma)) if name]
    read = read_user_table(path, [*targets, *axes, *others, *extra], config.seed)
    table = read.table
    position = table[axes].to_numpy(dtype=float)
    vector = table[list(targets)].to_numpy(dtype=float)
    r = np.linalg.norm(position, axis=1)
    if np.any(r == 0):
        raise ValueError("the table has rows at the origin; a direction to the centre needs r > 0.")
    inward = -np.sum(position * vector, axis=1) / r
    size = np.sum(vector**2, axis=1)
    across = np.sqrt(np.maximum(size - inward**2, 0).sum() / max(size.sum(), 1e-300))
    table = table.assign(r=r, attraction=inward)
    samples = samples_of(
        replace(read, table=table), "attraction", ["r", *others], config.groups, config.sigma
    )
    known = references.of_table(samples.names, config.law)
    result = recover_samples(
        samples, known, config.law is not None, config, float(across), progress
    )
    uneven = anisotropy(samples, position / r[:, None], config.error_floor)
    if uneven is not None:
        gate = {
            "passed": uneven <= config.non_central,
            "required": f"part that goes with the direction at most {config.non_central:.0%}",
            "found": f"{uneven:.1%}",
        }
        result = evidence.with_gate(result, "isotropic", gate)
    return _finished(result, read.rows, read.notes)


def _pair(path: str, config: RecoverConfig, progress: Progress | None) -> RecoveryResult:
    _refuse(config, ("units", "sigma"), "--pair")
    spatial = list(SPATIAL) if set(SPATIAL) <= set(columns_in(path)) else []
    extra = [config.groups] if config.groups else []
    read = read_user_table(path, [*COLUMNS, *spatial, *extra], config.seed)
    force = pair_force(read.table, group_numbers(read.table, config.groups))
    known = references.of_table(force.samples.names, config.law)
    result = recover_samples(
        force.samples, known, config.law is not None, config, force.non_central, progress
    )
    result = evidence.with_third_law(result, force.third_law, config)
    note = f"third law: {force.third_law:.1%} unbalanced"
    return _finished(result, read.rows, (*read.notes, note))


def _refuse(config: RecoverConfig, options: tuple[str, ...], what: str) -> None:
    given = [f"--{name}" for name in options if getattr(config, name)]
    if given:
        raise ValueError(f"{' and '.join(given)} cannot be given with {what}; leave it out.")


def _finished(result: RecoveryResult, rows: int, notes: tuple[str, ...]) -> RecoveryResult:
    result = replace(result, rows=rows, notes=[*result.notes, *notes])
    return replace(result, explanation=explain(result))


def _shape(reference: Reference) -> Any:
    return reference.family.subs({symbol("k"): 1, symbol(reference.strength): 1})


def _with_unit(reference: Reference, units: dict[str, Unit], target: str, asked: bool) -> Reference:
    """The reference with the value that its strength must have in these units, if it has one."""
    try:
        unit = strength_unit(_shape(reference), units, target)
    except ValueError as error:
        if not asked:
            return reference
        raise ValueError(f"--units cannot match {reference.spec}: {error}") from None
    wanted = {"G": G_DIMENSION, "GM": GM_DIMENSION}.get(reference.strength)
    if reference.law != "newton" or wanted is None:
        return reference
    if unit.powers == wanted:
        return replace(
            reference, truth=gravitational_constant(unit) if reference.strength == "G" else None
        )
    if asked and not _another_source_fits(reference, units, target):
        raise ValueError(
            f"--units cannot match {reference.spec}: {reference.strength} would have the "
            f"dimension {unit.text}, and has {Unit(1, wanted).text}."
        )
    return reference


def _another_source_fits(reference: Reference, units: dict[str, Unit], target: str) -> bool:
    """Whether the same law with another source (one mass, the sum) has a fitting dimension."""
    for other in references.of_table(tuple(n for n in units if n != target), reference.spec):
        wanted = {"G": G_DIMENSION, "GM": GM_DIMENSION}.get(other.strength)
        try:
            if strength_unit(_shape(other), units, target).powers == wanted:
                return True
        except ValueError:
            continue
    return False


def _with_constant_unit(
    result: RecoveryResult, known: list[Reference], units: dict[str, Unit], target: str
) -> RecoveryResult:
    """The result with the unit of the constant of the reference it was compared with."""
    name = result.constant["name"]
    for reference in known:
        if reference.spec == result.reference and reference.strength == name:
            try:
                unit = strength_unit(_shape(reference), units, target)
            except ValueError:
                continue
            constant = result.constant | {"unit": unit.text, "unit_in_si": unit.size}
            return replace(result, constant=constant)
    return result
