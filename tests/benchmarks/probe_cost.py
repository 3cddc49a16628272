"""Measure what probing costs beside the model: processor time outside `predict`.

    python tests/benchmarks/probe_cost.py

A transformer of about a million parameters, context 32, 100 held-out orbits of 128 states; two rows
with 1000 training orbits known, through which a parrot of them must look.
"""

import time
from typing import Any

import numpy as np
import torch

import orbits
import worldmodel


class Timed:
    """A predictor that counts the seconds that it takes."""

    def __init__(self, predictor: Any) -> None:
        self.predictor = predictor
        self.context_length = predictor.context_length
        self.seconds = 0.0

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """What the predictor says."""
        began = time.process_time()
        said = self.predictor.predict(positions)
        self.seconds += time.process_time() - began
        return said


def main() -> None:
    """Print the share of each read-out."""
    torch.set_num_threads(1)
    train = orbits.generate(orbits=1000, simulator="kepler")
    held_out = orbits.generate(orbits=100, seed=1, simulator="kepler")
    options = {"d_model": 192, "n_layers": 2, "n_heads": 4, "batch_tokens": 256}
    options |= {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer"}
    model = worldmodel.train(train, context_length=32, steps=1, **options)
    print(f"{model.parameters} parameters")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("implied, orbit", {"states": "orbit"}),
        ("implied, kicked", {"states": "kicked"}),
        ("orbit, training known", {"states": "orbit", "trained_on": train}),
        ("kicked, training known", {"states": "kicked", "trained_on": train}),
        ("kick_response", {"readout": "kick_response"}),
        ("jacobian by differences", {"readout": "jacobian", "jacobian": {"states": 50}}),
    ]
    for name, how in asked:
        timed = Timed(model)
        began = time.process_time()
        worldmodel.probe(timed, held_out, **how)
        whole = time.process_time() - began
        outside = (whole - timed.seconds) / whole
        print(f"{name:<26}{whole:7.2f} s, {outside:.1%} outside predict", flush=True)


if __name__ == "__main__":
    main()
