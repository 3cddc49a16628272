"""The engine that a user asks for, or the best one that is really there."""

from collections.abc import Mapping, Sequence

from orbits.command.near_misses import require_known
from symreg.engines.availability import available
from symreg.engines.base import DEFAULT_SPACE, Engine, Space
from symreg.engines.monomial import MonomialEngine
from symreg.engines.named_laws import NamedLawsEngine
from symreg.engines.operon import OperonEngine
from symreg.engines.pysr import PySREngine

ENGINES: dict[str, type[Engine]] = {
    engine.name: engine for engine in (PySREngine, OperonEngine, MonomialEngine, NamedLawsEngine)
}
"""The engines known by name; `auto` prefers them in this order."""


def choose_engine(
    name: str,
    guesses: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    space: Space = DEFAULT_SPACE,
) -> tuple[Engine, str]:
    """An engine that can run, and why it was taken.

    Args:
        name: auto, or an engine's name.
        guesses: formulas that an engine may start from (PySR does).
        units: unit by column for an engine that knows dimensions (PySR does).
        space: operators and loss of the search.

    Raises:
        ValueError: if the engine is not known, cannot run here (what is missing, how to get it),
            or cannot search that space.
    """
    require_known("engine", name, ["auto", *ENGINES])
    if name != "auto":
        found = available(name)
        if not found.available:
            raise ValueError(
                f"engine {name} cannot run: {found.reason}. To get it: {found.how_to_get}. "
                "Or use --engine operon, or --engine auto."
            )
        return _made(name, guesses, units, space), f"asked for ({found.reason})"
    reasons: list[str] = []
    for candidate in ENGINES:
        found = available(candidate)
        if found.available:
            why = f"{candidate} is available ({found.reason})"
            return _made(candidate, guesses, units, space), "; ".join([*reasons, why])
        reasons.append(f"no {candidate}: {found.reason}")
    raise ValueError(f"no engine can run: {'; '.join(reasons)}.")


def _made(
    name: str, guesses: Sequence[str], units: Mapping[str, str] | None, space: Space
) -> Engine:
    if name == PySREngine.name:
        return PySREngine(guesses, units, space)
    if name == OperonEngine.name:
        return OperonEngine(space)
    if space != DEFAULT_SPACE:
        raise ValueError(
            f"--operators and --loss are for engines that search; {name} does not. Use --engine "
            "operon or pysr."
        )
    return ENGINES[name]()
