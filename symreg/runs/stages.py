"""The stages of a run: which processes, with which options, and what each needs of the others."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orbits.config import GenerateConfig
from orbits.forces import UNKNOWN
from orbits.records.typed import as_json
from symreg.runs.config import CONTROLS, PLANETS_YEARS, SOURCES, TRANSFERS, RunConfig
from worldmodel.config import SEVERAL_THREADS
from worldmodel.outside.config import AdoptConfig, is_served
from worldmodel.outside.loading import resolved, source_of
from worldmodel.probes.readouts import READOUTS

HELD_OUT_SEED_OFFSET = 1_000_003
"""Added to the seed for the held-out orbits, so that no run trains on its own test orbits."""

LONG_SEED_OFFSET = 2_000_003
"""The same for the long orbits of `extrapolate`."""

LONG_ORBITS = 100
"""At most this many long orbits: each is 16 contexts."""

TRANSFER_SEED_OFFSET = 3_000_003
"""The same for the orbits of `transfer`."""

TRAIN, HELD_OUT, PLANETS = "data/train.zarr", "data/held_out.zarr", "data/planets.zarr"
LONG, TRANSFER = "data/long.zarr", "data/transfer.zarr"
MODEL = "model"
BEGINNING = "untrained"
"""The run before its first step: all that a control needs to know of the model."""


@dataclass(frozen=True)
class Stage:
    """One process: what it does, its command, and the paths it reads and writes.

    Paths are relative to the run directory, in which the command runs.

    Attributes:
        name: of the stage, and of its log and its record.
        title: what it does, for the terminal.
        command: without its options.
        options: all of them, which the command reads from a file.
        inputs: what it reads; a stage waits for those that write these.
        output: what it writes.
        cores: that it keeps busy; 0 for all that there are.
        waits: what must be there before it begins, though it does not read it.
        always: whether it is done again each time: what it reads lies outside the run.
    """

    name: str
    title: str
    command: tuple[str, ...]
    options: dict[str, Any]
    inputs: tuple[str, ...]
    output: str
    cores: int = 1
    waits: tuple[str, ...] = ()
    always: bool = False


def stages(config: RunConfig) -> list[Stage]:
    """The stages of a run: what most others wait for comes first."""
    if config.predictor.model is None:
        made = [*_training(config), *_data(config)]
    else:
        made = [*_adoption(config), *(_after(stage, MODEL) for stage in _data(config))]
    for source in config.sources:
        made += _implied(config, source, SOURCES[source])
    for control in config.controls:
        made += _implied(config, control, CONTROLS[control])
    for question in config.questions:
        made += _readout(config, question)
    if any(BEGINNING in stage.inputs for stage in made):
        made.append(_beginning(config))
    return made


def _training_orbits(config: RunConfig) -> Stage:
    orbits = config.generate.orbits
    return _orbits(
        "train_orbits", f"simulate {orbits} orbits under {config.law}", TRAIN,
        config.orbits_of(orbits, config.seed), cores=0,
    )  # fmt: skip


def _training(config: RunConfig) -> Iterator[Stage]:
    yield _training_orbits(config)
    train = config.train
    parameters = 12 * train.n_layers * train.d_model**2  # about: of the blocks
    cores = 0 if parameters >= SEVERAL_THREADS else 1
    what = f"{train.attention}, context {train.context_length}"
    yield Stage(
        "train",
        f"train the world model ({what})",
        ("worldmodel", "train", TRAIN, MODEL),
        as_json(replace(train, seed=config.seed)),
        (TRAIN,),
        MODEL,
        train.threads or cores,
    )


def _adoption(config: RunConfig) -> Iterator[Stage]:
    """In the place of training: the user's own model is made and looked at before all else."""
    own, fresh = config.predictor, config.predictor.untrained_model
    assert own.model is not None  # for the type checker: it was asked for
    if config.fit:
        yield _training_orbits(config)
    generate = config.generate
    options = AdoptConfig(
        **{
            **as_json(own),
            "model": _absolute(own.model),
            "untrained_model": None if fresh is None else _absolute(fresh),
        },
        dt=generate.dt,
        axes=generate.dimensions or 2,
        bodies=2 if generate.system == "barycentric" else 1,
        data=TRAIN if config.fit else None,
        seed=config.seed,
    )
    code = [source_of(spec) for spec in (own.model, fresh) if spec and not is_served(spec)]
    yield Stage(
        "adopt",
        f"{'train' if config.fit else 'look at'} the model {own.model}",
        ("worldmodel", "adopt", MODEL),
        as_json(options),
        (*(str(path) for path in code if path is not None), *((TRAIN,) if config.fit else ())),
        MODEL,
        always=not config.fit,
    )


def _absolute(spec: str) -> str:
    return spec if is_served(spec) else resolved(spec)


def _after(stage: Stage, path: str) -> Stage:
    """A stage that waits for a path as well."""
    return replace(stage, waits=(*stage.waits, path))


def _beginning(config: RunConfig) -> Stage:
    return Stage(
        "begin",
        "note what the model will be: its shape, its units, its data",
        ("worldmodel", "train", TRAIN, BEGINNING),
        as_json(replace(config.train, seed=config.seed, steps=0)),
        (TRAIN,),
        BEGINNING,
    )


def _data(config: RunConfig) -> Iterator[Stage]:
    count = config.held_out_count
    yield _orbits(
        "held_out_orbits", f"simulate {count} orbits that the model will not train on",
        HELD_OUT, config.orbits_of(count, config.seed + HELD_OUT_SEED_OFFSET),
    )  # fmt: skip
    if "extrapolate" in config.questions:
        samples = max(config.extrapolate.factors) * config.train.context_length + 1
        count = min(config.held_out_count, LONG_ORBITS)
        yield _orbits(
            "long_orbits", f"simulate orbits of {samples} states", LONG,
            config.orbits_of(count, config.seed + LONG_SEED_OFFSET, samples),
        )  # fmt: skip
    if transfers(config):
        count = _transfer_orbits(config)
        yield _orbits(
            "transfer_orbits", f"simulate {count} orbits to fine-tune on", TRANSFER,
            config.orbits_of(count, config.seed + TRANSFER_SEED_OFFSET),
        )  # fmt: skip
    if "planets" in config.sources:
        yield _planets(config)


def _orbits(name: str, title: str, path: str, options: GenerateConfig, cores: int = 1) -> Stage:
    """One data set; those that others do not wait for are made on one core beside the rest."""
    options = replace(options, workers=options.workers or cores)
    return Stage(name, title, ("orbits", "generate", path), as_json(options), (), path, cores)


def _planets(config: RunConfig) -> Stage:
    samples, dt = config.generate.samples, config.generate.dt
    start, stop, _ = PLANETS_YEARS
    stop = max(stop, start + math.ceil(samples * dt))
    options = replace(config.planets, samples=samples, dt=dt, start=str(start), stop=str(stop))
    return Stage(
        "planets",
        f"take the positions of {', '.join(config.planets.bodies)} from JPL DE421",
        ("orbits", "ephemeris", PLANETS),
        as_json(options),
        (),
        PLANETS,
    )


def _implied(config: RunConfig, name: str, title: str) -> Iterator[Stage]:
    """Implied accelerations of a source or a control, and the law that is found in them."""
    undisturbed = name in ("orbit", "planets") or config.law == UNKNOWN
    states = "orbit" if undisturbed else "kicked"
    control = name if name in CONTROLS else "none"
    data, forces = PLANETS if name == "planets" else HELD_OUT, f"forces/{name}.parquet"
    what = f"read the accelerations that the predictions imply: {title}"
    yield _probe(config, f"probe_{name}", what, data, forces, states=states, control=control)
    yield _law(config, name, title)


def _readout(config: RunConfig, name: str) -> Iterator[Stage]:
    """A further question, with its controls where it has some."""
    title = f"read-out {name.replace('_', ' ')}"
    out = f"readouts/{name}.json"
    if name == "evaluate":
        command = ("worldmodel", "evaluate", MODEL, HELD_OUT, out)
        title, options = "measure roll-out errors", as_json(config.evaluate)
        yield Stage(name, title, command, options, (MODEL, HELD_OUT), out)
    elif name == "extrapolate":
        out = "readouts/extrapolate"
        yield Stage(
            name,
            "measure the loss on longer sequences",
            ("worldmodel", "extrapolate", MODEL, LONG),
            {**as_json(config.extrapolate), "out": out},
            (MODEL, LONG),
            out,
        )
    elif name in TRANSFERS:
        for repeated in titles(config, name):
            yield from _transfer(config, repeated)
    else:
        yield _probe(config, name, title, HELD_OUT, out, readout=name)
        for control in controlled(config, name):
            file, what = f"readouts/{name}_{control}.json", f"{title}: {CONTROLS[control]}"
            yield _probe(
                config, f"{name}_{control}", what, HELD_OUT, file, readout=name, control=control
            )


def _transfer(config: RunConfig, title: str) -> Iterator[Stage]:
    """Fine-tuning on forces, and the law that is found in what the fine-tuned model says."""
    yield _probe(
        config,
        title,
        f"fine-tune: {TRANSFERS[title]}",
        TRANSFER,
        f"forces/{title}.parquet",
        readout="transfer",
        control="untrained" if "untrained" in title else "none",
        orbits=_transfer_orbits(config),
        transfer=replace(config.probe.transfer, frozen="frozen" in title),
    )
    yield _law(config, title, TRANSFERS[title])


def _transfer_orbits(config: RunConfig) -> int:
    return config.probe.transfer.labelled + config.probe.transfer.few


def transfers(config: RunConfig) -> tuple[str, ...]:
    """The fine-tuned models of a run."""
    asked = [name for name in config.questions if name in TRANSFERS]
    return tuple(title for name in asked for title in titles(config, name))


def titles(config: RunConfig, readout: str) -> tuple[str, ...]:
    """A read-out, and the same with each of its controls: NAME, NAME_CONTROL."""
    return (readout, *(f"{readout}_{control}" for control in controlled(config, readout)))


def controlled(config: RunConfig, readout: str) -> tuple[str, ...]:
    """The controls with which a read-out is repeated."""
    if readout in TRANSFERS:
        return tuple(name for name in config.controls if name == "untrained")
    # a read-out that takes any control says nothing of one by itself
    anything = readout in READOUTS and READOUTS[readout].controls is None
    return config.controls if anything else ()


def _probe(config: RunConfig, name: str, title: str, data: str, out: str, **options: Any) -> Stage:
    """A probe of the model; a control needs only to know what the model will be."""
    model = BEGINNING if options.get("control", "none") != "none" else MODEL
    if config.predictor.model is not None:
        model = MODEL  # a model of one's own has no beginning of ours
    if model == BEGINNING:
        options["checkpoint"] = "last"  # there is no better one before the first step
    probe = replace(
        config.probe, **{"orbits": config.held_out_count, "seed": config.seed, **options}
    )
    command = ("worldmodel", "probe", model, data, out)
    inputs: tuple[str, ...] = (model, data)
    known = (
        _training_data(config) if (probe.readout, probe.control) == ("implied", "none") else None
    )
    probe = replace(probe, trained_on=known)
    if known is not None:
        inputs = (*inputs, known)
    return Stage(name, title, command, as_json(probe), inputs, out)


def _training_data(config: RunConfig) -> str | None:
    """Where the orbits lie that the model was trained on: the run's own, or those that are said."""
    told = config.probe.trained_on
    if told is not None:
        return told if "://" in told else str(Path(told).absolute())
    return TRAIN if config.predictor.model is None or config.fit else None


def _law(config: RunConfig, name: str, title: str) -> Stage:
    forces, law = f"forces/{name}.parquet", f"laws/{name}.json"
    options = replace(
        config.recover, law=None if config.law == UNKNOWN else config.law, seed=config.seed
    )
    command = ("symreg", "recover", forces, law)
    return Stage(
        f"recover_{name}", f"search the law: {title}", command, as_json(options), (forces,), law
    )
