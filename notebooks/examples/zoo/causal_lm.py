"""A Hugging Face causal language model over binned coordinates (extra `huggingface`)."""

import os
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from worldmodel import by_windows


class CausalLM:
    """Coordinates as tokens, one after the other: x(1), y(1), x(2), y(2), ...

    Args:
        model: a `transformers` model with a language head, or its folder or name, which
            `AutoModelForCausalLM` loads from the disk (or the hub, where that is allowed).
        context_length: positions that it sees.
        edges: (bin + 1,) edges of the bins, au: the user's; or evenly spread, see `bins`.
        bins: number of even bins over ±`bin_range`, where no edges are given.
        bin_range: au.
        first_token: number of the first bin's token.
        start: a token before the first coordinate, if the model was trained with one.
        local: never ask the network for a name.

    Raises:
        ValueError: if `transformers` is missing, or the vocabulary is too small for the bins.
    """

    def __init__(
        self,
        model: Any,
        context_length: int,
        edges: np.ndarray | None = None,
        bins: int = 7000,
        bin_range: float = 50.0,
        first_token: int = 0,
        start: int | None = None,
        local: bool = True,
    ) -> None:
        if isinstance(model, (str, os.PathLike)):
            from transformers import AutoModelForCausalLM

            try:
                model = AutoModelForCausalLM.from_pretrained(model, local_files_only=local)
            except OSError as error:
                raise ValueError(f"{model} cannot be loaded: {error}") from None
        self.model = model.eval()
        self.context_length = context_length
        self.edges = np.linspace(-bin_range, bin_range, bins + 1) if edges is None else edges
        self.centres = (self.edges[1:] + self.edges[:-1]) / 2
        self.first_token = first_token
        self.start = start
        vocabulary = int(model.config.vocab_size)
        if first_token + len(self.centres) > vocabulary:
            raise ValueError(
                f"{len(self.centres)} bins from token {first_token} on do not fit into a "
                f"vocabulary of {vocabulary}; give fewer bins."
            )
        self.name = str(getattr(model.config, "model_type", "causal language model"))

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The expected next position after every time, au; NaN where the context is not full.

        Coordinates are predicted one after the other: each but the first sees the bin in which the
        expectation of the one before lies.
        """
        return by_windows(positions, self.context_length, self._following, at_once=4096)

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        shape = contexts.shape[2:]
        tokens = torch.from_numpy(self._tokens(contexts).reshape(len(contexts), -1))
        if self.start is not None:
            tokens = torch.nn.functional.pad(tokens, (1, 0), value=self.start)
        answers = []
        for _ in range(int(np.prod(shape))):
            answer = self._expected(tokens)
            answers.append(answer)
            tokens = torch.cat((tokens, torch.from_numpy(self._tokens(answer))[:, None]), dim=1)
        return np.stack(answers, axis=1).reshape(-1, *shape)

    def _tokens(self, values: np.ndarray) -> np.ndarray:
        bins = np.searchsorted(self.edges, values, side="right") - 1
        return np.clip(bins, 0, len(self.centres) - 1) + self.first_token

    def _expected(self, tokens: torch.Tensor) -> np.ndarray:
        device = next(self.model.parameters()).device
        with torch.no_grad():
            logits = self.model(tokens.to(device)).logits[:, -1].double().cpu()
        inside = logits[:, self.first_token : self.first_token + len(self.centres)]
        return torch.softmax(inside, dim=-1).numpy() @ self.centres
