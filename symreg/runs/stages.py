"""The stages of a run: which processes, with which options, in which order."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from symreg.runs.config import CONTROLS, FACTORS, PLANETS_YEARS, SOURCES, RunConfig

HELD_OUT_SEED_OFFSET = 1_000_003
"""Added to the seed for the held-out orbits, so that no run trains on its own test orbits."""

LONG_SEED_OFFSET = 2_000_003
"""The same for the long orbits of `extrapolate`."""

LONG_ORBITS = 100
"""At most this many long orbits: each is 16 contexts."""

TRANSFER_SEED_OFFSET = 3_000_003
"""The same for the orbits of `transfer`."""

TRANSFERS = {
    "transfer": "forces of the fine-tuned model",
    "transfer_untrained": "forces of an untrained network, fine-tuned",
    "transfer_frozen": "forces of a new head on the frozen model",
    "transfer_frozen_untrained": "forces of a new head on a frozen, untrained network",
}
"""Fine-tuned models, whose forces are tables like those of the sources."""

CONTROLLED = {
    "kick_response": tuple(CONTROLS),
    "jacobian": tuple(CONTROLS),
    "transfer": ("untrained",),
    "transfer_frozen": ("untrained",),
}
"""Read-outs that are repeated with controls, and with which."""

TRAIN, HELD_OUT, PLANETS = "data/train.zarr", "data/held_out.zarr", "data/planets.zarr"
LONG, TRANSFER, MODEL = "data/long.zarr", "data/transfer.zarr", "model"


@dataclass(frozen=True)
class Stage:
    """One process: its name, what it does, its command, and the paths it reads and writes.

    Paths are relative to the run directory, in which the command runs.
    """

    name: str
    title: str
    command: tuple[str, ...]
    inputs: tuple[str, ...]
    output: str


def stages(config: RunConfig) -> list[Stage]:
    """The stages of a run, in order."""
    made = [*_data(config), _training(config)]
    for name in config.sources:
        made += _implied(config, name, SOURCES[name])
    for name in config.controls:
        made += _implied(config, name, CONTROLS[name])
    for name in config.questions:
        made += _readout(config, name)
    return made


def _data(config: RunConfig) -> Iterator[Stage]:
    yield _orbits(
        config, "train_orbits", f"simulate {config.orbits} orbits under {config.law}",
        TRAIN, config.orbits, config.samples, config.seed,
    )  # fmt: skip
    yield _orbits(
        config, "held_out_orbits",
        f"simulate {config.held_out_orbits} orbits that the model will not train on",
        HELD_OUT, config.held_out_orbits, config.samples, config.seed + HELD_OUT_SEED_OFFSET,
    )  # fmt: skip
    if "extrapolate" in config.questions:
        samples = max(FACTORS) * config.context_length + 1
        yield _orbits(
            config, "long_orbits", f"simulate orbits of {samples} states",
            LONG, min(config.held_out_orbits, LONG_ORBITS), samples,
            config.seed + LONG_SEED_OFFSET,
        )  # fmt: skip
    if transfers(config):
        yield _orbits(
            config, "transfer_orbits", f"simulate {sum(config.transfer)} orbits to fine-tune on",
            TRANSFER, sum(config.transfer), config.samples, config.seed + TRANSFER_SEED_OFFSET,
        )  # fmt: skip
    if "planets" in config.sources:
        start, stop, _ = PLANETS_YEARS
        stop = max(stop, start + math.ceil(config.samples * config.dt))
        yield Stage(
            "planets",
            f"take the positions of {', '.join(config.bodies)} from JPL DE421",
            (
                "orbits", "ephemeris", PLANETS, "--bodies", *config.bodies,
                "--samples", str(config.samples), "--dt", str(config.dt),
                "--start", str(start), "--stop", str(stop),
            ),
            (),
            PLANETS,
        )  # fmt: skip


def _orbits(
    config: RunConfig, name: str, title: str, path: str, count: int, samples: int, seed: int
) -> Stage:
    low, high = config.mass
    command = (
        "orbits", "generate", path, "--orbits", str(count), "--seed", str(seed),
        "--law", config.law, "--samples", str(samples), "--dt", str(config.dt),
        "--engine", config.simulator, "--system", config.system,
        "--population", config.population,
        "--mass", *((str(low),) if low == high else (str(low), str(high))),
    )  # fmt: skip
    return Stage(name, title, command, (), path)


def _training(config: RunConfig) -> Stage:
    window = () if config.window is None else ("--window", str(config.window))
    bins = ("--bins", str(config.bins), "--bin-range", str(config.bin_range))
    command = (
        "worldmodel", "train", TRAIN, MODEL,
        "--attention", config.attention,
        "--context-length", str(config.context_length), *window,
        "--target", config.target,
        "--inputs", config.inputs,
        "--head", config.head, *(bins if config.head == "tokens" else ()),
        "--d-model", str(config.d_model),
        "--n-layers", str(config.n_layers),
        "--n-heads", str(config.n_heads),
        "--steps", str(config.steps),
        "--batch-tokens", str(config.batch_tokens),
        "--kicked", str(config.kicked),
        "--precision", config.precision,
        "--seed", str(config.seed),
    )  # fmt: skip
    what = f"{config.attention}, context {config.context_length}"
    return Stage("train", f"train the world model ({what})", command, (TRAIN,), MODEL)


def _implied(config: RunConfig, name: str, title: str) -> Iterator[Stage]:
    """Implied accelerations of a source or a control, and the law that is found in them."""
    options: tuple[str, ...] = ("--states", "orbit" if name in ("orbit", "planets") else "kicked")
    if name in CONTROLS:
        options += ("--control", name)
    forces = f"forces/{name}.parquet"
    yield Stage(
        f"probe_{name}",
        f"read the accelerations that the predictions imply: {title}",
        _probe(config, PLANETS if name == "planets" else HELD_OUT, forces, *options),
        (MODEL, PLANETS if name == "planets" else HELD_OUT),
        forces,
    )
    yield _law(config, name, title)


def _readout(config: RunConfig, name: str) -> Iterator[Stage]:
    """A further question, with its controls where it has some."""
    title = f"read-out {name.replace('_', ' ')}"
    out = f"readouts/{name}.json"
    command: tuple[str, ...]
    if name == "evaluate":
        command = ("worldmodel", "evaluate", MODEL, HELD_OUT, out)
        yield Stage(name, "measure roll-out errors", command, (MODEL, HELD_OUT), out)
    elif name == "extrapolate":
        out = "readouts/extrapolate"
        factors = ("--factors", *map(str, FACTORS))
        command = ("worldmodel", "extrapolate", MODEL, LONG, "--out", out, *factors)
        yield Stage(name, "measure the loss on longer sequences", command, (MODEL, LONG), out)
    elif name in TRANSFERS:
        for repeated in titles(config, name):
            yield from _transfer(config, repeated)
    else:
        command = _probe(config, HELD_OUT, out, "--readout", name)
        yield Stage(name, title, command, (MODEL, HELD_OUT), out)
        for control in controlled(config, name):
            file = f"readouts/{name}_{control}.json"
            command = _probe(config, HELD_OUT, file, "--readout", name, "--control", control)
            yield Stage(
                f"{name}_{control}", f"{title}: {CONTROLS[control]}", command,
                (MODEL, HELD_OUT), file,
            )  # fmt: skip


def _transfer(config: RunConfig, title: str) -> Iterator[Stage]:
    """Fine-tuning on forces, and the law that is found in what the fine-tuned model says."""
    forces = f"forces/{title}.parquet"
    labelled, few = map(str, config.transfer)
    frozen = ("--transfer.frozen",) if "frozen" in title else ()
    control = ("--control", "untrained") if "untrained" in title else ()
    command = (
        "worldmodel", "probe", MODEL, TRANSFER, forces, "--readout", "transfer",
        "--transfer.labelled", labelled, "--transfer.few", few,
        "--transfer.steps", str(config.transfer_steps),
        "--transfer.batch-tokens", str(config.batch_tokens), *frozen, *control,
        "--orbits", str(sum(config.transfer)), "--seed", str(config.seed),
    )  # fmt: skip
    yield Stage(title, f"fine-tune: {TRANSFERS[title]}", command, (MODEL, TRANSFER), forces)
    yield _law(config, title, TRANSFERS[title])


def transfers(config: RunConfig) -> tuple[str, ...]:
    """The fine-tuned models of a run."""
    asked = [name for name in config.questions if name in TRANSFERS]
    return tuple(title for name in asked for title in titles(config, name))


def titles(config: RunConfig, readout: str) -> tuple[str, ...]:
    """A read-out, and the same with each of its controls: NAME, NAME_CONTROL."""
    return (readout, *(f"{readout}_{control}" for control in controlled(config, readout)))


def controlled(config: RunConfig, readout: str) -> tuple[str, ...]:
    """The controls with which a read-out is repeated."""
    return tuple(name for name in config.controls if name in CONTROLLED.get(readout, ()))


def _probe(config: RunConfig, data: str, out: str, *options: str) -> tuple[str, ...]:
    count, seed = str(config.held_out_orbits), str(config.seed)
    return (
        "worldmodel", "probe", MODEL, data, out, *options, "--orbits", count, "--seed", seed,
    )  # fmt: skip


def _law(config: RunConfig, name: str, title: str) -> Stage:
    forces, law = f"forces/{name}.parquet", f"laws/{name}.json"
    command = (
        "symreg", "recover", forces, law, "--law", config.law, "--engine", config.engine,
        "--seed", str(config.seed), "--seeds", str(config.search_seeds),
    )  # fmt: skip
    return Stage(f"recover_{name}", f"search the law: {title}", command, (forces,), law)
