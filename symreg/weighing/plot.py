"""The picture of a weighing."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from orbits.palette import COLORS, CYCLE
from orbits.plot import own_style, plain_ticks
from symreg.weighing.records import CurvePoint, Mass


@own_style()
def plot_weighing(
    masses: Sequence[Mass], curve: Sequence[CurvePoint], law: str, units: Mapping[str, str]
) -> Axes:
    """The masses with their intervals, and the free curve over the law."""
    _, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for mass in masses:
        if mass.value is None or mass.value <= 0:
            continue
        color = CYCLE[0] if mass.weighable else COLORS["injected"]
        left.plot(mass.value, mass.body, "o", color=color)
        left.plot([mass.low, mass.high], [mass.body] * 2, color=color)
    left.set_xscale("log")
    left.invert_yaxis()
    left.set_xlabel(f"mass ({units['mass']}); grey: too uncertain to count")
    r, ratio, low, high = (
        np.array([getattr(point, name) for point in curve])
        for name in ("r", "value", "low", "high")
    )
    right.fill_between(r, low, high, color=CYCLE[0], alpha=0.3, linewidth=0)
    right.plot(r, ratio, color=CYCLE[0])
    right.axhline(1, color=COLORS["reference"], linewidth=1)
    right.set_xscale("log")
    plain_ticks(right)
    right.set(xlabel=f"distance ({units['length']})", ylabel=f"attraction over that of {law}")
    return left
