"""What a recovery found, with its evidence: the file that `symreg recover` writes."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class RecoveryResult:
    """The law, the verdict and the evidence.

    Attributes:
        recovered: whether every gate holds for this table alone.
        verdict: of the comparison with the reference (`symreg.formulas.compare`).
        reference: the law compared with; None if there was none and no known law fits.
        expression: selected formula, exponents snapped, numbers fitted.
        raw_expression: what the engine found alone: constants refitted, nothing snapped.
        law: name of the selected law, where it has one.
        selected_from: the engine that found the selected formula, or `named-laws`.
        constant: name, value, low, high, truth, relative_error of the strength.
        exponent: free exponent of r: value, low, high, truth (the true law's on the same rows).
        exponents: the same by feature.
        parameters: of the law, each like `constant`.
        r2: on held-out groups, the better of linear and log.
        r2_linear: on held-out groups.
        r2_log: the same of logarithms; None where a target is not positive.
        seeds: run, agreeing.
        nulls: by kind of null control: verdict, recovered, expression.
        gates: by name: passed, required, found.
        engine: that searched.
        engine_reason: why that one.
        pareto_front: expression, complexity, loss, score, seed, engine of every candidate.
        rows: of the table.
        rows_used: drawn at random from them for the last fit.
        groups: of the table (orbits).
        non_central: rms of the tangential acceleration over rms of the whole.
        error_floor: relative error that no law was asked to explain.
        explanation: in plain words.
        notes: what was done to the rows before the search.
        metrics: of the probe that wrote the table, passed on.
        mathml: the formula in presentation MathML.
        configuration: options of this recovery.
        versions: of everything that can influence a number.
        seconds: taken.
    """

    recovered: bool
    verdict: str
    reference: str | None
    expression: str
    raw_expression: str | None
    law: str | None
    selected_from: str
    constant: dict[str, Any]
    exponent: dict[str, Any]
    exponents: dict[str, Any]
    parameters: dict[str, Any]
    r2: float
    r2_linear: float
    r2_log: float | None
    seeds: dict[str, int]
    nulls: dict[str, Any]
    gates: dict[str, Any]
    engine: str
    engine_reason: str
    pareto_front: list[dict[str, Any]]
    rows: int
    rows_used: int
    groups: int
    non_central: float | None
    error_floor: float
    explanation: str
    mathml: str
    notes: list[str] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    configuration: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As JSON's own types."""
        return asdict(self)
