"""Linear probes: what can be read off a layer's activations by ridge regression.

An untrained network already carries most of its input in a form that a linear map can read, so
every number is compared with that of the same network with fresh weights, and with a regression on
the bare positions of the context.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from jaxtyping import Float

from orbits.options import AtLeast
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

if TYPE_CHECKING:
    from worldmodel.probes.experiment import Experiment
    from worldmodel.probes.states import Arcs

POSITIONS = "positions"
"""Name of the regression on the positions themselves."""
LAW = "law"
"""Name of the positive control: activations that are a random mixture of the targets."""
PENALTIES = tuple(float(penalty) for penalty in np.logspace(-8, 2, 11))
"""Penalties to try, in units of the number of rows, for standardised features."""
INNER = 4
"""Folds of the other groups used to choose the penalty."""

R2 = dict[str, float]
"""By target."""


@dataclass(frozen=True)
class Linear(ReadOut):
    """Ridge probes of the activations."""

    name: ClassVar[str] = "linear"
    what: ClassVar[str] = "ridge probes of every layer"
    question: ClassVar[str] = (
        "R² of linear probes of a layer for physical quantities; a model that only fits ellipses "
        "passes this too."
    )
    controls: ClassVar[tuple[str, ...] | None] = ("none", "injected")
    least_orbits: ClassVar[int] = 10

    states: Count = 2000
    """About this many states, equally many per orbit."""
    folds: Annotated[int, AtLeast(2)] = 5
    """Folds of orbits in the cross-validation."""

    def read(self, experiment: "Experiment") -> Reading:
        """R² by layer and target, cross-validated over orbits, of trained and untrained network.

        The model sees exactly C positions, as in training, and its activations are read at the
        last: `embed`, `blocks.0`, ..., `norm`. Targets are the force (`force` is its size;
        per unit mass where the masses are not visible), the distance, 1/r², and under Newton's law
        the semi-major axis, the eccentricity and the Laplace-Runge-Lenz vector; unbound kicked
        states are then left out. `metrics` holds the best layer's R² for each target,
        `trained_TARGET` and `untrained_TARGET`; with `--control injected` the activations are a
        random linear mixture of the targets, which must give 1.

        Raises:
            ValueError: for too few orbits.
        """
        config, arcs = experiment.config, experiment.arcs()
        orbit, time = arcs.draw(self.states, experiment.random())
        targets = targets_of(arcs, experiment, orbit, time)
        usable = np.all([np.isfinite(values) for values in targets.values()], axis=0)
        orbit, time, names = orbit[usable], time[usable], list(targets)
        wanted = np.stack([targets[name][usable] for name in names], axis=1)
        contexts = arcs.contexts(orbit, time, experiment.model.context_length)

        def judged(features: np.ndarray) -> R2:
            groups = arcs.index[orbit]
            r2 = cross_validated_r2(features, wanted, groups, self.folds, config.seed)
            return dict(zip(names, map(float, r2), strict=True))

        bare = judged(contexts.reshape(len(contexts), -1))
        tables: dict[str, dict[str, R2]] = {}
        for who in ("trained", "untrained"):
            if who == "trained" and config.control == "injected":
                count = wanted.shape[1]
                mixture = experiment.random().normal(size=(count, 2 * count))
                layers = {LAW: (wanted - wanted.mean(axis=0)) / wanted.std(axis=0) @ mixture}
            else:
                model = experiment.model if who == "trained" else experiment.untrained
                layers = model.features(contexts)
            tables[who] = {name: judged(values) for name, values in layers.items()}
        metrics: dict[str, Any] = {
            f"{who}_{target}": max(row[target] for row in table.values())
            for who, table in (*tables.items(), (POSITIONS, {POSITIONS: bare}))
            for target in names
        }
        metrics |= {"states": len(orbit), "orbits": len(np.unique(arcs.index[orbit]))}
        details = {
            "layers": list(tables["untrained"]),
            "targets": names,
            **tables,
            POSITIONS: bare,
            "context_length": experiment.model.context_length,
        }
        columns = {
            who: {target: metrics[f"{who}_{target}"] for target in names}
            for who in (*tables, POSITIONS)
        }
        title = f"{experiment.who}, {experiment.states} states: R² of the best layer"
        text = side_by_side(title, columns)
        return Reading(metrics, experiment.states, text, details=details)


def cross_validated_r2(
    features: Float[np.ndarray, "row feature"],
    targets: Float[np.ndarray, "row target"],
    groups: np.ndarray,
    folds: int,
    seed: int,
) -> Float[np.ndarray, " target"]:
    """R² of each target, every row predicted by a ridge regression without its group.

    Groups are dealt to folds at random. For each fold the penalty of each target is chosen in the
    same way among the other groups, and the regression is then fitted to all of them. Features are
    standardised within each fold. R² is 1 − Σ(prediction − target)² / Σ(target − mean)² over all
    rows.

    Raises:
        ValueError: if there are fewer than two groups for every fold.
    """
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2 * folds:
        raise ValueError(
            f"{folds} folds need {2 * folds} orbits or more; there are {len(names)}: give more "
            "--orbits or fewer --linear.folds."
        )

    def ridge(penalty: Any) -> Any:
        return make_pipeline(StandardScaler(), Ridge(alpha=penalty))

    dealt = np.random.default_rng(seed).permutation(len(names))[group]
    predicted = np.empty_like(targets)
    for inside, out in GroupKFold(folds).split(features, groups=dealt):
        x, y, rows = features[inside], targets[inside], len(inside)
        errors = []
        for penalty in PENALTIES:
            inner = GroupKFold(min(INNER, len(np.unique(dealt[inside]))))
            model = ridge(penalty * rows * (1 - 1 / inner.n_splits))
            guess = cross_val_predict(model, x, y, groups=dealt[inside], cv=inner)
            errors.append(np.sum((guess.reshape(y.shape) - y) ** 2, axis=0))
        chosen = np.array(PENALTIES)[np.argmin(errors, axis=0)]
        guess = ridge(chosen * rows).fit(x, y).predict(features[out])
        predicted[out] = guess.reshape(len(out), -1)
    spread = np.sum((targets - targets.mean(axis=0)) ** 2, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - np.sum((predicted - targets) ** 2, axis=0) / spread


def targets_of(
    arcs: "Arcs", experiment: "Experiment", orbit: np.ndarray, time: np.ndarray
) -> dict[str, Float[np.ndarray, " state"]]:
    """Targets for the activations, by name; NaN where a state has none."""
    from orbits.invariants import laplace_runge_lenz, specific_energy
    from worldmodel.probes.readouts.transfer import forces

    position, velocity, gm = arcs.at(orbit, time)
    r = np.linalg.norm(position, axis=-1)
    force = forces(arcs, experiment, "vector")[orbit, time]
    found = {"force": np.linalg.norm(force, axis=-1)}
    found |= {f"force_{name}": force[:, axis] for axis, name in enumerate("xyz"[: force.shape[1]])}
    found |= {"r": r, "inverse_square": 1 / r**2}
    if experiment.law.name == "newton":
        state = position[:, None], velocity[:, None], gm  # as orbits of one time
        energy = specific_energy(experiment.law, *state)[:, 0]
        lrl = laplace_runge_lenz(*state)[:, 0]
        bound = energy < 0
        found["semi_major_axis"] = np.where(bound, -gm / (2 * energy), np.nan)
        found["eccentricity"] = np.linalg.norm(lrl, axis=-1)
        found |= {f"lrl_{name}": lrl[:, axis] for axis, name in enumerate("xyz"[: lrl.shape[1]])}
    return found
