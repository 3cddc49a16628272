"""Search engines behind one contract (`base`), one file each, and the choice among them."""

from orbits.options import require_known
from orbits.registry import Registry
from symreg.engines.base import Engine, Question

ENGINES: Registry[type[Engine]] = Registry(
    "symreg.engines",
    Engine,
    of_classes=True,
    order=("pysr", "operon"),
    skip=("installing", "pysr_process"),
)
"""The engines by name; `auto` takes the first that can run."""
AUTO, PORTFOLIO = "auto", "portfolio"


def choose_engine(
    name: str, question: Question | None = None, own_table: bool = False
) -> tuple[Engine, str]:
    """An engine that can run, and why it was chosen.

    Args:
        name: auto, or an engine's name.
        question: what to search.
        own_table: whether the table may follow any law; then `auto` is the portfolio.

    Raises:
        ValueError: if the engine is unknown, cannot run here (what is missing, how to get it), or
            lacks an operator that is asked for.
    """
    require_known("engine", name, [AUTO, *ENGINES])
    why = "default of a table" if name == AUTO else "as given"
    if name == AUTO and own_table:
        name = PORTFOLIO
    if name != AUTO:
        availability = ENGINES[name].availability()
        if not availability.available:
            raise ValueError(
                f"engine {name} cannot run: {availability.reason}. To get it: "
                f"{availability.how_to_get}. Or use --engine operon, or --engine auto."
            )
        return ENGINES[name](question), f"{why} ({availability.reason})"
    reasons: list[str] = []
    for candidate, engine in ENGINES.items():
        availability = engine.availability()
        if availability.available:
            available = f"{candidate} is available ({availability.reason})"
            return engine(question), "; ".join([*reasons, available])
        reasons.append(f"no {candidate}: {availability.reason}")
    raise ValueError(f"no engine can run: {'; '.join(reasons)}.")
