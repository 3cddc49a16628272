"""The positive control for Kepler: an ellipse through the context, continued by the area law.

It has Kepler's first and second laws and no force: it fits a conic with one focus at the origin
to a context of positions, and advances by the area swept in each step. On undisturbed Newtonian
orbits it is exact, and its implied acceleration follows 1/r²; after a kick it is wrong until the
kick has left the context.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from orbits.palette import COLORS
from worldmodel.controls.base import Control
from worldmodel.predictor import ArcPredictor, by_windows, central_differences, of_bodies

if TYPE_CHECKING:
    from worldmodel.probes.states import Arcs

FEWEST = 3
"""Least positions for the fit: the ellipse's focus is known, so three fix it."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
"""Of Gaussian quadrature over a step: exact to 1e-12 where the body turns by less than 1 rad."""


class ByEllipse(ArcPredictor):
    """Positive control for Kepler: an ellipse through the context, and the area law."""

    def __init__(self, context_length: int) -> None:
        self.context_length = max(context_length, FEWEST)

    def predict(self, arcs: "Arcs") -> Float[np.ndarray, "orbit time body axis"]:
        following = predict_by_ellipse(arcs.position, self.context_length)
        return following[:, :, None] * arcs.shares[:, None, :, None]

    def jacobians(
        self, arcs: "Arcs", orbit: np.ndarray, time: np.ndarray
    ) -> tuple[Float[np.ndarray, "state context out in"], None]:
        """By central differences."""
        steps = time[:, None] + np.arange(1 - self.context_length, 1)
        context = arcs.position[orbit[:, None], steps].astype(np.float64)
        distance = np.linalg.norm(context[:, -1], axis=-1)
        # a step of 1e-5 of the distance leaves 1e-9
        step = np.broadcast_to(1e-5 * distance[:, None], steps.shape)
        return of_bodies(central_differences(continue_ellipse, context, step), arcs, orbit), None


def continue_ellipse(
    context: Float[np.ndarray, "context time axis"],
) -> Float[np.ndarray, "context axis"]:
    """The position after each context by Kepler's first and second law.

    The conic r = p + A x + B y is fitted to the positions by linear least squares; the area swept
    in a step is the mean over the context. Where the conic has no point in that direction (a bad
    fit to a kicked arc), the last step is repeated.

    Args:
        context: at least `FEWEST` positions each, au, evenly spaced in time; in three dimensions
            they are projected onto their plane.

    Returns:
        au.

    Raises:
        ValueError: for fewer positions.

    Source: Murray & Dermott, Solar System Dynamics (1999), eqs. 2.18-2.20 (the conic, with
        A = −e cos ϖ and B = −e sin ϖ) and 2.11 (the area law).
    """
    if context.shape[1] < FEWEST:
        raise ValueError(
            f"an ellipse is fitted to {FEWEST} or more positions; {context.shape[1]} are given."
        )
    return _continued(context.astype(np.float64))


def predict_by_ellipse(
    position: Float[np.ndarray, "orbit time axis"], context_length: int
) -> Float[np.ndarray, "orbit time axis"]:
    """`continue_ellipse` from the last positions at every time; NaN where there are too few."""
    at_once = 4096 * context_length
    return by_windows(position, context_length, continue_ellipse, at_once)


def _continued(context: np.ndarray) -> np.ndarray:
    straight = 2 * context[:, -1] - context[:, -2]
    plane = np.broadcast_to(np.eye(2), (len(context), 2, 2))
    if context.shape[2] == 3:  # in space
        plane = np.linalg.svd(context, full_matrices=False)[2][:, :2]
    flat = context @ plane.swapaxes(1, 2)
    with np.errstate(all="ignore"):
        following, exists = _in_plane(flat)
        following = (following[:, None] @ plane)[:, 0]
    return np.where(exists[:, None], following, straight)


def _in_plane(
    context: Float[np.ndarray, "context time 2"],
) -> tuple[Float[np.ndarray, "context 2"], Bool[np.ndarray, " context"]]:
    """The position after each context, and whether the conic has one."""
    conic = _fit_conic(context)
    angle = np.arctan2(context[..., 1], context[..., 0])
    turn = (np.diff(angle, axis=1) + np.pi) % (2 * np.pi) - np.pi
    swept = _sector(conic[:, None], angle[:, :-1], turn).mean(axis=1)
    last, step = angle[:, -1], turn[:, -1]
    for _ in range(30):
        r = _radius(conic, last + step)
        change = (swept - _sector(conic, last, step)) / (r**2 / 2)
        step = step + np.clip(change, -0.5, 0.5)
        if np.nanmax(np.abs(change), initial=0.0) < 1e-14:  # radians: rounding
            break
    direction = last + step
    r = _radius(conic, direction)
    following = r[:, None] * np.stack((np.cos(direction), np.sin(direction)), axis=-1)
    behaved = (r > 0) & (np.abs(step) < np.pi) & (np.abs(change) < 1e-6)
    return following, behaved & np.isfinite(following).all(axis=1)


def _fit_conic(context: Float[np.ndarray, "context time 2"]) -> Float[np.ndarray, "context 3"]:
    """p, A and B of r = p + A x + B y, by least squares."""
    r = np.linalg.norm(context, axis=-1)
    design = np.concatenate((np.ones((*r.shape, 1)), context), axis=-1)
    q, triangle = np.linalg.qr(design)
    diagonal = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
    singular = diagonal.min(axis=1) < 1e-13 * diagonal.max(axis=1)  # a straight line to the focus
    triangle[singular] = np.nan
    return np.linalg.solve(triangle, np.einsum("nti,nt->ni", q, r)[..., None])[..., 0]


def _radius(conic: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """r in a direction; not positive where the conic has no such point."""
    p, a, b = np.moveaxis(conic, -1, 0)
    return p / (1 - a * np.cos(angle) - b * np.sin(angle))


def _sector(conic: np.ndarray, start: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Area between the conic and the focus over an angle, ½∫r²dθ, with the sign of the turn."""
    angle = start[..., None] + turn[..., None] * (NODES + 1) / 2
    r = _radius(conic[..., None, :], angle)
    r = np.where(r > 0, r, np.nan)
    return turn / 4 * (r**2 @ WEIGHTS)


KEPLERIAN = Control(
    "keplerian",
    f"an ellipse through the context, of {FEWEST} positions at least, continued by the area law",
    label="fitted ellipse",
    color=COLORS["keplerian"],
    must="It must fail right after a kick, though it is exact before: shape is not force.",
    predictor=lambda model, law, memory: ByEllipse(model.context_length),
    most_bodies=2,
)
