"""`symreg run`: all stages, then the verdict, the figures and the report."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from orbits.command.near_misses import require_known
from orbits.command.options import OptionError, with_options
from orbits.forces import UNKNOWN, known_law
from orbits.records.files import write_json, write_text
from orbits.records.provenance import provenance
from orbits.systems import resolve
from symreg.engines import choose_engine
from symreg.recovery import words
from symreg.recovery.judge import model_gates, passed, world_model_kind
from symreg.recovery.result import Gate, Recovery
from symreg.runs.config import RunConfig
from symreg.runs.own_data import LEFT_OUT, of_data
from symreg.runs.pipeline import run_stages
from symreg.runs.readouts import readouts
from symreg.runs.result import VERDICT, Run, Source
from symreg.runs.stages import transfers
from worldmodel.accelerators import require_devices
from worldmodel.outside.config import is_served
from worldmodel.outside.loading import source_of

NEWTON = "newton"
"""The law that moves real planets."""


def run(
    config: RunConfig | None = None,
    *,
    predictor: Any = None,
    untrained: Callable[..., Any] | None = None,
    **options: Any,
) -> Run:
    """Run one experiment to its end; `verdict.json`, figures and `report.html` stay in its folder.

    Args:
        config: what is simulated, trained and asked.
        predictor: a model of your own in the place of the trained one: an object with
            `context_length` and `predict(positions)`, a plain function of positions with
            `model_context` said, or a text as `--model` takes it. An object stays in this process
            and answers the stages from here.
        untrained: makes the same before training, for the control `untrained`, which is left out
            without it.
        **options: in place of those in `config`, by their short or dotted names: `law="hooke"`,
            `context_length=64`, `out="runs/mine"`, `**{"probe.kick_angle": 0.3}`.

    Raises:
        ValueError: for an option, a law or an engine that will not do, or a run directory that
            belongs to another run; nothing has been run then.
        StageFailure: if a stage ends with an error.
    """
    if predictor is not None:
        return _run_predictor(config or RunConfig(), predictor, untrained, options)
    if untrained is not None:
        raise ValueError("untrained is given and predictor is not: give both.")
    return _run(with_options(config or RunConfig(), options))


def _run(config: RunConfig) -> Run:
    check(config)
    config = of_data(config)
    (config.folder / VERDICT).unlink(missing_ok=True)  # it says that a run is finished
    seconds = run_stages(config)
    print("draw the figures and write the report", flush=True)
    # drawing takes half a second to load; the first stage need not wait for it
    from symreg.runs.report import draw_figures, render

    found = assemble(config, seconds)
    draw_figures(found, config)
    write_text(found.report, render(found, config))
    write_json(found.folder / VERDICT, found.to_dict())
    return found


def _run_predictor(
    config: RunConfig, predictor: Any, untrained: Callable[..., Any] | None, options: dict[str, Any]
) -> Run:
    """A run of a model of the user's own."""
    from worldmodel.outside import channel
    from worldmodel.outside.model import OutsideModel

    if isinstance(predictor, str):
        if untrained is not None:
            raise ValueError("untrained must be a text too (untrained_model=) if predictor is one.")
        return _run(with_options(config, {**options, "model": predictor}))
    names = ("model_context", "length_unit", "time_unit")
    own = {name: options.pop(name) for name in names if name in options}
    model = OutsideModel(predictor, with_options(config.predictor, own), untrained)
    spec = channel.spec_of(model)
    fresh = None if untrained is None else spec
    with channel.serving(model):
        return _run(with_options(config, {**options, "model": spec, "untrained_model": fresh}))


def check(config: RunConfig) -> str:
    """Refuse what no stage could do: an unknown law, attention, body or engine, no such orbit.

    Returns:
        Which engine will search, and why.

    Raises:
        ValueError: says what and what is known.
    """
    from orbits.planets import BODIES

    config = of_data(config)
    known_law(config.law)
    for spec in (config.predictor.model, config.predictor.untrained_model):
        if spec is not None and not is_served(spec):
            source_of(spec)
    if config.data is None:
        resolve(config.orbits_of(config.generate.orbits, config.seed))
    for body in config.planets.bodies if "planets" in config.sources else ():
        require_known("body", body, BODIES)
    try:
        require_devices(config.train.accelerator, config.train.devices)
    except OptionError as error:
        raise error.within("train") from None
    _, reason = choose_engine(config.recover.engine, config.recover.question)
    return reason


def assemble(config: RunConfig, seconds: dict[str, float]) -> Run:
    """A finished run: what each set of states gave, compared with the gates.

    Args:
        config: the run's options; its folder has `laws/` of every source and control.
        seconds: by stage.
    """
    known = known_law(config.law)
    law, folder, t = known.spec if known else UNKNOWN, config.folder, config.recover.thresholds
    asked = (*config.sources, *transfers(config))
    sources = {name: _source(folder, name, law) for name in asked}
    controls: dict[str, Source] = {name: _source(folder, name, law) for name in config.controls}
    measured = readouts(folder, config)
    kicked, orbit = sources.get("kicked"), sources.get("orbit")
    gates: list[Gate] = []
    kind = None
    told = words.NOT_KICKED if known else LEFT_OUT
    if kicked is not None:
        laws = {name: source.recovery for name, source in controls.items()}
        gates = model_gates(kicked.recovery, kicked.kick_r2, laws, t)
        orbit_r2 = None if orbit is None else orbit.r2
        kind = world_model_kind(
            orbit_r2,
            kicked.recovery,
            kicked.kick_r2,
            t,
            measured.get("jacobian", {}).get("locality"),
            bool(kicked.recovery.metrics.get("gm_varies")),
            laws.get("injected"),
            None if orbit is None else orbit.recovery.metrics,
        )
        keplerian = kind.kind == words.KEPLERIAN
        told = words.about_the_model(law, gates, orbit_r2, keplerian, t.orbit_r2)
    return Run(
        folder=folder,
        law=law,
        recovered=None if kicked is None else passed(gates),
        words=told,
        world_model=kind,
        gates=tuple(gates),
        sources=sources,
        controls=controls,
        readouts=measured,
        seconds=seconds,
        **provenance(config.identity),
    )


def _source(folder: Path, name: str, law: str) -> Source:
    """What one set of states gave: the recovered law with the probe's metrics beside it."""
    recovery = Recovery.read(folder / "laws" / f"{name}.json")
    metrics = recovery.metrics
    # the probe compares real planets with what moves them: Newton
    r2 = metrics.get("r2") if name != "planets" or law == NEWTON else None
    return Source(recovery, r2, dict(metrics.get("kick_r2") or {}))
