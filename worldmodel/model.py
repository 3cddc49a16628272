"""The network, top to bottom: positions, embedding, blocks, head, next position.

Names of the intermediate activations (`activations` and `intervene` of `WorldModel` take them):
`embed`, `blocks.0.attention_norm`, `blocks.0.attention`, `blocks.0.mlp_norm`, `blocks.0.mlp`,
`blocks.0` (the residual stream after the block), ..., `norm`, `head`.
"""

import dataclasses
import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from worldmodel.attention import Visible, make_attention
from worldmodel.config import ModelConfig
from worldmodel.representation import REPRESENTATIONS
from worldmodel.representation.base import Scale, in_units


@dataclasses.dataclass(frozen=True)
class Scales:
    """What the network must know of the data: shape, and units of what it sees and says."""

    bodies: int
    """Bodies at each time."""
    axes: int
    """Coordinates of each body."""
    inputs: tuple[Scale, ...]
    """Of each part of what a token holds, as the representation `inputs` has them."""
    outputs: tuple[Scale, ...]
    """Of each part of the target, as the representation `outputs` has them."""

    @classmethod
    def of_one(cls, config: ModelConfig, bodies: int = 1, axes: int = 2) -> "Scales":
        """Every unit 1."""
        shown = torch.ones(1, 3, bodies, axes)
        seen = REPRESENTATIONS[config.inputs].seen(shown)
        said = REPRESENTATIONS[config.outputs].said(shown)
        return cls(bodies, axes, (Scale(),) * len(seen), (Scale(),) * len(said))


class Network(nn.Module):
    """A pre-norm GPT over positions.

    The regression head gives the target as the representation `outputs` has it, in units of
    `scales.outputs`; the target is the next position, the displacement to it, or the residual from
    linear extrapolation.
    """

    rotation: Float[Tensor, "2 token half"]

    def __init__(self, config: ModelConfig, scales: Scales):
        super().__init__()
        self.config = config
        self.scales = scales
        joint = config.layout == "joint"
        self.tokens_per_step = 1 if joint else scales.bodies
        self.embed = Embedding(config, scales)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        # Numbers are read from the stream itself: behind a norm, the head would have to undo a
        # division to say something linear in the positions, such as the inertia of a body.
        tokens = config.head == "tokens"
        self.norm = norm(config) if tokens else nn.Identity()
        said = sum(REPRESENTATIONS[config.outputs].numbers(scales.axes))
        self.numbers = (scales.axes, config.bins) if tokens else (said,)
        bodies = scales.bodies if joint else 1
        self.head = nn.Linear(config.d_model, bodies * math.prod(self.numbers))
        # made once: on a GPU sines in float64 for every layer took a fifth of a step with softmax
        longest = config.context_length * self.tokens_per_step
        self.register_buffer("rotation", self._rotation(longest), persistent=False)

    def _rotation(self, tokens: int, device: torch.device | None = None) -> Tensor:
        index = torch.arange(tokens, device=device) // self.tokens_per_step
        return rotary(index, self.config)

    def forward(
        self, positions: Float[Tensor, "batch time body axis"]
    ) -> Float[Tensor, "batch time body number ..."]:
        """The head's output after each time, from that time and the earlier ones.

        Args:
            positions: au.

        Returns:
            The target in units of `scales.outputs`; for the head `tokens`, (axis, bin) logits.
        """
        stream = self.stream(positions)
        # in mixed precision the first and the last layer stay whole: a position in bfloat16 would
        # be off by a thousandth of itself, more than an acceleration moves it in a step
        with torch.autocast(stream.device.type, enabled=False):
            return self.head(stream).view(*positions.shape[:3], *self.numbers)

    def stream(
        self, positions: Float[Tensor, "batch time body axis"]
    ) -> Float[Tensor, "batch token d_model"]:
        """What the head reads."""
        with torch.autocast(positions.device.type, enabled=False):
            stream = self.embed(positions)
        visible = Visible(window=self.config.window and self.config.window * self.tokens_per_step)
        rotation = self.rotation
        if stream.shape[1] > rotation.shape[1]:  # longer than in training
            rotation = self._rotation(stream.shape[1], stream.device)
        rotation = rotation[:, : stream.shape[1]].to(stream.dtype)
        for block in self.blocks:
            stream = block(stream, rotation, visible)
        return self.norm(stream)


def fresh_network(config: ModelConfig, scales: Scales, seed: int) -> Network:
    """An untrained network."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Network(config, scales)


class Embedding(nn.Module):
    """Positions to tokens: an MLP or a matrix on their representation, or a vector for each bin."""

    def __init__(self, config: ModelConfig, scales: Scales):
        super().__init__()
        self.config = config
        self.scales = scales
        self.representation = REPRESENTATIONS[config.inputs]
        d, interleaved = config.d_model, config.layout == "interleaved"
        bodies = 1 if interleaved else scales.bodies
        if config.head == "tokens":
            self.bins = nn.Embedding(bodies * scales.axes * config.bins, d)
        else:
            parts = self.representation.seen(torch.ones(1, 1, bodies, scales.axes))
            inputs = sum(part.values[0, 0].numel() for part in parts)
            first = nn.Linear(inputs, d)
            bent = self.representation.bent
            self.mlp = nn.Sequential(first, nn.GELU(), nn.Linear(d, d)) if bent else first
        self.body = nn.Embedding(scales.bodies, d) if interleaved else None

    def forward(
        self, positions: Float[Tensor, "batch time body axis"]
    ) -> Float[Tensor, "batch token d_model"]:
        """One token per time (or body and time), from positions in au."""
        joint, time = self.body is None, positions.shape[1]
        ends = (2, 3) if joint else (1, 2)  # all bodies of a time in a token, or one body
        if self.config.head == "tokens":
            bins = bin_of(positions, self.config).flatten(*ends)
            table = torch.arange(bins.shape[-1], device=bins.device) * self.config.bins
            tokens = self.bins(bins + table).sum(-2)
        else:
            seen = in_units(self.representation.seen(positions), self.scales.inputs)
            tokens = self.mlp(torch.cat([part.flatten(*ends) for part in seen], dim=-1))
        return tokens if self.body is None else tokens + self.body.weight.repeat(time, 1)


def norm(config: ModelConfig) -> nn.Module:
    """What the parts of a block read the stream through."""
    return nn.LayerNorm(config.d_model) if config.norm == "layer" else nn.Identity()


class Block(nn.Module):
    """Attention, then an MLP; each reads the stream, normed or not, and adds to it."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        d = config.d_model
        self.attention_norm = norm(config)
        self.attention = SelfAttention(config)
        self.mlp_norm = norm(config)
        # four times as wide within, as Vaswani et al. (2017) have it
        self.mlp = nn.Sequential(
            nn.Linear(d, 4 * d, bias=False), nn.GELU(), nn.Linear(4 * d, d, bias=False)
        )

    def forward(
        self,
        stream: Float[Tensor, "batch token d_model"],
        rotation: Float[Tensor, "2 token half"],
        visible: Visible,
    ) -> Float[Tensor, "batch token d_model"]:
        stream = stream + self.attention(self.attention_norm(stream), rotation, visible)
        return stream + self.mlp(self.mlp_norm(stream))


class SelfAttention(nn.Module):
    """Queries, keys and values from the stream; rotary positions; the chosen kind of attention."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        d = config.d_model
        self.n_heads = config.n_heads
        kind = make_attention(config.attention, d // config.n_heads, config.n_heads)
        self.project = nn.Linear(d, (kind.query_sets + 2) * d, bias=False)
        self.kind = kind
        self.out = nn.Linear(d, d, bias=False)
        self.read = nn.Linear(d, config.n_heads * kind.reads) if kind.reads else None

    def forward(
        self,
        tokens: Float[Tensor, "batch token d_model"],
        rotation: Float[Tensor, "2 token half"],
        visible: Visible,
    ) -> Float[Tensor, "batch token d_model"]:
        sets, heads = self.kind.query_sets, self.n_heads
        split = self.project(tokens).unflatten(-1, (sets + 2, heads, -1))
        # (set, batch, head, token, d_head)
        queries_keys, values = split.permute(2, 0, 3, 1, 4).split((sets + 1, 1))
        turned = rotate(queries_keys, rotation)  # all in one go: fewer passes over memory
        q = turned[0] if sets == 1 else torch.cat(turned[:-1].unbind(), dim=1)
        read = None
        if self.read is not None:
            read = self.read(tokens).unflatten(-1, (heads, -1)).transpose(1, 2)
        output = self.kind(q, turned[-1], values[0], visible, read)
        return self.out(output.transpose(1, 2).flatten(2))


def rotary(index: Int[Tensor, " token"], config: ModelConfig) -> Float[Tensor, "2 token half"]:
    """Cosine and sine of the rotary angles (Su et al., RoFormer, arXiv:2104.09864v5, eq. 15), in
    float64."""
    half = config.d_model // config.n_heads // 2
    # the slowest pair turns once in 2π · 10 000 steps, as published
    rate = 10_000.0 ** (-torch.arange(half, device=index.device, dtype=torch.float64) / half)
    angle = index[:, None] * rate
    return torch.stack((angle.cos(), angle.sin()))


def rotate(
    vectors: Float[Tensor, "... token d_head"], rotation: Float[Tensor, "2 token half"]
) -> Float[Tensor, "... token d_head"]:
    """Turn the pairs (i, i + d_head/2) of each vector by its token's angles."""
    cos, sin = rotation
    first, second = vectors.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def bin_of(positions: Tensor, config: ModelConfig) -> Tensor:
    """Bin index of each coordinate; those outside the range go to the outermost bins."""
    scaled = (positions + config.bin_range) * (config.bins / (2 * config.bin_range))
    return scaled.floor().long().clamp(0, config.bins - 1)
