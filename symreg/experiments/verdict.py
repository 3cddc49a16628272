"""The verdict on a world model: every condition on its law, and on its kind, as gates.

On the orbits it was trained on, a model that merely fits ellipses also yields Newton's law, so
nothing read off held-out orbits counts for a model. What counts is read off kicked states, the
velocity turned and rescaled in mid-orbit, and off far states, which resemble no training orbit. The
field and the law are two questions: on which states the acceleration is the law's, and whether
anything more than interpolation of the training orbits is needed to have it there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orbits.printing import plural
from orbits.whole_field import PARTS, TINY, Terms
from symreg.experiments.far_field import Comparison, FarField, Limits
from symreg.recovery.gates import Gate, at_least, at_most, measured, share, stated
from symreg.recovery.judge import null_gate
from symreg.recovery.result import Recovery
from symreg.recovery.thresholds import Thresholds
from symreg.recovery.words import NOT_RECOVERED, PERMUTED, number

Metric = float | None
NEWTON = "newton"
"""The law that moves real planets."""
NEWTONIAN, KEPLERIAN, PARROT, NEITHER = "Newtonian", "Keplerian", "parrot", "neither"
LOOKUP, ANOTHER = "as a lookup would", "another force"
UNREADABLE = "cannot be read at this step"
EVERY_KIND = (NEWTONIAN, ANOTHER, KEPLERIAN, LOOKUP, PARROT, NEITHER, UNREADABLE)
COPIERS = {"copier": "a copier", "training_copier": "a copier of the training orbits"}
"""Naive copiers for comparison, by their names in a probe's metrics."""
UNTRAINED, INJECTED = "untrained network", "true law injected"
KICK = "kick R²"
"""Names of the kick test's gates, before the step."""
FAR, CELLS, FAMILY_ERROR = "far states by family", "far states by cell", "median by family"
ANSWERED, CLOSED_LOOP = "far states answered", "on its own predictions"
CERTAIN = "nothing else for certain"
EVEN = "even over the states"
BEATS = "better than the best lookup"
LOCAL = "locality of the Jacobian"
RADIAL_PARTS = ("exponent", "curvature")
"""Parts of a field that another central force has; a constant may be off by more."""
ONE_FIELD, KICK_FIELD = "one field on far states", "and after a kick"
"""That the accelerations form a field, whatever its law."""
SOME = "a force at all"
LATER_STEP = 4
"""Steps after a kick at which a Keplerian model is still wrong."""


def far_gates(
    far: FarField | None, injected: FarField | None, beside: Comparison | None, t: Thresholds
) -> list[Gate]:
    """What the whole field must show on states unlike any training orbit, and beside lookups.

    No model need be better than three times as wrong as the injected law at the same time step.
    """
    if far is None:
        return [measured(share(FAR, None, t.far_right, "of them within 10 %", True))]
    true = injected or far
    families = {name: each for name, each in far.families.items() if each.right is not None}
    cells = [each for each in far.cells if _counted(each.answered, each.states, t)]
    gates = [at_least_share(ANSWERED, far.all.answered, t.answered, "of them")]
    worst = max(families, key=lambda name: families[name].error or 0.0)
    own = families[worst].error
    most = max(t.far_error, 3 * (_of(injected, worst, "error") or 0.0))
    gates.append(measured(share(FAMILY_ERROR, own, most, f"of {worst}")))
    # each family by its own line, all states by a higher one: a wrong corner that every family
    # shares, such as a sector, is a few per cent of each
    shares = {
        name: (each.right or 0.0, _allowed(t.far_right, _of(injected, name, "right")))
        for name, each in families.items()
    }
    overall = _allowed(t.all_right, injected.all.right if injected else None)
    shares["all"] = far.all.right or 0.0, overall
    worst = min(shares, key=lambda name: shares[name][0] - shares[name][1])
    gates.append(at_least_share(FAR, *shares[worst], f"of {worst} states within 10 %"))
    if cells:
        cell = min(cells, key=lambda each: each.right or 0.0)
        least = _allowed(t.cell_right, true.all.right if injected else None)
        gates.append(at_least_share(CELLS, cell.right, least, f"of those at {cell} within 10 %"))
    gates.append(
        measured(
            at_least_share(CLOSED_LOOP, far.closed_loop_right, t.far_right, "of them within 10 %")
        )
    )
    sizes = {name: (part.size, part.half_width) for name, part in far.parts.items()}
    limits = {name: part.size for name, part in (injected.parts if injected else {}).items()}
    gates += part_gates(sizes, limits, t)
    most = max(t.field_part, 3 * (injected.unevenness if injected else 0.0))
    gates.append(measured(share(EVEN, far.unevenness, most, "a difference between groups")))
    if beside is not None:
        gate = at_least(BEATS, beside.ratio, t.lookup_ratio)
        if not beside.decides:
            reason = "the lookup is right too: these orbits cannot tell a law from a table"
            gate = Gate(BEATS, None, beside.ratio, told=reason)
        gates.append(replace(gate, what="times as small a mean error,"))
    return gates


def part_gates(
    sizes: Mapping[str, tuple[float, float]], law: Mapping[str, float], t: Thresholds
) -> list[Gate]:
    """That no part of a field is one that the law lacks.

    Args:
        sizes: of each part, with the half-width of its 95 % interval.
        law: sizes that the injected law has.
        t: the thresholds.
    """

    def most(line: float, name: str) -> float:
        return max(line, 3 * law.get(name, 0.0))

    gates = [
        measured(
            share(f"no part {words}", sum(sizes[name]), most(t.field_part, name), "its upper end")
        )
        for name, words in PARTS.items()
        if name in sizes
    ]
    sure = {
        name: max(0.0, sizes[name][0] - sizes[name][1])
        for name in (*RADIAL_PARTS, *PARTS)
        if name in sizes
    }
    largest = max(sure, key=lambda name: sure[name], default="")
    gate = share(CERTAIN, sure.get(largest), most(t.field_sure, largest), "the largest lower end")
    return [*gates, measured(gate)]


def at_least_share(name: str, value: Metric, least: float, what: str) -> Gate:
    """A gate for a share that is enough at the threshold itself."""
    return Gate(name, value is not None and value >= least, value, least, kind="share", what=what)


def _allowed(line: float, injected: Metric) -> float:
    """The share that must be right: three times what the injected law lacks may be missing."""
    return line if injected is None else min(line, 1 - 3 * (1 - injected))


def _of(far: FarField | None, family: str, name: str) -> Metric:
    return (
        None if far is None or family not in far.families else getattr(far.families[family], name)
    )


def _counted(answered: Metric, states: int, t: Thresholds) -> bool:
    return (answered or 0.0) * states >= t.cell_states


def holds_field(far: FarField, injected: FarField | None, t: Thresholds) -> bool:
    """Whether something passes for the law on far states, whatever lookups do."""
    return all(gate.passed is not False for gate in far_gates(far, injected, None, t))


def still_passes(
    acceleration: np.ndarray, terms: Terms, family: np.ndarray, far: FarField, t: Thresholds
) -> bool:
    """Whether accelerations with a departure added pass the gates on far states.

    The uncertainty of the parts is that of the model's own field.
    """
    error = np.linalg.norm(acceleration - terms.true, axis=1) / terms.size
    for each in np.unique(family):
        own = error[family == each]
        if np.median(own) > t.far_error or np.mean(own <= 0.1) < t.far_right:
            return False
    if np.mean(error <= 0.1) < t.all_right:
        return False
    if terms.unevenness(acceleration) > t.field_part:
        return False
    sizes = terms.sizes(terms.coefficients(acceleration))
    widths = {name: (sizes[name], part.half_width) for name, part in far.parts.items()}
    return all(gate.passed for gate in part_gates(widths, {}, t))


def part_limit(far: FarField, t: Thresholds) -> float:
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
    gates += [gate for gate in far if gate.name != BEATS or gate.passed is not None]
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

    A model is *Newtonian* if after the velocity is turned in mid-orbit its predictions imply the
    right acceleration at once and at every later step, the law comes out of those kicked states, it
    depends on the last positions alone, its acceleration is the law's in every family and cell of
    far states and on its own predictions, with no part that a central force lacks; and if it errs
    at most half as much there as the best lookup of the same orbits. One that is right after a kick
    and no better than that is called *as a lookup would*. One whose accelerations form one field on
    far and kicked states that is not the named law's has *another force*. It is *Keplerian* if it
    follows the shape of orbits: right on undisturbed orbits, wrong as soon as the velocity is
    turned and still four steps later, because it continues its former curve. A *parrot* is also
    right on undisturbed orbits and lost after a kick, but it copies: its squared error is hardly
    below that of a naive copier of its context, on both, and on undisturbed orbits it errs in the
    same directions. Everything else is *neither*; the gates of each kind say why. One that would be
    neither, another force or a lookup, but whose answers are rounded so that the law itself would
    fail, *cannot be read at this step*.

    "Newtonian" refers to the kind of law, not its exponent: a model that accelerates by Hooke's law
    is Newtonian where orbits obey Hooke's, one that continues Hooke's ellipses is Keplerian.

    Attributes:
        kind: Newtonian, as a lookup would, another force, Keplerian, parrot, neither, or cannot be
            read at this step.
        newtonian: requirements for a Newtonian model; `passed` is None if nothing was measured.
        keplerian: the same for a Keplerian one.
        parrot: the same for a parrot.
        another: the same for another force.
        far: what was measured on far states.
        beside: the model beside the best lookup of its orbits.
        limits: departures from the law with which a gate would have failed; of Newtonian models.
    """

    kind: str
    newtonian: tuple[Gate, ...]
    keplerian: tuple[Gate, ...]
    parrot: tuple[Gate, ...] = ()
    another: tuple[Gate, ...] = ()
    far: FarField | None = None
    beside: Comparison | None = None
    limits: Limits | None = None


@dataclass(frozen=True)
class Evidence:
    """What decides the kind of a model besides its law.

    Attributes:
        orbit_r2: R² on undisturbed held-out orbits.
        kick_r2: R² by the number of steps since a kick.
        orbit: metrics of undisturbed orbits, which compare the model with naive copiers
            (`worldmodel.probes.comparison`).
        locality: of the Jacobian.
        gm_varies: whether GM differs between orbits: then it is inferred from older positions, and
            a Jacobian that reaches back is no fault.
        far: numbers on far states.
        injected_far: the same of the injected law.
        beside: the model beside lookups.
    """

    orbit_r2: float | None
    kick_r2: Mapping[str, float | None]
    orbit: Mapping[str, Any]
    locality: float | None = None
    gm_varies: bool = False
    far: FarField | None = None
    injected_far: FarField | None = None
    beside: Comparison | None = None


def world_model_kind(
    kicked: Recovery, evidence: Evidence, t: Thresholds, injected: Recovery | None = None
) -> WorldModelKind:
    """Which kind of world model the evidence shows; only kicked and far states can decide.

    A law that is not found even when injected is not required of the model. One not tested on far
    states is not called Newtonian.
    """
    kick_r2, step = evidence.kick_r2, first_step(evidence.kick_r2)
    first, later = (kick_r2.get(str(k)) for k in (step, LATER_STEP))
    kicks = [measured(gate) for gate in kick_gates(kick_r2, injected, t.newtonian_r2)]
    local = [] if evidence.gm_varies else [measured(at_least(LOCAL, evidence.locality, t.locality))]
    newtonian = [*kicks, *local]
    if kicked.recovered or injected is None or injected.recovered:
        outcome = "recovered" if kicked.recovered else NOT_RECOVERED
        newtonian.append(stated("law from kicked states", kicked.recovered, "recovered", outcome))
    far, beside = evidence.far, evidence.beside
    beyond = far_gates(far, evidence.injected_far, beside, t)
    nearer = None
    if far is not None and far.all.error is not None:
        nearer = far.all.error / max(far.field_error, TINY)
    another = [
        measured(
            at_least_share(
                ONE_FIELD, far.field_right if far else None, t.far_right, "within 10 % of it"
            )
        ),
        measured(
            share(KICK_FIELD, far.kick_field_error if far else None, t.field_error, "median error")
        ),
        measured(share(SOME, far.size if far else None, t.field_size, "median size", True)),
        # errors about the law are as far from their own fit as from the law
        measured(
            replace(
                at_least("nearer to that field than to the law", nearer, t.lookup_ratio),
                what="times as small a median error,",
            )
        ),
        *local,
    ]
    keplerian = [
        measured(at_least("R² on undisturbed orbits", evidence.orbit_r2, t.orbit_r2)),
        at_most(after_a_kick(step), first, t.keplerian_r2),
        at_most(after_a_kick(LATER_STEP), later, t.newtonian_r2, strictly=True),
    ]
    parrot = [*keplerian, *_parrot_gates(evidence.orbit, kicked.metrics, step, t)]
    keplerian += _ellipse_gates(evidence.orbit, kicked.metrics, step, t)
    follows = all(gate.passed for gate in kicks)
    newtonian += beyond
    if follows and far is not None and not _fails(newtonian):
        kind = NEWTONIAN
    elif all(gate.passed for gate in another[:3]) and not _fails(another) and _departs(beyond):
        kind = ANOTHER
    elif all(gate.passed for gate in parrot):
        kind = PARROT
    elif all(gate.passed for gate in keplerian[:2]) and not _fails(keplerian):
        kind = KEPLERIAN
    elif follows and beside is not None and beside.ratio < t.lookup_ratio:
        kind = LOOKUP
    else:
        kind = NEITHER
    if too_coarse(far, t) and kind in (ANOTHER, LOOKUP, NEITHER):
        kind = UNREADABLE
    return WorldModelKind(
        kind, tuple(newtonian), tuple(keplerian), tuple(parrot), tuple(another), far, beside
    )


def too_coarse(far: FarField | None, t: Thresholds) -> bool:
    """Whether the rounding of its answers alone makes a model of the law fail on far states."""
    return far is not None and far.rounding > t.far_error


def _departs(gates: Iterable[Gate]) -> bool:
    """Whether a field is not the law's: in one of its parts, or for most states of a family. A
    model that is wrong in a corner of the states has no other force for that."""
    elsewhere = (BEATS, CLOSED_LOOP, ANSWERED, FAR, CELLS)
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


def _fails(gates: Iterable[Gate]) -> bool:
    return any(gate.passed is False for gate in gates)
