"""Dimensional analysis: the unit of a law's constant, and whether it is possible."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

import sympy

from orbits.units import ONE, Unit, parse_unit, powers
from symreg.formulas.numbers import LARGEST_DENOMINATOR

G_DIMENSION, GM_DIMENSION = powers((3, -1, -2)), powers((3, 0, -2))
"""Of length, mass and time, as in m³/(kg s²)."""


def parse_units(texts: Mapping[str, str], names: Sequence[str]) -> dict[str, Unit]:
    """Units by column from their texts: one for the target and every feature.

    Raises:
        ValueError: if a text is no unit, or one is missing.
    """
    units = {name: parse_unit(text) for name, text in texts.items()}
    missing = [name for name in names if name not in units]
    if missing:
        raise ValueError(f"--units lacks {', '.join(missing)}; dimensionless columns have unit 1.")
    return units


HEADER_UNIT = re.compile(r"[\[(]([^\[\]()]*)[\])]\s*$")


def units_in_headers(names: tuple[str, ...]) -> tuple[dict[str, Unit], str]:
    """Units by column from headers such as `Force [N]` and `r (m)`.

    None unless every column has a known one; and a note on that, empty if no column has any.
    """
    units, wrong = {}, []
    for name in names:
        match = HEADER_UNIT.search(name)
        try:
            if match is not None:
                units[name] = parse_unit(match[1])
                continue
        except ValueError:
            pass
        wrong.append(name)
    if not wrong or not units:
        return units, ""
    return {}, (
        f"the units in the headers were not used, since {', '.join(wrong)} "
        f"{'has' if len(wrong) == 1 else 'have'} none that is known; --units gives all of them"
    )


def strength_unit(shape: sympy.Expr, units: Mapping[str, Unit], target: str) -> Unit:
    """The unit of the constant in front of a shape: target over shape.

    A law's own parameters are symbols of lengths, in the unit of `r`.

    Raises:
        ValueError: if the shape adds different dimensions, or takes a function of one.
    """
    known = dict(units)
    if "r" in units:
        lengths = {"length": 1, "softening": 1, "b": 2}
        known |= {name: units["r"] ** Fraction(power) for name, power in lengths.items()}
    known |= {s.name: ONE for s in shape.free_symbols if s.name not in known}
    unit = _assigned(shape, None, known, {})
    if unit is None:
        raise ValueError(f"{shape} has a power that is no number, of something with a dimension.")
    return units[target] * unit ** Fraction(-1)


def constant_units(form: sympy.Expr, units: Mapping[str, Unit], target: Unit) -> dict[str, Unit]:
    """Units that a skeleton's free constants need; one that is undetermined is left out.

    Raises:
        ValueError: if no units are consistent: it adds different dimensions, or takes a function of
            one (says which).
    """
    constants: dict[str, Unit] = {}
    unit = _assigned(form, target, units, constants)
    if unit is not None and unit.powers != target.powers:
        raise ValueError(f"{form} has the dimension {unit.text}, not {target.text}.")
    return constants


def _assigned(
    form: sympy.Expr, wanted: Unit | None, units: Mapping[str, Unit], constants: dict[str, Unit]
) -> Unit | None:
    """A part's unit, recording its constants' units; None if a constant may give it any."""
    if form.is_number:
        return ONE
    if form.is_Symbol:
        if form.name in units:
            return units[form.name]
        if wanted is not None:
            constants[form.name] = wanted
        return constants.get(form.name)
    if form.is_Mul:
        return _assigned_product(form, wanted, units, constants)
    if form.is_Add:
        inner = {part: _assigned(part, None, units, constants) for part in form.args}
        known = [unit for unit in inner.values() if unit is not None]
        known += [wanted] if wanted is not None else []
        if any(unit.powers != known[0].powers for unit in known):
            dimensions = " and ".join(sorted({unit.text for unit in known}))
            raise ValueError(f"{form} adds {dimensions}.")
        for part, unit in inner.items():
            if unit is None and known:
                _assigned(part, known[0], units, constants)
        return known[0] if known else None
    if form.is_Pow and form.exp.is_number:
        power = Fraction(float(form.exp)).limit_denominator(LARGEST_DENOMINATOR)
        inverse = wanted ** (1 / power) if wanted is not None and power else None
        unit = _assigned(form.base, inverse, units, constants)
        return None if unit is None else unit**power
    if form.is_Pow and not any(each.name in units for each in form.exp.free_symbols):
        # a fitted exponent: what stands in front takes whatever dimension that gives
        base = _assigned(form.base, None, units, constants)
        return ONE if base is not None and not any(base.powers) else None
    if isinstance(form, sympy.Abs):
        return _assigned(form.args[0], wanted, units, constants)
    for part in form.args:
        unit = _assigned(part, ONE, units, constants)
        if unit is not None and any(unit.powers):
            raise ValueError(f"{form} takes a function of something that has a dimension.")
    return ONE


def _assigned_product(
    form: sympy.Expr, wanted: Unit | None, units: Mapping[str, Unit], constants: dict[str, Unit]
) -> Unit | None:
    known, open_parts = ONE, []
    for part in form.args:
        unit = _assigned(part, None, units, constants)
        if unit is None:
            open_parts.append(part)
        else:
            known = known * unit
    if not open_parts:
        return known
    if wanted is None:
        return None
    # the constant in front takes what is missing, the others none; beside a fitted power of
    # something that has a dimension nothing says what is missing
    open_parts.sort(key=lambda part: not part.is_Symbol)
    powers = [part for part in open_parts if part.is_Pow and not part.exp.is_number]
    if not powers:
        _assigned(open_parts[0], wanted * known ** Fraction(-1), units, constants)
    for part in open_parts[1:]:
        if part not in powers:
            _assigned(part, ONE, units, constants)
    return wanted
