"""What goes on inside a torch module: derivatives of its answers, outputs of its parts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from orbits.options import require_known

STATES_AT_ONCE = 256


def autograd_jacobians(
    answer: Callable[[Tensor], Tensor], contexts: Float[np.ndarray, "state time *body axis"]
) -> Float[np.ndarray, "state time out in"]:
    """Derivatives of an answer to each context by every position of it.

    Args:
        answer: (state, time[, body], axis) contexts to (state, ...) numbers, in float64; contexts
            do not know of one another.
        contexts: au.
    """
    found = []
    for part in torch.from_numpy(np.asarray(contexts, dtype=np.float64)).split(STATES_AT_ONCE):
        seen = part.clone().requires_grad_()
        rows = [
            torch.autograd.grad(number.sum(), seen, retain_graph=True)[0].flatten(2)
            for number in answer(seen).flatten(1).unbind(1)
        ]
        found.append(torch.stack(rows, dim=2))
    return torch.cat(found).numpy()


@contextmanager
def kept_outputs(module: nn.Module, names: Sequence[str]) -> Iterator[dict[str, Tensor]]:
    """What submodules give while the block runs, by name.

    Raises:
        ValueError: if there is no submodule of a name (names the nearest).
    """
    known = {name: part for name, part in module.named_modules() if name}
    kept: dict[str, Tensor] = {}
    hooks = []
    try:
        for name in names:

            def keep(_module: nn.Module, _inputs: object, output: object, name: str = name) -> None:
                first = output[0] if isinstance(output, tuple) else output
                if isinstance(first, Tensor):
                    kept[name] = first

            part = known[require_known("activation", name, known)]
            hooks.append(part.register_forward_hook(keep))
        yield kept
    finally:
        for hook in hooks:
            hook.remove()
