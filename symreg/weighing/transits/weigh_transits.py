"""Weigh planets by how they shift the times of each other's transits."""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import pandas as pd

from orbits.files import as_json
from orbits.importing.tables import name_of, read_columns, require_column
from orbits.options import P, keywords_of, options_from
from orbits.printing import plural
from orbits.provenance import versions
from orbits.units import GM_EARTH_SI, GM_SUN_SI
from symreg.formulas.watch import Watch
from symreg.weighing.config import TransitConfig
from symreg.weighing.observed.table import require_rows
from symreg.weighing.result import TWO_SIDED, Estimate
from symreg.weighing.transits.fit import Fit, fit_planets
from symreg.weighing.transits.model import NUMBERS, Transits
from symreg.weighing.transits.result import Planet, TransitWeighing

FEWEST = 3
"""Transits of a planet."""
WIDENED = 1.5
"""Scatter over the errors from which it is said."""


@keywords_of(TransitConfig)
def weigh_transits(
    kind: Callable[P, TransitConfig],
    data: pd.DataFrame | str | os.PathLike[str],
    config: TransitConfig | None = None,
    progress: Callable[[str], None] | None = None,
    *args: P.args,
    **options: P.kwargs,
) -> TransitWeighing:
    """Masses of planets from the times at which they pass in front of their star.

        symreg.weigh_transits("times.csv", transits="planet,transit,time,error", star_mass=0.1)

    Planets that are alone pass evenly. What shifts them is the others' pull: all masses and orbits
    are fitted together, in one plane under Newton's law, each transit at its own time.

    Args:
        data: a table or its path, with a row for each transit of two planets or more.
        config: its columns, and the star's mass.
        progress: is told every few seconds how far it is.
        **options: fields of `TransitConfig` that differ from `config`.

    Returns:
        Masses with 95 % intervals: those of the best fit's curvature.

    Raises:
        ValueError: for columns that are missing or hold no numbers, a planet with too few transits,
            one planet alone, or fewer transits than unknowns (says which).

    Source: Agol et al., MNRAS 359 (2005) 567; Agol et al., PSJ 2 (2021) 1 for seven planets;
    integrated by REBOUND's WHFast (Rein & Tamayo, MNRAS 452 (2015) 376).
    """
    began = time.monotonic()
    config = options_from(TransitConfig, config, options)
    seen = read_transits(data, config)
    fit = fit_planets(seen, Watch(tell=progress))
    result = TransitWeighing(
        planets=tuple(_planet(k, fit, seen, config) for k in range(len(seen.planets))),
        star_mass=config.star_mass,
        scatter=fit.scatter,
        chi_square=fit.chi_square,
        freedom=fit.freedom,
        wild=int(np.sum(~fit.kept)),
        configuration=as_json(asdict(config)),
        versions=versions(),
        seconds=time.monotonic() - began,
    )
    return replace(result, explanation=_explanation(result))


def read_transits(data: pd.DataFrame | str | os.PathLike[str], config: TransitConfig) -> Transits:
    """Read a table with a row for each transit; ValueError as `weigh_transits`."""
    columns = config.columns
    (frame, known), name = read_columns(data, columns), name_of(data)
    for column in columns:
        require_column(column, known, name)
    planet = frame[columns[0]].astype(str).to_numpy()
    number, when, sigma = (_numbers(frame[column], name) for column in columns[1:])
    whole, positive = number == np.round(number), sigma > 0
    require_rows(whole, f"{name}, column {columns[1]}", "holds no whole number")
    require_rows(positive, f"{name}, column {columns[3]}", "holds no standard error above 0")
    periods = {}
    for each in map(str, np.unique(planet)):
        own = planet == each
        if len(np.unique(number[own])) < FEWEST:
            raise ValueError(f"{name}: planet {each} has fewer than {FEWEST} transits.")
        periods[each] = np.polyfit(number[own], when[own], 1)[0]
    planets = sorted(periods, key=periods.__getitem__)
    if len(planets) < 2:
        raise ValueError(
            f"{name}: planet {planets[0]} is alone; only other planets shift transits."
        )
    unknown = len(NUMBERS) * len(planets)
    if len(when) <= unknown:
        raise ValueError(f"{name}: {len(when)} transits cannot tell {unknown} unknowns.")
    index = np.array([planets.index(each) for each in planet])
    middle = (float(when.min()) + float(when.max())) / 2
    seen = Transits(tuple(planets), index, number, when - middle, sigma, middle)
    return seen.rows(np.argsort(when, kind="stable"))


def _numbers(column: pd.Series, name: str) -> np.ndarray:
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    require_rows(np.isfinite(values), f"{name}, column {column.name}", "holds no finite number")
    return values


def _planet(k: int, fit: Fit, seen: Transits, config: TransitConfig) -> Planet:
    own = seen.planet == k
    mass, _, period, *eccentricity = fit.numbers[k]
    error, _, period_error, *_ = np.sqrt(np.diag(fit.covariance)).reshape(fit.numbers.shape)[k]
    to_earths = config.star_mass * GM_SUN_SI / GM_EARTH_SI
    told = Estimate.of(mass * 1e6, error * 1e6)
    line = np.polyval(np.polyfit(seen.number[own], seen.time[own], 1), seen.number[own])
    fitted = seen.time[own] + fit.residuals[own] * seen.sigma[own]
    return Planet(
        name=seen.planets[k],
        mass=told,
        earths=Estimate.of(mass * to_earths, error * to_earths) if to_earths else Estimate(),
        weighed=bool(mass > 2 * TWO_SIDED * error),
        period=Estimate.of(period, period_error),
        eccentricity=float(np.hypot(*eccentricity)),
        number=tuple(map(int, seen.number[own])),
        time=tuple((seen.time[own] + seen.middle).tolist()),
        error=tuple(seen.sigma[own].tolist()),
        line=tuple((line + seen.middle).tolist()),
        fitted=tuple((fitted + seen.middle).tolist()),
        kept=tuple(fit.kept[own].tolist()),
    )


def _explanation(found: TransitWeighing) -> str:
    weighed = [planet.name for planet in found.planets if planet.weighed]
    count = sum(len(planet.time) for planet in found.planets)
    if weighed:
        lines = [f"{count} transits weigh {len(weighed)} of {len(found.planets)} planets."]
    else:
        lines = [f"{count} transits weigh no planet: no shift by another is beyond doubt."]
    lines.append(
        f"Chi square is {found.chi_square:.0f} with {found.freedom} degrees of freedom"
        + (f", {plural(found.wild, 'wild time')} left out." if found.wild else ".")
    )
    if found.scatter > WIDENED:
        lines.append(
            f"The times scatter {found.scatter:.1f} times more than their errors say, and the "
            "intervals are widened by that: a planet may be missing, or a better fit."
        )
    return " ".join(lines)
