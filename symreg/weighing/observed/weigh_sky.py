"""Weigh what nobody sees by what one body does on the sky and along the line of sight."""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import pandas as pd

from orbits.files import as_json
from orbits.forces import ForceLaw, parse_law
from orbits.options import P, keywords_of, options_from
from orbits.provenance import versions
from orbits.units import SPEEDS
from symreg.formulas.watch import Watch
from symreg.weighing.config import SkyConfig
from symreg.weighing.observed.orbit import Fit, Model, extra_terms, fit_orbits
from symreg.weighing.observed.posterior import draws
from symreg.weighing.observed.result import Instrument, Series, SkyWeighing, UnseenOrbit, Yukawa
from symreg.weighing.observed.table import Observations, read_observations
from symreg.weighing.result import Estimate

INTERVAL = (2.5, 97.5)
"""Percentiles of 95 %."""
CURVE = 2000
"""Points of a drawn orbit."""
LENGTHS = 7
"""Of a Yukawa term, from a third of the nearest distance to ten times the farthest."""
FREE = 0.5
"""Standard error from which an exponent counts as free."""


@keywords_of(SkyConfig)
def weigh_sky(
    kind: Callable[P, SkyConfig],
    data: pd.DataFrame | str | os.PathLike[str],
    config: SkyConfig | None = None,
    progress: Callable[[str], None] | None = None,
    *args: P.args,
    **options: P.kwargs,
) -> SkyWeighing:
    """Orbits and masses of unseen bodies, from places on the sky and radial velocities of one.

        symreg.weigh_sky("s2.csv", observe=("x", "y", "rv"), instrument="telescope")

    Every observation is compared at its own time: no resampling. Orbits are found on a grid where
    all but three numbers are linear, and fitted together; intervals are those of draws from the
    posterior. Bodies that nobody sees do not act on each other.

    Args:
        data: a table or its path.
        config: what the columns hold, and what is known.
        progress: is told every few seconds how far it is.
        **options: fields of `SkyConfig` that differ from `config`.

    Returns:
        Masses, orbits, distance and exponent with 95 % intervals.

    Raises:
        ValueError: for columns that are missing or hold no numbers, dates of no known kind, too few
            rows; or where distance or mass of the body that is seen is needed (says which).

    Source: linear terms after Wright & Howard, ApJS 182 (2009) 205; draws by emcee
    (Foreman-Mackey et al., PASP 125 (2013) 306).
    """
    began = time.monotonic()
    config = options_from(SkyConfig, config, options)
    seen = read_observations(data, config)
    _require_enough(seen, config)
    watch = Watch(tell=progress)
    search = fit_orbits(seen, config, watch)
    fit, found = search.fit, search.gain > search.needed
    orbits, distance, notes = _orbits(fit, watch) if found else ((), Estimate(), [])
    alone = found and config.companions == 1
    result = SkyWeighing(
        orbits=orbits,
        seen_mass=config.seen_mass,
        distance=distance,
        exponent=_exponent(fit, watch) if alone else Estimate(),
        yukawa=_yukawa(fit) if alone else (),
        instruments=_instruments(fit),
        gain=search.gain,
        needed=search.needed,
        rows=sum(len(block.value) for block in seen.blocks),
        series=_series(fit),
        notes=(*seen.notes, *notes),
        configuration=as_json(asdict(config)),
        versions=versions(),
        seconds=time.monotonic() - began,
    )
    return replace(result, explanation=_explanation(result))


def _require_enough(seen: Observations, config: SkyConfig) -> None:
    """Refuse what these observations could not tell."""
    if seen.on_sky and not seen.velocities and not config.distance:
        raise ValueError(
            "places on the sky alone tell angles; give the distance (--distance, pc), or radial "
            "velocities too."
        )
    if not config.seen_mass and (config.companions > 1 or not seen.on_sky):
        why = "several unseen bodies" if config.companions > 1 else "radial velocities alone"
        raise ValueError(f"{why} need the mass of the body that is seen (--seen-mass).")
    model = Model(seen, config, config.companions)
    rows = sum(len(block.value) for block in seen.blocks)
    unknown = len(model.names) + sum(basis.shape[1] for basis in model.bases)
    if rows <= unknown:
        raise ValueError(
            f"{rows} numbers cannot tell {unknown} unknowns (orbits, distance, origins of "
            "instruments); ask for fewer companions, or tie origins (--frame, --zero-point)."
        )


def _values(fit: Fit, vectors: np.ndarray) -> np.ndarray:
    """(motion, number) what is told of each orbit, nine numbers each, and the distance, pc."""
    found = []
    for k in range(fit.model.companions):
        elements, gm, mass = fit.model.elements(vectors, k)
        period = 2 * np.pi * np.sqrt(elements.semi_major_axis**3 / gm)
        argument = elements.argument_of_perihelion + np.pi  # of the body that is seen
        passed = -elements.mean_anomaly / (2 * np.pi) * period
        middle = fit.model.seen.span / 2
        passed += np.round((middle - passed) / period) * period
        share = mass / (fit.model.config.seen_mass + mass)
        e, sine = elements.eccentricity, np.sin(elements.inclination)
        speed = share * 2 * np.pi * elements.semi_major_axis / period * sine / np.sqrt(1 - e**2)
        found += [
            mass, period, elements.semi_major_axis, e, np.degrees(elements.inclination),
            np.degrees(elements.longitude_of_node), np.degrees(argument),
            fit.model.seen.epoch + passed, speed / SPEEDS["km/s"],
        ]  # fmt: skip
    return np.column_stack([*found, fit.model.distance(vectors)])


ANGLES = (5, 6)
"""Numbers of an orbit that are angles without an end."""
PER_ORBIT = 9
"""Numbers told of each."""


def _orbits(fit: Fit, watch: Watch) -> tuple[tuple[UnseenOrbit, ...], Estimate, list[str]]:
    """Orbits and distance with their intervals, and what there is to say of these."""
    chain, long_enough = draws(fit, watch)
    best, drawn = _values(fit, fit.vector[None])[0], _values(fit, chain)
    for k in range(fit.model.companions):
        for at in (k * PER_ORBIT + angle for angle in ANGLES):
            best[at] %= 360
            drawn[:, at] = best[at] + (drawn[:, at] - best[at] + 180) % 360 - 180
        at, period = k * PER_ORBIT + 7, best[k * PER_ORBIT + 1]
        drawn[:, at] -= np.round((drawn[:, at] - best[at]) / period) * period
    low, value, high = np.percentile(drawn, (INTERVAL[0], 50, INTERVAL[1]), axis=0)
    each = [Estimate(*map(float, row)) for row in zip(value, low, high, strict=True)]
    sky = fit.model.seen.on_sky
    found = []
    for k in range(fit.model.companions):
        mass, *own = each[k * PER_ORBIT : (k + 1) * PER_ORBIT]
        if not sky:  # nothing tells the inclination and the node
            own[3] = own[4] = Estimate()
        found.append(UnseenOrbit(mass, not sky, *own))
    notes = [] if long_enough else ["the chains were short; intervals may be too narrow"]
    if sky and not fit.model.seen.velocities:
        notes.append("without radial velocities node and argument may both be 180 degrees off")
    distance = each[-1] if fit.model.distance_free else Estimate(fit.model.config.distance or None)
    return tuple(found), distance, notes


def _exponent(fit: Fit, watch: Watch) -> Estimate:
    """The exponent that fits in place of Newton's 2."""
    size = float(fit.model.elements(fit.vector[None], 0)[0].semi_major_axis[0])
    model = replace(fit.model, exponent=True, scale=size)
    free = model.fit(np.append(fit.vector, 2.0), watch)
    error = float(np.sqrt(free.covariance[-1, -1]))
    return Estimate.of(float(free.vector[-1]), error) if error < FREE else Estimate()


def _yukawa(fit: Fit) -> tuple[Yukawa, ...]:
    elements, _, _ = fit.model.elements(fit.vector[None], 0)
    size, e = float(elements.semi_major_axis[0]), float(elements.eccentricity[0])
    lengths = [float(a) for a in np.geomspace(size * (1 - e) / 3, size * (1 + e) * 10, LENGTHS)]

    def law(length: float, strength: float) -> ForceLaw:
        return parse_law(f"GM/r**2*(1+{strength!r}*(1+r/{length!r})*exp(-r/{length!r}))")

    found = extra_terms(fit, [partial(law, length) for length in lengths])
    pairs = zip(lengths, found, strict=True)
    return tuple(Yukawa(length, Estimate.of(*map(float, row))) for length, row in pairs)


def _instruments(fit: Fit) -> tuple[Instrument, ...]:
    found = []
    for block, own in zip(fit.model.seen.blocks, fit.model.jitter, strict=True):
        sky = block.quantity != "rv"
        unit = 1.0 if sky else 1 / SPEEDS["km/s"]
        for group, name in enumerate(fit.model.seen.instruments):
            at = block.group == group
            if at.any():
                error = float(np.median(block.sigma[at])) * unit
                found.append(
                    Instrument(name, block.quantity, int(at.sum()), error, own[group] * unit)
                )
    return tuple(found)


def _series(fit: Fit) -> tuple[Series, ...]:
    model = fit.model
    times = np.linspace(0.0, model.seen.span, CURVE)
    everywhere = [replace(block, times=times) for block in model.seen.blocks]
    dense = replace(model, seen=replace(model.seen, blocks=tuple(everywhere)))
    found = []
    for block, sigma, values, left, curve in zip(
        model.seen.blocks, model.sigmas, model.predicted(fit.vector[None]), fit.parts(),
        dense.predicted(fit.vector[None]), strict=True,
    ):  # fmt: skip
        unit = 1.0 if block.quantity != "rv" else 1 / SPEEDS["km/s"]
        columns = (values[0] + left * sigma, sigma, values[0], curve[0])
        value, error, fitted, line = (tuple((unit * part).tolist()) for part in columns)
        names = tuple(model.seen.instruments[group] for group in block.group)
        when = tuple((model.seen.epoch + block.times).tolist())
        along = tuple((model.seen.epoch + times).tolist())
        found.append(Series(block.quantity, names, when, value, error, fitted, along, line))
    return tuple(found)


def _explanation(found: SkyWeighing) -> str:
    gain = f"chi square falls by {found.gain:.3g}, and chance reaches {found.needed:.3g}"
    if not found.orbits:
        which = "no unseen body is" if found.configuration["companions"] == 1 else "not all are"
        lines = [f"As far as these {found.rows} numbers tell, {which} needed ({gain})."]
    else:
        count = len(found.orbits)
        bodies = "One unseen body explains" if count == 1 else f"{count} unseen bodies explain"
        lines = [f"{bodies} {found.rows} numbers (by the last of them {gain})."]
    if found.exponent.value is not None:
        holds = "which holds" if 2.0 in found.exponent else "which does not hold"
        lines.append(f"A pull r^-n has n = {found.exponent}, {holds} Newton's 2.")
    least = [y for y in found.yukawa if y.strength.low is not None]
    if least:
        best = min(least, key=lambda y: y.strength.high - y.strength.low)  # type: ignore[operator]
        lines.append(
            f"A Yukawa term is told best at a length of {best.length:.3g} au: its strength is "
            f"{best.strength}."
        )
    return " ".join([*lines, *(f"Note: {note}." for note in found.notes)])
