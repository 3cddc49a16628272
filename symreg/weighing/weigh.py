"""Weigh bodies by their positions: find the law between them, and their masses."""

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from orbits.dataset import as_dataset
from orbits.estimates import Estimate
from orbits.files import as_json
from orbits.force_samples import ForceSamples
from orbits.forces import parse_law
from orbits.options import keywords_of, options_from
from orbits.progress import Progress, Wanted, told
from orbits.provenance import versions
from orbits.simulators.relativity import post_newtonian
from orbits.units import LENGTHS, G, GivenUnits
from symreg.engines import choose_engine
from symreg.formulas.watch import Watch
from symreg.weighing.beside import beside_law
from symreg.weighing.candidates import granted_shape, select, simple
from symreg.weighing.config import WeighConfig
from symreg.weighing.errors import Errors, errors_of, momentum
from symreg.weighing.fit import LawFit, fitted
from symreg.weighing.forces import PointEquations, system_of
from symreg.weighing.records import Mass, Momentum
from symreg.weighing.rest import rests_of
from symreg.weighing.result import Weighing
from symreg.weighing.shapes import Power
from symreg.weighing.weak import Equations, System
from symreg.weighing.whole import Whole, require_possible, whole_motion
from symreg.weighing.words import explanation_of, formula_of, name_of, scale_of, summary_of

FINE_A_TURN, FEWEST_A_TURN = 20, 6
"""States per turn, where fastest, for integrals to be right, and to exist at all."""

Data = xr.Dataset | ForceSamples | str | os.PathLike[str]


@keywords_of(WeighConfig)
def weigh(
    data: Data,
    config: WeighConfig | None = None,
    progress: Wanted = None,
    **options: Any,
) -> Weighing:
    """The law between bodies and their masses, from their positions alone.

        symreg.weigh("solar.zarr").masses

    Law and masses are fitted together to the weak form of the equations of motion. Positions give
    only mass times law; G at one unit of length, or a known mass, fixes the scale.

    Args:
        data: a dataset of two or more visible bodies, or its path: imported, or made by
            `orbits generate --system nbody`. Or force samples of several bodies: implied by a model
            (`worldmodel.probe`), or measured.
        config: how to weigh.
        progress: called with a line of text every few seconds; False for silence. By default a
            notebook shows a bar.
        **options: fields of `WeighConfig` that differ from `config`.

    Returns:
        Law, exponent, masses with 95 % intervals, and the evidence.

    Raises:
        ValueError: if the data hold one body or too few states, or the options do not fit.

    Source: weak form after Messenger & Bortz, Multiscale Model. Simul. 19 (2021) 1474.
    """
    with told(progress, "weigh") as say:
        return _weigh(data, options_from(WeighConfig, config, options), say)


def _weigh(data: Data, config: WeighConfig, say: Progress) -> Weighing:
    began = time.monotonic()
    integrated = bool(config.unseen) or config.relativity == "fitted"
    choose_engine(config.engine, config.search.question)
    if config.law:
        granted_shape(config.law)
    if integrated:
        require_possible(config)
    given = config
    equations, notes, config, units = _equations(data, config)
    equations.watch = Watch(tell=say)
    for note in notes:
        say(f"Note: {note}.")
    system = equations.system
    extra = np.zeros_like(equations.left)
    selected = select(equations, config, extra, LENGTHS[units.length])
    fit, power = selected.best, selected.power
    if config.relativity != "none":
        extra = _relativity(equations, fit)
        same, fit = power is fit, fitted(equations, fit.shape, fit.parameters, extra)
        power = fit if same else fitted(equations, power.shape, power.parameters, extra)
    errors = errors_of(equations, fit, config.noise)
    beside = beside_law(equations, fit, errors, extra, config.noise)
    if beside.law is not None:  # what acts beside that force
        fit, errors, extra = beside.law
        power = fitted(equations, power.shape, power.parameters, extra)
        if isinstance(fit.shape, Power):
            free = errors_of(equations, power, config.noise)
            fit = simple(equations, power, free, extra)
            errors = errors_of(equations, fit, config.noise)
    central = bool(np.max(errors.misfit) <= equations.CENTRAL) and beside.law is None
    free = errors if power is fit else errors_of(equations, power, config.noise)
    k = len(power.masses)
    exponent = Estimate.of(power.parameters[0], float(np.sqrt(free.covariance[k, k])))
    law, formula = name_of(fit, central, units)
    explained = central or beside.law is not None
    whole = Whole(_masses(system, fit, errors, config, units), None, None)
    if integrated:
        granted = parse_law(config.law or "newton")
        whole = whole_motion(system, granted, whole.masses, config, equations.watch)
        if whole.unseen is not None and whole.unseen.exists:
            law, formula = granted.spec, formula_of(granted, units)
            explained = True
    result = Weighing(
        law=law,
        formula=formula,
        exponent=exponent,
        parameters=_parameters(fit, errors, units),
        masses=tuple(mass.in_units(units) for mass in whole.masses),
        unseen=whole.unseen and whole.unseen.in_units(units),
        relativity=whole.relativity,
        scale=scale_of(fit, given, units),
        central=central,
        misfit=float(np.max(errors.misfit)),
        drag=(beside.drag if explained else Estimate()).times(units.factor(0, -1)),
        left_over=tuple(beside.kind.rows(beside.numbers, units, "xyz") if beside.law else ()),
        momentum=(
            Momentum(*momentum(equations, fit.masses, errors.noise))
            if system.inertial
            else Momentum()
        ),
        curve=tuple(replace(p, r=p.r * units.factor(1, 0)) for p in selected.curve),
        alternatives=selected.tried,
        rests=tuple(
            rest.in_units(units) for rest in (() if explained else rests_of(equations, fit, errors))
        ),
        bodies=system.bodies,
        states=system.position.shape[0] * system.position.shape[1],
        notes=tuple(notes),
        configuration=as_json(asdict(given)),
        units={"length": units.length, "time": units.time, "mass": units.mass},
        versions=versions(),
        seconds=time.monotonic() - began,
    )
    words = beside.kind.sentence(beside.numbers, units, "xyz") if beside.law else ""
    explanation = explanation_of(result, words)
    return replace(result, summary=summary_of(result, fit.shape.lengths), explanation=explanation)


def _inertial(data: xr.Dataset) -> bool:
    return not str(data.attrs.get("frame", "")).startswith("relative to")


def _equations(
    data: Data, config: WeighConfig
) -> tuple[Equations, list[str], WeighConfig, GivenUnits]:
    """The weak equations of a dataset, or those of a table of forces, state by state.

    With them remarks, the options with the noise in au, and the units of the positions.
    """
    if isinstance(data, (str, os.PathLike)) and Path(data).is_file():
        data = ForceSamples.read(data)
    if isinstance(data, ForceSamples):
        if config.relativity != "none" or config.unseen:
            option = "--unseen" if config.unseen else "--relativity"
            raise ValueError(f"{option} needs velocities, which forces come without.")
        system, acceleration, notes = system_of(data, config.orbit)
        _require_reference(config, system.names)
        units = GivenUnits(data.attributes)
        return PointEquations(system, acceleration), notes, _in_au(config, units), units
    data = as_dataset(data)
    units = GivenUnits(data.attrs)
    config = _with_hidden_noise(_in_au(config, units), data)
    system, notes = _system(data, config)
    notes += _on_the_sampling(system)
    return Equations(system, config.scales), notes, config, units


def _in_au(config: WeighConfig, units: GivenUnits) -> WeighConfig:
    return replace(config, noise=config.noise / units.factor(1, 0)) if config.noise else config


def _require_reference(config: WeighConfig, names: Sequence[str]) -> None:
    if config.reference and config.reference not in names:
        raise ValueError(f"--reference {config.reference} is not one of {', '.join(names)}.")


def _with_hidden_noise(config: WeighConfig, data: xr.Dataset) -> WeighConfig:
    """The options, with the noise that splines smoothed away: its errors remain."""
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
    if len(position) > 1 and _follow(data):
        position, velocity = (states.reshape(1, -1, *states.shape[2:])
                              for states in (position, velocity))  # fmt: skip
    names = data.attrs.get("bodies") or [f"body{k + 1}" for k in range(position.shape[2])]
    _require_reference(config, names)
    if len(names) != position.shape[2]:
        raise ValueError(f"{len(names)} name(s) stand for {position.shape[2]} bodies.")
    if not np.all(np.isfinite(position)):
        raise ValueError("a position is not a finite number; leave its orbit out.")
    if not np.any(np.ptp(position, axis=1)):
        raise ValueError("the bodies do not move; they cannot be weighed.")
    system = System(position, float(data.attrs["dt"]), tuple(names), _inertial(data), velocity)
    if config.noise >= system.separations[1]:
        raise ValueError(
            f"--noise {config.noise:g} au is no less than the largest distance of two bodies, "
            f"{system.separations[1]:.3g} au; nothing could be seen."
        )
    return system, notes


def _on_the_sampling(system: System) -> list[str]:
    """A remark on too few states per turn; ValueError if no path leads from one to the next."""
    angle, pair = system.fastest
    turning = (
        f"{system.names[pair.j]} turns by up to {np.degrees(angle):.3g} degrees about "
        f"{system.names[pair.i]} from one state to the next"
    )
    if angle > 2 * np.pi / FEWEST_A_TURN:
        raise ValueError(
            f"{turning}; no path leads through so few states. Sample {FINE_A_TURN} times a turn or "
            f"more, or leave {system.names[pair.j]} out."
        )
    coarse = f"{turning}: a coarse sampling, which makes its mass less certain"
    return [coarse] if angle > 2 * np.pi / FINE_A_TURN else []


def _follow(data: xr.Dataset) -> bool:
    """Whether each row of a dataset continues the one before it without a gap."""
    starts = [row["start"] for row in data.attrs.get("trajectories", ())]
    if len(starts) != data.sizes["orbit"]:
        return False
    dt = float(data.attrs["dt"])
    # part of a step by which a row may begin early or late and still continue another
    return bool(np.all(np.abs(np.diff(starts) / dt - data.sizes["time"]) < 1e-3))


def _parameters(fit: LawFit, errors: Errors, units: GivenUnits) -> dict[str, Estimate]:
    parameters = {}
    for k, name in enumerate(fit.shape.names):
        at = len(fit.masses) + k
        estimate = Estimate.of(fit.parameters[k], float(np.sqrt(errors.covariance[at, at])))
        if name.startswith("log_"):
            ends = (estimate.value, estimate.low, estimate.high)
            # finite, as JSON needs it
            finite = (float(np.exp(min(end or 0.0, 700.0))) for end in ends)
            name, estimate = name.removeprefix("log_"), Estimate(*finite)
        parameters[name] = estimate.times(units.factor(fit.shape.lengths.get(name, 0.0), 0))
    return parameters


def _masses(
    system: System, fit: LawFit, errors: Errors, config: WeighConfig, units: GivenUnits
) -> tuple[Mass, ...]:
    n = system.bodies
    masses, covariance = fit.masses, errors.covariance[:n, :n]
    if config.reference:
        k = system.names.index(config.reference)
        scale = config.reference_mass / units.mass_factor / masses[k]
        turn = np.eye(n) * scale
        turn[:, k] -= masses * scale / masses[k]
        masses, covariance = masses * scale, turn @ covariance @ turn.T
    weighed = []
    for i, name in enumerate(system.names):
        noise, misfit = float(errors.noise[i]), float(errors.misfit[i])
        mass = Mass(body=name, noise=noise, misfit=misfit)
        if not errors.free[i]:
            mass = mass.with_value(masses[i], float(np.sqrt(covariance[i, i])))
        weighed.append(mass)
    return tuple(weighed)


def _relativity(equations: Equations, fit: LawFit) -> np.ndarray:
    """(row,) first post-Newtonian accelerations by the heaviest body."""
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
        term = post_newtonian(np.moveaxis(x, -1, 0), np.moveaxis(v, -1, 0), gm)
        forces[i] = np.stack(term, axis=-1)
        forces[centre] = forces[centre] - fit.masses[i] / fit.masses[centre] * forces[i]
    return equations.integrated(forces)
