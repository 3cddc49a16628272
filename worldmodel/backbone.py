"""What the last layer of a network reads, for another head to be trained on."""

import copy
from contextlib import ExitStack

import torch
from jaxtyping import Float
from torch import Tensor, nn

from orbits.options import require_known
from worldmodel.model import Network
from worldmodel.own_code import in_lines
from worldmodel.predictor import circles


class Backbone(nn.Module):
    """A copy of a network without its head: from positions to the input of a new head."""

    width: int
    """How many numbers."""
    tokens_per_step: int = 1

    @property
    def last_block(self) -> nn.Module:
        """The last block of layers; ValueError if it is not known which that is."""
        raise ValueError(
            "which layers of a module of your own are its last block is not known: fine-tune the "
            "network, or the head alone."
        )

    def forward(
        self, positions: Float[Tensor, "batch time body axis"]
    ) -> Float[Tensor, "batch said feature"]:
        """The numbers at each time, or the last ones, from au."""
        raise NotImplementedError


class Stream(Backbone):
    """The residual stream of our network (after the last token of each time)."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = copy.deepcopy(network)
        del self.network.head
        self.width = network.config.d_model
        self.tokens_per_step = network.tokens_per_step

    @property
    def last_block(self) -> nn.Module:
        return self.network.blocks[-1]

    def forward(
        self, positions: Float[Tensor, "batch time body axis"]
    ) -> Float[Tensor, "batch time feature"]:
        each = self.tokens_per_step
        return self.network.stream(positions)[:, each - 1 :: each]


class HeadInput(Backbone):
    """The input of a torch module's head at the last position; the module is copied.

    Args:
        module: (batch, time[, body], axis) in its own unit of length.
        scale: au in its unit of length.
        head: name of the submodule that is its head; by default the last `nn.Linear` it calls.
            ValueError if there is no such submodule (names the nearest), or none is usable.
    """

    def __init__(
        self,
        module: nn.Module,
        context_length: int,
        scale: float,
        head: str | None,
        axes: int,
        bodies: int,
    ) -> None:
        super().__init__()
        self.module = copy.deepcopy(module)
        self.scale = scale
        self.kept: Tensor | None = None
        known = {name: part for name, part in self.module.named_modules() if name}
        called: list[nn.Module] = []
        shown = torch.from_numpy(circles(context_length, axes, bodies))
        if head is None:
            with ExitStack() as stack:
                for part in known.values():
                    if isinstance(part, nn.Linear):
                        hook = part.register_forward_pre_hook(lambda it, _: called.append(it))
                        stack.callback(hook.remove)
                self._pass(shown)
            if not called:
                raise ValueError(
                    f"{type(module).__name__} calls no nn.Linear whose input a new head could "
                    "read; say which submodule is its head (head= of TorchModule)."
                )
        else:
            called.append(known[require_known("submodule", head, known)])
        called[-1].register_forward_pre_hook(self._keep)
        self.width = self(shown).shape[-1]

    def _keep(self, _part: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        self.kept = inputs[0]

    def _pass(self, positions: Tensor) -> None:
        seen = positions if positions.shape[2] > 1 else positions[:, :, 0]
        parameter = next(self.module.parameters(), seen)
        with in_lines(
            f"{type(self.module).__name__} fails on positions of shape {tuple(seen.shape)}"
        ):
            self.module((seen / self.scale).to(parameter.device, parameter.dtype))

    def forward(
        self, positions: Float[Tensor, "batch time body axis"]
    ) -> Float[Tensor, "batch said feature"]:
        self.kept = None
        self._pass(positions)
        kept = self.kept
        if not isinstance(kept, Tensor) or kept.ndim < 2 or kept.shape[0] != len(positions):
            raise ValueError(
                "the head of the module is not given one vector for each context; say another "
                "(head= of TorchModule)."
            )
        last = kept[:, -1] if kept.ndim > 2 else kept
        return last.flatten(1).float()[:, None]
