"""Textbook laws, recognised by form and units, whatever the names of the columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import sympy

from orbits.data_files import rows_of
from orbits.expressions import parse_expression
from orbits.units import Unit, parse_unit
from symreg.fit.refine import Law
from symreg.formulas.expressions import merged, skeleton, with_floats


@dataclass(frozen=True)
class TextbookLaw:
    """A law: its name, formula, and the units of its value and variables.

    Every other symbol in the formula is a constant.
    """

    name: str
    formula: str
    target: str
    variables: Mapping[str, str]


ROWS = rows_of("symreg.recovery", "textbook_laws.csv")
LAWS = tuple(
    TextbookLaw(name, formula, target, dict(each.split(":") for each in variables.split()))
    for name, formula, target, variables in (row.values() for row in ROWS)
)


def recognised_laws(
    law: Law, names: Sequence[str], target: str, units: Mapping[str, Unit]
) -> tuple[str, ...]:
    """Names of the textbook laws with a formula's form, and its units if known."""
    used = sorted({s.name for s in law.form.free_symbols} & set(names))
    # without units a short form means nothing: c*x*y is that of every other law
    if not used or (not units and law.nodes < 8):
        return ()
    symbols = {s.name: s for s in law.form.free_symbols}
    matches: list[str] = []
    for known in LAWS:
        if len(known.variables) != len(used) or known.name in matches:
            continue
        if units and units[target].powers != parse_unit(known.target).powers:
            continue
        wanted = [parse_unit(text).powers for text in known.variables.values()]
        for order in permutations(used):
            if units and [units[name].powers for name in order] != wanted:
                continue
            mapping = dict(zip(known.variables, (symbols[name] for name in order), strict=True))
            if str(law.form) in _forms(known.formula, mapping):
                matches.append(known.name)
                break
    return tuple(matches) if units or len(matches) <= 3 else ()


def _forms(formula: str, mapping: Mapping[str, sympy.Symbol]) -> set[str]:
    """The skeletons of a formula with a table's own symbols, a constant in front or not."""
    parsed = parse_expression(formula)
    # no simple numbers, and all different
    numbers = {
        s: mapping.get(s.name, sympy.Float(1.25 + 0.1 * i))
        for i, s in enumerate(sorted(parsed.free_symbols, key=str))
    }
    own = with_floats(parsed.xreplace(numbers))
    return {str(skeleton(merged(own * front))[0]) for front in (sympy.Integer(1), sympy.Float(1.7))}
