"""Checkpoints of `inductive-bias-probes`: a GPT over tokens of two interleaved bodies."""

import os
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from nanogpt import Block, loaded, read_checkpoint
from torch import nn

from worldmodel import by_windows

STEPS = (7 * 0.0027, 180 * 0.0027)
"""yr: a week and half a year; each has a token of its own."""
RANGE = 50.0
"""au: the bins cover −50 to 50."""
NEEDED = ("n_layer", "n_head", "n_embd", "block_size", "input_dim", "output_vocab_size")


class InductiveBiasProbes:
    """A `ckpt.pt` of the next-token model: `model_args`, tokens, planet and star in turn.

    A sequence begins with the token of its step, then each time has the planet's coordinates and
    the star's. Of one visible body the star stands at the centre.

    Args:
        path: checkpoint, read with `weights_only=True`.
        context_length: times that it sees.
        step: 0 for the step of a week, 1 for half a year.
        step_token: number of the step's token; those behind the bins and the padding if left out.
        decode: `expectation` over the bins, or the `centre` of the likeliest.

    Raises:
        ValueError: if it is no such checkpoint, or cannot see so many times.

    Source: Vafa et al., arXiv:2507.06952; github.com/keyonvafa/inductive-bias-probes,
        `src/model.py` and `experiments/physics/generate_data.py`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        context_length: int = 64,
        step: int = 0,
        step_token: int | None = None,
        decode: str = "expectation",
    ) -> None:
        if decode not in ("expectation", "centre"):
            raise ValueError(f"decode is {decode!r}; give expectation or centre.")
        self.network, options = _network(path)
        most = (int(options["block_size"]) - 2) // 2  # the step and a planet beside the pairs
        if not 1 <= context_length <= most:
            raise ValueError(
                f"context_length is {context_length}; {path} sees 1 to {most} times of two bodies."
            )
        self.vocabulary = int(options["output_vocab_size"])
        self.bins = self.vocabulary - 1 - len(STEPS)  # the padding and the steps come last
        width = 2 * RANGE / self.bins
        self.centres = -RANGE + width * (np.arange(self.bins) + 0.5)
        self.context_length = context_length
        self.dt = STEPS[step]
        self.token = self.bins + 1 + step if step_token is None else step_token
        self.decode = decode
        self.name = "inductive-bias-probes"

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN where the context is not full."""
        if positions.shape[-1] != 2:
            raise ValueError(f"{self.name} knows two axes; {positions.shape[-1]} were given.")
        return by_windows(positions, self.context_length, self._following, at_once=8192)

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        alone = contexts.ndim == 3
        pair = contexts if not alone else np.stack((contexts, 0 * contexts), axis=2)
        tokens = torch.from_numpy(self._tokens(pair).reshape(len(pair), -1, 2))
        first = torch.full((len(pair), 1, 2), self.token, dtype=tokens.dtype)
        tokens = torch.cat((first, tokens), dim=1)
        planet = self._next(tokens)
        if alone:
            return planet
        said = torch.from_numpy(self._tokens(planet))[:, None]
        return np.stack((planet, self._next(torch.cat((tokens, said), dim=1))), axis=1)

    def _tokens(self, values: np.ndarray) -> np.ndarray:
        inside = np.clip(values, -RANGE + 1e-12, RANGE - 1e-12)
        bins = np.floor((inside + RANGE) * self.bins / (2 * RANGE)).astype(np.int64)
        return np.clip(bins, 0, self.bins - 1)

    def _next(self, tokens: torch.Tensor) -> np.ndarray:
        with torch.no_grad():
            logits = self.network(tokens)[:, -1].unflatten(-1, (2, self.vocabulary))
        logits = logits[..., : self.bins].double()
        if self.decode == "centre":
            return self.centres[logits.argmax(dim=-1).numpy()]
        return torch.softmax(logits, dim=-1).numpy() @ self.centres


def _network(path: str | os.PathLike[str]) -> tuple[nn.Module, dict[str, Any]]:
    class Tokens(nn.Module):
        """A pair of tokens at each place in, a pair of distributions out."""

        def __init__(self, o: dict[str, Any]) -> None:
            super().__init__()
            width, vocabulary = o["n_embd"], o["input_vocab_size"]
            bias = bool(o.get("bias", True))
            self.embeddings = nn.ModuleList(nn.Embedding(vocabulary, width) for _ in range(2))
            self.input_combiner = nn.Linear(2 * width, width)
            self.output_head = nn.Linear(width, 2 * o["output_vocab_size"])
            self.pos_emb = nn.Embedding(o["block_size"], width)
            blocks = (Block(width, o["n_head"], bias, "gelu") for _ in range(o["n_layer"]))
            self.blocks = nn.ModuleList(blocks)
            self.ln_f = nn.LayerNorm(width, bias=bias)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            """Logits of both coordinates after every place."""
            parts = [table(x[:, :, axis]) for axis, table in enumerate(self.embeddings)]
            places = torch.arange(x.shape[1])
            y = self.input_combiner(torch.cat(parts, dim=-1)) + self.pos_emb(places)
            for block in self.blocks:
                y = block(y)
            return self.output_head(self.ln_f(y))

    checkpoint = read_checkpoint(path)
    if not isinstance(checkpoint, dict) or not {"model", "model_args"} <= checkpoint.keys():
        raise ValueError(f"{path} lacks model and model_args; it is no such checkpoint.")
    options = checkpoint["model_args"]
    missing = [name for name in NEEDED if options.get(name) is None]
    if options.get("model_type", "gpt") != "gpt" or missing or options["input_dim"] != 2:
        kind = options.get("model_type", "gpt")
        raise ValueError(
            f"{path} is a {kind} model with input_dim {options.get('input_dim')}"
            f"{' without ' + ', '.join(missing) if missing else ''}; a gpt of two token channels "
            "that predicts tokens can be asked."
        )
    options = {"input_vocab_size": options["output_vocab_size"], **options}
    return loaded(Tokens(options), checkpoint["model"], path), options
