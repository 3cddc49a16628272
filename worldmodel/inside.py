"""Inside a torch module: derivatives of its output, outputs of its parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from orbits.options import require_known

TRANSFORMER_LENS = {"resid_post": "", "attn_out": ".attention", "mlp_out": ".mlp"}
"""Its names of a block's outputs, and ours."""


@dataclass(frozen=True)
class Inside:
    """A predictor's torch module, and how positions follow from it."""

    module: nn.Module
    following: Callable[[Float[Tensor, "state time *body axis"]], Float[Tensor, "state *body axis"]]
    """The position after each full context, au, float64, with gradients."""
    layers: Sequence[str]
    """Submodules whose outputs are of interest."""


def submodule(module: nn.Module, name: str, kind: str) -> nn.Module:
    """The submodule of a name: `blocks.0.mlp`, or TransformerLens's `blocks.0.hook_mlp_out`.

    Raises:
        ValueError: if the name is unknown (names the known ones).
    """
    known = {each: part for each, part in module.named_modules() if each}
    if name not in known:
        stem, _, last = name.rpartition(".")
        last = last.removeprefix("hook_")
        if stem and last in TRANSFORMER_LENS:
            other = stem + TRANSFORMER_LENS[last]
        else:
            other = "norm" if last == "ln_final" else last
        name = other if other in known else name
    return known[require_known(kind, name, known)]


def autograd_jacobians(
    answer: Callable[[Tensor], Tensor], contexts: Float[np.ndarray, "state time *body axis"]
) -> Float[np.ndarray, "state time out in"]:
    """Derivatives of each context's output by every position in it, in float64; contexts are
    independent."""
    jacobians = []
    for part in torch.from_numpy(np.asarray(contexts, dtype=np.float64)).split(256):
        seen = part.clone().requires_grad_()
        rows = [
            torch.autograd.grad(number.sum(), seen, retain_graph=True)[0].flatten(2)
            for number in answer(seen).flatten(1).unbind(1)
        ]
        jacobians.append(torch.stack(rows, dim=2))
    return torch.cat(jacobians).numpy()


def tensors_in(output: Any) -> dict[str, Tensor]:
    """The tensors that a module gives, by name: one, several in a tuple or list, or those of a
    mapping (a `dict`, a `ModelOutput` of transformers) or dataclass."""
    if isinstance(output, Tensor):
        return {"output": output}
    if is_dataclass(output) and not isinstance(output, Mapping):
        output = vars(output)
    if isinstance(output, (tuple, list)):
        output = dict(enumerate(output))
    named = output if isinstance(output, Mapping) else {}
    return {str(name): each for name, each in named.items() if isinstance(each, Tensor)}


@contextmanager
def kept_outputs(module: nn.Module, names: Sequence[str]) -> Iterator[dict[str, Tensor]]:
    """Submodules' outputs while the block runs, by name; ValueError if a name is unknown."""
    kept: dict[str, Tensor] = {}
    with ExitStack() as stack:
        for name in names:

            def keep(_module: nn.Module, _inputs: object, output: object, name: str = name) -> None:
                first = next(iter(tensors_in(output).values()), None)
                if first is not None:
                    kept[name] = first

            part = submodule(module, name, "activation")
            stack.callback(part.register_forward_hook(keep).remove)
        yield kept
