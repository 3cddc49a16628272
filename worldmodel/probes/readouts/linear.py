"""Linear probes: what can be read off a layer's activations by ridge regression.

Part of the force can already be read off a network that was never trained (R² 0.6 to 0.7 with two
to eight positions in view, 0.4 with 32). So every number is compared with that of the same network
with fresh weights, with as many random functions of the positions of the context, and with these
positions themselves.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from orbits.printing import wrapped
from worldmodel import probes
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

TRAINED, UNTRAINED, RANDOM, POSITIONS = "trained", "untrained", "random", "positions"
"""Whose features are read: the model's, its twin's with fresh weights, tanh of random combinations
of the positions, the positions themselves."""


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
    least_orbits: ClassVar[int] = 4  # two folds of two

    states: Count = 2000
    """About this many states, equally many per orbit."""

    def read(self, experiment: "probes.Experiment") -> Reading:
        """R² by layer and target, cross-validated over orbits, of trained and untrained network.

        The model sees exactly C positions, as in training, and its activations are read at the
        last: `embed`, `blocks.0`, ..., `norm`. Targets are the force (`force` is its size;
        per unit mass where the masses are not visible), the distance, 1/r², and under Newton's law
        the semi-major axis, the eccentricity and the Laplace-Runge-Lenz vector; unbound kicked
        states are then left out. `metrics` holds the best layer's R² for each target,
        `trained_TARGET` and `untrained_TARGET`; with `--control injected` the activations are a
        random linear mixture of the targets, which must give 1. `random_TARGET` is that of tanh of
        random combinations of the positions, as many as the widest layer has features.

        Raises:
            ValueError: for too few orbits.
        """
        config, arcs = experiment.config, experiment.arcs()
        orbit, time = arcs.draw(self.states, experiment.random())
        targets = probes.quantities_of(arcs, experiment.law, orbit, time)
        usable = np.all([np.isfinite(values) for values in targets.values()], axis=0)
        orbit, time, names = orbit[usable], time[usable], list(targets)
        wanted = np.stack([targets[name][usable] for name in names], axis=1)
        contexts = arcs.contexts(orbit, time, experiment.model.context_length)

        def judged(features: np.ndarray) -> dict[str, float]:
            groups = arcs.index[orbit]
            r2 = probes.cross_validated_r2(features, wanted, groups, config.seed)
            return dict(zip(names, map(float, r2), strict=True))

        tables: dict[str, dict[str, dict[str, float]]] = {}
        width = 1
        for who in (TRAINED, UNTRAINED):
            if who == TRAINED and config.control == "injected":
                count = wanted.shape[1]
                mixture = experiment.random().normal(size=(count, 2 * count))
                layers = {"law": (wanted - wanted.mean(axis=0)) / wanted.std(axis=0) @ mixture}
            else:
                model = experiment.model if who == TRAINED else experiment.untrained
                layers = model.features(contexts)
                width = max(width, *(values.shape[1] for values in layers.values()))
            tables[who] = {name: judged(values) for name, values in layers.items()}
        positions = contexts.reshape(len(contexts), -1)
        twins = {RANDOM: random_features(positions, width, config.seed), POSITIONS: positions}
        bare = {name: judged(values) for name, values in twins.items()}
        rows = tables | {name: {name: row} for name, row in bare.items()}
        columns = {
            who: {target: max(row[target] for row in table.values()) for target in names}
            for who, table in rows.items()
        }
        metrics: dict[str, Any] = {
            f"{who}_{target}": r2 for who, row in columns.items() for target, r2 in row.items()
        }
        metrics |= {"states": len(orbit), "orbits": len(np.unique(arcs.index[orbit]))}
        details: dict[str, Any] = {
            "layers": list(tables[UNTRAINED]),
            "targets": names,
            **tables,
            **bare,
            "context_length": experiment.model.context_length,
        }
        title = f"{experiment.who}, {experiment.states} states: R² of the best layer"
        text = side_by_side(title, columns)
        if config.control == "none":
            sentence = in_words(columns)
            details["sentence"] = sentence
            text += f"\n\n{wrapped(sentence)}"
        return Reading(metrics, experiment.states, text, details=details)


def random_features(
    positions: Float[np.ndarray, "row number"], width: int, seed: int
) -> Float[np.ndarray, "row feature"]:
    """tanh of random combinations of the standardised positions, with random offsets."""
    random = np.random.default_rng(seed)
    spread = positions.std(axis=0)
    x = (positions - positions.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    weights = random.normal(size=(x.shape[1], width)) / np.sqrt(x.shape[1])
    return np.tanh(x @ weights + random.normal(size=width))


def in_words(r2: dict[str, dict[str, float]]) -> str:
    """What the R² of the force say of training, beside those of features that nobody trained."""
    trained, untrained, chance = (r2[who]["force"] for who in (TRAINED, UNTRAINED, RANDOM))
    told = (
        f"The size of the force is decoded from the model's layers with R² {trained:.3f}, from "
        f"those of the same network before training with {untrained:.3f}, and from as many random "
        f"functions of the positions with {chance:.3f}"
    )
    left, beside = 1 - trained, 1 - max(untrained, chance)
    if 2 * left >= beside:  # training has not even halved what such features leave unexplained
        what = "as well, or better" if left >= beside else "too, if less well"
        return f"{told}: features that nobody trained decode it {what}."
    times = beside / max(left, 1e-12)  # less is rounding
    return f"{told}: training left {times:.2g} times less of it unexplained."
