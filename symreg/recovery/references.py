"""What a selected formula is compared with: a reference law, or a user's formula."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import sympy

from orbits.forces import GM_SYMBOL, LAWS, ForceLaw, parse_law
from orbits.units import G_SI, GM_SUN, G, Unit
from symreg.fit.monomial import fit_monomial, usable
from symreg.fit.samples import Samples
from symreg.formulas.compare import CONSTANT_NAMES, monomial_exponents
from symreg.formulas.expressions import evaluate, symbol
from symreg.formulas.laws import GRAVITATIONAL_PARAMETER, MASSES, family, sources
from symreg.formulas.reading import is_law, read_formula
from symreg.formulas.units import G_DIMENSION, GM_DIMENSION, strength_unit

STRENGTH = "GM"
DIMENSIONS = {"G": G_DIMENSION, "GM": GM_DIMENSION}
"""Dimensions of strengths with a value in nature."""


@dataclass(frozen=True)
class Reference:
    """A law over the features of a table.

    Attributes:
        spec: its text.
        law: name in `orbits.forces`, if it is one.
        family: formula in the features; its own constants are symbols.
        strength: name of the constant in front.
        truth: value of that constant, if known.
        parameters: values of its own parameters, if known.
        numeric: the formula with numbers for all constants, if known.
        granted: whether the table is said to obey it; otherwise nothing in it is the truth.
    """

    spec: str
    law: str | None
    family: sympy.Expr
    strength: str
    truth: float | None = None
    parameters: dict[str, float] = field(default_factory=dict)
    numeric: sympy.Expr | None = None
    granted: bool = True

    def exponents(self, samples: Samples) -> dict[str, float]:
        """Exponents of the features in a product of powers fitted to the law on the rows.

        Empty unless the table is said to obey it, and if the law's constants are unknown and it is
        not a product of powers.
        """
        if not self.granted:
            return {}
        if self.numeric is not None:
            values = evaluate(self.numeric, samples.names, samples.X)
            truth = replace(samples, y=values)
            if usable(truth):
                exponents = fit_monomial(truth).exponents
                return dict(zip(samples.names, map(float, exponents), strict=True))
        return monomial_exponents(self.family, samples.names) or {}


def of_field(
    names: Sequence[str], constants: Mapping[str, float], wanted: str | None
) -> list[Reference]:
    """References for the radial attraction of force samples, or for the force between two bodies.

    Features `gm`, `mass`, `m1` and `m2` are there where they vary; `constants` has their values if
    they do not (by default GM is the Sun's). Without a law or formula wanted, every reference law.

    Raises:
        ValueError: if the text is neither a law nor a formula in the features.
    """
    if wanted is not None and not is_law(wanted):
        return [_formula(wanted, names)]
    laws = [parse_law(wanted)] if wanted is not None else [law() for law in LAWS.values()]
    masses = [name for name in ("m1", "m2", "mass") if name in names]
    if masses and "gm" not in names:
        return [_of_masses(law, masses, constants) for law in laws]
    feature = "gm" if "gm" in names else None
    references = [_of_law(law, feature, constants.get("gm", GM_SUN)) for law in laws]
    if wanted is not None or "gm" in constants:
        return references
    return [_unknown(law, reference) for law, reference in zip(laws, references, strict=True)]


def _unknown(law: ForceLaw, reference: Reference) -> Reference:
    """A reference that nobody granted; its constant is GM only where that has GM's dimension."""
    reference = replace(reference, truth=None, parameters={}, granted=False)
    if reference.strength != STRENGTH or law.gm_unit() == "au^3/yr^2":
        return reference
    family = reference.family.subs(GM_SYMBOL, symbol("k"))
    return replace(reference, strength="k", family=family)


def of_table(names: Sequence[str], wanted: str | None) -> list[Reference]:
    """References for a user's table: strengths and sources are unknown.

    Raises:
        ValueError: if the text is neither a law nor a formula in the features, or a law is
            requested and no feature is called `r`.
    """
    if wanted is not None and not is_law(wanted):
        return [_formula(wanted, names)]
    if "r" not in names:
        if wanted is not None:
            raise ValueError(
                f"the law {wanted} needs a feature called r; the features are {', '.join(names)}. "
                "Rename one, or give --law as a formula in these features."
            )
        return []
    laws = [parse_law(wanted)] if wanted is not None else [law() for law in LAWS.values()]
    references = []
    for law in laws:
        if GM_SYMBOL not in law.expression().free_symbols:
            references.append(_of_law(law, None, GM_SUN))
            continue
        for source in sources(names):
            if not law.linear_in_gm and source == 1:
                continue
            masses = source.free_symbols & {symbol(name) for name in MASSES}
            strength = "G" if masses else STRENGTH
            if source.free_symbols & {symbol(name) for name in GRAVITATIONAL_PARAMETER}:
                strength = "scale"
            form = family(law).subs(GM_SYMBOL, symbol("k") * source)
            references.append(Reference(law.spec, _name(law), form, strength))
    return references


def _of_law(law: ForceLaw, feature: str | None, gm: float) -> Reference:
    values = {symbol(name): sympy.Float(value) for name, value in law.parameters.items()}
    inside = symbol(feature) if feature else sympy.Float(gm)
    if law.linear_in_gm:
        strength, truth = ("scale", 1.0) if feature else (STRENGTH, gm)
    elif GM_SYMBOL not in law.expression().free_symbols and law.scales:
        strength = law.scales[0]
        truth = law.parameters[strength]
    else:
        strength = f"strength of {law.name}"
        truth = float(-law.radial_acceleration(1.0, 1.0 if feature else gm))
    return Reference(
        spec=law.spec,
        law=_name(law),
        family=family(law, strength).subs(GM_SYMBOL, symbol(feature or STRENGTH)),
        strength=strength,
        truth=truth,
        parameters={name: value for name, value in law.parameters.items() if name != strength},
        numeric=law.expression().subs(values).subs(GM_SYMBOL, inside),
    )


def _of_masses(law: ForceLaw, masses: Sequence[str], constants: Mapping[str, float]) -> Reference:
    """A law of the central mass, or the force between m1 and m2 (m1 times the acceleration).

    The relative motion of two bodies has GM = G (m1 + m2); its force is the reduced mass times that
    law's acceleration, which is G m1 m2 times the law's shape if the law is linear in GM.
    """
    k, one = symbol("k"), sympy.Integer(1)
    factor, gm = one, k * symbol("mass")
    if masses != ["mass"]:
        m1, m2 = (
            symbol(name) if name in masses else sympy.Float(constants[name])
            for name in ("m1", "m2")
        )
        factor, gm = (one, k * m1 * m2) if law.linear_in_gm else (
            m1 * m2 / (m1 + m2), k * (m1 + m2)
        )  # fmt: skip
    values = {symbol(name): sympy.Float(value) for name, value in law.parameters.items()}
    numeric = factor * law.expression().subs(values).subs(GM_SYMBOL, gm.subs(k, G))
    return Reference(
        spec=law.spec,
        law=_name(law),
        family=factor * family(law).subs(GM_SYMBOL, gm),
        strength="G" if law.linear_in_gm else f"strength of {law.name}",
        truth=G if law.linear_in_gm else None,
        parameters=dict(law.parameters),
        numeric=numeric,
    )


def _name(law: ForceLaw) -> str | None:
    return law.name if law.name in LAWS else None


def _formula(text: str, names: Sequence[str]) -> Reference:
    form = read_formula(text)
    own = {s.name for s in form.free_symbols} - set(names)
    unknown = sorted(own - CONSTANT_NAMES)
    if unknown:
        raise ValueError(
            f"the formula {text!r} has {', '.join(unknown)}, which are no features; the features "
            f"are {', '.join(names)}, and constants may be called "
            f"{', '.join(sorted(CONSTANT_NAMES))}."
        )
    strength = next((name for name in ("G", "GM", "k") if name in own), "c")
    if own:
        return Reference(text, None, form, strength)
    return Reference(text, None, form, strength, float(form.as_coeff_Mul()[0]), {}, form)


def of_its_own(reference: Reference, law: str, gm: float | None) -> Reference:
    """The reference with the constant of the law that made the samples, whatever its spelling.

    Args:
        reference: to that law.
        law: its text.
        gm: of all orbits, au^3/yr^2; None if it differs.
    """
    unit = shape(reference).subs(symbol("r"), 1)
    if reference.law is not None or gm is None or not unit.is_number:
        return reference
    return replace(reference, truth=float(-parse_law(law).radial_acceleration(1.0, gm) / unit))


def shape(reference: Reference) -> sympy.Expr:
    """The formula of a reference without its strength."""
    return reference.family.subs({symbol("k"): 1, symbol(reference.strength): 1})


def in_units(
    reference: Reference, units: Mapping[str, Unit], target: str, asked: bool
) -> Reference:
    """The reference with its strength's value in the units of the columns, if it has one.

    Raises:
        ValueError: if a reference that was asked for cannot match (says the strength's dimension).
    """
    try:
        unit = strength_unit(shape(reference), units, target)
    except ValueError as error:
        if not asked:
            return reference
        raise ValueError(f"--units cannot match {reference.spec}: {error}") from None
    wanted = DIMENSIONS.get(reference.strength)
    if reference.law != "newton" or wanted is None:
        return reference
    if unit.powers == wanted:
        return replace(reference, truth=G_SI / unit.size if reference.strength == "G" else None)
    if asked and not _another_source_fits(reference, units, target):
        raise ValueError(
            f"--units cannot match {reference.spec}: {reference.strength} would have the "
            f"dimension {unit.text}, and has {Unit(1, wanted).text}."
        )
    return reference


def _another_source_fits(reference: Reference, units: Mapping[str, Unit], target: str) -> bool:
    """Whether the same law with another source (one mass, the sum) has a fitting dimension."""
    for other in of_table(tuple(n for n in units if n != target), reference.spec):
        try:
            powers = strength_unit(shape(other), units, target).powers
        except ValueError:
            continue
        if powers == DIMENSIONS.get(other.strength):
            return True
    return False


def strength_at_one(reference: Reference, samples: Samples, own: dict[str, float]) -> np.ndarray:
    """(row,) the reference with strength one and its own parameters as given."""
    features = {symbol(name) for name in samples.names}
    values = {s: own.get(s.name, 1.0) for s in reference.family.free_symbols - features}
    return evaluate(reference.family.subs(values), samples.names, samples.X)
