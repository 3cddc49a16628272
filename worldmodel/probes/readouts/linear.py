"""Linear probes: what can be read off a layer's activations by ridge regression.

An untrained network already carries most of its input in a form that a linear map can read, so
every number is compared with that of the same network with fresh weights, and with a regression on
the bare positions of the context.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from worldmodel import probes
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

POSITIONS = "positions"
"""Name of the regression on the positions themselves."""


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
    least_orbits: ClassVar[int] = 4

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
        random linear mixture of the targets, which must give 1.

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

        bare = judged(contexts.reshape(len(contexts), -1))
        tables: dict[str, dict[str, dict[str, float]]] = {}
        for who in ("trained", "untrained"):
            if who == "trained" and config.control == "injected":
                count = wanted.shape[1]
                mixture = experiment.random().normal(size=(count, 2 * count))
                layers = {"law": (wanted - wanted.mean(axis=0)) / wanted.std(axis=0) @ mixture}
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
