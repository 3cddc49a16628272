"""`symreg run`: one experiment, from simulated orbits to a verdict, in one function."""

import math
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from orbits.files import write_text
from orbits.forces import UNKNOWN, known_law
from orbits.generation.recipe import resolve
from orbits.options import OptionError, require_known, with_options
from symreg.engines import choose_engine
from symreg.experiments import steps
from symreg.experiments.cache import Cache, Made, given, places
from symreg.experiments.config import (
    CONTROLS,
    PLANETS_YEARS,
    SOURCES,
    TRANSFERS,
    RunConfig,
    require_same_run,
)
from symreg.experiments.own_data import of_data
from symreg.experiments.own_model import OwnModel, in_memory, require_model
from symreg.experiments.result import REPORT, VERDICT, Run, judged
from worldmodel.accelerators import require_devices
from worldmodel.predictors import CONTROLS as PREDICTORS

HELD_OUT = 1_000_003
"""Added to the seed for held-out orbits; read-outs that need their own add other numbers."""

Files = dict[str, "Future[Made]"]


def run(
    config: RunConfig | None = None,
    *,
    predictor: Any = None,
    untrained: Callable[..., Any] | None = None,
    tell: Callable[[str], object] = print,
    **options: Any,
) -> Run:
    """Run one experiment; its folder keeps `verdict.json`, the figures and `report.html`.

    Args:
        config: what to simulate, train and test.
        predictor: your own model in place of the trained one: an object with `context_length` and
            `predict(positions)`, a plain function of positions (with `model_context`), or a text as
            for `--model`.
        untrained: makes your untrained model, for the control `untrained`; without it, that control
            is left out.
        tell: called with a line of text when a step begins and when it ends.
        **options: override `config`, by short or dotted names: `law="hooke"`,
            `context_length=64`, `out="runs/mine"`, `**{"probe.kick_angle": 0.3}`.

    Raises:
        ValueError: for an unusable option, law or engine, or another run's directory; nothing has
            been run then. Also if a step fails; the steps finished before it are kept.
    """
    if isinstance(predictor, str):
        options, predictor = {**options, "model": predictor}, None
    config, made = with_options(config or RunConfig(), options), None
    if predictor is not None:
        made, standing = in_memory(config, predictor, untrained)
        config = with_options(config, standing)
    elif untrained is not None:
        raise ValueError("untrained is given and predictor is no object: give --untrained-model.")
    check(config)
    config = of_data(config)
    require_same_run(config)
    with Cache(config.folder, places(config.workers), tell) as keep:
        config.write(keep.folder)
        (keep.folder / VERDICT).unlink(missing_ok=True)  # it says that a run is finished
        done = experiment(config, keep, made)
        for name in done:
            done[name].result()
        tell("draw the figures and write the report")
        found = judged(config, keep.folder, keep.records)
        finish(found, config)
    return found


def experiment(config: RunConfig, keep: Cache, made: Any = None) -> Files:
    """Everything that a run measures: orbits, a model (or a predictor given), read-outs, laws."""
    simulated = _simulator(config, keep)
    data: Any = config.data and given(config.data)
    held_out = data or simulated("held_out", config.held_out_count, HELD_OUT)
    trains = config.predictor.model is None or config.fit
    training = data or (simulated("train", config.generate.orbits, 0) if trains else None)
    sky = _planets(config, keep) if "planets" in config.sources else None
    if config.predictor.model is None:
        what = f"{config.train.attention}, context {config.train.context_length}"
        options = replace(config.train, seed=config.seed)
        model: Any = keep(
            "model", f"train the world model ({what})", steps.train, training, config=options
        )
        fresh: Any = keep(
            "untrained", "make the same model, untrained", steps.train, training,
            config=replace(options, steps=0),
        )  # fmt: skip
    else:
        model = fresh = OwnModel(config, made, training if config.fit else None)
        title = f"{'train' if config.fit else 'look at'} the model {config.predictor.model}"
        keep("model.json", title, steps.look, model, here=True)
    ask = _asker(config, keep, model, fresh, training)
    done: Files = {}

    def recovered(name: str, what: str, forces: "Future[Made]") -> None:
        law = None if config.law == UNKNOWN else config.law
        options = replace(config.recover, law=law, seed=config.seed)
        done[f"laws/{name}"] = keep(
            f"laws/{name}.json", f"search the law: {what}", steps.recover, forces, config=options
        )

    # what needs no trained model comes first: it runs beside training
    for name in (*config.controls, *config.sources):
        control, what = name if name in CONTROLS else "none", (SOURCES | CONTROLS)[name]
        kicked = name not in ("orbit", "planets") and config.law != UNKNOWN
        shown = sky if name == "planets" else held_out
        title = f"read the accelerations that the predictions imply: {what}"
        states = "kicked" if kicked else "orbit"
        forces = ask(f"forces/{name}.parquet", title, shown, control=control, states=states)
        recovered(name, what, forces)
    for name in config.questions:
        readout = config.read_out(name)
        shown = readout.shown(config.held_out_count, config.train.context_length)
        own = shown.seed and simulated(readout.name, shown.orbits, shown.seed, shown.samples)
        for control in (*config.controls_of(name), "none"):
            each = config.title_of(name, control)
            asked = {"readout": readout.name, "control": control, "orbits": shown.orbits}
            if name in TRANSFERS:
                title = f"fine-tune: {TRANSFERS[each]}"
                forces = ask(f"forces/{each}.parquet", title, own, transfer=readout, **asked)
                recovered(each, TRANSFERS[each], forces)
            else:
                who = "" if control == "none" else f": {CONTROLS[control]}"
                title = f"read-out {name.replace('_', ' ')}{who}"
                done[each] = ask(f"readouts/{each}.json", title, own or held_out, **asked)
    return done


def _simulator(config: RunConfig, keep: Cache) -> Callable[..., "Future[Made]"]:
    """Sets of orbits like the training orbits, each made once."""
    made: Files = {}

    def simulated(name: str, count: int, offset: int, samples: int | None = None) -> "Future[Made]":
        if name not in made:
            options = config.orbits_of(count, config.seed + offset, samples)
            options = replace(options, workers=options.workers or 1)  # others run beside it
            title = f"simulate {count} orbits under {config.law}: {name.replace('_', ' ')}"
            made[name] = keep(f"data/{name}.zarr", title, steps.simulate, config=options)
        return made[name]

    return simulated


def _planets(config: RunConfig, keep: Cache) -> "Future[Made]":
    samples, dt = config.generate.samples, config.generate.dt
    start, stop, _ = PLANETS_YEARS
    stop = max(stop, start + math.ceil(samples * dt))
    frame = "ecliptic" if config.generate.dimensions == 3 else config.planets.frame
    options = replace(
        config.planets, samples=samples, dt=dt, start=str(start), stop=str(stop), frame=frame
    )
    title = f"take the positions of {', '.join(config.planets.bodies)} from JPL DE421"
    return keep("data/planets.zarr", title, steps.planets, config=options)


def _asker(
    config: RunConfig, keep: Cache, model: Any, fresh: Any, training: Any
) -> Callable[..., "Future[Made]"]:
    """Probes of the model; a control needs to know only what the model will be."""
    known = given(config.probe.trained_on) if config.probe.trained_on else training

    def ask(
        path: str, title: str, data: Any, control: str = "none", readout: str = "implied",
        **asked: Any,
    ) -> "Future[Made]":  # fmt: skip
        inputs = [model if control == "none" else fresh, data]
        if control != "none" and fresh is not model:
            asked["checkpoint"] = "last"  # there is no better one before the first step
        if (readout, control) == ("implied", "none") or PREDICTORS[control].remembers:
            inputs += [known] if known else []
        options = {"orbits": config.held_out_count, "seed": config.seed, **asked}
        probe = replace(config.probe, trained_on=None, control=control, readout=readout, **options)
        return keep(path, title, steps.probe, *inputs, here=fresh is model, config=probe)

    return ask


def finish(found: Run, config: RunConfig) -> None:
    """Figures, the page, and last the verdict, which marks the run as finished."""
    # drawing takes half a second to load
    from symreg.experiments.report import draw_figures, render

    draw_figures(found, config)
    write_text(found.folder / REPORT, render(found, config))
    found.write()


def check(config: RunConfig) -> str:
    """Refuse an unknown law, attention, body, engine or orbit; says why an engine was chosen."""
    from orbits.planets import BODIES

    config = of_data(config)
    known_law(config.law)
    require_model(config)
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
