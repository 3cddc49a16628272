"""Turn forces into a formula, and compare the formula with the laws of physics.

    import symreg

    law = symreg.recover(forces)                 # of worldmodel.probe, a DataFrame or a file
    law.expression, law.recovered, law.explanation
    law.predict({"r": [0.5, 1.0]})

    symreg.recover(table, target="F", features="r,m1,m2")
    symreg.compare("39.5/r**2", "newton").verdict
    symreg.run(law="hooke", seed=1)              # the whole path, with controls

Nothing here imports torch or Julia: they run in processes of their own.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from orbits.version import __version__ as __version__

if TYPE_CHECKING:
    from symreg.engines import ENGINES
    from symreg.experiments.config import RunConfig
    from symreg.experiments.figures import (
        plot_arrows,
        plot_field,
        plot_kicks,
        plot_residuals,
        plot_training,
    )
    from symreg.experiments.result import Run
    from symreg.experiments.run import run
    from symreg.formulas.compare import Comparison, compare
    from symreg.recovery.config import RecoverConfig, Thresholds
    from symreg.recovery.gates import Gate
    from symreg.recovery.plot import plot_pareto_front
    from symreg.recovery.recover import recover
    from symreg.recovery.result import Quantity, Recovery
    from symreg.weighing.config import WeighConfig
    from symreg.weighing.result import Weighing
    from symreg.weighing.weigh import weigh


_PLACES = {
    "Comparison": "symreg.formulas.compare",
    "ENGINES": "symreg.engines",
    "Gate": "symreg.recovery.gates",
    "Quantity": "symreg.recovery.result",
    "RecoverConfig": "symreg.recovery.config",
    "Recovery": "symreg.recovery.result",
    "Run": "symreg.experiments.result",
    "RunConfig": "symreg.experiments.config",
    "Thresholds": "symreg.recovery.config",
    "WeighConfig": "symreg.weighing.config",
    "Weighing": "symreg.weighing.result",
    "compare": "symreg.formulas.compare",
    "plot_arrows": "symreg.experiments.figures",
    "plot_field": "symreg.experiments.figures",
    "plot_kicks": "symreg.experiments.figures",
    "plot_pareto_front": "symreg.recovery.plot",
    "plot_residuals": "symreg.experiments.figures",
    "plot_training": "symreg.experiments.figures",
    "recover": "symreg.recovery.recover",
    "run": "symreg.experiments.run",
    "weigh": "symreg.weighing.weigh",
}

__all__ = [
    "ENGINES",
    "Comparison",
    "Gate",
    "Quantity",
    "RecoverConfig",
    "Recovery",
    "Run",
    "RunConfig",
    "Thresholds",
    "WeighConfig",
    "Weighing",
    "compare",
    "plot_arrows",
    "plot_field",
    "plot_kicks",
    "plot_pareto_front",
    "plot_residuals",
    "plot_training",
    "recover",
    "run",
    "weigh",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
