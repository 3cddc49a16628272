"""Causal: whether the prediction uses what a probe decodes.

A probe of a layer shows what could be read there, not what the network reads (the fourth criterion
of arXiv:2405.17209). Here the subspace that decodes the force is exchanged between two states, and
the implied acceleration must follow the donor's force: see `worldmodel.probes.patching`.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orbits.statistics import r_squared
from worldmodel import probes
from worldmodel.config import Count, FromZero
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

NEEDED = "the probe causal"
WORDS = {
    "decoded": "R² of the force, by a probe",
    "probe": "response to exchanging the probe's subspace",
    "probe_slope": "slope of that",
    "probe_leaked": "what else moves then",
    "random": "response to exchanging a random subspace",
    "rotation": "response to exchanging the best learned subspace",
    "reversed": "opposite response, of the best learned for that",
    "beyond": "response beyond the opposite one",
    "whole": "response to exchanging everything",
}
"""Measured at each site."""
BESIDE = {
    "probe": ("probe_slope", "probe_leaked", "random"),
    "beyond": ("rotation", "reversed"),
}
"""Reported for the site where another is largest."""


@dataclass(frozen=True)
class Causal(ReadOut):
    """Exchange of the decoded force between two states."""

    name: ClassVar[str] = "causal"
    what: ClassVar[str] = "whether the prediction uses the force that a probe decodes"
    question: ClassVar[str] = (
        "How far the implied acceleration follows when the decoded force is exchanged between two "
        "orbits (1: fully, 0: not at all); what can be decoded need not be used."
    )
    labels: ClassVar[Mapping[str, str]] = {
        f"{who}_{name}": words + more
        for who, more in {"trained": "", "untrained": ", untrained"}.items()
        for name, words in WORDS.items()
    } | {"own": "R² of the acceleration where nothing is exchanged"}
    controls: ClassVar[tuple[str, ...] | None] = ("none", "injected")
    least_orbits: ClassVar[int] = 4  # two folds of two

    states: Count = 1000
    """About this many states, equally many per orbit."""
    steps: FromZero = 50
    """Optimiser steps of each learned subspace; 0 learns none."""

    def read(self, experiment: "probes.Experiment") -> Reading:
        """Share of the donor's force that the implied acceleration follows, by site.

        Sites are the parts of the network (`embed`, `blocks.0.attention`, `blocks.0.mlp`,
        `blocks.0`, ...) or of a torch module. Subspaces have as many dimensions as the force, and
        are learned on half of the orbits; the others are tested, and their R² is `decoded`.
        Exchanged are:

        - `probe`, what a ridge regression reads: is the decoded part used? with `probe_slope` and
          `probe_leaked`;
        - `rotation`, found by gradient to move the acceleration best, and `reversed`, the same
          against the force: what any network can be made to do. `beyond` is their difference;
        - `random`, a random subspace for each pair, each change as large as `probe`'s: with k
          dimensions among D it shares √(k/D) with any other;
        - `whole`, all at that site; nothing is learned.

        `metrics` holds the largest of each over the sites, `trained_NAME` and `untrained_NAME`,
        except that companions of `probe` or `beyond` come from the site where that is largest; and
        `own`, the R² of the acceleration without exchange. A probe that is not followed is not
        read; another direction may be, as `beyond` shows. The last block of a network with the
        residual as target is the acceleration in other coordinates: following there means only that
        the prediction is right. Of a network that says logarithms it is a length and a direction:
        `probe`, which reads coordinates, is low there though the force is right. With `--control
        injected` a network with the force in known directions replaces the model: `probe`,
        `rotation` and `beyond` must be 0.9 or more.

        Raises:
            ValueError: for two visible bodies, too few orbits, or a model without a torch module.
        """
        states = self._states(experiment)
        length = experiment.model.context_length
        inside, needed = experiment.model.inside(NEEDED), length
        if experiment.config.control == "injected":
            inside, needed = probes.known_force(experiment.law, states), max(2, length)
        shown = [
            ("trained", probes.Patched(inside, needed, states)),
            ("untrained", probes.Patched(experiment.untrained.inside(NEEDED), length, states)),
        ]
        seed, tables = experiment.config.seed, {}
        for who, patched in shown:
            tables[who] = {
                site: probes.asked_at(patched, site, self.steps, seed) for site in patched.layers
            }
            if not tables[who]:
                raise ValueError(
                    f"{experiment.model.name} has no site that gives a vector for each state; name "
                    "such submodules (layers= of TorchModule)."
                )
        best = {who: _best(table) for who, table in tables.items()}
        metrics: dict[str, Any] = {
            f"{who}_{name}": value for who, row in best.items() for name, value in row.items()
        }
        metrics["own"] = r_squared(shown[0][1].acceleration.numpy(), states.force.numpy())
        metrics |= {"states": len(states.force), "orbits": len(np.unique(states.orbit))}
        columns = {**tables["trained"], "best of untrained": best["untrained"]}
        title = f"{experiment.who}, {experiment.states} states, by site"
        return Reading(
            metrics, experiment.states, side_by_side(title, columns, WORDS), details=tables
        )

    def _states(self, experiment: "probes.Experiment") -> "probes.PairedStates":
        """The states; with `--control injected` all of one mass: the control knows no other."""
        experiment.model.inside(NEEDED)  # what is missing is said before anything is computed
        experiment.untrained.inside(NEEDED)
        arcs, random = experiment.arcs(), experiment.random()
        if arcs.mass is not None:
            raise ValueError(
                f"{experiment.facts.path} shows two bodies; the probe causal reads one body "
                "around a centre."
            )
        orbit, time = arcs.draw(self.states, random)
        kept = experiment.within(arcs)[orbit, time]
        orbit, time = orbit[kept], time[kept]
        count = len(np.unique(orbit))
        if count < self.least_orbits:
            raise ValueError(
                f"the probe causal needs {self.least_orbits} orbits or more; there are {count}."
            )
        if experiment.config.control == "injected":
            arcs = dataclasses.replace(arcs, gm=np.full_like(arcs.gm, float(np.median(arcs.gm))))
        return probes.PairedStates.of(
            contexts=arcs.contexts(orbit, time, max(2, experiment.model.context_length)),
            force=probes.true_acceleration(arcs, experiment.law)[orbit, time, 0],
            gm=arcs.gm[orbit],
            orbit=arcs.index[orbit],
            dt=experiment.facts.dt,
            random=random,
        )


def _best(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The largest numbers of sites, in the order of one."""
    rows = list(table.values())
    largest = {name: max(row[name] for row in rows) for name in rows[0]}
    for name in BESIDE.keys() & largest.keys():
        row = max(rows, key=lambda row: row[name])
        largest |= {other: row[other] for other in BESIDE[name]}
    return largest
