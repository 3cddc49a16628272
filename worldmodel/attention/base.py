"""The contract that every kind of attention satisfies, and the paths that all of them share."""

import dataclasses
import importlib
import inspect
import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from orbits.choices import require_known
from worldmodel.attention.specs import AttentionSpec, parse_attention


@dataclasses.dataclass(frozen=True)
class Visible:
    """Which keys a query sees.

    Key j has the absolute index j; query i has the absolute index `query_offset` + i.
    """

    causal: bool = True
    """See nothing later than oneself."""
    window: int | None = None
    """See only keys nearer than this many steps, oneself included; None sees all."""
    query_offset: int = 0
    """Absolute index of the first query: the number of cached keys before it."""

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 1:
            raise ValueError(
                f"attention window {self.window} sees nothing; give 1 or more, or none at all."
            )
        if self.query_offset < 0:
            raise ValueError(f"query_offset {self.query_offset} is negative; give 0 or more.")

    def mask(
        self, n_query: int, n_key: int, device: torch.device | str | None = None
    ) -> Bool[Tensor, "query key"] | None:
        """True where the query sees the key; None if every query sees every key."""
        first, last = self.query_offset, self.query_offset + n_query - 1
        beyond = not self.causal or first >= n_key - 1
        if beyond and (self.window is None or (last < self.window and n_key <= self.window)):
            return None
        query = torch.arange(first, last + 1, device=device)[:, None]
        key = torch.arange(n_key, device=device)[None, :]
        seen = key <= query if self.causal else torch.ones_like(key <= query)
        if self.window is not None:
            seen &= (query - key).abs() < self.window
        return seen

    def count(
        self, n_query: int, n_key: int, device: torch.device | str | None = None
    ) -> Float[Tensor, " query"]:
        """N, the number of keys that each query sees, as float64.

        The 1-based row index when causal, at most the window; all keys when not causal.
        """
        row = torch.arange(n_query, device=device, dtype=torch.float64) + self.query_offset
        reach = float(self.window or n_key + self.query_offset + n_query)
        end = (row + 1 if self.causal else row + reach).clamp(max=n_key)
        return end - (row + 1 - reach).clamp(min=0)

    def rows(self, n_query: int, n_key: int, like: Tensor) -> "Rows":
        """All that a kind may know of the rows, on the device of `like` and in its dtype."""
        number = torch.arange(1, n_query + 1, device=like.device) + self.query_offset
        return Rows(
            seen=self.mask(n_query, n_key, like.device),
            count=self.count(n_query, n_key, like.device).to(like.dtype)[:, None],
            number=number.to(like.dtype)[:, None],
        )


@dataclasses.dataclass(frozen=True)
class Rows:
    """What a kind may know of the rows of scores."""

    seen: Bool[Tensor, "query key"] | None
    """True where the query sees the key; None if every query sees every key."""
    count: Float[Tensor, "query 1"]
    """N, the number of keys that the query sees."""
    number: Float[Tensor, "query 1"]
    """The row's number in the sequence, from 1."""

    def hide(self, values: Float[Tensor, "... query key"], value: float) -> Tensor:
        """The values, with `value` where the key is not seen."""
        return values if self.seen is None else values.masked_fill(~self.seen, value)


class Attention(nn.Module):
    """Weights of the values, given queries and keys.

    A kind defines `normalise`, what a row of scores becomes, and where it needs to `prepare`,
    what a score is. Calling gives the output by the fastest path there is; `weights` gives the
    weights themselves. Half-precision scores are normalised in float32.
    """

    def __init__(self, d_head: int, n_heads: int):
        super().__init__()
        self.d_head = d_head
        self.n_heads = n_heads

    def prepare(
        self,
        q: Float[Tensor, "batch head query d_head"],
        k: Float[Tensor, "batch head key d_head"],
        rows: Rows,
    ) -> tuple[Float[Tensor, "batch head query d_head"], Float[Tensor, "batch head key d_head"]]:
        """Queries and keys whose plain product is the score; by default q·k/√d."""
        return q * (1 / math.sqrt(self.d_head)), k

    def normalise(
        self, scores: Float[Tensor, "... query key"], rows: Rows
    ) -> Float[Tensor, "... query key"]:
        """The weights, zero where a key is not seen."""
        raise NotImplementedError

    def weights(
        self,
        q: Float[Tensor, "batch head query d_head"],
        k: Float[Tensor, "batch head key d_head"],
        visible: Visible,
    ) -> Float[Tensor, "batch head query key"]:
        """The weight of every key in every query's output, in the dtype of q."""
        rows = visible.rows(q.shape[-2], k.shape[-2], q[..., :0].to(_wide(q.dtype)))
        prepared_q, prepared_k = self.prepare(q, k, rows)
        scores = prepared_q.to(q.dtype) @ prepared_k.to(q.dtype).transpose(-1, -2)
        return self.normalise(scores.to(_wide(q.dtype)), rows).to(q.dtype)

    def forward(
        self,
        q: Float[Tensor, "batch head query d_head"],
        k: Float[Tensor, "batch head key d_head"],
        v: Float[Tensor, "batch head key d_head"],
        visible: Visible,
    ) -> Float[Tensor, "batch head query d_head"]:
        """The values, weighted."""
        return self.full(q, k, v, visible)

    def full(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        """The values weighted by the whole matrix of weights."""
        return self.weights(q, k, visible) @ v


def make_attention(spec: str | AttentionSpec, d_head: int, n_heads: int) -> Attention:
    """The attention module that a specification names.

    Args:
        spec: a kind, with its parameters where it has any: "softmax", "lssar(p=15)".
        d_head: width of one head.
        n_heads: number of heads.

    Raises:
        ValueError: if the kind or a parameter is not known (names the nearest), or a
            parameter's value is not allowed.
    """
    spec = parse_attention(spec) if isinstance(spec, str) else spec
    module = importlib.import_module(f"worldmodel.attention.kinds.{spec.kind}")
    (kind,) = (
        member
        for member in vars(module).values()
        if inspect.isclass(member)
        and issubclass(member, Attention)
        and member.__module__ == module.__name__
    )
    known = set(inspect.signature(kind).parameters) - {"d_head", "n_heads"}
    for name, _ in spec.parameters:
        if not known:
            raise ValueError(f"attention {spec.kind!r} has no parameters; {name!r} was given.")
        require_known(f"parameter of attention {spec.kind!r}:", name, known)
    return kind(d_head, n_heads, **dict(spec.parameters))


def _wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which scores of this dtype are normalised."""
    return torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype
