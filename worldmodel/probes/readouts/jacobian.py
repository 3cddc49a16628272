"""Jacobians: how the predicted position depends on every position seen.

With J(s) the derivative of x̂(t+1) by x(s), a body moved by a force alone has J(t) = 2I + dt²
∂a/∂x, J(t−1) = −I and nothing older, to order dt³. A model that continues the shape of the past
spreads its Jacobian over the context.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from worldmodel import probes
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side


@dataclass(frozen=True)
class Jacobian(ReadOut):
    """Where derivatives are taken."""

    name: ClassVar[str] = "jacobian"
    what: ClassVar[str] = "derivatives of the prediction"
    question: ClassVar[str] = (
        "How much each position in view moves the prediction. A second-order law needs the last "
        "two alone."
    )
    labels: ClassVar[Mapping[str, str]] = {
        "current": "weight of the current position, less inertia's",
        "previous": "weight of the position before it, less inertia's",
        "older_sum": "weight of all older positions together",
        "older_max": "largest weight of one older position",
        "locality": "locality (1: the last two positions alone)",
        "radial_error": "error of the implied force gradient along the radius",
        "tangential_error": "error of the implied force gradient across the radius",
        "difference_error": "error of the numerical derivatives",
    }

    states: Count = 200
    """At most this many states, drawn at random from those of --states."""

    def read(self, experiment: "probes.Experiment") -> Reading:
        """Deviations from inertia, locality and gradients of the force.

        `metrics` holds medians over the states, `quartiles` of each also the 25 % and 75 % points:

        - `current`, ‖J(t) − 2I‖, and `previous`, ‖J(t−1) + I‖ (Frobenius);
        - `older_sum` and `older_max` of ‖J(s)‖ over s < t−1;
        - `locality`, see `locality`;
        - `radial_error` and `tangential_error`: |g − ∂a/∂x| / |∂a/∂x| along and across the
          position, with g from `gradient`.
        """
        _ = experiment.law  # said before anything is computed, if it is unknown
        arcs = experiment.arcs()
        orbit, time = np.nonzero(experiment.within(arcs)[:, np.array(arcs.read)])
        if not len(orbit):
            raise ValueError(
                "no state can be read: every one lies outside the distances of the training orbits."
            )
        count = min(self.states, len(orbit))
        chosen = np.sort(experiment.random().choice(len(orbit), count, replace=False))
        orbit, time = orbit[chosen], time[chosen] + arcs.read.start
        slopes, error = experiment.predictor.jacobians(arcs, orbit, time)
        values = {
            **deviations(slopes),
            "locality": locality(slopes),
            **gradient_errors(slopes, arcs, orbit, time, experiment),
        }
        quartiles = {
            name: np.nanquantile(value, (0.25, 0.5, 0.75)) for name, value in values.items()
        }
        metrics: dict[str, Any] = {name: float(value[1]) for name, value in quartiles.items()}
        metrics["states"] = count
        if error is not None:
            metrics["difference_error"] = error
        by_lag = np.median(np.linalg.norm(slopes, axis=(-2, -1)), axis=0)[::-1]
        details = {"quartiles": quartiles, "norm_by_lag": by_lag, "context_length": slopes.shape[1]}
        title = f"{experiment.who}, {experiment.states} states: medians over {count} states"
        text = side_by_side(title, {"": metrics}, self.labels)
        return Reading(metrics, experiment.states, text, details=details)


def deviations(
    jacobians: Float[np.ndarray, "state context out in"],
) -> dict[str, Float[np.ndarray, " state"]]:
    """Distance of the Jacobians from inertia's, and how much older positions matter."""
    norms = np.linalg.norm(_beside_inertia(jacobians), axis=(-2, -1))
    older = norms[:, :-2]
    return {
        "current": norms[:, -1],
        "previous": norms[:, -2],
        "older_sum": older.sum(axis=1),
        "older_max": older.max(axis=1, initial=0.0),
    }


def locality(
    jacobians: Float[np.ndarray, "state context out in"],
) -> Float[np.ndarray, " state"]:
    """1 if the prediction depends on the last two positions as inertia does, else towards 0.

    The share of ‖J° − S‖² that J accounts for, 1 − ‖J − J°‖² / ‖J° − S‖² and not less than 0,
    where J° is inertia (2I, −I, nothing older), S is standing still (I and nothing older), and
    ‖·‖² sums the squares over all positions; ‖J° − S‖² is twice the number of coordinates. The
    force itself, dt² ∂a/∂x against 2I, is about 1 % and does not show: a merely inertial model has
    locality 1 too. So has an untrained one whose target is the residual from linear extrapolation,
    with inertia in its architecture; look at the gradients then.
    """
    # over all but the state
    missed = np.sum(_beside_inertia(jacobians) ** 2, axis=(1, 2, 3))
    return np.clip(1 - missed / (2 * jacobians.shape[-1]), 0, None)


def _beside_inertia(jacobians: np.ndarray) -> np.ndarray:
    deviation = jacobians.copy()
    deviation[:, -1] -= 2 * np.eye(jacobians.shape[-1])
    deviation[:, -2] += np.eye(jacobians.shape[-1])
    return deviation


def gradient(
    jacobians: Float[np.ndarray, "state context out in"],
    direction: Float[np.ndarray, "state axis"],
    shares: Float[np.ndarray, "state body"],
    dt: float,
) -> Float[np.ndarray, "state axis"]:
    """Change of the implied relative acceleration along a direction, at fixed velocity.

    Moving all positions of a context by u changes the state's position but no velocity, so the
    implied acceleration changes by (Σ J(s) − I) u / dt²: ∂a/∂x · u with an error of order dt².
    (J(t) − 2I) u / dt² would move x(t) alone, and the velocity with it: the same to first order for
    an exact integrator, with an error of order dt; and a model that misjudges the velocity a
    little, by ε in J(t) and −ε in J(t−1), would show ε/dt² there instead of nothing. Two bodies
    both move about their barycentre, by their shares.
    """
    axes = direction.shape[1]
    moved = (shares[:, :, None] * direction[:, None]).reshape(len(direction), -1)
    answer = np.einsum("nsij,nj->ni", jacobians, moved)[:, :axes]
    return (answer / shares[:, :1] - direction) / dt**2


def gradient_errors(
    jacobians: Float[np.ndarray, "state context out in"],
    arcs: "probes.Arcs",
    orbit: np.ndarray,
    time: np.ndarray,
    experiment: "probes.Experiment",
) -> dict[str, Float[np.ndarray, " state"]]:
    """Relative errors of the radial and tangential gradients against the law's."""
    law, dt = experiment.law, experiment.facts.dt
    position, velocity, gm = arcs.at(orbit, time)
    r = np.linalg.norm(position, axis=-1)
    outward = position / r[:, None]
    across = velocity - (velocity * outward).sum(-1, keepdims=True) * outward
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    step = 1e-5 * r  # central differences err by its square
    ends = [law.radial_acceleration(r + sign * step, gm) for sign in (1, -1)]
    true = {
        "radial": (ends[0] - ends[1]) / (2 * step),
        "tangential": law.radial_acceleration(r, gm) / r,
    }
    errors = {}
    for name, direction in (("radial", outward), ("tangential", across)):
        slope = (gradient(jacobians, direction, arcs.shares[orbit], dt) * direction).sum(-1)
        errors[f"{name}_error"] = np.abs(slope / true[name] - 1)
    return errors
