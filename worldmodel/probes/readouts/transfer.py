"""Transfer: the model is fine-tuned on force labels, and gives the force elsewhere.

The published protocol (Vafa et al., arXiv:2507.06952, as in the authors' code,
github.com/keyonvafa/inductive-bias-probes, `force_magnitude`): 9 000 two-body sequences with the
size of the force at every time, 1 000 more with two labels each, one mean squared error; the force
is then read where the latter come nearest to states of the former: a test of interpolation. Here
the counts are options, and the model sees contexts of C positions, as in training.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from jaxtyping import Float

from worldmodel.config import Count, Positive
from worldmodel.probes.readouts.base import Reading, ReadOut, Shown
from worldmodel.probes.readouts.implied import report

if TYPE_CHECKING:
    from worldmodel.backbone import Backbone
    from worldmodel.probes.experiment import Experiment
    from worldmodel.probes.finetune import Batch
    from worldmodel.probes.states import Arcs, Orbits


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
    frozen: bool = False
    """Train only the new head and leave the network unchanged."""
    points: Count = 1000
    """States to read, those nearest to fully labelled ones."""
    steps: Count = 500
    """Optimiser steps."""
    batch_tokens: Count = 1024
    """Positions in each step."""
    learning_rate: Positive = 1e-3
    """Largest learning rate of the network."""
    head_rate: Positive = 1e-2
    """Largest learning rate of the new head."""

    def shown(self, held_out: int, context_length: int) -> Shown:
        return Shown(self.labelled + self.few, seed=3_000_003)

    def read(self, experiment: "Experiment") -> Reading:
        """The fine-tuned model's force, as force samples.

        Labels are |F| (per unit mass where the masses are not visible) or, with `--transfer.target
        vector`, its components. A magnitude has no direction: the table then points it at the
        centre, and its central and non-central parts are no finding. With `--states kicked` the
        same model is read after kicks, without selecting states. `--control untrained` fine-tunes a
        network with fresh weights in the same way; `injected` gives the law's own force. A user's
        torch module is tuned at the last position of each context, the only one that counts.

        Raises:
            ValueError: if the data set has too few orbits, or the model contains no network.
        """
        from orbits.force_samples import vectors
        from orbits.statistics import r_squared
        from worldmodel.probes.acceleration import force_table
        from worldmodel.probes.metrics import measure
        from worldmodel.probes.states import undisturbed

        config = experiment.config
        backbone = experiment.model.backbone("the read-out transfer (fine-tuning)")
        full, few = _split(self, experiment)
        arcs = experiment.arcs(few)
        truth = forces(arcs, experiment, self.target)
        injected = config.control == "injected"
        found = truth if injected else self._tuned(backbone, experiment, full, few, arcs)
        if arcs.kick is None:
            kept = _near(arcs, undisturbed(full, experiment.model.context_length), self.points)
        else:
            kept = experiment.within(arcs)
        acceleration = _as_acceleration(found, arcs)
        table = force_table(arcs, acceleration, experiment.law, experiment.facts.dt, kept)
        metrics = measure(table, config.bootstrap, config.seed)
        metrics |= {"correction": "none", "frozen": self.frozen}
        sizes = [
            np.linalg.norm(vectors(table, prefix), axis=1)[:, None] for prefix in ("a_", "true_a_")
        ]
        metrics["r2_size"] = r_squared(*sizes)
        return Reading(metrics, experiment.states, report(metrics, experiment), table)

    def _tuned(
        self,
        backbone: "Backbone",
        experiment: "Experiment",
        full: "Orbits",
        few: "Orbits",
        arcs: "Arcs",
    ) -> Float[np.ndarray, "orbit time output"]:
        """The fine-tuned network's force at the times read; NaN elsewhere."""
        import torch

        from worldmodel.probes.finetune import fine_tune, last_outputs

        batches = Labelled(self, experiment, full, few)
        outputs, seed = batches.labels.shape[-1], experiment.config.seed
        rates = self.learning_rate, self.head_rate
        tuned = fine_tune(backbone, batches, outputs, self.steps, *rates, self.frozen, seed)
        orbit = np.repeat(np.arange(len(arcs.gm)), len(arcs.read))
        time = np.tile(np.array(arcs.read), len(arcs.gm))
        shown = arcs.contexts(orbit, time, experiment.model.context_length)
        said = last_outputs(tuned, torch.from_numpy(shown)) * batches.unit
        found = np.full((*arcs.position.shape[:2], said.shape[-1]), np.nan)
        found[orbit, time] = said.numpy()
        return found


class Labelled:
    """Batches of contexts with force labels: everywhere, or at two times in each orbit.

    Each context begins at a random time in a random orbit; those with few labels are drawn as often
    as any other. Labels are in units of `unit`, the root mean square over fully labelled orbits:
    the head's output has that unit.
    """

    def __init__(
        self, options: Transfer, experiment: "Experiment", full: "Orbits", few: "Orbits"
    ) -> None:
        import torch

        from worldmodel.objective import first_scored
        from worldmodel.probes.states import undisturbed

        random = np.random.default_rng((experiment.config.seed, 2))
        self.length = experiment.model.context_length
        self.count = max(1, options.batch_tokens // self.length)
        whole = [undisturbed(part, 1) for part in (full, few)]
        labels = [forces(part, experiment, options.target) for part in whole]
        self.unit = float(np.sqrt(np.mean(labels[0] ** 2)))
        labels = [part / self.unit for part in labels]
        samples = labels[1].shape[1]
        self.scored = scored = first_scored(self.length)
        masked = np.full(labels[1].shape, np.nan)
        for orbit in range(len(masked)):
            times = scored + random.choice(samples - scored, min(2, samples - scored), False)
            masked[orbit, times] = labels[1][orbit, times]
        seen = np.concatenate([part.seen for part in whole])
        self.positions = torch.from_numpy(seen.astype(np.float32))
        self.labels = torch.from_numpy(np.concatenate((labels[0], masked)))
        self.labels[:, :scored] = torch.nan
        self.generator = torch.Generator().manual_seed(experiment.config.seed)

    def __call__(self, step: int) -> "Batch":
        from worldmodel.data import random_crops

        crops = random_crops(self.labels, self.count, self.length, self.generator)
        labels = self.labels[crops]
        # Nothing of the velocity is known at the first position of a context, as in training.
        labels[:, : self.scored] = np.nan
        return self.positions[crops], labels


def forces(
    arcs: "Arcs", experiment: "Experiment", target: str
) -> Float[np.ndarray, "orbit time output"]:
    """Labels: magnitude or components of the force on the first body, per unit mass if need be."""
    from worldmodel.probes.acceleration import true_acceleration

    force = true_acceleration(arcs, experiment.law)[:, :, 0]
    if arcs.mass is not None:
        force = force * arcs.mass[:, None, :1]
    if target == "vector":
        return force
    return np.linalg.norm(force, axis=-1, keepdims=True)


def _split(options: Transfer, experiment: "Experiment") -> "tuple[Orbits, Orbits]":
    """Orbits with all labels from the first, and as many of the last as have two labels each."""
    from worldmodel.probes.states import read_orbits

    facts = experiment.facts
    if options.labelled + options.few > facts.orbits:
        raise ValueError(
            f"{facts.path} has {facts.orbits} orbits, but --transfer.labelled {options.labelled} "
            f"and --transfer.few {options.few} need {options.labelled + options.few}; give fewer "
            "or more data."
        )
    full = np.arange(options.labelled)
    few = np.arange(facts.orbits - options.few, facts.orbits)
    return read_orbits(experiment.source, full), read_orbits(experiment.source, few)


def _as_acceleration(
    force: Float[np.ndarray, "orbit time output"], arcs: "Arcs"
) -> Float[np.ndarray, "orbit time body axis"]:
    """Accelerations of the bodies from the forces; magnitudes point at the centre."""
    if force.shape[-1] == 1:
        r = np.linalg.norm(arcs.position, axis=-1, keepdims=True)
        force = -force * arcs.position / r
    if arcs.mass is None:
        return force[:, :, None]
    both = np.stack((force, -force), axis=2)
    return both / arcs.mass[:, None, :, None]


def _near(arcs: "Arcs", labelled: "Arcs", points: int) -> np.ndarray:
    """(orbit, time) of so many states nearest to fully labelled ones.

    Distances are in positions and velocities, each over its root mean square, and in log GM.
    """
    from scipy.spatial import cKDTree

    units = [np.sqrt(np.mean(states**2)) for states in (labelled.position, labelled.velocity)]

    def states(of: "Arcs") -> np.ndarray:
        times = np.array(of.read)
        gm = np.broadcast_to(np.log(of.gm)[:, None, None], (len(of.gm), len(times), 1))
        parts = (of.position[:, times] / units[0], of.velocity[:, times] / units[1], gm)
        return np.concatenate(parts, axis=-1).reshape(len(of.gm) * len(times), -1)

    distance, _ = cKDTree(states(labelled)).query(states(arcs))
    nearest = np.argsort(distance, kind="stable")[:points]
    kept = np.zeros(arcs.position.shape[:2], dtype=bool)
    kept[nearest // len(arcs.read), nearest % len(arcs.read) + arcs.read.start] = True
    return kept
