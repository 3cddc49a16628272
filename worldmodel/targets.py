"""What a regression head predicts: the next position minus the part taken as known."""

from orbits.specs import parse_spec


def inertia(target: str) -> float | None:
    """λ of the target x(t+1) − x(t) − λ (x(t) − x(t−1)); None for the position.

    Targets are `displacement` (λ = 0), `displacement(inertia=0.5)`, `residual` (λ = 1), `position`;
    ValueError if it is none of these, or λ is not between 0 and 1.
    """
    example = "displacement(inertia=0.9)"
    spec = parse_spec("target", target, example)
    given = dict(spec.parameters)
    if spec.name == "displacement" and given.keys() <= {"inertia"}:
        share = given.get("inertia", 0.0)
        if not 0 <= share <= 1:
            raise ValueError(
                f"target {target}: inertia is {share:g}; from 0 to 1, as in {example}."
            )
        return share
    if target in ("residual", "position"):
        return 1.0 if target == "residual" else None
    raise ValueError(
        f"target {target!r} is unknown; displacement, {example}, residual or position."
    )


def first_scored(context_length: int) -> int:
    """Index within a context of the first prediction that counts.

    One position says nothing about the velocity, so the first prediction counts only if the context
    is a single position. With a context of two, only the last counts.
    """
    return min(1, context_length - 1)
