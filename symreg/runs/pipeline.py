"""All stages of a run, each a process of its own, skipped when its output is already there.

A stage that ends well leaves a record: its command, the fingerprints of what it read and wrote,
its seconds. The next run skips every stage whose record still fits, so an interrupted run goes on
where it stopped, and a file that somebody changed is made again with all that follows from it.
"""

import hashlib
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from orbits.records.files import read_json, sha256_of_file, write_json
from symreg.runs.config import RunConfig
from symreg.runs.folder import claimed, end
from symreg.runs.stages import Stage, stages


def run_stages(config: RunConfig) -> dict[str, float]:
    """Run every stage that is not done yet.

    Returns:
        Seconds by stage (those of an earlier run for the stages that were skipped).

    Raises:
        ValueError: if the run directory belongs to another configuration, or is in use.
        StageFailure: if a stage ends with an error; it has said why, and earlier stages stay.
    """
    folder = config.folder
    todo = stages(config)
    check_options(todo)
    with claimed(folder, config):
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


def check_options(todo: list[Stage]) -> None:
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
        end([process])
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
