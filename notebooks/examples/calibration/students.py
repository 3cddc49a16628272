"""Networks that learned what a teacher says: the law, or another force.

They are taught on arcs of every kind, half of them kicked, so that the teacher's answer is known
for whatever they will be asked. Nothing of the run's own orbits is used. A student that does not
say what its teacher says, on fresh arcs and right after a kick, is no student: its cell fails.
"""

from collections.abc import Callable

import numpy as np
import torch
from knows_law import newton
from other_forces import FORCES
from stepping import Force, Stepping, moved
from torch import Tensor, nn

from worldmodel.inside import Inside
from worldmodel.predictor import Predictor, by_windows

STEPS, BATCH, WIDTH = 3000, 512, 128
ARCS = 60_000
MOST = 2500.0
"""au/yr^2: largest acceleration that is taught, Newton's at an eighth of an au."""
GOOD = 0.05
"""Largest median error of a student against its teacher, over arcs and after late kicks."""


class Student(nn.Module):
    """The acceleration from the last position, the last step and the bends before it."""

    def __init__(self, context_length: int, dt: float) -> None:
        super().__init__()
        self.context_length, self.dt = context_length, dt
        inputs = 5 + 2 * (context_length - 2)
        self.layers = nn.Sequential(
            nn.Linear(inputs, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(),
            nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 3),
        )  # fmt: skip

    def forward(self, contexts: Tensor) -> Tensor:
        """(batch, time, axis) in double precision, au, to (batch, axis), au/yr^2."""
        steps = torch.diff(contexts, dim=1) / self.dt
        bends = torch.diff(steps, dim=1) / self.dt
        here = contexts[:, -1]
        r = here.norm(dim=1, keepdim=True)
        squeezed = torch.asinh(bends / 40).flatten(1)
        seen = torch.cat((here, torch.log(r), steps[:, -1] / 6, squeezed), dim=1).float()
        said = self.layers(seen)
        return 40 * said[:, :2] * torch.exp(said[:, 2:].clamp(-6, 6))

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        return by_windows(positions, self.context_length, self._following)

    def inside(self, what: str) -> Inside:
        """Its two hidden layers."""
        return Inside(self, self._next, ["layers.1", "layers.3"])

    @torch.no_grad()
    def _following(self, contexts: np.ndarray) -> np.ndarray:
        return self._next(torch.from_numpy(contexts)).numpy()

    def _next(self, contexts: Tensor) -> Tensor:
        bend = self(contexts).double() * self.dt**2
        return 2 * contexts[:, -1] - contexts[:, -2] + bend


def arcs(
    force: Force, context_length: int, dt: float, count: int, random: np.random.Generator,
    latest: int | None = None,
) -> np.ndarray:  # fmt: skip
    """(arc, time, axis) contexts under a force: every direction, 0 to 2.1 circular speeds.

    Half of them are kicked on the way, most of those late: the velocity is another one from there
    on. With `latest` all are, at most so many steps before the end.
    """
    r = np.exp(random.uniform(np.log(0.25), np.log(3.3), count))
    angle = random.uniform(0, 2 * np.pi, (4, count))
    x = r[:, None] * np.stack((np.cos(angle[0]), np.sin(angle[0])), axis=1)

    def drawn(way: np.ndarray) -> np.ndarray:
        speed = 2 * np.pi / np.sqrt(r) * random.uniform(0, 2.1, count)
        return speed[:, None] * np.stack((np.cos(way), np.sin(way)), axis=1)

    v, old = drawn(angle[1]), drawn(angle[2])
    kick = np.exp(random.uniform(0, np.log(latest or max(2, context_length)), count)).astype(int)
    if latest is None:
        kick[random.random(count) < 0.5] = context_length
    found = [x]
    for k in range(1, context_length):
        v = np.where((kick == k)[:, None], old, v)
        with np.errstate(all="ignore"):
            x, v = moved(force, x, v, -dt, 2)
        found.insert(0, x)
    known = np.stack(found, axis=1)
    return known[np.isfinite(known).all(axis=(1, 2)) & (np.abs(known) < 6).all(axis=(1, 2))]


def taught(teacher: Predictor, force: Force, context_length: int, dt: float, seed: int) -> Student:
    """A student of a teacher, trained on relative errors.

    Args:
        teacher: says the next position.
        force: moves the arcs that both see.
        context_length: positions that the student sees; the teacher sees no more.
        dt: yr.
        seed: of weights, arcs and batches.
    """
    random = np.random.default_rng(seed)
    seen = arcs(force, context_length, dt, ARCS, random)
    told = _said(teacher, seen, dt)
    size = np.linalg.norm(told, axis=1)
    usable = np.isfinite(size) & (size < MOST)
    contexts, target = torch.from_numpy(seen[usable]), torch.from_numpy(told[usable]).float()
    torch.manual_seed(seed)
    student = Student(context_length, dt)
    optimizer = torch.optim.AdamW(student.parameters(), lr=2e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        rows = torch.from_numpy(random.integers(len(contexts), size=BATCH))
        error = student(contexts[rows]) - target[rows]
        loss = (error.norm(dim=1) / (target[rows].norm(dim=1) + 1.0)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    student.eval()
    for latest in (None, 5):
        fresh = arcs(force, context_length, dt, 4000, random, latest)
        asked, said = _said(teacher, fresh, dt), _said(student, fresh, dt)
        error = np.linalg.norm(said - asked, axis=1) / (np.linalg.norm(asked, axis=1) + 1.0)
        typical = float(np.nanmedian(error))
        if typical > GOOD:
            raise ValueError(f"the student has not learned its teacher: it errs by {typical:.1%}.")
    return student


def _said(predictor: Predictor, contexts: np.ndarray, dt: float) -> np.ndarray:
    """(context, axis) second differences of what is predicted, au/yr^2."""
    said = predictor.predict(contexts)[:, -1]
    return (said - 2 * contexts[:, -1] + contexts[:, -2]) / dt**2


def _of_force(force_of: Callable[[np.random.Generator], Force], length: int):
    def make(dt: float, seed: int) -> Student:
        force = force_of(np.random.default_rng(seed))
        return taught(Stepping(force, dt, length), force, length, dt, seed)

    return make


def _force(name: str) -> Callable[[np.random.Generator], Force]:
    def drawn(random: np.random.Generator) -> Force:
        return FORCES[name](float(np.exp(random.uniform(np.log(0.1), np.log(0.5)))))

    return drawn


for _length in (2, 3, 8, 32):
    globals()[f"newton_{_length}"] = _of_force(lambda random: newton, _length)
    for _name in ("exponent", "steeper", "drag", "squeezed"):
        globals()[f"{_name}_{_length}"] = _of_force(_force(_name), _length)
