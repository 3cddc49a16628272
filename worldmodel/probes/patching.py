"""Does a prediction follow the force when what decodes it is exchanged between two states?

At one site and the last position, one state receives what another had there in some subspace; the
positions it sees stay its own. With F the force, the implied acceleration must change by F(donor) −
F(receiver). The *share followed* is 1 − |change − wanted| / |wanted|, of root mean squares over
pairs: 1 for exactly that, s if a share s of it arrives and nothing else moves, 0 if nothing moves,
negative if something else does.

What a gradient finds is no evidence by itself. A few directions of many can make any network say
anything (arXiv:2311.17030), even an untrained one, because a linear map of what is decodable need
only be pointed at what the output reads. So a second subspace, learned in the same way, carries the
*opposite* of the force, which no network means: only what the first follows beyond the second
counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from orbits.forces import ForceLaw
from worldmodel.inside import Inside, kept_outputs
from worldmodel.interventions import Edit, exchange, intervene, steer
from worldmodel.probes.ridge import fitted_subspace
from worldmodel.world_model import TOKENS_AT_ONCE

Vectors = Float[Tensor, "state axis"]


@dataclass(frozen=True)
class Answer:
    """Response of the implied acceleration to an exchange."""

    followed: float
    """1 − |change − wanted| / |wanted|, of root mean squares."""
    slope: float
    """Of the change on the wanted one."""
    leaked: float
    """Rest of the change beside the slope, in units of the wanted one, root mean squares."""

    @property
    def reversed(self) -> float:
        """The share followed of the opposite change."""
        return 1 - float(np.hypot(1 + self.slope, self.leaked))


@dataclass(frozen=True)
class PairedStates:
    """States of some orbits: half for learning, half for testing."""

    contexts: Float[Tensor, "state time body axis"]
    """Two positions or more, au."""
    force: Vectors
    """au/yr^2."""
    gm: np.ndarray
    """(state,) au^3/yr^2."""
    orbit: np.ndarray
    """(state,) orbit of each."""
    dt: float
    random: np.random.Generator

    @classmethod
    def of(cls, contexts: np.ndarray, force: np.ndarray, **others: Any) -> "PairedStates":
        """The same, from arrays."""
        return cls(torch.from_numpy(contexts), torch.from_numpy(force), **others)

    @cached_property
    def halves(self) -> tuple[Tensor, Tensor]:
        """Rows to learn from, and rows to test."""
        number = np.unique(self.orbit, return_inverse=True)[1]
        learned, asked = (torch.from_numpy(np.flatnonzero(number % 2 == half)) for half in (0, 1))
        return learned, asked

    @cached_property
    def pairs(self) -> tuple[Tensor, Tensor]:
        """Receivers under test, and their donors: each another state."""
        asked = self.halves[1]
        receivers = asked[torch.from_numpy(self.random.permutation(len(asked)))]
        return receivers, receivers.roll(1)


class Patched:
    """One predictor on the states: its acceleration, and its activations at the last position."""

    def __init__(self, inside: Inside, context_length: int, states: PairedStates) -> None:
        self.inside, self.states = inside, states
        self.context_length = context_length
        outputs, parts = [], []
        for rows in self._at_once(torch.arange(len(states.force))):
            with torch.no_grad(), kept_outputs(inside.module, inside.layers) as kept:
                outputs.append(self.implied(rows))
            parts.append({site: _last(output, len(rows)) for site, output in kept.items()})
        self.acceleration = torch.cat(outputs)
        self.layers: dict[str, Float[Tensor, "state feature"]] = {}
        """Activations at the last position, for sites with a vector for each state that varies and
        is no narrower than the force."""
        for site in inside.layers:
            tables = [table for part in parts if (table := part.get(site)) is not None]
            if len(tables) < len(parts):
                continue
            values = torch.cat(tables)
            if values.shape[1] >= states.force.shape[1] and (values != values[0]).any():
                self.layers[site] = values

    def implied(self, rows: Tensor) -> Vectors:
        """The second difference of the predictions for some states, au/yr^2."""
        seen = self.states.contexts[rows]
        output = self.inside.following(seen[:, -self.context_length :])
        return ((output - 2 * seen[:, -1] + seen[:, -2]) / self.states.dt**2)[:, 0]

    def answer(self, site: str, edit: Callable[[Tensor, Tensor], Edit]) -> Answer:
        """The tested states' answer when a site is edited, given receivers and donors."""
        receivers, donors = self.states.pairs
        with torch.no_grad():
            outputs = []
            for part in self._at_once(torch.arange(len(receivers))):
                with intervene(self.inside.module, site, edit(receivers[part], donors[part])):
                    outputs.append(self.implied(receivers[part]))
        change = torch.cat(outputs) - self.acceleration[receivers]
        wanted = self.states.force[donors] - self.states.force[receivers]
        slope = (change * wanted).sum() / (wanted**2).sum()
        missed, leaked = (_ratio(change - part * wanted, wanted) for part in (1.0, slope))
        return Answer(1 - missed.item(), slope.item(), leaked.item())

    def _at_once(self, rows: Tensor) -> tuple[Tensor, ...]:
        return rows.split(max(1, TOKENS_AT_ONCE // self.context_length))

    def exchanged(self, site: str, subspace: Tensor | None) -> Answer:
        """Their answer when a subspace is exchanged; None: the whole site."""
        values = self.layers[site]
        return self.answer(site, lambda _, donors: exchange(subspace, values[donors], at=-1))

    def at_random(self, site: str, subspace: Tensor) -> Answer:
        """The same for a random subspace of that size for each pair; each change has the other's
        norm."""
        values = self.layers[site]
        basis = torch.linalg.qr(subspace).Q

        def edit(receivers: Tensor, donors: Tensor) -> Edit:
            apart = values[donors] - values[receivers]
            size = (apart @ basis).norm(dim=1, keepdim=True)
            drawn = self.states.random.normal(size=(len(apart), *subspace.shape))
            others = torch.linalg.qr(torch.from_numpy(drawn)).Q
            change = (others @ (others.mT @ apart[:, :, None]))[:, :, 0]
            return steer(size * nn.functional.normalize(change), at=-1)

        return self.answer(site, edit)

    def probe(self, site: str) -> tuple[float, Tensor]:
        """R² of the force from a ridge regression on a site, on the tested orbits; the subspace it
        reads, with orthonormal columns."""
        learned, asked = (rows.numpy() for rows in self.states.halves)
        decoded, columns = fitted_subspace(
            self.layers[site].numpy(), self.states.force.numpy(), self.states.orbit, learned, asked
        )
        return decoded, torch.from_numpy(columns)

    def rotation(self, site: str, sign: int, steps: int, seed: int) -> Tensor:
        """The subspace whose exchange best moves the acceleration by the force (`sign` 1), or by
        its opposite (−1).

        Source: distributed alignment search, Geiger et al., arXiv:2303.02536.
        """
        values, force, learned = self.layers[site], self.states.force, self.states.halves[0]
        random = torch.Generator().manual_seed(seed)
        shape = values.shape[1], force.shape[1]
        columns = torch.linalg.qr(torch.randn(shape, generator=random, dtype=values.dtype)).Q
        columns.requires_grad_()
        descent = torch.optim.Adam([columns], lr=0.05)
        rates = torch.optim.lr_scheduler.CosineAnnealingLR(descent, steps)
        for _ in range(steps):
            rows = learned[torch.randint(len(learned), (2, 64), generator=random)]
            receivers, donors = rows
            wanted = sign * (force[donors] - force[receivers])
            with intervene(self.inside.module, site, exchange(columns, values[donors], at=-1)):
                change = self.implied(receivers) - self.acceleration[receivers]
            missed = _ratio(change - wanted, wanted)
            if not missed.requires_grad:  # what follows does not read the site
                break
            (columns.grad,) = torch.autograd.grad(missed.log(), [columns])
            descent.step()
            rates.step()
        return columns.detach()


def asked_at(patched: Patched, site: str, steps: int, seed: int) -> dict[str, float]:
    """All that the probe `causal` measures at a site; without steps no rotation is learned."""
    decoded, subspace = patched.probe(site)
    probe = patched.exchanged(site, subspace)
    metrics = {"decoded": decoded, "probe": probe.followed}
    metrics |= {"probe_slope": probe.slope, "probe_leaked": probe.leaked}
    metrics["random"] = patched.at_random(site, subspace).followed
    if steps:
        subspace, other = (patched.rotation(site, sign, steps, seed) for sign in (1, -1))
        carried, reverse = patched.exchanged(site, subspace), patched.exchanged(site, other)
        metrics |= {"rotation": carried.followed, "reversed": reverse.reversed}
        metrics["beyond"] = carried.followed - max(0.0, reverse.reversed)
    metrics["whole"] = patched.exchanged(site, None).followed
    return metrics


def _last(output: Tensor, rows: int) -> Float[Tensor, "state feature"] | None:
    """A site's output at the last position; None unless it is a vector for each state."""
    if output.ndim not in (2, 3) or len(output) != rows:
        return None
    return (output[:, -1] if output.ndim == 3 else output).double().cpu()


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """Of root mean squares."""
    return part.norm() / whole.norm()


class KnownForce(nn.Module):
    """The positive control: `hidden` carries the force in known directions, from which the
    prediction is made.

    Position and velocity, also in `hidden`, are not used there: inertia bypasses it. All orbits
    have one GM.
    """

    def __init__(self, law: ForceLaw, states: PairedStates) -> None:
        super().__init__()
        self.law, self.gm, self.dt = law, float(states.gm[0]), states.dt
        axes = states.force.shape[1]
        others = states.contexts[:, -1, 0], states.contexts[:, -1, 0] - states.contexts[:, -2, 0]
        self.units = [part.square().mean().sqrt() for part in (states.force, *others)]
        known = (1 + len(others)) * axes
        width = max(256, known)
        mixture = states.random.normal(size=(width, known))
        self.columns = torch.linalg.qr(torch.from_numpy(mixture)).Q
        self.hidden = nn.Identity()

    def forward(self, positions: Float[Tensor, "state time body axis"]) -> Tensor:
        x, before = positions[:, -1, 0], positions[:, -2, 0]
        force = torch.from_numpy(self.law.acceleration(x.numpy(), np.full(len(x), self.gm)))
        parts = (force, x, x - before)
        known = [part / unit for part, unit in zip(parts, self.units, strict=True)]
        hidden = self.hidden(torch.cat(known, dim=1) @ self.columns.T)
        used = hidden @ self.columns[:, : x.shape[1]] * self.units[0]
        return (2 * x - before + self.dt**2 * used)[:, None]


def known_force(law: ForceLaw, states: PairedStates) -> Inside:
    """The positive control, open to edits of what it knows."""
    control = KnownForce(law, states)
    return Inside(control, control, ["hidden"])
