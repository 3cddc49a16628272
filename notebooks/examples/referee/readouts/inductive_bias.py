"""Inductive bias: how a model extrapolates from a few random labels, against the true state.

Vafa et al., What has a foundation model found? (arXiv:2507.06952): fine-tune a model many times on
small data sets whose labels are random functions of the postulated state, and see what it says
elsewhere. It respects the state (R-IB) if contexts of the same state get the same answer, and
distinguishes it (D-IB) if contexts of different states get answers that differ as functions of the
state do. For finitely many states and Boolean labels the authors' code computes R-IB = 1 − 2
P(answers differ | same state) and D-IB = 2 P(answers differ | different states); for orbits it fits
a linear oracle to the state itself and draws the distance of two answers, averaged over the data
sets, against the oracle's distance, in 20 bins (checked against
github.com/keyonvafa/inductive-bias-probes, `othello/` and `physics/compute_inductive_bias.py`; the
paper's own text was not at hand). The definitions here extend both to states that are numbers:

- R-IB = 1 − E|f(a) − f(a')| / E|f(i) − f(j)|, a and a' of the same state and i and j of different
  ones; for Boolean answers, half of which differ between different states, it is the formula above.
- D-IB = correlation, over pairs of different states, of E|f(i) − f(j)| with the oracle's.

What the authors' code reports for orbits is the mean absolute difference of the two curves of that
drawing; their first version took the model's distances from the last data set alone, here they are
averaged over all, as in its correction.

Different contexts of the same state end in the same two positions, reached on different orbits: the
body was kicked one step before the end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from jaxtyping import Float

from orbits.options import AtLeast
from worldmodel import probes
from worldmodel.config import Count
from worldmodel.kick import kicked_at, turned_at_random
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

NEEDED = "the read-out inductive_bias (fine-tuning)"


@dataclass(frozen=True)
class InductiveBias(ReadOut):
    """Fine-tuning on small data sets of random labels; published: 100 sets of 100 sequences."""

    name: ClassVar[str] = "inductive_bias"
    what: ClassVar[str] = "how it extrapolates from random labels"
    question: ClassVar[str] = "Whether extrapolation from random labels follows the physical state."
    labels: ClassVar[Mapping[str, str]] = {
        "r_ib": "R-IB (respects the state)",
        "d_ib": "D-IB (distinguishes it)",
        "off_oracle": "mean distance from the oracle's curve",
    }
    controls: ClassVar[tuple[str, ...] | None] = ("none", "injected")

    datasets: Count = 10
    """Number of data sets."""
    examples: Annotated[int, AtLeast(2)] = 50
    """Labelled contexts in each."""
    tests: Annotated[int, AtLeast(3)] = 300
    """States with answers to compare."""
    steps: Count = 100
    """Optimiser steps on each data set."""

    def read(self, experiment: "probes.Experiment") -> Reading:
        """R-IB and D-IB of the trained and the untrained network.

        Each data set labels `examples` contexts with a random linear function of the standardised
        state (position, velocity, and log GM where it varies). Examples and test contexts come from
        different orbits. A context of one or two positions is its state, so its R-IB is 1 for any
        model. `--control injected` answers by the oracle, a linear function of the true state
        fitted to the same examples.

        Raises:
            ValueError: for too few orbits, or if the model contains no network.
        """
        experiment.model.backbone(NEEDED)  # what is missing is said before the states are made
        experiment.untrained.backbone(NEEDED)
        answers = self._answers(experiment)
        states = answers["oracle"].shape[2]
        metrics: dict[str, Any] = {"states": states, "datasets": self.datasets}
        curves, columns = {}, {}
        for who in ("trained", "untrained"):
            r_ib, d_ib, curves[who] = biases(answers[who], answers["oracle"][:, 0])
            suffix = "" if who == "trained" else "_untrained"
            model, oracle = map(np.array, (curves[who]["model"], curves[who]["oracle"]))
            off = float(np.mean(np.abs(model - oracle)))
            columns[who] = {"r_ib": r_ib, "d_ib": d_ib, "off_oracle": off}
            metrics |= {f"{name}{suffix}": value for name, value in columns[who].items()}
        details = {"curves": curves, "context_length": experiment.model.context_length}
        title = (
            f"{experiment.who}, {experiment.states} states: {self.datasets} sets of random labels"
        )
        text = side_by_side(title, columns, self.labels)
        return Reading(metrics, experiment.states, text, details=details)

    def _answers(
        self, experiment: "probes.Experiment"
    ) -> dict[str, Float[np.ndarray, "dataset 2 state"]]:
        """Answers of oracle and both networks, taught each data set, to contexts of some states and
        to others with another past."""
        config, random, arcs = experiment.config, experiment.random(), experiment.arcs()
        if len(arcs.gm) < 4:
            raise ValueError(
                f"{len(arcs.gm)} orbit(s) cannot be split into examples and tests; give 4 or more."
            )
        half = len(arcs.gm) // 2
        examples = _drawn(arcs, range(half), self.examples * self.datasets, random)
        tests = _drawn(arcs, range(half, len(arcs.gm)), self.tests, random)
        length, dt = experiment.model.context_length, experiment.facts.dt
        taught, shown = (arcs.contexts(*drawn, length) for drawn in (examples, tests))
        others = other_pasts(arcs, *tests, length, experiment.law, dt, random, config)
        usable = np.isfinite(others).all(axis=(1, 2, 3))
        both = shown[usable], others[usable]
        states = [arcs.at(*drawn) for drawn in (examples, tests)]
        known, asked = (np.column_stack((x, v, np.log(gm))) for x, v, gm in states)
        middle, width = known.mean(axis=0), known.std(axis=0)
        width = np.where(width > 1e-9, width, 1.0)
        known, asked = (known - middle) / width, ((asked - middle) / width)[usable]
        models = {"trained": experiment.model, "untrained": experiment.untrained}
        answers: dict[str, list[np.ndarray]] = {"oracle": [], "trained": [], "untrained": []}
        for number in range(self.datasets):
            rows = slice(number * self.examples, (number + 1) * self.examples)
            labels = known[rows] @ random.normal(size=known.shape[1])
            labels = (labels - labels.mean()) / labels.std()
            fitted = np.linalg.lstsq(_with_ones(known[rows]), labels, rcond=None)[0]
            oracle = _with_ones(asked) @ fitted  # a linear function of the true state
            answers["oracle"].append(np.stack((oracle, oracle)))
            for who, model in models.items():
                if who == "trained" and config.control == "injected":
                    answers[who].append(np.stack((oracle, oracle)))
                else:
                    seed = config.seed + 1000 * number
                    answers[who].append(_by_model(self, model, taught[rows], labels, both, seed))
        return {who: np.stack(values) for who, values in answers.items()}


def other_pasts(
    arcs: "probes.Arcs",
    orbit: np.ndarray,
    time: np.ndarray,
    length: int,
    law: Any,
    dt: float,
    random: np.random.Generator,
    config: Any,
) -> Float[np.ndarray, "state time body axis"]:
    """Contexts with another past that end in the same two positions.

    One step before the end the velocity is turned and rescaled as in a kick, and followed back in
    time under the law. NaN if that leads into the centre.
    """
    contexts = arcs.contexts(orbit, time, length)
    if length <= 2:
        return contexts
    x, v, gm = arcs.at(orbit, time - 1)
    before = turned_at_random(x, v, config.kick_angle, config.kick_scale, random)
    # Back in time: a central attraction does not know the sign of the velocity.
    back = kicked_at(x[:, None], -before[:, None], gm, law, dt, at=0, steps=length - 2)
    contexts[:, :-1] = back.position[:, ::-1, None] * arcs.shares[orbit][:, None, :, None]
    return contexts


def biases(
    answers: Float[np.ndarray, "dataset 2 state"], oracle: Float[np.ndarray, "dataset state"]
) -> tuple[float, float, dict[str, list[float]]]:
    """R-IB, D-IB, and the mean distances of the oracle and of the model in bins of the oracle's.

    For each data set there are answers to contexts and to others of the same states, and the
    oracle's from the true state.
    """
    same = float(np.mean(np.abs(answers[:, 0] - answers[:, 1])))
    distances = np.mean([_apart(row) for row in answers[:, 0]], axis=0)
    wanted = np.mean([_apart(row) for row in oracle], axis=0)
    different = float(distances.mean())
    r_ib = 1 - same / different if different > 0 else 1.0
    d_ib = float(np.corrcoef(distances, wanted)[0, 1]) if distances.std() > 0 else 0.0
    edges = np.linspace(wanted.min(), wanted.max(), 20 + 1)
    bins = np.clip(np.digitize(wanted, edges) - 1, 0, 20 - 1)
    curve: dict[str, list[float]] = {"oracle": [], "model": []}
    for number in range(20):
        if (bins == number).any():
            curve["oracle"].append(float(wanted[bins == number].mean()))
            curve["model"].append(float(distances[bins == number].mean()))
    return r_ib, d_ib, curve


def _apart(values: Float[np.ndarray, " state"]) -> Float[np.ndarray, " pair"]:
    """Distances of all pairs."""
    first, second = np.triu_indices(len(values), 1)
    return np.abs(values[first] - values[second])


def _drawn(
    arcs: "probes.Arcs", orbits: range, count: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Orbits and times of states, at random."""
    first = max(arcs.read.start, 1)
    return random.choice(orbits, count), random.integers(first, arcs.read.stop, count)


def _with_ones(states: np.ndarray) -> np.ndarray:
    return np.column_stack((states, np.ones(len(states))))


def _by_model(
    options: InductiveBias,
    model: "probes.Subject",
    contexts: np.ndarray,
    labels: np.ndarray,
    asked: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> Float[np.ndarray, "2 state"]:
    """Answers of the model, fine-tuned on the examples, to both sets of contexts."""
    backbone = model.backbone(NEEDED)
    targets = np.full((*contexts.shape[:2], 1), np.nan)
    targets[:, -1, 0] = labels
    batch = contexts, targets
    tuned = probes.fine_tune(backbone, lambda _: batch, 1, options.steps, "network", seed)
    return np.stack([probes.last_outputs(tuned, part)[:, 0] for part in asked])
