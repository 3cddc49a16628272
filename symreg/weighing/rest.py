"""What a law leaves: on which bodies, when, and in which direction."""

import numpy as np

from symreg.weighing.errors import Errors, share_left
from symreg.weighing.fit import LawFit
from symreg.weighing.records import Rest
from symreg.weighing.weak import Equations

SHOWN = 3
"""Bodies to mention."""


def rests_of(equations: Equations, fit: LawFit, errors: Errors) -> tuple[Rest, ...]:
    """Where accelerations are least explained, for bodies with the largest residuals."""
    share = share_left(equations, fit, errors.noise)
    worst = np.argsort(-errors.misfit)[:SHOWN]
    bodies = [int(k) for k in worst if errors.misfit[k] > equations.CENTRAL]
    return tuple(_of_body(equations, fit, share, body) for body in bodies)


def _of_body(equations: Equations, fit: LawFit, share: np.ndarray, body: int) -> Rest:
    system = equations.system
    groups = [g for g in range(equations.groups) if equations.body_of(g) == body]
    group = max(groups, key=lambda g: share[g])
    bumps, axes = equations.set_of(group), system.position.shape[-1]
    rows = fit.residuals[equations.group == group].reshape(bumps.phi.shape[0], -1, axes)
    bump, stretch = np.unravel_index(int(np.argmax(np.sum(rows**2, axis=-1))), rows.shape[:2])
    vector = rows[bump, stretch]
    middle = round(float((bumps.phi[[bump]] @ np.arange(bumps.phi.shape[1]))[0]))
    heaviest = max((k for k in range(system.bodies) if k != body), key=lambda k: fit.masses[k])
    line = system.position[stretch, middle, heaviest] - system.position[stretch, middle, body]
    cosine = vector @ line / (np.linalg.norm(vector) * np.linalg.norm(line))
    return Rest(
        body=system.names[body],
        stretch=int(stretch),
        time=middle * system.dt,
        around=bumps.half_width * system.dt,
        acceleration=tuple(vector.tolist()),
        heaviest=system.names[heaviest],
        angle=float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))),
    )
