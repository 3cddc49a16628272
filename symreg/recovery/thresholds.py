"""The one table of thresholds: of a law in a table, and of a law in a world model.

They are no options: a verdict means the same wherever it is printed. One of them changes by a
commit, with the calibration run again (`notebooks/explanation/verdict.md`).
"""

from dataclasses import dataclass

from symreg.formulas.config import EXPONENT_MARGIN


@dataclass(frozen=True)
class Thresholds:
    """Every threshold; shares are of one, p-values and R² as usual."""

    exponent_margin: float = EXPONENT_MARGIN
    """Largest difference of the free exponent from the reference law's, on the same rows."""
    constant_margin: float = 0.05
    """Largest relative error of a constant whose true value is known."""
    r2: float = 0.9
    """Smallest R² on held-out groups, of magnitudes or of their logarithms."""
    least_r2: float = 0.5
    """Below this R² on held-out groups nothing counts as found, whatever the formula."""
    non_central: float = 0.15
    """Largest share of the acceleration perpendicular to the line to the centre (median over
    rows)."""
    third_law: float = 0.15
    """Largest rms of m1 a1 + m2 a2, relative to that of m1 a1."""
    agreement: float = 0.8
    """Smallest fraction of the resamples of the groups that must select the law again."""
    held_out_ratio: float = 3.0
    """Largest rms error of a law on held-out groups, relative to the error of its fit."""
    range_ratio: float = 5.0
    """The same at the ends of a feature's range, outside the fit, where constants are less
    certain."""
    spare_points: int = 3
    """Smallest number of points of the features that the rows tell apart, beyond the constants of a
    law: any curve goes through as many points as it has numbers, and a choice among ten thousand
    forms, each with two of a percent, through one or two more."""
    interval_room: float = 1.5
    """How many times the interval of a feature's free exponent is as wide as where the law's may
    lie: three standard errors, which chance exceeds once in 400."""
    expansion_ratio: float = 3.0
    """Largest rms error of a law, relative to what the best polynomial leaves of rows kept aside:
    two for the chance in few rows, and a half of that for the numbers of a law."""
    misfit_p: float = 1e-4
    """Smallest p-value of a misfit as smooth as the one seen; below it the formula is rejected."""
    kick_r2: float = 0.97
    """Smallest R² of the implied acceleration at every step read after a kick, through the whole
    context, for a law to count as recovered from a world model."""
    field_r2: float = 0.9
    """The same for a model to have the field, which does not say that its law is exact. A Keplerian
    model stays below it four steps after the kick."""
    keplerian_r2: float = 0.5
    """Largest R² at the first step after a kick for a Keplerian model."""
    orbit_r2: float = 0.8
    """Smallest R² on undisturbed orbits for a Keplerian model, which has learned their shape."""
    copier_gain: float = 0.5
    """Largest fraction by which a parrot may beat a naive copier's squared error, on undisturbed
    orbits and one step after a kick."""
    copier_likeness: float = 0.5
    """Smallest cosine between a parrot's errors and a naive copier's on undisturbed orbits."""
    far_error: float = 0.03
    """Largest median relative error of the acceleration on the density of far states, as for a part
    of the field (`field_part`)."""
    all_right: float = 0.95
    """Share of the density within 10 % that is exceeded with 95 % confidence."""
    far_right: float = 0.9
    """The same in other families of far states, behind every past, and on a model's own
    predictions; families and pasts fail where they certainly have fewer."""
    cell_right: float = 0.7
    """The same in every cell of distance, speed and direction."""
    answered: float = 0.5
    """Smallest share of far states on which a model says anything; between the distances of these,
    no answer is a wrong one."""
    field_ratio: float = 2.0
    """Smallest ratio of the median error about the law to that about the field's own fit, for
    another force."""
    field_error: float = 0.05
    """Largest median error, after a kick, of the field that another force is said to have."""
    field_size: float = 0.1
    """Smallest median acceleration on far states, as a fraction of the law's, to count as a
    force."""
    field_part: float = 0.03
    """Largest non-central part of the field, plus its uncertainty, as a fraction of the law's:
    along or across the velocity, around the centre, with direction or speed, towards another
    centre; and largest difference of the field between groups of states, minus its uncertainty."""
    field_sure: float = 0.01
    """Largest part of the field that the law lacks, minus its uncertainty: one of those, or another
    dependence on distance."""
    ellipse_likeness: float = 0.5
    """Smallest cosine between a Keplerian model's errors after a kick and a fitted ellipse's."""


THRESHOLDS = Thresholds()
