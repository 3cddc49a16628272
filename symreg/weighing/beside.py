"""What acts beside the law between bodies: the parts of a force that have a name."""

from dataclasses import dataclass, replace

import numpy as np

from orbits.estimates import Estimate
from symreg.recovery.parts import DRAG, GROWTH, OF_VELOCITY, CentralMotion, Kind, uniform
from symreg.recovery.weak_path import Path
from symreg.weighing.errors import Errors, errors_of, of_subsets, rough_covariance
from symreg.weighing.fit import LawFit, fitted, solved
from symreg.weighing.weak import Equations

SURE = 5.0
EXPLAINED = 0.3
"""Largest share of the unexplained part that a force beside the law may leave."""
ROUNDS = 40
"""Of fits: a growth k over a time T settles by about kT a round."""
KINDS = (*OF_VELOCITY, GROWTH)


@dataclass(frozen=True)
class Beside:
    """A force beside the law.

    Attributes:
        kind: which.
        numbers: its coefficients, au and yr; of a drag even if it is none.
        law: what acts beside it, with its errors and (row,) all accelerations then known, if the
            force explains what the law alone does not.
    """

    kind: Kind = DRAG
    numbers: tuple[Estimate, ...] = (Estimate(),)
    law: tuple[LawFit, Errors, np.ndarray] | None = None

    @property
    def drag(self) -> Estimate:
        """The coefficient of a drag, 1/yr; undetermined beside another force."""
        return self.numbers[0] if self.kind is DRAG else Estimate()


def beside_law(
    equations: Equations, fit: LawFit, errors: Errors, extra: np.ndarray, noise: float
) -> Beside:
    """The force that explains most of what the law does not; undetermined without velocities.

    `extra` are (row,) known accelerations. A noise of 0 is to be found.
    """
    if equations.system.velocity is None:
        return Beside()
    kinds = KINDS if np.max(errors.misfit) > equations.CENTRAL else (DRAG,)
    designs = {kind: _columns(equations, fit, kind) for kind in kinds}
    kind = min(designs, key=lambda one: _length(designs[one], equations, fit))
    columns = designs[kind]
    step, error = _step(kind, columns, equations, fit)
    if np.all(np.abs(step[: len(error)]) <= SURE * error):
        return Beside(kind, kind.estimates(step[: len(error)], error))
    # The step is linear in the law's parameters, which had bent to imitate the force. So the law is
    # fitted beside it and the step taken again from there (Gauss-Newton), until it is a hundredth
    # of the force's error.
    total, settled = step, False
    for _ in range(ROUNDS):
        accelerations = extra + columns @ total
        beside = moved = fitted(equations, fit.shape, fit.parameters, accelerations)
        if kind is GROWTH:  # of the pull, as the law beside it has that
            before, columns = columns, _columns(equations, beside, kind)
            moved = replace(beside, residuals=beside.residuals - (columns - before) @ total)
        step, error = _step(kind, columns, equations, moved)
        settled = bool(np.all(np.abs(step[: len(error)]) <= 0.01 * error))
        if settled:
            break
        total = total + step
    errors_beside = errors_of(equations, beside, noise)
    explained = settled and np.max(errors_beside.misfit) <= EXPLAINED * np.max(errors.misfit)
    numbers = kind.estimates(total[: len(error)], error)
    return Beside(kind, numbers, (beside, errors_beside, accelerations) if explained else None)


def _columns(equations: Equations, fit: LawFit, kind: Kind) -> np.ndarray:
    """(row, component) effect of a force, and of a constant acceleration where the frame shows it.

    With both, a medium may itself move: -k (v - w) = -k v + k w.
    """
    system = equations.system
    assert system.velocity is not None  # for the type checker
    shape = np.swapaxes(system.position[:, :, 0], 0, 1).shape  # time, stretch, axis
    pulls = [np.zeros(shape) for _ in range(system.bodies)]
    for pair in system.pairs if kind is GROWTH else ():
        pull = fit.strength(pair.r)[..., None] * pair.towards
        pulls[pair.i] += fit.masses[pair.j] * pull
        pulls[pair.j] -= fit.masses[pair.i] * pull
    time = np.repeat(system.dt * np.arange(shape[0]), shape[1])
    bodies = []
    for k, pull in enumerate(pulls):
        x, v = (
            np.swapaxes(states[:, :, k], 0, 1).reshape(-1, shape[-1])
            for states in (system.position, system.velocity)
        )
        path = Path(time, x, x, v, (), system.dt, 0.0, 0 * x)
        motion = CentralMotion(path, pull.reshape(x.shape), np.zeros(0))
        # of relative positions nothing constant is left
        beside = [uniform(motion)] if system.inertial and kind.name != "uniform" else []
        whole = np.concatenate([kind.columns(motion), *beside], axis=2)
        bodies.append(np.moveaxis(whole.reshape(*shape, -1), -1, 0))
    return np.stack([equations.integrated(forces) for forces in zip(*bodies, strict=True)], axis=1)


def _length(columns: np.ndarray, equations: Equations, fit: LawFit) -> float:
    """Description length, nats times two, with a force's columns beside the law."""
    design = np.concatenate([fit.jacobian, columns], axis=1)
    rest = fit.weights * (fit.residuals - design @ solved(design, fit.residuals, fit.weights))
    count = float(np.sum(equations.counts / equations.overlap))
    return float(count * np.log(np.mean(rest**2)) + columns.shape[1] * np.log(count))


def _step(
    kind: Kind, columns: np.ndarray, equations: Equations, fit: LawFit
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of the columns beside the law, and the standard errors of the force's own."""
    own = fit.jacobian.shape[1]
    design = np.concatenate([fit.jacobian, columns], axis=1)
    step = solved(design, fit.residuals, fit.weights)
    beside = replace(fit, jacobian=design, residuals=fit.residuals - design @ step)
    # a force is the same at all times and widths; what a body that is not seen leaves is not
    apart = of_subsets(equations, replace(fit, jacobian=design), np.zeros(design.shape[1]))
    variance = np.diag(rough_covariance(equations, beside)) + apart
    axes = equations.system.position.shape[-1]
    constant = axes if equations.system.inertial and kind.name != "uniform" else 0
    return step[own:], np.sqrt(variance[own : len(variance) - constant])
