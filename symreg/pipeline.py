"""All stages of a run, each a process of its own, skipped when its output is already there.

A stage that ends well leaves a record: its command, the fingerprints of what it read and wrote,
its seconds. The next run skips every stage whose record still fits, so an interrupted run goes on
where it stopped, and a file that somebody changed is made again with all that follows from it.
"""

import fcntl
import hashlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from orbits.files import read_json, sha256_of_file, sha256_of_json, write_json
from symreg.run_config import RunConfig

HELD_OUT_SEED_OFFSET = 1_000_003
"""Added to the seed for the held-out orbits, so that no run trains on its own test orbits."""

SOURCES = {
    "orbit": "held-out simulated orbits",
    "kicked": "kicked states",
    "planets": "real planets (JPL DE421)",
}
"""The sets of states on which the model is questioned."""

CONTROLS = {
    "injected": "positive control: the true law in place of the model",
    "untrained": "null control: the same network, untrained",
}
"""The same question, where the answer is known."""


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
    seed = str(config.seed)
    shape = ("--samples", str(config.samples), "--dt", str(config.dt))
    orbits = ("orbits", "generate")
    physics = ("--law", config.law, *shape, "--engine", "scipy")
    train, held_out, planets = "data/train.zarr", "data/held_out.zarr", "data/planets.zarr"
    made = [
        Stage(
            "train_orbits",
            f"simulate {config.orbits} orbits under {config.law}",
            (*orbits, train, "--orbits", str(config.orbits), "--seed", seed, *physics),
            (),
            train,
        ),
        Stage(
            "held_out_orbits",
            f"simulate {config.held_out_orbits} orbits that the model will not train on",
            (
                *orbits, held_out, "--orbits", str(config.held_out_orbits),
                "--seed", str(config.seed + HELD_OUT_SEED_OFFSET), *physics,
            ),
            (),
            held_out,
        ),
        Stage(
            "planets",
            f"take the positions of {', '.join(config.bodies)} from JPL DE421",
            ("orbits", "ephemeris", planets, "--bodies", *config.bodies, *shape),
            (),
            planets,
        ),
        Stage(
            "train",
            f"train the world model ({config.attention}, context {config.context_length})",
            (
                "worldmodel", "train", train, "model",
                "--attention", config.attention,
                "--context-length", str(config.context_length),
                "--target", config.target,
                "--d-model", str(config.d_model),
                "--steps", str(config.steps),
                "--seed", seed,
            ),
            (train,),
            "model",
        ),
    ]  # fmt: skip
    for name, title in (SOURCES | CONTROLS).items():
        data = planets if name == "planets" else held_out
        forces, law = f"forces/{name}.parquet", f"laws/{name}.json"
        states = "orbit" if name in ("orbit", "planets") else "kicked"
        options: tuple[str, ...] = (
            "--states",
            states,
            "--orbits",
            str(config.held_out_orbits),
            "--seed",
            seed,
        )
        if name in CONTROLS:
            options += ("--control", name)
        made.append(
            Stage(
                f"probe_{name}",
                f"read the accelerations that the predictions imply: {title}",
                ("worldmodel", "probe", "model", data, forces, *options),
                ("model", data),
                forces,
            )
        )
        made.append(
            Stage(
                f"recover_{name}",
                f"search the law: {title}",
                (
                    "symreg", "recover", forces, law, "--law", config.law,
                    "--engine", config.engine, "--seed", seed,
                    "--seeds", str(config.search_seeds),
                ),
                (forces,),
                law,
            )
        )  # fmt: skip
    return made


def run_stages(config: RunConfig) -> dict[str, float]:
    """Run every stage that is not done yet.

    Returns:
        Seconds by stage (those of an earlier run for the stages that were skipped).

    Raises:
        ValueError: if the run directory belongs to another configuration, or is in use.
        StageFailure: if a stage ends with an error; it has said why, and earlier stages stay.
    """
    folder = config.folder
    _check_options(stages(config))
    if folder.exists() and not (folder / "configuration.json").exists():
        _refuse_a_foreign_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder), _terminated_as_interrupt():
        _claim(folder, config)
        todo = stages(config)
        seconds = {}
        for number, stage in enumerate(todo, 1):
            header = f"[{number}/{len(todo)}] {stage.title}"
            record = _valid_record(folder, stage)
            if record is None:
                print(header, flush=True)
                record = _run_stage(folder, stage)
            else:
                print(f"{header}: there already ({record['seconds']:.0f} s)", flush=True)
            seconds[stage.name] = record["seconds"]
    return seconds


def _check_options(todo: list[Stage]) -> None:
    """Let the stage that trains check its options now, not after minutes of simulation."""
    for stage in todo:
        if stage.name == "train":
            program, *arguments = stage.command
            command = [sys.executable, "-P", "-m", program, *arguments, "--check"]
            if code := subprocess.run(command).returncode:
                raise StageFailure(stage, code)


class StageFailure(Exception):  # noqa: N818 - not an error of this process: the stage reported it
    """A stage ended with an error and said why on stderr."""

    def __init__(self, stage: Stage, code: int) -> None:
        super().__init__(f"stage {stage.name} ended with exit code {code}")
        self.stage = stage
        self.code = code


def fingerprint(path: Path) -> str | None:
    """SHA-256 of a file, or of the names and contents of a folder; None if there is nothing."""
    if path.is_file():
        return sha256_of_file(path)
    if not path.is_dir():
        return None
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(f"{file.relative_to(path)}\0{sha256_of_file(file)}\n".encode())
    return digest.hexdigest()


def _valid_record(folder: Path, stage: Stage) -> dict[str, Any] | None:
    """The record of a finished stage, if command, inputs and output are still those."""
    try:
        record = read_json(folder / "stages" / f"{stage.name}.json")
    except ValueError:
        return None
    now = {
        "command": list(stage.command),
        "inputs": {name: fingerprint(folder / name) for name in stage.inputs},
        "output": fingerprint(folder / stage.output),
    }
    return record if all(record.get(key) == value for key, value in now.items()) else None


def _run_stage(folder: Path, stage: Stage) -> dict[str, Any]:
    """Run one stage; echo and log what it prints, leave its progress to the terminal."""
    program, *arguments = stage.command
    inputs = {name: fingerprint(folder / name) for name in stage.inputs}
    (folder / stage.output).parent.mkdir(parents=True, exist_ok=True)
    (folder / "logs").mkdir(exist_ok=True)
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", program, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None  # for the type checker: stdout=PIPE
    try:
        with open(folder / "logs" / f"{stage.name}.log", "w", encoding="utf-8") as log:
            print(f"$ {shlex.join(stage.command)}", file=log)
            for line in process.stdout:
                print(f"    {line}", end="", flush=True)
                log.write(line)
        code = process.wait()
    except KeyboardInterrupt:
        _end(process)
        raise
    if code == 130:
        raise KeyboardInterrupt
    if code:
        raise StageFailure(stage, code)
    record = {
        "command": list(stage.command),
        "inputs": inputs,
        "output": fingerprint(folder / stage.output),
        "seconds": time.monotonic() - start,
    }
    write_json(folder / "stages" / f"{stage.name}.json", record)
    return record


def _end(process: subprocess.Popen[str]) -> None:
    """Give an interrupted stage time to keep what it has, then end it."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _claim(folder: Path, config: RunConfig) -> None:
    """Write the configuration into a new run directory, or check that an old one has the same."""
    resolved = {key: value for key, value in asdict(config).items() if key != "out"}
    path = folder / "configuration.json"
    if not path.exists():
        write_json(path, resolved)
        return
    earlier = read_json(path)
    if sha256_of_json(earlier) != sha256_of_json(resolved):
        changed = [
            f"--{key.replace('_', '-')} {earlier.get(key)} (now {value})"
            for key, value in resolved.items()
            if sha256_of_json(earlier.get(key)) != sha256_of_json(value)
        ]
        raise ValueError(
            f"{folder} belongs to another configuration: {', '.join(changed) or 'other options'}; "
            "choose another --out, or delete that folder."
        )


def _refuse_a_foreign_folder(folder: Path) -> None:
    others = sorted(p.name for p in folder.iterdir() if p.name != ".lock")
    if others:
        raise ValueError(
            f"{folder} is not a run directory and not empty (it has {others[0]}); "
            "choose another --out."
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a run directory for one process at a time; the lock dies with the process."""
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"{folder} is in use by another `symreg run`; wait for it or choose another --out."
            ) from None
        yield


@contextmanager
def _terminated_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that no stage is left running without its pipeline."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        earlier = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread: nothing to catch there
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)
