"""The contract that every kind of attention satisfies, and the paths they share."""

import abc
import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad
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

    def span(
        self, n_query: int, n_key: int, device: torch.device | str | None = None
    ) -> tuple[Int[Tensor, " query"], Int[Tensor, " query"]]:
        """Of these keys, the first that each query sees, and the one behind the last."""
        row = torch.arange(n_query, device=device) + (self.query_offset - self.key_offset)
        first, end = torch.zeros_like(row), torch.full_like(row, n_key)
        if self.window is not None:
            first = (row + 1 - self.window).clamp(0, n_key)
            end = (row + self.window).clamp(0, n_key)
        if self.causal:
            end = (row + 1).clamp(0, n_key)
        return first, torch.maximum(first, end)

    def count(
        self, n_query: int, n_key: int, device: torch.device | str | None = None
    ) -> Float[Tensor, " query"]:
        """N, the number of these keys that each query sees, as float64.

        The 1-based row index if causal, at most the window; otherwise all keys.
        """
        first, end = self.span(n_query, n_key, device)
        return (end - first).double()

    def seeing(self, n_query: int, n_key: int) -> slice:
        """The queries that see any of the keys: always neighbours."""
        apart = self.key_offset - self.query_offset  # the number of the query at the first key
        before = 0 if self.causal else n_query if self.window is None else self.window - 1
        after = n_query if self.window is None else self.window - 1
        first = min(max(0, apart - before), n_query)
        end = min(n_query, apart + n_key + after) if n_key else 0
        return slice(first, max(first, end))

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

    def rows(self, n_query: int, n_key: int, like: Tensor) -> "ScoreRows":
        """All that a kind may know of the rows, with the device and dtype of `like`."""
        number = torch.arange(1, n_query + 1, device=like.device) + self.query_offset
        return ScoreRows(
            seen=self.mask(n_query, n_key, like.device),
            count=self.count(n_query, n_key, like.device).to(like.dtype)[:, None],
            number=number.to(like.dtype)[:, None],
        )


@dataclasses.dataclass(frozen=True)
class ScoreRows:
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
    weights. Half-precision scores are made and normalised in float32.

    What a query does not see never touches its output or a derivative, not even a NaN; a query that
    sees no key gives zero.

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
        rows: ScoreRows,
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
        self, scores: Float[Tensor, "... query key"], rows: ScoreRows
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

        def weights(q: Tensor, k: Tensor, v: Tensor, visible: Visible, read: Any) -> Tensor:
            return self.read_weights(q, k, visible, read)

        weighed = self._of_seen(weights, k.shape[-2], q, k, k, visible, read)
        return visible.rows(q.shape[-2], k.shape[-2], q[..., :0]).hide(weighed.to(q.dtype), 0.0)

    def read_weights(self, q: Tensor, k: Tensor, visible: Visible, read: Tensor | None) -> Tensor:
        """The weights of `weights`, where every query sees a key and all numbers are finite."""
        q, k, _ = self.begin(q, k, k, visible, read)
        return self.full_weights(q, k, visible)

    def full_weights(self, q: Tensor, k: Tensor, visible: Visible) -> Tensor:
        """(batch, head, query, key) weights after `begin`, in float32 or float64."""
        with torch.autocast(q.device.type, enabled=False):
            q, k = widened(q), widened(k)
            rows = visible.rows(q.shape[-2], k.shape[-2], q[..., :0])
            prepared_q, prepared_k = self.prepare(q, k, rows)
            return self.normalise(prepared_q @ prepared_k.transpose(-1, -2), rows)

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

        def output(q: Tensor, k: Tensor, v: Tensor, visible: Visible, read: Any) -> Tensor:
            mixed = self.mixed(*self.begin(q, k, v, visible, read), visible)
            return self.finish(mixed, visible, read)

        return self._of_seen(output, v.shape[-1], q, k, v, visible, read)

    def _of_seen(
        self, path: Callable[..., Tensor], width: int,
        q: Tensor, k: Tensor, v: Tensor, visible: Visible, read: Tensor | None,
    ) -> Tensor:  # fmt: skip
        """(batch, head, query, width) by a path, for which every query sees a key, and every number
        is finite: a query that sees none gives zero, one that sees a NaN gives NaN."""
        n_query, n_key = q.shape[-2], k.shape[-2]
        some = visible.seeing(n_query, n_key)
        if some.start == some.stop:
            nothing = sum(x[..., :0].sum() for x in (q, k, v))  # a zero, with derivatives of zero
            return v.new_zeros(*k.shape[:-2], n_query, width) + nothing
        if some != slice(0, n_query):
            inside = dataclasses.replace(visible, query_offset=visible.query_offset + some.start)
            output = self._of_seen(path, width, q[..., some, :], k, v, inside, read)
            return pad(output, (0, 0, some.start, n_query - some.stop))
        keys = [k, v] if read is None else [k, v, read]
        # a sum is finite only if all its parts are; a compiler cannot branch on it
        if not torch.compiler.is_compiling():
            total = sum(x.detach().sum() for x in (q, *keys))
            if torch.isfinite(torch.as_tensor(total)):
                return path(q, k, v, visible, read)
        # A zero weight times NaN is NaN, in the product and in every derivative: such tokens are
        # zeros here, and the queries that see one of them are NaN afterwards.
        lost = ~q.isfinite().all(-1)
        bad = ~torch.stack([x.isfinite().all(-1) for x in keys]).all(0)
        q = q.masked_fill(lost[..., None], 0.0)
        k, v, *more = (x.masked_fill(bad[..., None], 0.0) for x in keys)
        output = path(q, k, v, visible, more[0] if more else None)
        first, end = visible.span(n_query, n_key, q.device)
        until = pad(bad.cumsum(-1), (1, 0))  # bad keys before each
        touched = until[..., end] > until[..., first]
        touched = touched | lost.unflatten(-2, (self.query_sets, -1)).any(-3)
        return output.masked_fill(touched[..., None], torch.nan)

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
    if not 0 <= first <= read.shape[-2] - n_query:
        raise ValueError(
            f"the queries' own tokens, {visible.query_offset} to "
            f"{visible.query_offset + n_query - 1}, are not all among the keys, of which this kind "
            f"reads them: {visible.key_offset} to {visible.key_offset + read.shape[-2] - 1}."
        )
    return read[..., first : first + n_query, :]


def widened(values: Tensor) -> Tensor:
    """Half precision as float32: what scores are made and normalised in."""
    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values
