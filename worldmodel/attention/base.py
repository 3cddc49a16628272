"""The contract that every kind of attention satisfies, and the paths they share."""

import abc
import dataclasses
import functools
import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

BLOCK = 32
"""Fewest queries grouped together to skip keys."""
LARGEST = 2**26
"""Elements of a matrix of weights that is kept whole."""


@dataclasses.dataclass(frozen=True)
class Visible:
    """Which keys a query sees.

    Query i has the absolute index `query_offset` + i, key j has `key_offset` + j. Keys before
    `key_offset` may be left out only if no query would see them.
    """

    causal: bool = True
    """See nothing later than itself."""
    window: int | None = None
    """See only keys nearer than this many steps, itself included; None: all."""
    query_offset: int = 0
    """Absolute index of the first query: the number of steps before it."""
    key_offset: int = 0
    """Absolute index of the first key."""

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 1:
            raise ValueError(
                f"attention window {self.window} sees nothing; give 1 or more, or none at all."
            )
        for name in ("query_offset", "key_offset"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} {getattr(self, name)} is negative; give 0 or more.")

    def mask(
        self, n_query: int, n_key: int, device: torch.device | str | None = None
    ) -> Bool[Tensor, "query key"] | None:
        """True where the query sees the key; None if every query sees every key."""
        first, last = self.query_offset, self.query_offset + n_query - 1
        first_key, last_key = self.key_offset, self.key_offset + n_key - 1
        reach = math.inf if self.window is None else self.window
        past_seen = last - first_key < reach
        future_seen = last_key <= first if self.causal else last_key - first < reach
        if past_seen and future_seen:
            return None
        ahead = torch.arange(first_key, last_key + 1, device=device)[None, :]
        ahead = ahead - torch.arange(first, last + 1, device=device)[:, None]
        seen = ahead <= 0 if self.causal else ahead < reach
        return seen if past_seen else seen & (ahead > -reach)

    def count(
        self, n_query: int, n_key: int, device: torch.device | str | None = None
    ) -> Float[Tensor, " query"]:
        """N, the number of keys that each query sees, as float64.

        The 1-based row index if causal, at most the window; otherwise all keys.
        """
        row = torch.arange(n_query, device=device, dtype=torch.float64) + self.query_offset
        reach = math.inf if self.window is None else self.window
        end = row + 1 if self.causal else (row + reach).clamp(max=self.key_offset + n_key)
        return end - (row + 1 - reach).clamp(min=0)

    def blocks(self, n_query: int, n_key: int, size: int) -> list["QueryGroup"]:
        """Groups of at most `size` queries, each with the keys that any of them sees."""
        blocks = []
        for start in range(0, n_query, size):
            stop = min(start + size, n_query)
            first, last = 0, n_key
            if self.causal:
                last = min(n_key, self.query_offset + stop - self.key_offset)
                if self.window is not None:
                    nearest = self.query_offset + start - self.key_offset - self.window + 1
                    first = max(0, nearest)
            visible = dataclasses.replace(
                self, query_offset=self.query_offset + start, key_offset=self.key_offset + first
            )
            blocks.append(QueryGroup(slice(start, stop), slice(first, last), visible))
        return blocks

    def rows(self, n_query: int, n_key: int, like: Tensor) -> "Rows":
        """All that a kind may know of the rows, with the device and dtype of `like`."""
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


@dataclasses.dataclass(frozen=True)
class QueryGroup:
    """A group of queries, and the keys that any of them sees."""

    queries: slice
    keys: slice
    visible: Visible
    """Which of these keys these queries see."""

    def tiles(self, size: int) -> list["QueryGroup"]:
        """The same queries with at most `size` of the keys each."""
        first, last = self.keys.start, self.keys.stop
        return [
            QueryGroup(
                self.queries,
                slice(start, min(start + size, last)),
                dataclasses.replace(
                    self.visible, key_offset=self.visible.key_offset + start - first
                ),
            )
            for start in range(first, max(last, first + 1), size)
        ]


class Attention(nn.Module, abc.ABC):
    """Weights for the values, given queries and keys.

    A kind defines `normalise`, which turns a row of scores into weights, and if need be `prepare`,
    which defines a score. Calling gives the output by the fastest path; `weights` gives the
    weights. Half-precision scores are normalised in float32.

    Some kinds read more of the stream than q, k and v, or weigh the values twice: they declare how
    much (`reads`, `query_sets`), `begin` with it, and `finish` the output.
    """

    reads: int = 0
    """Numbers per token and head that the kind reads from the stream besides q, k and v."""
    query_sets: int = 1
    """Queries per token and head: those of set 1 come as further heads, after all of set 0."""

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
        """Queries and keys whose product is the score; by default q·k/√d."""
        return q * (1 / math.sqrt(self.d_head)), k

    def begin(
        self,
        q: Float[Tensor, "batch set*head query d_head"],
        k: Float[Tensor, "batch head key d_head"],
        v: Float[Tensor, "batch head key d_head"],
        visible: Visible,
        read: Float[Tensor, "batch head key read"] | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, by what was read; by default unchanged."""
        return q, k, v

    def finish(
        self,
        output: Float[Tensor, "batch set*head query last"],
        visible: Visible,
        read: Float[Tensor, "batch head key read"] | None,
    ) -> Float[Tensor, "batch head query last"]:
        """The output, by what was read; default: unchanged."""
        return output

    @abc.abstractmethod
    def normalise(
        self, scores: Float[Tensor, "... query key"], rows: Rows
    ) -> Float[Tensor, "... query key"]:
        """The weights, zero where a key is not seen."""

    def weights(
        self,
        q: Float[Tensor, "batch set*head query d_head"],
        k: Float[Tensor, "batch head key d_head"],
        visible: Visible,
        read: Float[Tensor, "batch head key read"] | None = None,
    ) -> Float[Tensor, "batch head query key"]:
        """The weight of every key in every query's output, in the dtype of q; what `finish` does is
        not included."""
        q, k, _ = self.begin(q, k, k, visible, read)
        return self.full_weights(q, k, visible)

    def full_weights(self, q: Tensor, k: Tensor, visible: Visible) -> Tensor:
        """(batch, head, query, key) weights after `begin`, in the dtype of q."""
        rows = visible.rows(q.shape[-2], k.shape[-2], q[..., :0].to(_wide(q.dtype)))
        prepared_q, prepared_k = self.prepare(q, k, rows)
        scores = prepared_q.to(q.dtype) @ prepared_k.to(q.dtype).transpose(-1, -2)
        return self.normalise(scores.to(_wide(q.dtype)), rows).to(q.dtype)

    def forward(
        self,
        q: Float[Tensor, "batch set*head query d_head"],
        k: Float[Tensor, "batch head key d_head"],
        v: Float[Tensor, "batch head key d_head"],
        visible: Visible,
        read: Float[Tensor, "batch head key read"] | None = None,
    ) -> Float[Tensor, "batch head query d_head"]:
        """The weighted values, by the fastest path; `read` (of every key's token) for kinds with
        `reads`."""
        output = self.mixed(*self.begin(q, k, v, visible, read), visible)
        return self.finish(output, visible, read)

    def mixed(
        self,
        q: Float[Tensor, "batch head query d_head"],
        k: Float[Tensor, "batch head key d_head"],
        v: Float[Tensor, "batch head key d_head"],
        visible: Visible,
    ) -> Float[Tensor, "batch head query d_head"]:
        """The weighted values; with a window, near the diagonal only."""
        n_key = k.shape[-2]
        size = max(BLOCK, visible.window or n_key)
        if not visible.causal or n_key < 2 * (size + (visible.window or n_key)):
            return self.full(q, k, v, visible)
        return _by_groups(self.full, q, k, v, visible, size)

    def full(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        """The values weighted by the full matrix.

        Where that is large, the rows are made in groups, and made again for the derivative: memory
        grows with the length, not with its square.
        """
        n_query, n_key = q.shape[-2], k.shape[-2]
        size = max(BLOCK, LARGEST // max(1, q.shape[:-2].numel() * n_key))
        if n_query <= size:
            return self._weighted(q, k, v, visible)
        again = functools.partial(
            checkpoint, self._weighted, use_reentrant=False, preserve_rng_state=False
        )
        return _by_groups(again, q, k, v, visible, size)

    def _weighted(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        return self.full_weights(q, k, visible).to(v.dtype) @ v


def _by_groups(
    output: Callable[[Tensor, Tensor, Tensor, Visible], Tensor],
    q: Tensor, k: Tensor, v: Tensor, visible: Visible, size: int,
) -> Tensor:  # fmt: skip
    """The output of groups of so many queries, each from the keys that any of them sees."""
    groups = visible.blocks(q.shape[-2], k.shape[-2], size)
    return torch.cat(
        [
            output(q[..., b.queries, :], k[..., b.keys, :], v[..., b.keys, :], b.visible)
            for b in groups
        ],
        dim=-2,
    )


def of_queries(read: Tensor, visible: Visible, n_query: int) -> Tensor:
    """(batch, head, query, read): from what was read of the keys' tokens, each query's own."""
    first = visible.query_offset - visible.key_offset
    return read[..., first : first + n_query, :]


def _wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which scores of this dtype are normalised."""
    return torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype
