"""What probes ask of a model: a trained network (`WorldModel`) and any predictor of a user's own
(`CheckedPredictor`) answer alike. Imports no torch."""

from typing import Any, Protocol, Self

import numpy as np
from jaxtyping import Float

from worldmodel.source import DataFacts


class Subject(Protocol):
    """A model under study."""

    @property
    def context_length(self) -> int:
        """Positions that a prediction is made from."""

    @property
    def name(self) -> str:
        """For reports."""

    @property
    def radius(self) -> tuple[float, float] | None:
        """Smallest and largest distance from the centre in training, au; None if unknown."""

    @property
    def trained_on(self) -> str | None:
        """Where its training data set was; None if unknown."""

    @property
    def training_facts(self) -> DataFacts | None:
        """Facts of that data set; None if unknown."""

    @property
    def identity(self) -> str:
        """Fingerprint of how it was made."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of what it is."""

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN where the context is not full."""

    def jacobians(
        self, contexts: Float[np.ndarray, "state time body axis"]
    ) -> tuple[Float[np.ndarray, "state time out in"], float | None]:
        """Derivatives of the last prediction, and their error if they are differences."""

    def features(
        self, contexts: Float[np.ndarray, "state time body axis"]
    ) -> dict[str, Float[np.ndarray, "state feature"]]:
        """Activations at the last position, by layer."""

    def backbone(self, what: str) -> Any:
        """The network without its head (`worldmodel.backbone.Backbone`), for what needs it."""

    def inside(self, what: str) -> Any:
        """The network, open to edits (`worldmodel.inside.Inside`), for what needs it."""

    def for_world(self, facts: DataFacts) -> Self:
        """The model for one data set; ValueError if that does not fit."""

    def first_unseen(self, facts: DataFacts) -> int:
        """Number of the first orbit that it was not trained on."""

    def untrained(self, seed: int) -> Self:
        """The same with fresh weights; ValueError if there is no such form."""

    def about(self) -> dict[str, Any]:
        """What is known of it, for files read off it."""
