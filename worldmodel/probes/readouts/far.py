"""Far: is the implied acceleration right where no training orbit has been?"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from orbits.files import as_json, numbers_in
from orbits.options import Between
from orbits.printing import table
from orbits.whole_field import PARTS
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from worldmodel.probes.experiment import Experiment

GROUPS = ("families", "pasts", "followed", "rolled", "shells", "states", "independent", "seed")
"""Numbers that the terminal shows in a table of their own, or in the title."""


@dataclass(frozen=True)
class Far(ReadOut):
    """An examination: accelerations asked of the model far from its training."""

    name: ClassVar[str] = "far"
    what: ClassVar[str] = "states that no training orbit is like, behind several pasts"
    question: ClassVar[str] = (
        "Whether the implied acceleration is the law's on states drawn from one density "
        "(any distance of training, any speed up to 2 circular ones, any direction), behind pasts "
        "of other forces, and on the model's own predictions; and what else the field holds."
    )
    labels: ClassVar[Mapping[str, str]] = {
        "error": "median relative error of the acceleration",
        "mean_error": "mean of it, no state counted above 100 %",
        "right": "share of states within 10 %",
        "right_low": "at least, with 95 % confidence",
        "answered": "share of states with an answer",
        "closed_loop_right": "share within 10 % on its own predictions",
        "size": "median acceleration, as a fraction of the law's",
        "field_error": "median relative error against the field's own fit",
        "field_right": "share of states within 10 % of it",
        "remainder": "error against it on 90 % of the states, at most",
        "unevenness": "difference of the departure between groups of states",
        "kick_field_error": "the same one step after a kick",
        "anticlockwise": "median error moving anticlockwise",
        "clockwise": "median error moving clockwise",
        "grain": "spacing of the answers, au",
        "pull": "displacement by the law in a step, au",
        "rounding": "error of it by that spacing",
        "closest": "closest state, au",
        "farthest": "farthest state, au",
        "parts_strength_size": "strength off by",
        "parts_exponent_size": "exponent off by",
        **{f"parts_{name}_size": f"part {words}" for name, words in PARTS.items()},
    }

    count: Annotated[int, Between(40, 10**6)] = 2000
    """States of the density; about ten numbers of a field are fitted to them."""
    beside: bool = True
    """Ask as well for other families and pasts, orbits of data and own predictions."""

    @property
    def of_a_control(self) -> "Far":
        """A part of the density: a lookup takes milliseconds for each."""
        return dataclasses.replace(self, count=min(self.count, 600), beside=False)

    @classmethod
    def draw(cls, reading: Reading, axes: "Axes") -> "Axes":
        from worldmodel.plot import plot_validity

        return plot_validity(axes, reading.details["map"])

    def read(self, experiment: "Experiment") -> Reading:
        """The numbers of `worldmodel.examiner.summary.Examination`; raises as `summary` does.

        `metrics` has also those of the density by itself (`error`, `right`, `right_low`,
        `answered`, `states`) and `closed_loop_right`. `details` holds the `answers`, all columns
        of the table, and a `map` of the density.
        """
        from worldmodel.examiner.answers import examined
        from worldmodel.examiner.questions import Counts
        from worldmodel.examiner.shells import of_shells
        from worldmodel.examiner.summary import summary

        counts = Counts(density=self.count) if self.beside else Counts.of_states(self.count)
        world = experiment.world
        length = max(experiment.predictor.context_length, 3)
        shown = experiment.examined_orbits(length) if counts.orbits else None
        seed = experiment.exam_seed
        answers = examined(experiment.predictor, world, counts, seed, length, shown)
        found = summary(answers, world, seed)
        metrics: dict[str, Any] = {
            **{each.name: getattr(found.all, each.name) for each in dataclasses.fields(found.all)},
            "right_low": found.all.bound(),
            "closed_loop_right": found.rolled.right,
            **as_json(found),
        }
        del metrics["cells"], metrics["all"]
        density = answers.some(answers.density & answers.answered)
        x, v = density.position, density.velocity
        spin = x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]
        shown_as = {"r": density.r, "speed": density.speed, "error": density.error}
        beyond = answers.some(answers.answered & of_shells(answers))
        sizes = np.linalg.norm(beyond.acceleration, axis=1)
        reach = {"r": beyond.r, "size": sizes, "true": beyond.size, "error": beyond.error}
        details = {
            "reach": {name: values.tolist() for name, values in reach.items()},
            "map": {
                n: each.tolist() for n, each in {**shown_as, "anticlockwise": spin > 0}.items()
            },
            "examination": as_json(found),
            "answers": answers.to_lists(),
        }
        title = f"{experiment.who}, far states: over {found.states} (examination {seed})"
        every = numbers_in(metrics)
        numbers = {n: v for n, v in every.items() if n.partition("_")[0] not in GROUPS}
        tables = (table(rows) for rows in (found.table(), found.shell_table()))
        text = "\n\n".join([side_by_side(title, {"": numbers}, self.labels), *tables])
        return Reading(metrics, "far", text, details=details)
