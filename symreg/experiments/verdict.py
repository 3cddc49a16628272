"""The verdict on a world model: every condition on its law, and on its kind, as gates.

On the orbits it was trained on, a model that merely fits ellipses also yields Newton's law, so
nothing read off held-out orbits counts for a model. What counts is read off kicked states: the
velocity turned and rescaled in mid-orbit, where only a model that knows the force stays right.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orbits.printing import plural
from orbits.whole_field import PARTS
from symreg.recovery.gates import Gate, at_least, at_most, measured, share, stated
from symreg.recovery.judge import null_gate
from symreg.recovery.result import Recovery
from symreg.recovery.thresholds import Thresholds
from symreg.recovery.words import NOT_RECOVERED, PERMUTED, number

Metric = float | None
NEWTONIAN, KEPLERIAN, PARROT, NEITHER = "Newtonian", "Keplerian", "parrot", "neither"
INTERPOLATOR, ANOTHER = "interpolator", "another force"
EVERY_KIND = (NEWTONIAN, ANOTHER, KEPLERIAN, INTERPOLATOR, PARROT, NEITHER)
DEPARTURES = {
    "exponent": "an exponent off by {:.2g}",
    "quartic": "{:.2g} au² in a term of 1/r⁴",
    "yukawa": "a Yukawa length above {:.2g} au",
}
"""Other central forces, by their names in the metrics of `far`, with a size."""
COPIERS = {"copier": "a copier", "training_copier": "a copier of the training orbits"}
"""Naive copiers for comparison, by their names in a probe's metrics."""
UNTRAINED, INJECTED = "untrained network", "true law injected"
KICK = "kick R²"
"""Names of the kick test's gates, before the step."""
FAR, LOCAL = "far states", "locality of the Jacobian"
REGION, CERTAIN = "far states by distance", "nothing else for certain"
SMOOTH = "nothing smooth left over"
RADIAL_PARTS = ("exponent", "curvature")
"""Parts of a field that another central force has; a constant may be off by more."""
OWN_FIELD = {"one field on far states": "field_error", "and after a kick": "kick_field_error"}
"""That the accelerations form a field, whatever its law: gates, and their numbers."""
SOME = "a force at all"
LOOKUPS = {"locally_linear": "locally linear lookup", "nearest": "nearest training context"}
"""Controls to be told from a force, and the names of their gates."""
LATER_STEP = 4
"""Steps after a kick at which the answer must be right, besides the first step read."""


def far_gates(
    far: Mapping[str, Metric], injected: Mapping[str, Metric], t: Thresholds
) -> list[Gate]:
    """What the whole field must show on states unlike any training orbit.

    `far` has the numbers of that read-out, `injected` the same for the injected law: no model need
    beat three times that.
    """

    def most(line: float, name: str) -> float:
        return max(line, 3 * (injected.get(name) or 0.0))

    error, line = far.get("error"), most(t.far_error, "error")
    gates = [measured(share(FAR, error, line, "median error"))]
    here = region(far, line)
    reached = None if error is None else here.share if here else 0.0
    gates.append(measured(share(REGION, reached, t.far_region, "of them right", True)))
    for name, words in PARTS.items():
        size, half = far.get(name), far.get(f"{name}_half_width")
        upper = None if size is None or half is None else size + half
        gate = share(f"no part {words}", upper, most(t.field_part, name), "its upper end")
        gates.append(measured(gate))
    sure = {name: _beyond_doubt(far, name) for name in (*RADIAL_PARTS, *PARTS)}
    known = {name: value for name, value in sure.items() if value is not None}
    largest = max(known, key=lambda name: known[name], default="")
    line = most(t.field_sure, largest)
    gates.append(measured(share(CERTAIN, known.get(largest), line, "the largest lower end")))
    left, smooth = far.get("field_error"), far.get("smooth_share")
    if left is not None and left <= most(t.field_sure, "field_error"):
        smooth = 0.0  # too little to speak of
    gates.append(measured(share(SMOOTH, smooth, t.smooth_share, "the smooth part of what is left")))
    return gates


def _beyond_doubt(far: Mapping[str, Metric], name: str) -> Metric:
    """The part of a field beyond its uncertainty."""
    size, half = far.get(name), far.get(f"{name}_half_width")
    return None if size is None or half is None else max(0.0, size - half)


@dataclass(frozen=True)
class Region:
    """Distances from `start` to `stop`, au, that hold a `share` of the far states."""

    start: float
    stop: float
    share: float


def region(far: Mapping[str, Metric], line: float) -> Region | None:
    """The widest range of distances over which the median error stays below a line, if any.

    The numbers of the read-out `far` are by ranges of distance with equally many states.
    """
    places = list(itertools.takewhile(lambda k: f"place_{k}_to" in far, itertools.count(1)))
    ends = [far.get("closest"), *(far[f"place_{k}_to"] for k in places)]
    widest: list[int] = []

    def is_right(k: int) -> bool:
        error = far.get(f"place_{k}_error")
        return error is not None and error <= line

    for right, run in itertools.groupby(places, is_right):
        widest = max(widest, list(run) if right else [], key=len)
    if not widest:
        return None
    first, last = ends[widest[0] - 1], ends[widest[-1]]
    assert first is not None  # for the type checker: measured together
    assert last is not None
    return Region(first, last, len(widest) / len(places))


def unnoticed(far: Mapping[str, Metric], t: Thresholds) -> dict[str, float]:
    """How far a force may depart from the law before a gate on far states fails.

    The departure is added to the model's own field: a part that no central force has stays below
    both lines up to the smaller of `field_part` minus its half-width and `field_sure` plus it;
    another central force adds to the parts that depend on distance. In shares of the law's
    acceleration, and of `DEPARTURES` in their own units: of the exponent, au², and au of a Yukawa
    length (a longer one goes unnoticed).
    """
    half = {
        name: width
        for name in (*RADIAL_PARTS, *PARTS)
        if (width := far.get(f"{name}_half_width")) is not None
    }
    found = {
        name: max(0.0, min(t.field_part - half[name], t.field_sure + half[name]))
        for name in PARTS
        if name in half
    }
    for other in DEPARTURES:
        seen = [
            (t.field_sure + half[name]) / per_unit
            for name in RADIAL_PARTS
            if name in half and (per_unit := far.get(f"{name}_per_{other}"))
        ]
        if seen:
            found[other] = min(seen)
    if "exponent" in found:
        found["exponent"] = min(found["exponent"], t.exponent_margin)
    if "yukawa" in found:
        found["yukawa"] = found["yukawa"] ** -0.5
    return found


def model_gates(
    kicked: Recovery,
    kick_r2: Mapping[str, float | None],
    controls: Mapping[str, Recovery],
    t: Thresholds,
    far: Mapping[str, Mapping[str, Metric]],
) -> list[Gate]:
    """Every condition on the law of a world model: those on kicked states, kicks and controls.

    `kick_r2` is R² of the implied acceleration by the number of steps since the kick; `far` has the
    numbers of that read-out, of the model ("") and of each control.
    """
    gates = [gate for gate in kicked.gates if gate.name != PERMUTED]
    # a run knows its law: an exponent or a constant that could not be measured is no pass
    for what, quantity in (("exponent of r", kicked.exponent), ("constant", kicked.constant)):
        if not any(gate.name.startswith(what) for gate in gates):
            gates.append(stated(what, False, "near the true law's", number(quantity.value)))
    steps = {first_step(kick_r2), LATER_STEP} | {int(step) for step in kick_r2}
    for step in sorted(steps):
        value, line = kick_r2.get(str(step)), _reached(controls.get("injected"), step, t.kick_r2)
        gates.append(at_least(after_a_kick(step), value, line))
    gates += far_gates(far.get("", {}), far.get("injected", {}), t)
    gates += [gate for gate in kicked.gates if gate.name == PERMUTED]
    if untrained := controls.get("untrained"):
        gates.append(null_gate(UNTRAINED, untrained))
    if injected := controls.get("injected"):
        found = "recovered" if injected.recovered else NOT_RECOVERED
        gates.append(stated(INJECTED, injected.recovered, "recovered", found))
    for name, title in LOOKUPS.items():
        error = far.get(name, {}).get("error")
        if name in controls and error is not None:
            gates.append(share(title, error, t.far_error, "lost on far states: median error", True))
    return gates


def _reached(injected: Recovery | None, step: int, line: float) -> float:
    """R² required after a kick: a model may lack three times what the law lacks there, since its
    second differences at coarse steps are not its acceleration."""
    found = {} if injected is None else injected.metrics.get("kick_r2") or {}
    known = found.get(str(step))
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

    A model is *Newtonian* if it knows the force on the states tested: after the velocity is turned
    in mid-orbit, its predictions imply the right acceleration at once and four steps later, they
    depend on the last positions alone, the law comes out of those kicked states, and the
    acceleration is the law's on far states too, with no part that a central force lacks. One that
    is right after a kick and lost on far states is an *interpolator*: it looks up its training
    data. One whose accelerations form one field on far and kicked states, but not the named law's,
    knows *another force*. It is *Keplerian* if it knows the shape of orbits: right on undisturbed
    orbits, wrong as soon as the velocity is turned and still four steps later, because it continues
    its former curve. A *parrot* is also right on undisturbed orbits and lost after a kick, but it
    copies: its squared error is hardly below that of a naive copier of its context, on both, and on
    undisturbed orbits it errs in the same directions. Everything else is *neither*: wrong on
    undisturbed orbits already, right again soon after the kick (a model that extrapolates from a
    few positions more than it needs), or in between; the gates of both kinds say which.

    "Newtonian" refers to the kind of law, not its exponent: a model that knows Hooke's force is
    Newtonian, one that continues Hooke's ellipses is Keplerian.

    Attributes:
        kind: Newtonian, another force, interpolator, Keplerian, parrot or neither.
        newtonian: requirements for a Newtonian model; `passed` is None if nothing was measured.
        keplerian: the same for a Keplerian one.
        parrot: the same for a parrot.
        another: the same for another force.
        region: distances within which the acceleration is the law's, if far states were tested.
        unnoticed: departures from the law, by name, up to which no gate would have failed.
    """

    kind: str
    newtonian: tuple[Gate, ...]
    keplerian: tuple[Gate, ...]
    parrot: tuple[Gate, ...] = ()
    another: tuple[Gate, ...] = ()
    region: Region | None = None
    unnoticed: Mapping[str, float] = field(default_factory=dict)


def world_model_kind(
    orbit_r2: float | None,
    kicked: Recovery,
    kick_r2: Mapping[str, float | None],
    t: Thresholds,
    locality: float | None = None,
    gm_varies: bool = False,
    injected: Recovery | None = None,
    copiers: Mapping[str, Any] | None = None,
    far: Mapping[str, Mapping[str, Metric]] | None = None,
) -> WorldModelKind:
    """Which kind of world model the evidence shows; only kicked states can decide.

    Evidence beyond `model_gates`: R² on undisturbed held-out orbits, locality of the Jacobian, and
    `copiers`, the metrics of undisturbed orbits, which compare the model with naive copiers
    (`worldmodel.probes.comparison`). Where GM differs between orbits it must be inferred from older
    positions, and a Jacobian that reaches back is no fault. A law that is not found even when
    injected is not required of the model. One not tested on far states is not called Newtonian.
    """
    step = first_step(kick_r2)
    first, later = (kick_r2.get(str(k)) for k in (step, LATER_STEP))
    soon, late = after_a_kick(step), after_a_kick(LATER_STEP)
    after = {soon: (first, step), late: (later, LATER_STEP)}
    newtonian = [
        measured(at_least(name, r2, _reached(injected, k, t.newtonian_r2)))
        for name, (r2, k) in after.items()
    ]
    if not gm_varies:
        newtonian.append(measured(at_least(LOCAL, locality, t.locality)))
    if kicked.recovered or injected is None or injected.recovered:
        found = "recovered" if kicked.recovered else NOT_RECOVERED
        newtonian.append(stated("law from kicked states", kicked.recovered, "recovered", found))
    own, known = (far or {}).get("", {}), (far or {}).get("injected", {})
    beyond = far_gates(own, known, t)
    another = [
        measured(share(name, own.get(key), beyond[0].most or t.far_error, "median error"))
        for name, key in OWN_FIELD.items()
    ]
    another.append(measured(share(SOME, own.get("size"), t.field_size, "median size", True)))
    if not gm_varies:
        another.append(measured(at_least(LOCAL, locality, t.locality)))
    keplerian = [
        measured(at_least("R² on undisturbed orbits", orbit_r2, t.orbit_r2)),
        at_most(soon, first, t.keplerian_r2),
        at_most(late, later, t.newtonian_r2, strictly=True),
    ]
    parrot = [*keplerian, *_parrot_gates(copiers or {}, kicked.metrics, step, t)]
    keplerian += _ellipse_gates(copiers or {}, kicked.metrics, step, t)
    kind = NEITHER
    follows = all(gate.passed for gate in newtonian[:2])
    newtonian += beyond
    if follows and not _fails(newtonian) and all(gate.passed for gate in beyond):
        kind = NEWTONIAN
    elif all(gate.passed for gate in another[:3]) and not _fails(another):
        kind = ANOTHER
    elif all(gate.passed for gate in parrot):
        kind = PARROT
    elif all(gate.passed for gate in keplerian[:2]) and not _fails(keplerian):
        kind = KEPLERIAN
    elif follows and beyond[0].passed is False:
        kind = INTERPOLATOR
    return WorldModelKind(
        kind, tuple(newtonian), tuple(keplerian), tuple(parrot), tuple(another),
        region(own, beyond[0].most or t.far_error), unnoticed(own, t),
    )  # fmt: skip


def _parrot_gates(
    orbit: Mapping[str, Any], kicked: Mapping[str, Any], step: int, t: Thresholds
) -> list[Gate]:
    """That a model gains nothing over a naive copier, and has its errors.

    Among the copiers measured, the first that it does not beat; else the one whose errors are most
    like its own.
    """
    found = {
        name: _copier_gates(title, orbit.get(name) or {}, kicked.get(name) or {}, step, t)
        for name, title in COPIERS.items()
    }
    for gates in found.values():
        if all(gate.passed for gate in gates):
            return gates
    return found[max(COPIERS, key=lambda name: (orbit.get(name) or {}).get("likeness", -1.0))]


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
    found = (kicked.get("ellipse") or {}).get("kick_likeness", {})
    return [
        measured(
            at_least(
                f"likeness to an ellipse {plural(k, 'step')} after a kick",
                found.get(str(k)), t.ellipse_likeness,
            )
        )
        for k in (step, LATER_STEP)
    ]  # fmt: skip


def _fails(gates: Iterable[Gate]) -> bool:
    return any(gate.passed is False for gate in gates)
