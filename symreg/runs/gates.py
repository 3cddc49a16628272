"""When a law counts as recovered from a world model: every gate, its threshold and its value.

On the orbits it was trained on, a model that merely fits ellipses also yields Newton's law, so
nothing that is read off held-out orbits counts. What counts is read off kicked states: the
velocity turned and rescaled in mid-orbit, where only a model that knows the force can go on.
"""

from dataclasses import asdict, dataclass
from typing import Any

FOUND = ("exact", "up_to_scale")
"""Verdicts that say: this is the reference law."""

INSTRUMENT = ("permuted targets", "untrained network", "true law injected")
"""Gates that test the instrument, not the model."""

LATER_STEP = "4"
"""Steps after a kick at which the answer must be right too, beside the first step read."""

ELLIPSE_FITTER_R2 = 0.8
"""A model that fails the kicks but has this R² on held-out orbits has learned their shape."""


def is_found(result: dict[str, Any]) -> bool:
    """Whether a recovery says: this is the reference law, and it counts."""
    return result["verdict"] in FOUND and bool(result["recovered"])


@dataclass(frozen=True)
class Thresholds:
    """What kicked states must show; the same for every law."""

    exponent_margin: float = 0.05
    """Largest distance of the free exponent from that of the true law on the same states."""
    constant_margin: float = 0.05
    """Largest relative error of every constant of the law."""
    kick_r2: float = 0.97
    """Least R^2 of the implied acceleration at the first step that is read after the kick, and four
    steps after it."""
    seeds_agreeing: float = 0.8
    """Least fraction of the search seeds that find the law."""


@dataclass(frozen=True)
class Gate:
    """One condition, with what was asked and what was found."""

    name: str
    passed: bool
    required: str
    found: str


def gates(
    kicked: dict[str, Any], controls: dict[str, dict[str, Any]], thresholds: Thresholds
) -> list[Gate]:
    """Hold the evidence against every condition.

    Args:
        kicked: what was recovered from kicked states, as `symreg recover` writes it, with the
            probe's metrics under `metrics`.
        controls: the same for the controls that were run, of `injected` and `untrained`.
        thresholds: what is asked.
    """
    found = [
        Gate(
            "law",
            is_found(kicked),
            f"{' or '.join(FOUND)} on kicked states",
            kicked["verdict"] if kicked["recovered"] else f"{kicked['verdict']}, not recovered",
        )
    ]
    exponent = kicked["exponent"]
    distance = _distance(exponent.get("value"), exponent.get("truth"))
    found.append(
        Gate(
            "exponent",
            distance is not None and distance <= thresholds.exponent_margin,
            f"within {thresholds.exponent_margin:g} of {_truth(exponent)}",
            _number(exponent.get("value")),
        )
    )
    for name, constant in _constants(kicked).items():
        error = constant.get("relative_error")
        found.append(
            Gate(
                f"constant {name}",
                error is not None and abs(error) <= thresholds.constant_margin,
                f"within {thresholds.constant_margin:.0%} of {_truth(constant)}",
                _number(constant.get("value")),
            )
        )
    measured = kicked["metrics"]["kick_r2"]
    asked = dict.fromkeys((min(measured, key=int, default="1"), LATER_STEP)) | measured
    for step, value in sorted(asked.items(), key=lambda item: int(item[0])):
        found.append(
            Gate(
                f"kick R² after {step} step{'s' if step != '1' else ''}",
                value is not None and value >= thresholds.kick_r2,
                f"at least {thresholds.kick_r2:g}",
                _number(value),
            )
        )
    seeds = kicked["seeds"]
    found.append(
        Gate(
            "search seeds",
            seeds["agreeing"] >= thresholds.seeds_agreeing * seeds["run"],
            f"at least {thresholds.seeds_agreeing:.0%} agree",
            f"{seeds['agreeing']} of {seeds['run']}",
        )
    )
    permuted = kicked["nulls"]["permuted"]
    found.append(_null("permuted targets", permuted))
    if untrained := controls.get("untrained"):
        found.append(_null("untrained network", untrained))
    if injected := controls.get("injected"):
        found.append(
            Gate(
                "true law injected",
                bool(injected["recovered"]),
                "recovered",
                "recovered" if injected["recovered"] else f"not recovered ({injected['verdict']})",
            )
        )
    return found


def in_words(
    name: str, found: list[Gate], sources: dict[str, dict[str, Any]], keplerian: bool
) -> str:
    """What the gates say about the model, in plain words.

    Args:
        name: the law that moved the training orbits.
        found: the gates.
        sources: what was recovered from each set of states.
        keplerian: whether the world-model score says so.
    """
    failed = [gate.name for gate in found if not gate.passed]
    if not failed:
        return (
            f"The model believes in {name}: the law comes out of states whose velocity was turned "
            "in mid-orbit, and the controls are as they must be "
            f"({', '.join(gate.name for gate in found if gate.name in INSTRUMENT)})."
        )
    instrument = set(INSTRUMENT) & set(failed)
    if instrument:
        return (
            "No conclusion about the model: the instrument failed its own controls "
            f"({', '.join(sorted(instrument))})."
        )
    kicks = [gate.name for gate in found if gate.name.startswith("kick R²") and not gate.passed]
    not_recovered = f"{name[:1].upper()}{name[1:]} is not recovered."
    orbit = sources.get("orbit")
    if kicks and keplerian and orbit is not None:
        return (
            f"On held-out orbits the implied accelerations look like {name}"
            f" (R² = {orbit['r2']:.3f}), but they do not follow the force once the velocity is "
            "turned in mid-orbit: the model has learned the shape of the orbits that it saw, "
            f"as Kepler's ellipses, not a law of force. {not_recovered}"
        )
    if kicks and orbit is not None and (orbit["r2"] is None or orbit["r2"] < ELLIPSE_FITTER_R2):
        return (
            "The implied accelerations are poor on held-out orbits already "
            f"(R² = {_number(orbit['r2'])}): the model has learned no law of force. {not_recovered}"
        )
    if kicks:
        return (
            "Once the velocity is turned in mid-orbit the model does not follow the force as "
            f"closely as is asked ({', '.join(kicks)}). {not_recovered}"
        )
    return (
        f"The model follows a force after a kick, but {name} is not recovered from it: "
        f"{', '.join(failed)} failed."
    )


def as_json(found: list[Gate]) -> list[dict[str, Any]]:
    """The gates as JSON's own types."""
    return [asdict(gate) for gate in found]


def _null(name: str, result: dict[str, Any]) -> Gate:
    recovered = bool(result["recovered"])
    found = f"{result['verdict']}, {'' if recovered else 'not '}recovered"
    return Gate(name, not recovered, "not recovered", found)


def _constants(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    constant = result["constant"]
    return {constant.get("name") or "GM": constant, **(result.get("parameters") or {})}


def _distance(value: float | None, truth: float | None) -> float | None:
    return None if value is None or truth is None else abs(value - truth)


def _truth(value: dict[str, Any]) -> str:
    truth = value.get("truth")
    return "the true law's" if truth is None else _number(truth)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
