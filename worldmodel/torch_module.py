"""A user's torch module as a predictor."""

import copy
import functools
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from orbits.options import require_known
from worldmodel.backbone import Backbone, HeadInput
from worldmodel.inside import Inside, autograd_jacobians, bare, kept_outputs, tensors_in
from worldmodel.interventions import Edit, intervene
from worldmodel.predictor import by_windows


@dataclass(eq=False, repr=False)
class TorchModule:
    """A module that maps (batch, time, axis) to (batch, time, axis), or to (batch, axis).

    It sees exactly the last C positions, and its output at the last one counts. Derivatives come
    from autograd, on a float64 copy on the CPU.

    Args:
        module: put into evaluation mode. Several bodies: (batch, time, body, axis).
        context_length: positions that it sees.
        target: what it outputs: the next `position`, the `displacement` x(t+1) − x(t), or the
            `residual`, that minus x(t) − x(t−1).
        scale: au in the module's unit of length, for input and output alike.
        layers: names of submodules whose outputs `activations` returns; by default all that output
            one vector per time.
        output: which of several outputs counts: a key of a dict or `ModelOutput`, or a place in a
            tuple; by default the first tensor of a shape that fits.
        dt: the step it was made for, checked against the data.
        name: for reports.
        head: name of the submodule that fine-tuning replaces; by default the last `nn.Linear`
            called.

    Raises:
        ValueError: for an unknown target, or one that needs more positions.
    """

    module: nn.Module
    context_length: int
    target: Literal["position", "displacement", "residual"] = "position"
    scale: float = 1.0
    layers: Sequence[str] | None = None
    dt: float | None = None
    name: str = ""
    head: str | None = None
    output: str | int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.module, nn.Module):
            raise ValueError(f"module is {type(self.module).__name__}; a torch module is needed.")
        if not isinstance(self.context_length, int) or self.context_length < 1:
            raise ValueError(
                f"context_length is {self.context_length!r}; a whole number of at least 1 is "
                "needed."
            )
        require_known("target", self.target, ("position", "displacement", "residual"))
        if self.target == "residual" and self.context_length < 2:
            raise ValueError("target residual needs two positions; give context_length 2 or more.")
        self.module = bare(self.module).eval()
        self.name = self.name or type(self.module).__name__

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN where the context is not full."""

        def following(contexts: np.ndarray) -> np.ndarray:
            with torch.no_grad():
                return self._next(self.module, torch.from_numpy(contexts)).numpy()

        return by_windows(positions, self.context_length, following)

    @property
    def precision(self) -> float:
        """Spacing of the weights' floating point."""
        kinds = {each.dtype for each in self.module.parameters() if each.is_floating_point()}
        return max((torch.finfo(kind).eps for kind in kinds), default=0.0)

    def jacobians(
        self, contexts: Float[np.ndarray, "state time *body axis"]
    ) -> Float[np.ndarray, "state time out in"]:
        """Derivatives of the next position by every position in the contexts."""

        module = copy.deepcopy(self.module).double().cpu()
        return autograd_jacobians(lambda seen: self._next(module, seen), contexts)

    def activations(
        self, contexts: Float[np.ndarray, "state time *body axis"]
    ) -> dict[str, Float[np.ndarray, "state feature"]]:
        """Submodules' outputs at the last position, by name.

        Raises:
            ValueError: if a name is not known (names the nearest).
        """

        with torch.no_grad(), kept_outputs(self.module, self.inside("activations").layers) as kept:
            self._next(self.module, torch.from_numpy(np.asarray(contexts, dtype=np.float64)))
        return {
            name: (output[:, -1] if output.ndim > 2 else output).flatten(1).double().cpu().numpy()
            for name, output in kept.items()
            if output.shape[0] == len(contexts)
        }

    def inside(self, what: str) -> Inside:
        """The module, open to inspection and edits."""

        layers = [name for name, _ in self.module.named_modules() if name]
        following = functools.partial(self._next, self.module)
        return Inside(self.module, following, layers if self.layers is None else self.layers)

    def intervene(
        self, site: str | Mapping[str, Edit], edit: Edit | None = None
    ) -> AbstractContextManager[None]:
        """Edit what submodules output inside a block: see `worldmodel.intervene`."""

        return intervene(self.module, site, edit)

    def backbone(self, axes: int, bodies: int, unit: float = 1.0) -> Backbone:
        """A copy that gives its head's input from positions in au; it can be fine-tuned.

        Args:
            axes: coordinates of a body.
            bodies: visible.
            unit: au in the predictor's unit of length.

        Raises:
            ValueError: if it has no suitable head.
        """

        scale = self.scale * unit
        return HeadInput(self.module, self.context_length, scale, self.head, axes, bodies)

    def _next(self, module: nn.Module, contexts: Tensor) -> Tensor:
        """(context[, body], axis) float64 positions after the contexts, au."""
        parameter = next(module.parameters(), contexts)
        output = module((contexts / self.scale).to(parameter.device, parameter.dtype))
        last, before = contexts[:, -1], contexts[:, -2:][:, 0]
        said = self._answer(output, contexts)
        if said.ndim == contexts.ndim:
            said = said[:, -1]
        answer = said.double().to(contexts.device) * self.scale
        if self.target == "position":
            return answer
        return last + answer if self.target == "displacement" else 2 * last - before + answer

    def _answer(self, output: Any, contexts: Tensor) -> Tensor:
        """What counts of the module's output: (batch, time, axis) or (batch, axis)."""
        given = tensors_in(output)
        if self.output is not None:
            name = require_known("output", str(self.output), given)
            given = {name: given[name]}
        shapes = (contexts.shape, contexts[:, -1].shape)
        for each in given.values():
            if each.shape in shapes:
                return each
        if len(given) == 1:
            (each,) = given.values()
            raise ValueError(
                f"{self.name} gives shape {tuple(each.shape)} for contexts of shape "
                f"{tuple(contexts.shape)}; (batch, time, axis) or (batch, axis) is needed."
            )
        names = ", ".join(f"{name} {tuple(each.shape)}" for name, each in given.items())
        raise ValueError(
            f"{self.name} gives {type(output).__name__} with {names or 'no tensor'}, and none of "
            f"shape (batch, time, axis) or (batch, axis) for contexts of {tuple(contexts.shape)}; "
            "name the one that counts (output= of TorchModule)."
        )
