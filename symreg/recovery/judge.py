"""The judge of a law: every condition on it, as gates.

A law counts as recovered from a table if its structure is the reference's (sympy), its constants
and free exponents are near the truth where known, it predicts held-out groups, the acceleration is
central, most resamples of the groups select it again, and permuted targets yield no law. Models are
judged in `symreg.experiments.verdict`.
"""

from symreg.fit.noise import LARGEST
from symreg.fit.refine import CLEARLY_BETTER
from symreg.formulas.compare import MATCHING
from symreg.formulas.precision import DOUBLE, NOISELESS
from symreg.recovery.evidence import FEW_VALUES, Evidence
from symreg.recovery.gates import Gate, agreeing, at_least, finite, share, stated, times, within
from symreg.recovery.result import Null, Recovery
from symreg.recovery.selection import RESAMPLES, Finding
from symreg.recovery.thresholds import THRESHOLDS
from symreg.recovery.words import IN_WORDS, NOT_RECOVERED

FIT_ERROR = "the error of the fit"


def law_gates(finding: Finding, non_central: float | None) -> list[Gate]:
    """Every condition on a table's law, its constant and parameters, apart from its controls."""
    verdict = finding.comparison.verdict
    gates = [
        stated("structure", verdict in MATCHING, "the form of the reference", IN_WORDS[verdict])
    ]
    gates += [
        within(f"exponent of {name}", each.value, each.truth, THRESHOLDS.exponent_margin)
        for name, each in finding.exponents.items()
        if each.truth is not None
    ]
    gates += [
        within(f"constant {each.name}", each.value, each.truth, THRESHOLDS.constant_margin, True)
        for each in (finding.constant, *finding.parameters.values())
        if each.relative_error is not None and each.truth is not None
    ]
    gates += [at_least("held-out R²", finding.r2, THRESHOLDS.r2), _agreement(finding)]
    return [*gates, *_central(non_central), *_misfit(finding)]


def found_gates(finding: Finding, non_central: float | None) -> list[Gate]:
    """What a formula must show to be a law at all, named or not."""
    evidence = finding.evidence
    names = {symbol.name for symbol in finding.law.form.free_symbols}
    depends = bool(names & set(finding.samples.features))
    return [
        at_least("held-out R²", finding.r2, THRESHOLDS.r2),
        times("held-out error", evidence.held_out_ratio, THRESHOLDS.held_out_ratio, FIT_ERROR),
        times("held-out range", evidence.range_ratio, THRESHOLDS.range_ratio, FIT_ERROR),
        at_least("distinct points beyond constants", evidence.spare, THRESHOLDS.spare_points),
        *_misfit(finding),
        *_no_expansion(evidence, finding.saved),
        _agreement(finding),
        _alone(finding),
        *_cut_short(finding),
        *_values(evidence),
        stated("depends on a feature", depends, "yes", "yes" if depends else "a constant"),
        *_central(non_central),
    ]


def _values(evidence: Evidence) -> list[Gate]:
    if evidence.values > FEW_VALUES:
        return []
    return [stated("values of the target", False, "more than two", f"{evidence.values}")]


def _cut_short(finding: Finding) -> list[Gate]:
    """What a search cut short did not try may be the law, or a rival."""
    gates, longer = [], "a longer --time-limit"
    if finding.cut_short:
        asked = f"all families searched: {longer}"
        gates.append(stated("search went on", False, asked, "cut short at its limit"))
    if finding.untried:
        asked = f"all formulas beside it tried: {longer}"
        gates.append(stated("neighbours", False, asked, "some left at the limit"))
    return gates


def _agreement(finding: Finding) -> Gate:
    return agreeing("agreement", finding.agreeing, RESAMPLES, THRESHOLDS.agreement)


def _no_expansion(evidence: Evidence, saved: float | None) -> list[Gate]:
    """A law leaves noise that no polynomial explains, or rounding, and is shorter than one."""
    gates = []
    if saved is not None:
        clearly = CLEARLY_BETTER / 2  # as any other formula must be, to be a rival no more
        shorter = saved >= clearly
        gates.append(Gate("shorter than polynomials", shorter, saved, clearly, what="nats saved"))
    if evidence.beyond_expansion is not None:
        ratio = evidence.beyond_expansion
        gates.append(times("beside polynomials", ratio, THRESHOLDS.expansion_ratio, "their error"))
    if evidence.error < NOISELESS:
        left = f"{evidence.error:.1g} of the target"
        asked = f"rounding, {evidence.rounding:.1g}, or an error that is given (--sigma)"
        gates.append(stated("rounding alone", not evidence.noiseless, asked, left))
        expansion = evidence.expansion
        if expansion is not None and expansion.numbers is not None and not expansion.ends:
            fewer = evidence.numbers < expansion.numbers
            asked = f"fewer than the {expansion.numbers} of a polynomial as close"
            gates.append(stated("numbers", fewer, asked, str(evidence.numbers)))
    if evidence.gap is not None:
        place = f"two, below and above {evidence.gap.feature} = {evidence.gap.value:.4g}"
        gates.append(stated("no break", False, "one formula for all rows", place))
    if evidence.one_hump_p < THRESHOLDS.misfit_p and evidence.error > evidence.rounding:
        told = f"commonest at one size, of both signs (p {evidence.one_hump_p:.1g})"
        gates.append(stated("errors", False, "commonest near zero, as noise is", told))
    return gates


def _alone(finding: Finding) -> Gate:
    """No other formula, among those searched and their neighbours, explains the table too."""
    others = sum(rival.as_good for rival in finding.rivals)
    return stated("no other law as good", not others, "none", str(others or "none"))


def _central(non_central: float | None) -> list[Gate]:
    if non_central is None:
        return []
    return [share("central", non_central, THRESHOLDS.non_central, "part across the line")]


def _misfit(finding: Finding) -> list[Gate]:
    """No misfit smooth in a feature; one that the error floor explains is reported as such.

    The powers of the features in the law are those of a free product of powers: of few groups that
    is all that is known.
    """
    evidence, name, least = finding.evidence, "no smooth misfit", THRESHOLDS.misfit_p
    chance, gates = evidence.misfit_p, _powers(finding)
    if chance is None:
        told = stated(name, None, f"p at least {least:g}", "too few rows or groups to tell")
        return gates or [told]
    # without a floor the misfit seen may be another than the one measured: all that is left counts
    floor = finding.error_floor
    left, allowed = (evidence.misfit, LARGEST * floor) if floor else (evidence.error, DOUBLE)
    if chance < least and left <= allowed:
        text = f"within the error floor of {floor:.1%}" if floor else "what is left is rounding"
        asked = f"p at least {least:g}, or within the floor"
        return [stated(name, True, asked, f"p {chance:.2g}, but {text}"), *gates]
    return [Gate(name, chance >= least, finite(chance), least, kind="chance"), *gates]


def _powers(finding: Finding) -> list[Gate]:
    """The mean power of every feature in the law, within the interval of the free one."""
    gates = []
    for name, own in finding.own_exponents.items():
        free = finding.exponents[name]
        if free.value is None or free.low is None or free.high is None:
            continue
        below, above = (
            free.value + side * max(THRESHOLDS.interval_room * abs(end - free.value), NOISELESS)
            for side, end in ((-1, free.low), (1, free.high))
        )
        inside = below <= own <= above
        gates.append(Gate(f"power of {name}", inside, own, below, above, free.value))
    return gates


def null_gate(name: str, null: Null | Recovery) -> Gate:
    """A gate that requires nothing to be found."""
    outcome = "recovered" if null.recovered else NOT_RECOVERED
    return stated(name, not null.recovered, NOT_RECOVERED, outcome)
