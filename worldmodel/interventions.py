"""Write access to a torch module: in a block, its parts output something else.

    with intervene(module, "blocks.0", exchange(subspace, donor)):
        module(positions)  # what lies in the subspace is the donor's, all else its own
    module(positions)      # as ever

A *site* is the name of a submodule; its output, or the first of several, is what an *edit* changes.
An edit is any function of that output, (batch, token, feature) or (batch, feature); `ablate`,
`exchange` and `steer` make the usual ones. Gradients pass through.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from orbits.options import checked
from worldmodel.inside import bare, submodule

Edit = Callable[[Tensor], Tensor]
"""What replaces a site's output, in the same shape."""


@checked  # at once, not only when the block begins
@contextmanager
def intervene(
    model: Any, site: str | Mapping[str, Edit], edit: Edit | None = None
) -> Iterator[None]:
    """Edit the outputs of parts of a torch module inside the block; afterwards all is as before.

    Args:
        model: a `torch.nn.Module`, or a model that has one (`WorldModel`, `TorchModule`).
        site: name of a submodule, as in `named_modules`; `blocks.0.resid_post`, `.attn_out`,
            `.mlp_out`, `ln_final` and `hook_embed` of TransformerLens are understood where they
            match one. Or several sites with their edits.
        edit: maps the site's output to its replacement.

    Raises:
        ValueError: for an unknown site (names the known ones), a model without a torch module, an
            edit that changes the shape, or a site never called in the block.
    """
    if not isinstance(model, nn.Module) and not hasattr(model, "inside"):
        raise ValueError(f"{type(model).__name__} is no torch module and has none; give one.")
    module = bare(model) if isinstance(model, nn.Module) else model.inside("intervene").module
    edits = {site: edit} if isinstance(site, str) else site
    unreached: set[str] = set()
    with ExitStack() as stack:
        for name, change in edits.items():
            if not callable(change):
                raise ValueError(
                    f"the edit of {name} is {change!r}; give a function of its output."
                )
            part = submodule(module, name, "site")
            stack.callback(part.register_forward_hook(_replaced(name, change, unreached)).remove)
        began = module.register_forward_pre_hook(lambda *_: unreached.update(edits))
        stack.callback(began.remove)
        yield
    if unreached:
        raise ValueError(
            f"{type(module).__name__} never called {', '.join(sorted(unreached))} in its pass, "
            "so that nothing was changed there; give a site that it calls."
        )


def _replaced(name: str, edit: Edit, unreached: set[str]) -> Callable[..., Any]:
    """A forward hook that replaces a site's output by the edited one."""

    def hook(_module: nn.Module, _inputs: object, output: Any) -> Any:
        unreached.discard(name)
        own = output[0] if isinstance(output, tuple) else output
        if not isinstance(own, Tensor):
            raise ValueError(f"{name} gives a {type(own).__name__}, and no tensor to change.")
        said = edit(own)
        if said.shape != own.shape:
            raise ValueError(
                f"the edit of {name} gives shape {tuple(said.shape)}; {tuple(own.shape)} is needed."
            )
        return (said, *output[1:]) if isinstance(output, tuple) else said

    return hook


@checked
def ablate(subspace: Any = None, mean: Any = 0.0, at: int | None = None) -> Edit:
    """Replace the part in a subspace by a constant.

    Args:
        subspace: (feature, dimension) columns that span it; None: everything.
        mean: (feature,) activations whose part replaces it; 0 leaves none.
        at: the token to change, -1 for the last; None: all. Meaningless where a site gives one
            vector per row.

    Raises:
        ValueError: if the columns are not independent, or shapes disagree.
    """
    part = _part_in(subspace)
    return _edit(lambda own: own - part(own - _like(mean, own)), at)


@checked
def exchange(subspace: Any, donor: Any, at: int | None = None) -> Edit:
    """Replace the part in a subspace by that of another pass.

    Args:
        subspace: (feature, dimension) columns that span it; None: everything.
        donor: (batch, feature) activations of the other pass at `at`, or (batch, token, feature).
        at: as in `ablate`.

    Raises:
        ValueError: if the columns are not independent, or shapes disagree.
    """
    part = _part_in(subspace)

    def exchanged(own: Tensor) -> Tensor:
        given = _like(donor, own)
        if given.shape != own.shape:
            raise ValueError(
                f"the donor has shape {tuple(given.shape)}, but {tuple(own.shape)} is exchanged; "
                "give as many rows as the pass has."
            )
        return own + part(given - own)

    return _edit(exchanged, at)


@checked
def steer(direction: Any, amount: float = 1.0, at: int | None = None) -> Edit:
    """Add a direction.

    Args:
        direction: (feature,), or (batch, feature) with a direction for each row.
        amount: factor of the direction.
        at: as in `ablate`.
    """
    return _edit(lambda own: own + amount * _like(direction, own), at)


def _edit(change: Edit, at: int | None) -> Edit:
    """A change of all tokens, or of one."""

    def edited(output: Tensor) -> Tensor:
        if at is None or output.ndim == 2:
            return change(output)
        tokens = output.shape[1]
        if not -tokens <= at < tokens:
            raise ValueError(
                f"the edit is at token {at}, but the site gives {tokens}; give 0 to {tokens - 1}, "
                "or -1 for the last."
            )
        place = at % tokens
        before, own, after = output[:, :place], output[:, place], output[:, place + 1 :]
        return torch.cat((before, change(own)[:, None], after), dim=1)

    return edited


def _part_in(subspace: Any) -> Edit:
    """The projection onto a subspace."""
    if subspace is None:
        return lambda vectors: vectors
    columns = torch.as_tensor(subspace)
    if columns.ndim != 2 or torch.linalg.matrix_rank(columns.detach()) < columns.shape[1]:
        raise ValueError(
            f"the subspace has shape {tuple(columns.shape)}; (feature, dimension) with independent "
            "columns is needed."
        )
    basis = torch.linalg.qr(columns).Q

    def part(vectors: Tensor) -> Tensor:
        if vectors.shape[-1] != len(basis):
            raise ValueError(
                f"the subspace is one of {len(basis)} features, but the site has "
                f"{vectors.shape[-1]}."
            )
        across = _like(basis, vectors)
        return vectors @ across @ across.T

    return part


def _like(values: Any, other: Tensor) -> Tensor:
    """Numbers with the type and device of others."""
    return torch.as_tensor(values, dtype=other.dtype, device=other.device)
