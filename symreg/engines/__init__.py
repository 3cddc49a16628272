"""Search engines behind one contract (`base`), one file each, and the choice among them."""

from dataclasses import replace

from orbits.options import require_known, with_options
from orbits.registry import Registry
from orbits.specs import parse_spec
from symreg.engines.base import Engine, Question

ENGINES: Registry[type[Engine]] = Registry(
    "symreg.engines", Engine, of_classes=True, skip=("installing", "pysr_process")
)
"""The engines by name."""
AUTO, PORTFOLIO, PYSR = "auto", "portfolio", "pysr"
GONE = {"operon": AUTO}
"""Engines of earlier versions, and what to use."""


def choose_engine(text: str, question: Question | None = None) -> tuple[Engine, str]:
    """An engine that can run, and why it was chosen.

    Args:
        text: auto, which is the portfolio, or an engine's name; where PySR may search, its settings
            in brackets: `pysr(niterations=40)`.
        question: what to search.

    Raises:
        ValueError: if the engine is unknown, cannot run here (what is missing, how to get it), or
            lacks an operator or a setting that is asked for.
    """
    spec, question = parse_spec("engine", text, "pysr(niterations=40)"), question or Question()
    if spec.name in GONE:
        raise ValueError(f"engine {spec.name} is gone; use --engine {GONE[spec.name]}.")
    name = require_known("engine", spec.name, [AUTO, *ENGINES])
    why = "the default" if name == AUTO else "as given"
    name = PORTFOLIO if name == AUTO else name
    if spec.parameters:
        if name not in (PORTFOLIO, PYSR):
            raise ValueError(f"engine {name} has no settings; write {name} alone.")
        given = {key: int(v) if v == int(v) else v for key, v in spec.parameters}
        question = replace(question, evolution=with_options(question.evolution, given))
    availability = ENGINES[name].availability()
    if not availability.available:
        raise ValueError(
            f"engine {name} cannot run: {availability.reason}. To get it: "
            f"{availability.how_to_get}. Or use --engine auto."
        )
    return ENGINES[name](question), f"{why} ({availability.reason})"
