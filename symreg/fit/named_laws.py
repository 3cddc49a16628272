"""Every reference law fitted to samples: an explicit test, not a search."""

import numpy as np

from symreg.fit.refine import Fit, Law, fit
from symreg.fit.samples import Samples
from symreg.formulas.expressions import evaluate
from symreg.formulas.laws import named_forms

NODES = 5
"""Complexity charged for every named law: that of c*r**n, the simplest."""


def fitted_laws(samples: Samples) -> list[Law]:
    """Every reference law that can be written in the features, with fitted constants.

    Laws whose parameters come out negative are left out: they are other laws.
    """
    laws = []
    for named in named_forms(samples.names, samples.X):
        best: Fit | None = None
        for start in named.starts:
            shape = evaluate(named.form, samples.names, samples.X, (1.0, *start))
            ratios = samples.y / shape
            known = ratios[~np.isnan(ratios)]
            strength = float(np.median(known)) if len(known) else 0.0
            if not np.isfinite(strength) or strength == 0:
                continue
            trial = fit(named.form, (strength, *start), samples)
            if best is None or trial.mean_square < best.mean_square:
                best = trial
        if best is None or any(value <= 0 for value in best.constants[1:]):
            continue
        laws.append(
            Law(
                named.form, best.constants, best.mean_square, best.smooth, NODES, "named-laws",
                name=named.name, parameters=named.parameters,
            )
        )  # fmt: skip
    return laws
