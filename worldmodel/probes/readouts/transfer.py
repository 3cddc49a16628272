"""Transfer: the model is fine-tuned on force labels, and gives the force elsewhere.

The published protocol (Vafa et al., arXiv:2507.06952, as in the authors' code,
github.com/keyonvafa/inductive-bias-probes, `force_magnitude`): 9 000 two-body sequences with the
size of the force at every time, 1 000 more with two labels each, one mean squared error; the force
is then read where the latter come nearest to states of the former: a test of interpolation. Here
the counts are options, and the model sees contexts of C positions, as in training. Without labels
on the latter (`few_labels=0`) they are held-out systems. What is learned is asked as well of
systems closer and farther than any that has a label.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Float

from orbits.options import AtLeast
from orbits.statistics import r_squared
from worldmodel import probes
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, ShownOrbits
from worldmodel.probes.readouts.implied import report
from worldmodel.targets import first_scored

SHELL = 400
"""States in each shell of distances without labels, as an examination has them."""


@dataclass(frozen=True)
class Transfer(ReadOut):
    """Fine-tuning on force labels; published: 9000 labelled, 1000 with two labels each."""

    name: ClassVar[str] = "transfer"
    what: ClassVar[str] = "forces that the model says once fine-tuned on labels, as a table"
    question: ClassVar[str] = (
        "Whether fine-tuning on a few labelled forces yields the law everywhere."
    )
    writes_table: ClassVar[bool] = True
    controls: ClassVar[tuple[str, ...] | None] = ("none", "untrained", "injected")

    labelled: Count = 900
    """Orbits, the first of the data set, with a label at every time."""
    few: Count = 100
    """Orbits, the last of the data set, with two labels each; the force is read on these."""
    target: Literal["magnitude", "vector"] = "magnitude"
    """Label: the size of the force, or its components."""
    few_labels: Annotated[int, AtLeast(0)] = 2
    """Labels on each of the few; with none they are held out."""
    learner: Literal["network", "last_block", "head", "forest"] = "network"
    """What learns the labels: the whole network, its last block or nothing of it, each with a new
    head; or, as a control, a random forest of the same contexts."""
    shuffled: bool = False
    """Give each label to another state, as a control: what is read then is no force."""
    points: Count = 1000
    """States to read, those nearest to fully labelled ones."""
    steps: Count = 500
    """Optimiser steps."""
    batch_tokens: Count = 1024
    """Positions in each step."""

    @property
    def controls_of_a_run(self) -> tuple[str, ...]:
        return () if self.shuffled or self.learner == "forest" else ("untrained",)

    def shown(self, held_out: int, context_length: int) -> ShownOrbits:
        return ShownOrbits(self.labelled + self.few, seed=3_000_003)

    def read(self, experiment: "probes.Experiment") -> Reading:
        """The fine-tuned model's force, as force samples.

        Labels are |F| (per unit mass where the masses are not visible) or, with `target=vector`,
        its components. A magnitude has no direction: the table then points it at the centre, and
        its central and non-central parts are no finding. With `--states kicked` the same model is
        read after kicks, without selecting states. `--control untrained` fine-tunes a network with
        fresh weights in the same way; `injected` gives the law's own force. A user's torch module
        is tuned at the last position of each context, the only one that counts.

        Raises:
            ValueError: if the data set has too few orbits, or the model contains no network.
        """
        config = experiment.config
        # first: who cannot be tuned hears that, and not how many orbits are missing
        network = experiment.model.backbone("the probe transfer (fine-tuning)")
        full, few = _split(self, experiment)
        said = self._learned(experiment, network, full, few)
        arcs = experiment.arcs(few)
        if arcs.kick is None:
            labelled = probes.undisturbed(full, experiment.model.context_length)
            kept = probes.nearest_states(arcs, labelled, self.points)
        else:
            kept = experiment.within(arcs)
        acceleration = self._accelerations(experiment, arcs, said)
        table = probes.force_table(arcs, acceleration, experiment.law, experiment.facts.dt, kept)
        metrics = probes.measure(table, config.seed)
        metrics |= {"correction": "none"}
        sizes = [
            np.linalg.norm(table.filter(regex=f"^{prefix}[xyz]$"), axis=1)[:, None]
            for prefix in ("a_", "true_a_")
        ]
        metrics["r2_size"] = r_squared(*sizes)
        for name, shown in probes.circular_shells(experiment, SHELL).items():
            last = self._accelerations(experiment, shown, said)[:, -1, 0]
            true = probes.true_acceleration(shown, experiment.law)[:, -1, 0]
            off, size = (np.linalg.norm(each, axis=1) for each in (last - true, true))
            metrics |= {f"r2_{name}": r_squared(last, true)}
            metrics |= {f"error_{name}": float(np.median(off / size))}
        return Reading(metrics, experiment.states, report(metrics, experiment), table)

    def _learned(
        self, experiment: "probes.Experiment", network: "probes.Backbone",
        full: "probes.Orbits", few: "probes.Orbits",
    ) -> "probes.Said | None":  # fmt: skip
        """What gives the force from contexts, once it has learned the labels; None for the law.

        All labels are in units of their root mean square over the fully labelled orbits, which is
        then the unit of the head's output.
        """
        if experiment.config.control == "injected":
            return None
        length, seed = experiment.model.context_length, experiment.config.seed
        scored = first_scored(length)
        whole = [probes.undisturbed(part, 1) for part in (full, few)]
        labels = [probes.true_force(part, experiment.law, self.target) for part in whole]
        unit = float(np.sqrt(np.mean(labels[0] ** 2)))
        random, samples = np.random.default_rng((seed, 2)), labels[1].shape[1]
        masked = np.full(labels[1].shape, np.nan)
        for row in range(len(masked)):
            count = min(self.few_labels, samples - scored)
            times = scored + random.choice(samples - scored, count, False)
            masked[row, times] = labels[1][row, times]
        label = np.concatenate((labels[0], masked)) / unit
        if self.shuffled:
            known = np.isfinite(label).all(axis=-1)
            label[known] = random.permutation(label[known])
        seen = np.concatenate([part.seen for part in whole])
        said: probes.Said
        if self.learner == "forest":
            contexts, known = probes.labelled_contexts(seen, label, length)
            said = probes.forest(contexts, known, seed)
        else:
            count = max(1, self.batch_tokens // length)
            batches = probes.LabelledContexts(seen, label, length, scored, count, seed)
            outputs = label.shape[-1]
            tuned = probes.fine_tune(network, batches, outputs, self.steps, self.learner, seed)
            said = partial(probes.last_outputs, tuned)
        return lambda contexts: said(contexts) * unit

    def _accelerations(
        self, experiment: "probes.Experiment", arcs: "probes.Arcs", said: "probes.Said | None"
    ) -> Float[np.ndarray, "orbit time body axis"]:
        """What is said of the bodies at the times read, NaN elsewhere, or the law's own force."""
        force = probes.true_force(arcs, experiment.law, self.target)
        if said is not None:
            orbit = np.repeat(np.arange(len(arcs.gm)), len(arcs.read))
            time = np.tile(np.array(arcs.read), len(arcs.gm))
            contexts = arcs.contexts(orbit, time, experiment.model.context_length)
            force = np.full_like(force, np.nan)
            force[orbit, time] = said(contexts)
        return _as_acceleration(force, arcs)


def _split(
    options: Transfer, experiment: "probes.Experiment"
) -> "tuple[probes.Orbits, probes.Orbits]":
    """Orbits with all labels from the first, and as many of the last as have two labels each."""
    facts = experiment.facts
    if options.labelled + options.few > facts.orbits:
        raise ValueError(
            f"{facts.path} has {facts.orbits} orbits, but {options} "
            f"needs {options.labelled + options.few}; give fewer "
            "or more data."
        )
    full = np.arange(options.labelled)
    few = np.arange(facts.orbits - options.few, facts.orbits)
    source = experiment.source
    return probes.read_orbits(source, full), probes.read_orbits(source, few)


def _as_acceleration(
    force: Float[np.ndarray, "orbit time output"], arcs: "probes.Arcs"
) -> Float[np.ndarray, "orbit time body axis"]:
    """Accelerations of the bodies from the forces; magnitudes point at the centre."""
    if force.shape[-1] == 1:
        r = np.linalg.norm(arcs.position, axis=-1, keepdims=True)
        force = -force * arcs.position / r
    if arcs.mass is None:
        return force[:, :, None]
    both = np.stack((force, -force), axis=2)
    return both / arcs.mass[:, None, :, None]
