"""Weigh bodies by their positions: the law between them, searched, and their masses."""

import os
import time
from dataclasses import asdict, replace

import numpy as np
import xarray as xr

from orbits.command.options import options_from
from orbits.dataset import as_dataset
from orbits.forces import parse_law
from orbits.records.provenance import versions
from orbits.records.typed import as_json
from orbits.trajectories.tracks import LENGTHS
from orbits.units import G
from symreg.weighing.config import WeighConfig
from symreg.weighing.errors import Errors, errors_of, momentum, rough_covariance
from symreg.weighing.fit import Fit, best_of, first_exponent, fitted, solved
from symreg.weighing.result import (
    Alternative,
    CurvePoint,
    Estimate,
    Mass,
    Momentum,
    Weighing,
)
from symreg.weighing.shapes import Curve, Given, Shape, families
from symreg.weighing.weak import Equations, System

TWO_SIDED = 1.959964
"""Standard errors of a 95 % interval."""
CENTRAL = 3e-5
"""Part of an acceleration that may be left without explanation. The Solar System's own is 3e-6
(relativity, asteroids, the Moon's figure), that of an integration to 1e-6 as much."""
DRAGGED = 0.3
"""What a drag may leave of the part that is not explained, to count as one; and five standard
errors are asked."""
GAIN = 10.0
"""Nats that a further parameter must gain."""
LEAST_GAIN = 0.8
"""Part of a power's squares that another law must come below: rounding is not independent."""
NAMED = 2.0
"""Half-widths of the interval within which an exponent is called by its half-integer: one table in
twenty lies outside one of them, one in ten thousand outside two."""
ADEQUATE = 1e-5
"""Part of an acceleration left without explanation below which no other law than a power is tried:
the Solar System's own departures from Newton's law (relativity, asteroids) are below it."""
SNAP = 1e-6
"""Exponents closer to a half-integer than this are it, however sure the fit is."""
SPEED_OF_LIGHT = 63241.077
"""au/yr."""
SHOWN_POINTS = 9
CURVE_STEPS = 1
"""Steps from the best power to the free curve, which is all but linear there."""

Data = xr.Dataset | str | os.PathLike[str]


def weigh(data: Data, config: WeighConfig | None = None, **options: object) -> Weighing:
    """The law between bodies and their masses, from their positions alone.

        symreg.weigh("solar.zarr").masses

    Law and masses are fitted together to the weak form of the equations of motion. Positions tell
    mass times law only; G at one unit of length, or a known mass, fixes the scale.

    Args:
        data: a dataset of two or more visible bodies, or its path: imported, or made by
            `orbits generate --system nbody`.
        config: how to weigh.
        **options: fields of `WeighConfig` that differ from `config`.

    Returns:
        Law, exponent, masses with 95 % intervals, and the evidence.

    Raises:
        ValueError: if the data hold one body, or too few states, or the options do not fit.

    Source: weak form after Messenger & Bortz, Multiscale Model. Simul. 19 (2021) 1474.
    """
    began = time.monotonic()
    data = as_dataset(data)
    config = _with_hidden_noise(options_from(WeighConfig, config, options), data)
    system, notes = _system(data, config)
    equations = Equations(system, config.scales)
    extra = np.zeros_like(equations.left)
    fit, power, tried, curve = _searched(equations, config, extra)
    if config.relativity:
        extra = _relativity(equations, fit)
        fit, power = _again(equations, fit, power, extra)
    errors = errors_of(equations, fit, config.noise)
    drag, beside = _beside_drag(equations, fit, errors, extra, config)
    if beside is not None:  # the law is that which acts beside the drag
        fit, power, errors = beside[0], beside[0] if power is fit else power, beside[1]
    central = bool(np.max(errors.misfit) <= CENTRAL) and beside is None
    exponent = _exponent(power, _own(equations, fit, power, errors, config))
    law, formula = _named(fit, exponent, central, config)
    result = Weighing(
        law=law,
        formula=formula,
        exponent=exponent,
        parameters=_parameters(fit, errors),
        masses=_masses(system, fit, errors, config),
        scale=_scale(fit, exponent, config),
        central=central,
        misfit=float(np.max(errors.misfit)),
        drag=drag,
        momentum=_momentum(equations, fit, errors),
        curve=curve,
        alternatives=tried,
        bodies=system.bodies,
        states=system.position.shape[0] * system.position.shape[1],
        notes=tuple(notes),
        configuration=as_json(asdict(config)),
        versions=versions(),
        seconds=time.monotonic() - began,
    )
    return replace(result, explanation=_explain(result, beside is not None))


def _again(equations: Equations, fit: Fit, power: Fit, extra: np.ndarray) -> tuple[Fit, Fit]:
    """The law and the nearest power beside accelerations that are known."""
    found = fitted(equations, fit.shape, fit.parameters, extra)
    if power is fit:
        return found, found
    return found, fitted(equations, power.shape, power.parameters, extra)


def _momentum(equations: Equations, fit: Fit, errors: Errors) -> Momentum:
    if not equations.system.inertial:
        return Momentum()
    return Momentum(*momentum(equations, fit.masses, errors.noise))


def _beside_drag(
    equations: Equations, fit: Fit, errors: Errors, extra: np.ndarray, config: WeighConfig
) -> tuple[Estimate, tuple[Fit, Errors] | None]:
    """The coefficient of a drag, and the law beside it where it explains what the law does not."""
    drag, is_any, pulled = _drag(equations, fit)
    if not is_any:
        return drag, None
    beside = fitted(equations, fit.shape, fit.parameters, extra + pulled)
    left = errors_of(equations, beside, config.noise)
    explained = np.max(left.misfit) <= DRAGGED * np.max(errors.misfit)
    return drag, (beside, left) if explained else None


def _with_hidden_noise(config: WeighConfig, data: xr.Dataset) -> WeighConfig:
    """The options, with the noise that splines have smoothed away: its errors are still there."""
    hidden = float(data.attrs.get("smoothed_noise", 0.0))
    return replace(config, noise=hidden) if hidden and not config.noise else config


def _system(data: xr.Dataset, config: WeighConfig) -> tuple[System, list[str]]:
    if "body" not in data["position"].dims:
        raise ValueError(
            "the data show one body; weighing needs two or more that are seen: import them with "
            "--position for each, or with --body."
        )
    count, notes = data.sizes["orbit"], []
    if config.orbit >= count:
        raise ValueError(f"--orbit {config.orbit} of {count} orbit(s); the first is 0.")
    rows = slice(max(config.orbit, 0), max(config.orbit, 0) + 1)
    if config.orbit < 0 and data.attrs.get("one_system"):
        rows = slice(None)
    elif config.orbit < 0 and count > 1:
        notes.append(f"the first of {count} systems was weighed (--orbit)")
    position = data["position"].values[rows].astype(np.float64)
    velocity = data["velocity"].values[rows].astype(np.float64)
    names = data.attrs.get("bodies") or [f"body{k + 1}" for k in range(position.shape[2])]
    inertial = not str(data.attrs.get("frame", "")).startswith("relative to")
    if config.reference and config.reference not in names:
        raise ValueError(f"--reference {config.reference} is not one of {', '.join(names)}.")
    system = System(position, float(data.attrs["dt"]), tuple(names), inertial, velocity)
    return system, notes


def _searched(
    equations: Equations, config: WeighConfig, extra: np.ndarray
) -> tuple[Fit, Fit, tuple[Alternative, ...], tuple[CurvePoint, ...]]:
    """The law that explains most with least, the nearest power, what was tried, the free curve."""
    system = equations.system
    simplest, *others = families(LENGTHS[config.unit])
    exponent = first_exponent(equations, extra)
    power = best_of(equations, simplest, simplest.start(exponent, system.separations), extra, None)
    if config.law:
        return fitted(equations, _granted(config), (), extra), power, (), ()
    tried = [power]
    base = power.parameters[0]
    if np.max(errors_of(equations, power, config.noise).misfit) > ADEQUATE:
        for shape in others:
            starts = shape.start(base, system.separations)
            tried.append(best_of(equations, shape, starts, extra, power.weights))
    best = min(tried, key=lambda found: _description(equations, found, power.loss))
    if best.loss > LEAST_GAIN * power.loss:
        best = power
    if best is not power:
        best = fitted(equations, best.shape, best.parameters, extra)
    distances = np.concatenate([pair.r.ravel()[:: max(1, pair.r.size // 500)]
                                for pair in system.pairs])  # fmt: skip
    shape = Curve.over(distances, base)
    curve = fitted(
        equations, shape, shape.start(base, system.separations)[0], extra, best.weights, CURVE_STEPS
    )
    points = _curve_points(equations, curve, best)
    alternatives = tuple(
        Alternative(f.shape.name, dict(zip(f.shape.names, f.parameters, strict=True)),
                    f.loss / power.loss)
        for f in tried
    )  # fmt: skip
    return best, power, alternatives, points


def _description(equations: Equations, fit: Fit, loss: float) -> float:
    """Nats to describe the residuals and the parameters of a family."""
    independent = sum(
        np.count_nonzero(equations.group == g) / equations.set_of(g).overlap
        for g in range(equations.groups)
    ) / len(equations.sets)
    return 0.5 * independent * float(np.log(fit.loss / loss)) + GAIN * len(fit.parameters)


def _granted(config: WeighConfig) -> Shape:
    law = parse_law(config.law)
    if not law.linear_in_gm:
        raise ValueError(
            f"--law {law.name} is not proportional to the mass that attracts; bodies cannot be "
            "weighed by it."
        )
    return Given(law)


def _drag(equations: Equations, fit: Fit) -> tuple[Estimate, bool, np.ndarray]:
    """A drag beside the law: its coefficient, whether it is any, and what it does to every row."""
    columns = equations.drag()
    own = fit.jacobian.shape[1]
    design = np.concatenate([fit.jacobian, columns], axis=1)
    step = solved(design, fit.residuals, fit.weights)
    left = fit.residuals - design @ step
    beside = replace(fit, jacobian=design, residuals=left)
    error = float(np.sqrt(rough_covariance(equations, beside)[own, own]))
    value = float(step[own])
    return _estimate(value, error), bool(abs(value) > 5 * error), columns @ step[own:]


def _own(equations: Equations, fit: Fit, power: Fit, errors: Errors, config: WeighConfig) -> Errors:
    """The errors of the nearest power, which may be the law itself."""
    return errors if power is fit else errors_of(equations, power, config.noise)


def _exponent(power: Fit, errors: Errors) -> Estimate:
    """The free exponent of the power that fits best."""
    k = len(power.masses)
    return _estimate(power.parameters[0], float(np.sqrt(errors.covariance[k, k])))


def _estimate(value: float, error: float) -> Estimate:
    return Estimate(float(value), float(value - TWO_SIDED * error),
                    float(value + TWO_SIDED * error))  # fmt: skip


def _parameters(fit: Fit, errors: Errors) -> dict[str, Estimate]:
    found = {}
    for k, name in enumerate(fit.shape.names):
        at = len(fit.masses) + k
        estimate = _estimate(fit.parameters[k], float(np.sqrt(errors.covariance[at, at])))
        if name.startswith("log_"):
            ends = (estimate.value, estimate.low, estimate.high)
            name, estimate = name[4:], Estimate(*(float(np.exp(end or 0.0)) for end in ends))
        found[name] = estimate
    return found


def _masses(system: System, fit: Fit, errors: Errors, config: WeighConfig) -> tuple[Mass, ...]:
    n = system.bodies
    masses, covariance = fit.masses, errors.covariance[:n, :n]
    free = errors.free[:n]
    if config.reference:
        k = system.names.index(config.reference)
        scale = config.reference_mass / masses[k]
        turn = np.eye(n) * scale
        turn[:, k] -= masses * scale / masses[k]
        masses, covariance = masses * scale, turn @ covariance @ turn.T
    found = []
    for i, name in enumerate(system.names):
        noise, misfit = float(errors.noise[i]), float(errors.misfit[i])
        if free[i]:
            found.append(Mass(name, None, None, None, False, noise, misfit))
            continue
        estimate = _estimate(masses[i], float(np.sqrt(covariance[i, i])))
        assert estimate.low is not None
        found.append(
            Mass(
                name,
                estimate.value,
                estimate.low,
                estimate.high,
                bool(2 * estimate.low > masses[i] > 0),
                noise,
                misfit,
            )
        )
    return tuple(found)


def _named(fit: Fit, exponent: Estimate, central: bool, config: WeighConfig) -> tuple[str, str]:
    """The law as the project writes it, and its formula."""
    if not central:
        return "none", ""
    if config.law:
        return parse_law(config.law).spec, str(parse_law(config.law).numeric_expression())
    values = dict(zip(fit.shape.names, fit.parameters, strict=True))
    if fit.shape.name == "power_law":
        n, low, high = exponent.value, exponent.low, exponent.high
        assert n is not None
        assert low is not None
        assert high is not None
        half = round(2 * n) / 2
        if abs(n - half) < max(SNAP, NAMED * (high - low) / 2):
            names = {2.0: "newton", 1.0: "logarithmic", -1.0: "hooke"}
            return names.get(half, f"power_law(n={half:g})"), f"G*m/r**{half:g}"
        return f"power_law(n={n:.6g})", f"G*m/r**{n:.6g}"
    if fit.shape.name == "yukawa":
        length = float(np.exp(values["log_length"]))
        return (
            f"yukawa(length={length:.6g})",
            f"G*m*exp(-r/{length:.6g})*(1/r**2+1/({length:.6g}*r))",
        )
    if fit.shape.name == "plummer":
        softening = float(np.exp(values["log_softening"]))
        return f"plummer(softening={softening:.6g})", f"G*m*r/(r**2+{softening:.6g}**2)**1.5"
    n, inverse = values["n"], values["inverse_length"]
    formula = f"G*m*exp(-{inverse:.6g}*r)/r**{n:.6g}"
    return f"GM*exp(-k*r)*r**-{n:.6g}; k={inverse:.6g}", formula


def _scale(fit: Fit, exponent: Estimate, config: WeighConfig) -> str:
    if config.reference:
        return f"{config.reference} has {config.reference_mass:g} solar masses"
    if fit.shape.name == "power_law":
        n = exponent.value or 2.0
        text = f"G = 4 pi^2 au^3/yr^2/M_sun, for m/r^{n:.5g} with r in {config.unit}"
        if abs(n - 2) > SNAP:
            per_metre = (LENGTHS["m"] / LENGTHS[config.unit]) ** (2 - n)
            text += (
                f"; with another unit of length every mass is another (r in m: times "
                f"{per_metre:.6g})"
            )
        return text
    return "G = 4 pi^2 au^3/yr^2/M_sun in front of the formula"


def _curve_points(equations: Equations, curve: Fit, law: Fit) -> tuple[CurvePoint, ...]:
    """The free curve over the law, with the scale of the masses taken out."""
    low, high = equations.system.separations
    r = np.geomspace(low, high, SHOWN_POINTS)
    scale = float(np.sum(curve.masses) / np.sum(law.masses))
    ratio = scale * curve.strength(r) / law.strength(r)
    covariance = rough_covariance(equations, curve)
    n = len(curve.masses)
    slopes = np.stack([d(r) for d in curve.shape.derivatives(curve.parameters)], axis=1)
    design = np.concatenate(
        [np.tile(curve.strength(r)[:, None] / np.sum(curve.masses), (1, n)), slopes], axis=1
    )
    variance = np.einsum("ri,ij,rj->r", design, covariance, design)
    error = TWO_SIDED * np.sqrt(np.maximum(variance, 0.0)) * scale / np.abs(law.strength(r))
    return tuple(
        CurvePoint(float(a), float(b), float(b - c), float(b + c))
        for a, b, c in zip(r, ratio, error, strict=True)
    )


def _relativity(equations: Equations, fit: Fit) -> np.ndarray:
    """(row,) first post-Newtonian accelerations by the heaviest body.

    GM/(c^2 r^3) ((4 GM/r - v^2) x + 4 (x.v) v), of a body of small mass.

    Source: Soffel, Relativity in Astrometry, Celestial Mechanics and Geodesy (1989), eq. 4.2.18.
    """
    system = equations.system
    assert system.velocity is not None
    centre = int(np.argmax(fit.masses))
    gm = G * fit.masses[centre]
    forces = [np.zeros_like(system.pairs[0].towards) for _ in range(system.bodies)]
    for i in range(system.bodies):
        if i == centre:
            continue
        x, v = (
            np.swapaxes(states[:, :, i] - states[:, :, centre], 0, 1)
            for states in (system.position, system.velocity)
        )
        r = np.linalg.norm(x, axis=-1, keepdims=True)
        speed = np.sum(v * v, axis=-1, keepdims=True)
        radial = np.sum(x * v, axis=-1, keepdims=True)
        forces[i] = gm / (SPEED_OF_LIGHT**2 * r**3) * ((4 * gm / r - speed) * x + 4 * radial * v)
        forces[centre] = forces[centre] - fit.masses[i] / fit.masses[centre] * forces[i]
    return equations.integrated(forces)


def _explain(found: Weighing, dragged: bool) -> str:
    lines = []
    if found.central:
        lines.append(f"law: {found.law}, exponent {found.exponent}; attraction {found.formula}.")
    else:
        if dragged:
            why = f"there is a drag of {found.drag} per year. The masses and the exponent"
            beside = "are those of the attraction beside it"
        else:
            why = (
                f"{found.misfit:.1e} of an acceleration is left that neither law nor noise "
                "explains. The masses"
            )
            beside = "are those of the nearest law"
        lines.append(f"no law of the distance alone: {why} {beside}; exponent {found.exponent}.")
    unknown = [mass.body for mass in found.masses if not mass.weighable]
    if unknown:
        lines.append(f"cannot be weighed: {', '.join(unknown)}.")
    lines.append(f"scale: {found.scale}.")
    if found.momentum.unbalanced is not None:
        lines.append(
            f"momentum: {found.momentum.unbalanced:.1e} unbalanced "
            f"(noise alone: {found.momentum.expected:.1e})."
        )
    return " ".join([*lines, *(f"Note: {note}." for note in found.notes)])
