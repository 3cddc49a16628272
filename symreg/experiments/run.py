"""`symreg run`: one experiment, from simulated orbits to a verdict, in one function."""

import math
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import worldmodel
from orbits.config import EphemerisConfig, GenerateConfig
from orbits.dataset import open_dataset
from orbits.files import of_json, read_json, write_json
from orbits.forces import UNKNOWN, known_law
from orbits.generation.recipe import resolve
from orbits.options import keywords_of, options_from, with_options
from orbits.progress import Progress, Wanted, told
from orbits.workers import worker_count
from symreg.engines import choose_engine
from symreg.experiments import steps
from symreg.experiments.cache import MEMORY, Cache, Made, given
from symreg.experiments.config import (
    CONTROLS,
    PLANETS_YEARS,
    REACH,
    SOURCES,
    Key,
    RunConfig,
    require_same_run,
)
from symreg.experiments.own_data import of_data
from symreg.experiments.own_model import OwnModel, in_memory, require_model
from symreg.experiments.result import VERDICT, Run, judged, limits_of
from symreg.experiments.verdict import OBEYS
from symreg.recovery.guard import Guard
from worldmodel.accelerators import require_devices
from worldmodel.controls import CONTROLS as PREDICTORS

HELD_OUT = 1_000_003
"""Added to the seed for held-out orbits; probes that need their own add other numbers."""

EXAMINATION = "examination.json"
"""File with the number that drew a run's examination."""

File = Future[Made]


@keywords_of(RunConfig)
def run(
    config: RunConfig | None = None,
    *,
    predictor: Any = None,
    untrained: Callable[..., Any] | None = None,
    progress: Wanted = None,
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
        progress: called with a line of text when a step begins and when it ends; False for
            silence. By default lines are printed, and a notebook shows a bar.
        **options: override `config`: `law="hooke"`, `context_length=64`, `out="runs/mine"`.

    Raises:
        ValueError: for an unusable option, law or engine, or another run's directory; nothing has
            been run then. Also if a step fails; the steps finished before it are kept.
    """
    if isinstance(predictor, str):
        options, predictor = {**options, "model": predictor}, None
    config, model = options_from(RunConfig, config, options), None
    if predictor is not None:
        model, standing = in_memory(config, predictor, untrained)
        config = with_options(config, standing)
    elif untrained is not None:
        raise ValueError("untrained is given and predictor is no object: give --untrained-model.")
    with told(progress, "run", print) as say:
        return _run(of_data(config), model, say)


def _run(config: RunConfig, model: Any, say: Progress) -> Run:
    say(f"symbolic regression: {check(config)}")
    require_same_run(config)
    if config.model is not None and not config.fit:
        # what is no model is said before anything is simulated for it
        model = OwnModel(config, model).predictor
    with Cache(config.folder, worker_count(config.workers, MEMORY), say) as keep:
        config.write(keep.folder)
        (keep.folder / VERDICT).unlink(missing_ok=True)  # it says that a run is finished
        files = experiment(config, keep, model)
        for future in files:
            future.result()
        with threadpool_limits(1, "blas"):  # several double the time of arrays this small
            result = judged(config, keep.folder, keep.records)
            kind = result.world_model
            if kind is not None and kind.kind in OBEYS:
                kind = replace(kind, limits=limits_of(keep.folder, config.law))
                result = replace(result, world_model=kind)
        result.write()  # before pictures, which may fail
        result.report.unlink(missing_ok=True)  # of an earlier time
        say("draw the figures and write the report")
        guard = Guard()
        guard.part("the report", lambda: _report(result, config, guard), None)
        for note in guard.notes:
            say(f"the verdict is written; {note}")
    return result


def _report(result: Run, config: RunConfig, guard: Guard) -> None:
    from symreg.experiments.report import write_report  # drawing takes half a second to load

    write_report(result, config, guard)


def experiment(config: RunConfig, keep: Cache, own: Any = None) -> list[File]:
    """Everything that a run measures: orbits, a model (or a predictor given), probes, laws."""
    simulated = _simulator(config, keep)
    data: Any = config.data and given(config.data)
    needed = config.model is None or config.fit or (config.references and not config.trained_on)
    training = data or (simulated("train", config.orbits, 0) if needed else None)
    if config.model is None:
        what = f"{config.attention}, context {config.context_length}"
        model: Any = keep(
            "model", f"train the world model ({what})", steps.train, training, config=config.train
        )
        fresh: Any = keep(
            "untrained", "make the same model, untrained", steps.train, training,
            config=replace(config.train, steps=0),
        )  # fmt: skip
    else:
        model = fresh = OwnModel(config, own, training if config.fit else None)
        title = f"{'train' if config.fit else 'look at'} the model {config.model}"
        keep("model.json", title, steps.look, model, here=True)
    held_out = data or simulated("held_out", config.held_out_count, HELD_OUT)
    sky = _planets(config, keep) if "planets" in config.sources else None
    ask = _asker(config, keep, model, fresh, training)
    results: list[File] = []

    def recovered(name: str, what: str, forces: File) -> None:
        title = f"search the law: {what}"
        # where kicked states are judged no gate asks for permuted targets, half a search, of others
        others = ("orbit", "planets", *REACH) if "kicked" in config.sources else ()
        options = replace(config.recover, null=config.null and name not in others)
        results.append(keep(f"laws/{name}.json", title, steps.recover, forces, config=options))

    # what needs no trained model comes first: it runs beside training
    for name in (*config.controls, *config.sources):
        control, what = name if name in CONTROLS else "none", (SOURCES | CONTROLS)[name]
        kicked = name not in ("orbit", "planets") and config.law != UNKNOWN
        shown = sky if name == "planets" else held_out
        title = f"read the accelerations that the predictions imply: {what}"
        states = "kicked" if kicked else "orbit"
        forces = ask(f"forces/{name}.parquet", title, shown, control=control, states=states)
        recovered(name, what, forces)
    transfers = config.transfers
    for name, readout in config.questions.items():
        shown = readout.shown(config.held_out_count, config.context_length)
        own_orbits = shown.seed and simulated(name, shown.orbits, shown.seed, shown.samples)
        for key in reversed(config.keys(name)):
            own = readout if key.control == "none" else readout.of_a_control
            question: dict[str, Any] = {
                "readout": str(own), "control": key.control, "orbits": shown.orbits,
            }  # fmt: skip
            if tuned := transfers.get(key):
                forces = ask(f"forces/{key}.parquet", tuned, own_orbits, **question)
                recovered(str(key), tuned, forces)
            else:
                who = "" if key.control == "none" else f": {CONTROLS[key.control]}"
                title = f"probe {name.replace('_', ' ')}{who}"
                shown_orbits = own_orbits or held_out
                reading = ask(f"readouts/{key}.json", title, shown_orbits, **question)
                results.append(reading)
                if key == Key("far") and config.reaches:
                    ((states, what),) = REACH.items()
                    title = f"collect {what}"
                    recovered(
                        states, what, keep(f"forces/{states}.parquet", title, steps.reach, reading)
                    )
    return results


def _simulator(config: RunConfig, keep: Cache) -> Callable[..., File]:
    """Sets of orbits like the training orbits, each made once, and here: when workers have loaded
    what they need, training can begin."""
    sets: dict[str, File] = {}

    def simulated(name: str, count: int, offset: int, samples: int | None = None) -> File:
        if name not in sets:
            options = config.orbits_of(count, config.seed + offset, samples)
            title = f"simulate {count} orbits under {config.law}: {name.replace('_', ' ')}"
            sets[name] = keep(f"data/{name}.zarr", title, steps.simulate, here=True, config=options)
        return sets[name]

    return simulated


def _planets(config: RunConfig, keep: Cache) -> File:
    start, stop, _ = PLANETS_YEARS
    stop = max(stop, start + math.ceil(config.samples * config.dt))
    frame: Any = "ecliptic" if config.dimensions == 3 else "orbit"
    options = EphemerisConfig(
        config.bodies, float(start), float(stop), config.dt, config.samples, frame=frame
    )
    title = f"take the positions of {', '.join(config.bodies)} from JPL DE421"
    return keep("data/planets.zarr", title, steps.planets, config=options)


def _asker(
    config: RunConfig, keep: Cache, model: Any, fresh: Any, training: Any
) -> Callable[..., File]:
    """Probes of the model; a control needs to know only what the model will be."""
    exam_seed = _exam_seed(config, keep.folder)
    memory = given(config.trained_on) if config.trained_on else training
    # another's model may have been trained on other orbits: no copies of these are sought in it
    own = config.trained_on or config.model is None or config.fit or config.data

    def ask(
        path: str, title: str, data: Any, control: str = "none", readout: str = "implied",
        **question: Any,
    ) -> File:  # fmt: skip
        inputs = [model if control == "none" else fresh, data]
        if control != "none" and fresh is not model:
            question["checkpoint"] = "last"  # there is no better one before the first step
        copies = (readout, control) == ("implied", "none") and own
        far = readout.partition("(")[0] == "far"  # the distances of training are theirs
        if copies or far or PREDICTORS[control].remembers:
            inputs += [memory] if memory else []
        if far:
            question["exam_seed"] = exam_seed
        question = {"orbits": config.held_out_count, "readout": readout, **question}
        probe = config.probe(control=control, **question)
        return keep(path, title, steps.probe, *inputs, here=fresh is model, config=probe)

    return ask


def _exam_seed(config: RunConfig, folder: Path) -> int:
    """What draws the examination: the same for the model and its controls, and when a run goes on;
    no other run has it."""
    path, seed = folder / EXAMINATION, config.exam_seed
    if seed is None and path.exists():
        return of_json(int, read_json(path), str(path))
    seed = secrets.randbits(53) if seed is None else seed  # bits that JSON keeps
    write_json(path, seed)
    return seed


def check(config: RunConfig) -> str:
    """Refuse an unknown law, attention, engine or orbit; says why an engine was chosen."""
    known_law(config.law)
    require_model(config)
    if config.trained_on is not None:
        open_dataset(config.trained_on)
    if config.data is None:
        _require_orbits(config.orbits_of(config.orbits, seed=0))
    require_devices(config.accelerator, config.devices)
    if config.data is not None and config.law != UNKNOWN and "kicked" in config.sources:
        _require_readable(config)
    return choose_engine(config.engine, config.question)[1]


def _require_readable(config: RunConfig) -> None:
    """Refuse data whose kicked orbits all leave the distances of the data: circles of one size."""
    kicks = config.probe(control="none", states="kicked", readout="implied", orbits=20)
    try:
        worldmodel.probe(worldmodel.StraightLine(), config.data, kicks)
    except ValueError as error:
        raise ValueError(
            f"{config.data}: {error} Give orbits of several sizes or shapes, or ask for what needs "
            "no kick: --sources orbit --readouts evaluate."
        ) from None


@cache
def _require_orbits(options: GenerateConfig) -> None:
    """Refuse orbits that cannot be, whatever their seed; once for all cells of a study."""
    resolve(options)
