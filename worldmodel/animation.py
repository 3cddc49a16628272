"""One orbit, a kick, and the force that models imply beside the true one: a moving picture."""

import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from orbits.dataset import as_dataset
from orbits.files import as_json, write_text
from orbits.options import checked
from worldmodel.kick import turned
from worldmodel.probes.acceleration import true_acceleration
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.probe import as_model
from worldmodel.probes.states import after_kick, time_of_kick
from worldmodel.source import Data

PAGE = Path(__file__).with_suffix(".html")
"""The page, with a place for what it shows."""
DECIMALS = 3
"""Of what it shows: more than a pixel."""


@dataclass(frozen=True)
class Animation:
    """A moving picture, which a notebook shows: the page alone, without a network.

    step: (frame,) steps since the kick, up to 0 before it. error: by title, (frame,) error of the
    implied acceleration over the true one's size.
    """

    step: Int[np.ndarray, " frame"]
    error: Mapping[str, Float[np.ndarray, " frame"]]
    page: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, HTML, whole or not at all."""
        write_text(Path(path), self.page)

    def _repr_html_(self) -> str:
        page = html.escape(self.page)
        # as wide as two square panels with their lines of text
        look = "width:100%;max-width:46rem;aspect-ratio:3/2;min-height:19rem;border:0"
        return f'<iframe title="{TITLE}" style="{look}" srcdoc="{page}"></iframe>'


TITLE = "An orbit, a kick, and the forces that models imply"


@checked
def animate(
    models: Any,
    data: Data,
    *,
    orbit: int = 0,
    turn: float = 0.5,
    factor: float = 1.0,
    steps: int = 64,  # twice the longest usual context
) -> Animation:
    """An orbit whose velocity is turned in mid-orbit, with the true force and the one that each
    model's next position implies there.

        worldmodel.animate({"residual": one, "displacement": other}, held_out).save("kick.html")

    The models see the same positions. Of three axes the first two are drawn, and of two visible
    bodies the first.

    Args:
        models: a model, as for `worldmodel.probe`, or several by the titles of their panels.
        data: a data set with a known law, or its path.
        orbit: its number in the data.
        turn: of the velocity, outwards, rad.
        factor: of the speed at the kick.
        steps: shown after the kick.

    Raises:
        ValueError: if models and data do not fit, the law is unknown, there is no such orbit, or
            the body falls into the centre.
    """
    dataset = as_dataset(data)
    if not 0 <= orbit < dataset.sizes["orbit"]:
        raise ValueError(
            f"orbit is {orbit}; the data hold {dataset.sizes['orbit']}, counted from 0."
        )
    if steps < 1:
        raise ValueError(f"steps is {steps}; a whole number of at least 1 is needed.")
    one, config = dataset.isel(orbit=[orbit]), ProbeConfig(correction="none")
    named = models if isinstance(models, Mapping) else {getattr(models, "name", "model"): models}
    shown = {str(n): Experiment(as_model(model), one, config) for n, model in named.items()}
    first = next(iter(shown.values()))
    orbits, law = first.orbits, first.law
    context = max(each.predictor.context_length for each in shown.values())
    at = time_of_kick(orbits, context)
    x, v = (states[:, at].astype(np.float64) for states in (orbits.position, orbits.velocity))
    velocity = turned(x, v, np.array([turn]), np.array([factor]))
    arcs = after_kick(orbits, law, at, range(1, steps + 1), orbits.trajectories.gm, velocity)
    frames = slice(max(1, context - 1), at + steps + 1)
    place, true = (
        each[0, frames, 0, :2].astype(np.float64)
        for each in (arcs.seen, true_acceleration(arcs, law))
    )
    implied = {n: each.acceleration(arcs)[0, frames, 0, :2] for n, each in shown.items()}
    size = np.linalg.norm(true, axis=-1)
    error = {n: np.linalg.norm(force - true, axis=-1) / size for n, force in implied.items()}
    step = np.arange(frames.start, frames.stop) - at
    told = {
        "step": step,
        "place": place.round(DECIMALS),
        "true": true.round(DECIMALS),
        "panels": [
            {"title": n, "force": implied[n].round(DECIMALS), "error": error[n].round(DECIMALS)}
            for n in shown
        ],
    }
    # null where a model gives no answer
    content = json.dumps(as_json(told, nan="null"), separators=(",", ":")).replace("<", "\\u003c")
    return Animation(step, error, PAGE.read_text(encoding="utf-8").replace("{content}", content))
