"""A network exported to ONNX as `net.onnx`, which gives the step from four positions in a row."""

import numpy as np
import onnxruntime

from worldmodel import by_windows


class Exported:
    context_length = 4
    precision = 2**-23

    def __init__(self, path):
        self.session = onnxruntime.InferenceSession(path)

    def predict(self, positions):
        return by_windows(positions, self.context_length, self.following)

    def following(self, contexts):
        name = self.session.get_inputs()[0].name
        (step,) = self.session.run(None, {name: contexts.reshape(-1, 8).astype(np.float32)})
        return contexts[:, -1] + step


def make():
    return Exported("net.onnx")
