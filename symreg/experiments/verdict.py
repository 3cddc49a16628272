"""The verdict on a world model: every condition on its law, and on its kind, as gates.

On the orbits it was trained on, a model that merely fits ellipses also yields Newton's law, so
nothing read off held-out orbits counts for a model. What counts is read off kicked states, the
velocity turned and rescaled in mid-orbit, and off far states, which resemble no training orbit.

The field and the law are two questions. The field: on which states, inside the distances of
training, is the acceleration the law's? A regression of the training steps answers as well as a
network: Newton's force depends on the distance alone. The law: does it hold beyond, where nobody
interpolates?
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orbits.printing import number, plural
from orbits.printing import share as share_in_words
from orbits.statistics import TINY
from orbits.whole_field import PARTS
from symreg.experiments.far_field import FieldLimits, LookupComparison
from symreg.recovery.gates import Gate, at_least, at_most, measured, share, stated
from symreg.recovery.judge import null_gate
from symreg.recovery.result import Recovery
from symreg.recovery.thresholds import Thresholds
from symreg.recovery.words import NOT_RECOVERED, PERMUTED
from worldmodel.examiner.answers import Share
from worldmodel.examiner.pasts import PASTS
from worldmodel.examiner.shells import OUTWARD, WORDS
from worldmodel.examiner.summary import Examination

Metric = float | None
NEWTON = "newton"
"""The law that moves real planets."""
LAW, FIELD, ANOTHER = "law", "field", "another force"
KEPLERIAN, PARROT, NEITHER = "Keplerian", "parrot", "neither"
UNREADABLE = "cannot be read at this step"
OBEYS = (LAW, FIELD)
"""Kinds of models whose force is the law's where they were trained."""
EVERY_KIND = (LAW, FIELD, ANOTHER, KEPLERIAN, PARROT, NEITHER, UNREADABLE)
COPIERS = {"copier": "a copier", "training_copier": "a copier of the training orbits"}
"""Naive copiers for comparison, by their names in a probe's metrics."""
UNTRAINED, INJECTED = "untrained network", "true law injected"
KICK = "kick R²"
"""Names of the kick test's gates, before the step."""
FAR, MEDIAN, ANSWERED = "far states", "median on far states", "far states answered"
FAMILIES, CELLS, PAST = "far states by family", "far states by cell", "whatever lies behind"
CLOSED_LOOP = "on its own predictions"
CERTAIN = "nothing else for certain"
EVEN = "even over the states"
SOURCE = "R² of {}"
"""Of a set of states in the report, which must not contradict the verdict."""
RADIAL_PARTS = ("exponent", "curvature")
"""Parts of a field that another central force has; a constant may be off by more."""
ONE_FIELD, KICK_FIELD = "one field on far states", "and after a kick"
"""That the accelerations form a field, whatever its law."""
SOME = "a force at all"
UNDISTURBED = "R² on undisturbed orbits"
LATER_STEP = 4
"""Steps after a kick at which a Keplerian model is still wrong."""


def far_gates(far: Examination | None, t: Thresholds) -> list[Gate]:
    """What an examination must show inside the distances of training.

    The share of the stated density is one question, with one test: its lower bound. Families,
    cells and pasts refuse only what is certainly wrong: the upper bound of a share, corrected for
    their number.
    """
    if far is None:
        return [measured(share(FAR, None, t.all_right, "right on", True))]
    gates = [
        share(ANSWERED, far.answered, t.answered, "", True),
        share(FAR, far.all.bound(), t.all_right, "right, with 95 % confidence, on", True),
        measured(share(MEDIAN, far.all.error, t.far_error, "median error")),
        _surely_right(FAMILIES, far.families, t.far_right),
        _surely_right(CELLS, {str(cell): cell.share for cell in far.cells}, t.cell_right),
    ]
    if far.pasts:
        behind = {_in_words(name): own for name, own in far.pasts.items()}
        gates.append(_surely_right(PAST, behind, t.far_right))
    gates.append(share(CLOSED_LOOP, far.rolled.right, t.far_right, "right on", True))
    sizes = {name: (part.size, part.half_width) for name, part in far.parts.items()}
    gates += part_gates(sizes, t)
    gates.append(share(EVEN, far.unevenness, t.field_part, "a difference between groups"))
    return gates


def shell_gates(far: Examination | None, t: Thresholds) -> list[Gate]:
    """What an examination must show beyond them: one gate for each shell, outward, up to the first
    that fails or in which the law itself cannot be read at this step."""
    gates: list[Gate] = []
    for name in OUTWARD:
        shell = None if far is None else far.shells.get(name)
        if shell is None:
            break
        title = f"to {shell.high:.3g} au, {WORDS[name]}"
        if (shell.readable or 0.0) < t.all_right:
            told = f"the law itself can be read on {share_in_words(shell.readable)} of the states"
            gate = Gate(title, None, shell.readable, told=told)
        else:
            gate = share(title, shell.share.right, t.all_right, "right on", True)
            sure = shell.share.bound() >= t.far_right
            gate = replace(gate, passed=bool(gate.passed and sure))
        gates.append(gate)
        if not gate.passed:
            break
    return gates


def _in_words(past: str) -> str:
    """`a past without a force`; that of visitors is called as it is."""
    return f"a past {PASTS[past].words if past in PASTS else past}"


def _surely_right(name: str, shares: Mapping[str, Share], least: float) -> Gate:
    """That no kind of state is certainly wrong more often."""
    tops = {each: own.bound(upper=True, tests=len(shares)) for each, own in shares.items()}
    worst = min(tops, key=lambda each: tops[each], default="")
    return measured(
        share(name, tops.get(worst), least, f"{worst}: right, by the upper bound, on", True)
    )


def part_gates(sizes: Mapping[str, tuple[float, float]], t: Thresholds) -> list[Gate]:
    """That no part of a field is one that the law lacks.

    Args:
        sizes: of each part, with the half-width of its 95 % interval.
        t: the thresholds.
    """
    gates = [
        share(f"no part {words}", sum(sizes[name]), t.field_part, "its upper end")
        for name, words in PARTS.items()
        if name in sizes
    ]
    sure = {
        name: max(0.0, sizes[name][0] - sizes[name][1])
        for name in (*RADIAL_PARTS, *PARTS)
        if name in sizes
    }
    largest = max(sure.values(), default=None)
    return [*gates, share(CERTAIN, largest, t.field_sure, "the largest lower end")]


def part_limit(far: Examination, t: Thresholds) -> float:
    """The largest part of any shape in `PARTS` that passes: of the least certain one."""
    halves = [far.parts[name].half_width for name in PARTS if name in far.parts]
    return max(max(0.0, min(t.field_part - half, t.field_sure + half)) for half in halves)


def model_gates(
    kicked: Recovery,
    kick_r2: Mapping[str, float | None],
    controls: Mapping[str, Recovery],
    t: Thresholds,
    far: list[Gate],
) -> list[Gate]:
    """Every condition on the law of a world model: those on kicked states, kicks, far states and
    controls.

    `kick_r2` is R² of the implied acceleration by the number of steps since the kick; `far` are the
    gates on far states.
    """
    gates = [gate for gate in kicked.gates if gate.name != PERMUTED]
    # a run has a named law: an exponent or a constant that could not be measured is no pass
    for what, quantity in (("exponent of r", kicked.exponent), ("constant", kicked.constant)):
        if not any(gate.name.startswith(what) for gate in gates):
            gates.append(stated(what, False, "near the true law's", number(quantity.value)))
    gates += kick_gates(kick_r2, controls.get("injected"), t.kick_r2)
    gates += far
    gates += [gate for gate in kicked.gates if gate.name == PERMUTED]
    if untrained := controls.get("untrained"):
        gates.append(null_gate(UNTRAINED, untrained))
    if injected := controls.get("injected"):
        outcome = "recovered" if injected.recovered else NOT_RECOVERED
        gates.append(stated(INJECTED, injected.recovered, "recovered", outcome))
    return gates


def kick_gates(
    kick_r2: Mapping[str, float | None], injected: Recovery | None, line: float
) -> list[Gate]:
    """That a model is right at the first step read after a kick, and at every later one while the
    kick is still in its context."""
    first = first_step(kick_r2)
    worst = min(kick_r2, key=lambda step: -2.0 if (r2 := kick_r2[step]) is None else r2, default="")
    soon = at_least(after_a_kick(first), kick_r2.get(str(first)), _reached(injected, first, line))
    if not worst:
        return [soon]
    throughout = at_least(
        f"{KICK}, the lowest of {plural(len(kick_r2), 'step')}", kick_r2[worst],
        _reached(injected, int(worst), line),
    )  # fmt: skip
    return [soon, throughout]


def _reached(injected: Recovery | None, step: int, line: float) -> float:
    """R² required after a kick: a model may lack three times what the law lacks there, since its
    second differences at coarse steps are not its acceleration."""
    r2 = {} if injected is None else injected.metrics.get("kick_r2") or {}
    known = r2.get(str(step))
    return line if known is None else min(line, 1 - 3 * (1 - known))


def after_a_kick(step: int) -> str:
    """Name of the R² so many steps after a kick."""
    return f"{KICK} after {plural(step, 'step')}"


def first_step(kick_r2: Mapping[str, float | None]) -> int:
    """The first step read after a kick: the second where masses differ between orbits."""
    return min(map(int, kick_r2), default=1)


@dataclass(frozen=True)
class WorldModelKind:
    """The world-model score: which kind of model the evidence shows.

    What a *field* is is `verdict_words.FIELD_MEANS`: the law's force where the model was trained. A
    *law* is that, and right out to twice the farthest distance of training or more. A model whose
    accelerations form one field on far and kicked states that is not the named law's has *another
    force*. It is *Keplerian* if it follows the shape of orbits: right on undisturbed orbits, wrong
    as soon as the velocity is turned and still four steps later, because it continues its former
    curve. A *parrot* is also right on undisturbed orbits and lost after a kick, but it copies: its
    squared error is hardly below that of a naive copier of its context, on both, and on undisturbed
    orbits it errs in the same directions. Everything else is *neither*; the gates of each kind say
    why. One that would be neither or another force, but whose answers are rounded so that the law
    itself would fail, *cannot be read at this step*.

    Attributes:
        kind: law, field, another force, Keplerian, parrot, neither, or cannot be read at this step.
        inside: requirements for the field; `passed` is None if nothing was measured.
        beyond: requirements for the law besides, shell by shell.
        holds_to: au; the farthest distance at which the law was found to hold without a break, from
            the distances of training on; None without the field.
        keplerian: requirements for a Keplerian model.
        parrot: the same for a parrot.
        another: the same for another force.
        far: what was measured on far states.
        beside: the model beside the best lookup of its orbits.
        limits: departures from the law with which a gate inside would have failed; of models with
            the field.
    """

    kind: str
    inside: tuple[Gate, ...]
    keplerian: tuple[Gate, ...]
    beyond: tuple[Gate, ...] = ()
    holds_to: float | None = None
    parrot: tuple[Gate, ...] = ()
    another: tuple[Gate, ...] = ()
    far: Examination | None = None
    beside: LookupComparison | None = None
    limits: FieldLimits | None = None


@dataclass(frozen=True)
class RunEvidence:
    """What decides the kind of a model besides its law.

    Attributes:
        orbit_r2: R² on undisturbed held-out orbits.
        kick_r2: R² by the number of steps since a kick.
        orbit: metrics of undisturbed orbits, which compare the model with naive copiers
            (`worldmodel.probes.comparison`).
        sources: R² of other sets of states within the distances of training, by name.
        far: the examination.
        beside: the model beside lookups.
    """

    orbit_r2: float | None
    kick_r2: Mapping[str, float | None]
    orbit: Mapping[str, Any]
    sources: Mapping[str, float | None] = field(default_factory=dict)
    far: Examination | None = None
    beside: LookupComparison | None = None


def world_model_kind(
    kicked: Recovery, evidence: RunEvidence, t: Thresholds, injected: Recovery | None = None
) -> WorldModelKind:
    """Which kind of world model the evidence shows; only kicked and far states can decide.

    Whether a formula came out of kicked states decides nothing: as a gate it refused 3 of the 24
    right fields of the study `beyond`, and is a condition on *recovered*. A model not tested on far
    states has neither field nor law.
    """
    kick_r2, step = evidence.kick_r2, first_step(evidence.kick_r2)
    first, later = (kick_r2.get(str(k)) for k in (step, LATER_STEP))
    inside = [measured(gate) for gate in kick_gates(kick_r2, injected, t.field_r2)]
    inside += [
        at_least(SOURCE.format(name), r2, t.field_r2) for name, r2 in evidence.sources.items()
    ]
    far = evidence.far
    of_field, beyond = far_gates(far, t), shell_gates(far, t)
    nearer = None
    if far is not None and far.all.error is not None:
        nearer = far.all.error / max(far.field_error, TINY)
    closer = at_least("nearer to that field than to the law", nearer, t.field_ratio)
    another = [
        share(
            ONE_FIELD, far.field_right if far else None, t.far_right, "within 10 % of it on", True
        ),
        share(KICK_FIELD, far.kick_field_error if far else None, t.field_error, "median error"),
        share(SOME, far.size if far else None, t.field_size, "median size", True),
        # errors about the law are as far from their own fit as from the law
        replace(closer, what="times as small a median error,"),
    ]
    another = [measured(gate) for gate in another]
    keplerian = [
        measured(at_least(UNDISTURBED, evidence.orbit_r2, t.orbit_r2)),
        at_most(after_a_kick(step), first, t.keplerian_r2),
        at_most(after_a_kick(LATER_STEP), later, t.field_r2, strictly=True),
    ]
    parrot = [*keplerian, *_parrot_gates(evidence.orbit, kicked.metrics, step, t)]
    keplerian += _ellipse_gates(evidence.orbit, kicked.metrics, step, t)
    inside += of_field
    holds_to = None
    # what was not measured is not passed
    if far is not None and all(gate.passed for gate in inside):
        held = [gate for gate in beyond if gate.passed]
        kind = LAW if held else FIELD
        holds_to = far.shells[OUTWARD[len(held) - 1]].high if held else far.radius[1]
    elif _pass(another, ONE_FIELD, KICK_FIELD, SOME) and not _fails(another) and _departs(of_field):
        kind = ANOTHER
    elif all(gate.passed for gate in parrot):
        kind = PARROT
    elif _pass(keplerian, UNDISTURBED, after_a_kick(step)) and not _fails(keplerian):
        kind = KEPLERIAN
    else:
        kind = NEITHER
    if too_coarse(far, t) and kind in (ANOTHER, NEITHER):
        kind = UNREADABLE
    return WorldModelKind(
        kind=kind, inside=tuple(inside), beyond=tuple(beyond), holds_to=holds_to,
        keplerian=tuple(keplerian), parrot=tuple(parrot), another=tuple(another), far=far,
        beside=evidence.beside,
    )  # fmt: skip


def too_coarse(far: Examination | None, t: Thresholds) -> bool:
    """Whether the rounding of its answers alone makes a model of the law fail on far states."""
    return far is not None and far.rounding > t.far_error


def _departs(gates: Iterable[Gate]) -> bool:
    """Whether a field is not the law's: in one of its parts, or for most states of a family. A
    model that is wrong in a corner of the states has no other force for that."""
    elsewhere = (CLOSED_LOOP, ANSWERED, FAR, FAMILIES, CELLS, PAST)
    return _fails(gate for gate in gates if gate.name not in elsewhere)


def _parrot_gates(
    orbit: Mapping[str, Any], kicked: Mapping[str, Any], step: int, t: Thresholds
) -> list[Gate]:
    """That a model gains nothing over a naive copier, and has its errors.

    Among the copiers measured, the first that it does not beat; else the one whose errors are most
    like its own.
    """
    by_copier = {
        name: _copier_gates(title, orbit.get(name) or {}, kicked.get(name) or {}, step, t)
        for name, title in COPIERS.items()
    }
    for gates in by_copier.values():
        if all(gate.passed for gate in gates):
            return gates
    return by_copier[max(COPIERS, key=lambda name: (orbit.get(name) or {}).get("likeness", -1.0))]


def _copier_gates(
    title: str, copier: Mapping[str, Any], after: Mapping[str, Any], step: int, t: Thresholds
) -> list[Gate]:
    gains = {
        f"gain over {title} on undisturbed orbits": copier.get("gain"),
        f"gain over {title} {plural(step, 'step')} after a kick": (
            after.get("kick_gain", {}).get(str(step))
        ),
    }
    gates = [at_most(name, gain, t.copier_gain) for name, gain in gains.items()]
    name = f"likeness to the errors of {title}"
    return [*gates, measured(at_least(name, copier.get("likeness"), t.copier_likeness))]


def _ellipse_gates(
    orbit: Mapping[str, Any], kicked: Mapping[str, Any], step: int, t: Thresholds
) -> list[Gate]:
    """That a model errs after a kick like a fitted ellipse, if orbits are ellipses."""
    if ((orbit.get("ellipse") or {}).get("r2") or 0.0) < t.r2:
        return []
    likeness = (kicked.get("ellipse") or {}).get("kick_likeness", {})
    return [
        measured(
            at_least(
                f"likeness to an ellipse {plural(k, 'step')} after a kick",
                likeness.get(str(k)), t.ellipse_likeness,
            )
        )
        for k in (step, LATER_STEP)
    ]  # fmt: skip


def _pass(gates: Iterable[Gate], *names: str) -> bool:
    """Whether gates of these names were measured, and hold."""
    by_name = {gate.name: gate.passed for gate in gates}
    return all(by_name.get(name) for name in names)


def _fails(gates: Iterable[Gate]) -> bool:
    return any(gate.passed is False for gate in gates)
