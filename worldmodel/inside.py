"""Inside a torch module: derivatives of its output, outputs of its parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from orbits.options import require_known

TRANSFORMER_LENS = {
    "resid_post": "", "attn_out": ".attention", "mlp.pre": ".mlp.0", "mlp.post": ".mlp.1",
    "mlp_out": ".mlp",
}  # fmt: skip
"""Its names, without `hook_`, of what parts of a block give, and ours of these parts."""
Reader = Callable[[Any, tuple[Any, ...], Any], Any]
"""An activation within a module, from the module, what it is given, and what it gives."""


def _normalised(norm: Any, given: tuple[Any, ...], _: Any) -> Tensor:
    return layer_norm(given[0], norm.normalized_shape, eps=norm.eps)  # without weight and bias


def _projected(attention: Any, given: tuple[Any, ...], first: int, end: int | None) -> Tensor:
    """(batch, token, head, d_head) queries, keys or values before they are turned."""
    shape = (-1, attention.n_heads, attention.kind.d_head)
    return attention.project(given[0]).unflatten(-1, shape)[:, :, first:end].flatten(2, 3)


WITHIN: dict[str, tuple[str, Reader]] = {
    "resid_pre": (".attention_norm", lambda _, given, __: given[0]),
    "ln1.normalized": (".attention_norm", _normalised),
    "resid_mid": (".mlp_norm", lambda _, given, __: given[0]),
    "ln2.normalized": (".mlp_norm", _normalised),
    "attn.q": (".attention", lambda part, given, _: _projected(part, given, 0, -2)),
    "attn.k": (".attention", lambda part, given, _: _projected(part, given, -2, -1)),
    "attn.v": (".attention", lambda part, given, _: _projected(part, given, -1, None)),
    "attn.rot_q": (".attention.kind", lambda _, given, __: given[0].transpose(1, 2)),
    "attn.rot_k": (".attention.kind", lambda _, given, __: given[1].transpose(1, 2)),
    "attn.pattern": (".attention.kind", lambda own, given, _: own.weights(*given[:2], *given[3:])),
    "attn.z": (".attention.kind", lambda _, __, gives: gives.transpose(1, 2)),
}
"""Its names of what lies within a part, in its order of axes: (batch, token, head, d_head), and
(batch, head, query, key) for the pattern. To be read, not edited."""


@dataclass(frozen=True)
class Inside:
    """A predictor's torch module, and how positions follow from it."""

    module: nn.Module
    following: Callable[[Float[Tensor, "state time *body axis"]], Float[Tensor, "state *body axis"]]
    """The position after each full context, au, float64, with gradients."""
    layers: Sequence[str]
    """Submodules whose outputs are of interest."""


def bare(module: nn.Module) -> nn.Module:
    """A module itself, within what `torch.compile` or training on several devices put around it:
    there its parts have other names, and what they give passes hooks by."""
    several = nn.DataParallel, nn.parallel.DistributedDataParallel
    while (name := "module" if isinstance(module, several) else "_orig_mod") in module._modules:
        module = getattr(module, name)
    return module


def submodule(module: nn.Module, name: str, kind: str) -> nn.Module:
    """The submodule of a name: `blocks.0.mlp`, or TransformerLens's `blocks.0.hook_mlp_out`.

    Raises:
        ValueError: if the name is unknown (names the known ones).
    """
    known = {each: part for each, part in module.named_modules() if each}
    if name not in known:
        bare = name.replace("hook_", "")
        other = "norm" if bare == "ln_final" else bare
        for theirs, ours in TRANSFORMER_LENS.items():
            if bare.endswith(f".{theirs}"):
                other = bare.removesuffix(f".{theirs}") + ours
        name = other if other in known else name
    return known[require_known(kind, name, known)]


def place(module: nn.Module, name: str) -> tuple[nn.Module, Reader]:
    """A submodule, and what of it an activation of this name is: its output, or its first one.

    Raises:
        ValueError: if the name is unknown, or of the norm of a model that has none.
    """
    bare = name.replace("hook_", "")
    parts = dict(module.named_modules())
    for theirs, (ours, reader) in WITHIN.items():
        part = parts.get(bare.removesuffix(f".{theirs}") + ours)
        if bare.endswith(f".{theirs}") and name not in parts and part is not None:
            if reader is _normalised and isinstance(part, nn.Identity):
                stream = "resid_pre" if theirs.startswith("ln1") else "resid_mid"
                raise ValueError(
                    f"activation {name!r} is not known: the model has no norm (--norm none); its "
                    f"block reads {bare.removesuffix(theirs)}hook_{stream} as it is."
                )
            return part, reader
    return submodule(module, name, "activation"), lambda part, given, gives: gives


@torch.enable_grad()
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
            part, reader = place(module, name)

            def keep(
                part: nn.Module, given: Any, gives: Any, name: str = name, reader: Reader = reader
            ) -> None:
                first = next(iter(tensors_in(reader(part, given, gives)).values()), None)
                if first is not None:
                    kept[name] = first

            stack.callback(part.register_forward_hook(keep).remove)
        yield kept
