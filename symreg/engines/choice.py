"""The engine that a user asks for, or the best one that is really there."""

from orbits.choices import require_known
from symreg.engines.availability import available
from symreg.engines.base import Engine
from symreg.engines.monomial import MonomialEngine
from symreg.engines.named_laws import NamedLawsEngine
from symreg.engines.operon import OperonEngine
from symreg.engines.pysr import PySREngine

ENGINES: dict[str, type[Engine]] = {
    engine.name: engine for engine in (PySREngine, OperonEngine, MonomialEngine, NamedLawsEngine)
}
"""The engines known by name; `auto` prefers them in this order."""


def choose_engine(name: str) -> tuple[Engine, str]:
    """An engine that can run, and why it was taken.

    Args:
        name: auto, or an engine's name.

    Raises:
        ValueError: if the engine is not known, or cannot run here (what is missing, how to get it).
    """
    require_known("engine", name, ["auto", *ENGINES])
    if name != "auto":
        found = available(name)
        if not found.available:
            raise ValueError(
                f"engine {name} cannot run: {found.reason}. To get it: {found.how_to_get}. "
                "Or use --engine operon, or --engine auto."
            )
        return ENGINES[name](), f"asked for ({found.reason})"
    reasons: list[str] = []
    for candidate in ENGINES:
        found = available(candidate)
        if found.available:
            why = f"{candidate} is available ({found.reason})"
            return ENGINES[candidate](), "; ".join([*reasons, why])
        reasons.append(f"no {candidate}: {found.reason}")
    raise ValueError(f"no engine can run: {'; '.join(reasons)}.")
