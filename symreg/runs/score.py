"""The world-model score: is what a model learned Newtonian, Keplerian or neither?

A model is *Newtonian* if it knows a force: after its velocity is turned in mid-orbit, its
predictions imply the right acceleration at once and four steps later, they depend on the last
positions alone, and the law comes out of those kicked states.
It is *Keplerian* if it knows the shape of orbits: right on undisturbed orbits, wrong as soon as
the velocity is turned and still four steps later, because it continues the curve on which it was.
Everything else is *neither*: wrong on undisturbed orbits already, right again soon after the kick
(a model that extrapolates from a few positions more than it needs), or somewhere between the two,
and the evidence beside the word says which.

"Newtonian" speaks of the kind of law, not of its exponent: a model that knows Hooke's force is
Newtonian, one that continues Hooke's ellipses is Keplerian.
"""

from dataclasses import asdict, dataclass
from typing import Any

from symreg.runs.gates import ELLIPSE_FITTER_R2, FOUND, LATER_STEP, is_found

NEWTONIAN, KEPLERIAN, NEITHER = "Newtonian", "Keplerian", "neither"


@dataclass(frozen=True)
class ScoreThresholds:
    """Where the line is drawn; what models gave is in LOG.md, and some lie between the kinds."""

    kick_r2: float = 0.9
    """Least R² at the first step read after a kick (the second, where masses differ between
    orbits) and four steps after it for a Newtonian model (looser than the gate, which asks whether
    the law is exact, not of which kind it is). A Keplerian model is below it at four steps."""
    lost_r2: float = 0.5
    """Largest R² at that first step for a Keplerian model."""
    orbit_r2: float = ELLIPSE_FITTER_R2
    """Least R² on undisturbed orbits for a Keplerian model."""
    locality: float = 0.9
    """Least locality of the Jacobian for a Newtonian model: 1 where a prediction depends on the
    last two positions as inertia has it and on no older one: all that a second-order law needs."""


@dataclass(frozen=True)
class Evidence:
    """One measurement, what each kind of model must show in it, and whether this one does.

    `newtonian` and `keplerian` are None where the kind asks nothing, or nothing was measured.
    """

    name: str
    found: float | str | None
    asked: str
    newtonian: bool | None
    keplerian: bool | None


def score(
    orbit: dict[str, Any] | None,
    kicked: dict[str, Any] | None,
    jacobian: dict[str, Any] | None = None,
    gm_varies: bool = False,
    injected: dict[str, Any] | None = None,
    thresholds: ScoreThresholds | None = None,
) -> dict[str, Any] | None:
    """Which kind of world model the evidence shows.

    Args:
        orbit: what undisturbed held-out orbits gave (`r2`), if they were looked at.
        kicked: what kicked states gave: `kick_r2` by step, `verdict` and `recovered` of the law.
        jacobian: metrics of the Jacobian read-out (`locality`), if it was made.
        gm_varies: whether GM differs between orbits; it must be inferred from older positions then,
            and a Jacobian that reaches back is no fault.
        injected: `verdict` and `recovered` of the law itself on the same states, if that control
            was run; a law that is not found again even there is not asked of the model.
        thresholds: where the line is drawn.

    Returns:
        `kind` (Newtonian, Keplerian or neither), `words`, `evidence` (a list of `Evidence` as
        dictionaries) and `thresholds`; None without kicked states, which alone can decide.
    """
    if kicked is None:
        return None
    t = thresholds or ScoreThresholds()
    steps = sorted(map(int, kicked["kick_r2"])) or [1]
    first, fourth = (kicked["kick_r2"].get(str(step)) for step in (steps[0], LATER_STEP))
    on_orbit = None if orbit is None else orbit["r2"]
    locality = None if jacobian is None else jacobian.get("locality")
    found = is_found(kicked)
    findable = found or injected is None or is_found(injected)
    evidence = [
        Evidence(
            "R² on undisturbed orbits", on_orbit, f"Keplerian: at least {t.orbit_r2:g}",
            None, _at_least(on_orbit, t.orbit_r2),
        ),
        Evidence(
            f"R² {steps[0]} step{'s' * (steps[0] > 1)} after a kick", first,
            f"Newtonian: at least {t.kick_r2:g}; Keplerian: at most {t.lost_r2:g}",
            _at_least(first, t.kick_r2), None if first is None else first <= t.lost_r2,
        ),
        Evidence(
            "R² 4 steps after a kick", fourth,
            f"Newtonian: at least {t.kick_r2:g}; Keplerian: less",
            _at_least(fourth, t.kick_r2), None if fourth is None else fourth < t.kick_r2,
        ),
        Evidence(
            "locality of the Jacobian", locality,
            "nothing: GM varies" if gm_varies else f"Newtonian: at least {t.locality:g}",
            None if gm_varies else _at_least(locality, t.locality), None,
        ),
        Evidence(
            "law from kicked states", kicked["verdict"] if found else "not recovered",
            f"Newtonian: {' or '.join(FOUND)}" if findable
            else "nothing: it is not found in the true law's own states",
            found if findable else None, None,
        ),
    ]  # fmt: skip
    kind = _kind(evidence)
    return {
        "kind": kind,
        "words": _words(kind, evidence),
        "evidence": [asdict(item) for item in evidence],
        "thresholds": asdict(t),
    }


def _kind(evidence: list[Evidence]) -> str:
    """Newtonian if nothing measured speaks against it, the kick included; Keplerian only if all
    of its conditions were measured and hold."""
    orbit, kick, later = evidence[:3]
    if kick.newtonian and later.newtonian and all(item.newtonian is not False for item in evidence):
        return NEWTONIAN
    if orbit.keplerian and kick.keplerian and all(e.keplerian is not False for e in evidence):
        return KEPLERIAN
    return NEITHER


def _words(kind: str, evidence: list[Evidence]) -> str:
    orbit, kick, later = evidence[:3]
    if kind == NEWTONIAN:
        return "It goes on rightly from states that it never saw: it knows a force."
    if kind == KEPLERIAN:
        return "Right on the orbits that it saw, lost after a kick: it knows the shape of orbits."
    if orbit.keplerian is False:
        return "Its predictions are poor on undisturbed orbits already: it knows neither."
    if kick.keplerian and later.newtonian:
        return "Lost at once after a kick, right again four steps later: its memory is short."
    failed = [item.name for item in evidence if item.newtonian is False]
    if kick.newtonian:
        return f"It follows a force after a kick, but not in all: {', '.join(failed)}."
    return f"Between the two: {', '.join(failed)} below what a known force gives."


def _at_least(value: float | None, threshold: float) -> bool | None:
    return None if value is None else value >= threshold
