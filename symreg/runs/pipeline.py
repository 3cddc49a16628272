"""All stages of a run, each a process of its own, side by side as far as they can be.

A stage waits for those that write what it reads, and for a free core. One that ends well leaves a
record: its command and options, the fingerprints of what it read and wrote, its seconds. The next
run skips every stage whose record still fits, so an interrupted run goes on where it stopped; what
somebody changed since is removed and made again, with all that follows from it.
"""

import hashlib
import re
import shlex
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orbits.command.entry import INTERRUPTED
from orbits.records.files import read_json, sha256_of_file, sha256_of_json, write_json
from orbits.records.typed import as_json, of_json
from symreg.runs.config import RunConfig
from symreg.runs.folder import claimed
from symreg.runs.fork_server import POLL, Forked, ForkServer
from symreg.runs.own_data import on_data
from symreg.runs.processes import end, places
from symreg.runs.stages import Stage, stages

CLOCKED = ("metrics.jsonl", "events.out.tfevents.*")
"""Logs of a training that hold times of the clock. Nothing that comes after reads them: the same
weights trained again repeat no later stage."""

HEADER = "[{}/{}] {}"
SKIPPED = ": there already"
"""What is printed when a stage begins: which of how many, and its title; what follows that, if it
was finished before."""


@dataclass(frozen=True)
class Record:
    """What a finished stage did.

    Attributes:
        command: with which it ran.
        options: of the command.
        inputs: fingerprint of everything it read, by path.
        output: fingerprint of what it wrote.
        seconds: of wall clock.
        processor_seconds: that its process and those which it waited for took; None in records of
            before they were counted.
    """

    command: tuple[str, ...]
    options: dict[str, Any]
    inputs: dict[str, str | None]
    output: str | None
    seconds: float
    processor_seconds: float | None = None


@dataclass
class Running:
    """A stage whose process runs."""

    stage: Stage
    process: Forked
    inputs: dict[str, str | None]
    began: float = field(default_factory=time.monotonic)


class StageFailure(Exception):  # noqa: N818 - not an error of this process: the stage reported it
    """A stage ended with an error and said why on stderr."""

    def __init__(self, stage: Stage, code: int) -> None:
        super().__init__(f"stage {stage.name} ended with exit code {code}")
        self.stage = stage
        self.code = code


def run_stages(config: RunConfig) -> dict[str, float]:
    """Run every stage that is not done yet.

    Returns:
        Seconds by stage (those of an earlier run for the stages that were skipped).

    Raises:
        ValueError: if the run directory belongs to another configuration, or is in use.
        StageFailure: if a stage ends with an error; it has said why, and earlier stages stay.
    """
    todo = stages(config)
    if config.data is not None:
        todo = on_data(todo, config.data)
    with claimed(config.folder, config):
        return Pipeline(config.folder, todo, places(config.workers)).run()


class Pipeline:
    """Stages in a folder, of which each starts as soon as it can.

    Args:
        folder: the run directory.
        todo: the stages; the first of those that can start goes first.
        cores: that they may keep busy together.
    """

    def __init__(self, folder: Path, todo: Sequence[Stage], cores: int) -> None:
        self.folder = folder
        self.todo = list(todo)
        self.cores = cores
        self.seconds: dict[str, float] = {}
        self.waiting = list(todo)
        self.running: list[Running] = []
        self.server = ForkServer()

    def run(self) -> dict[str, float]:
        """Run to the end; see `run_stages`."""
        try:
            while self.waiting or self.running:
                if not self._start_some():
                    self.server.listen(POLL)
                for job in [job for job in self.running if job.process.poll() is not None]:
                    self._finish(job)
        finally:
            end([job.process for job in self.running])
            self.server.close()
        return {stage.name: self.seconds[stage.name] for stage in self.todo}

    def _start_some(self) -> bool:
        """Start, or skip, the first stage that can be; whether there was one."""
        unfinished = {stage.output for stage in self.waiting}
        unfinished |= {job.stage.output for job in self.running}
        free = self.cores - sum(self._cores_of(job.stage) for job in self.running)
        for stage in self.waiting:
            if unfinished & {*stage.inputs, *stage.waits} or self._cores_of(stage) > free:
                continue
            self.waiting.remove(stage)
            header = HEADER.format(len(self.todo) - len(self.waiting), len(self.todo), stage.title)
            inputs = {name: fingerprint(self.folder / name, CLOCKED) for name in stage.inputs}
            record, why = self._fitting_record(stage, inputs)
            if record is None:
                print(f"{header}{why and f' (again: {why})'}", flush=True)
                self.running.append(self._started(stage, inputs))
            else:
                print(f"{header}{SKIPPED} ({record.seconds:.0f} s)", flush=True)
                self.seconds[stage.name] = record.seconds
            return True
        return False

    def _cores_of(self, stage: Stage) -> int:
        return min(stage.cores or self.cores, self.cores)

    def _fitting_record(
        self, stage: Stage, inputs: dict[str, str | None]
    ) -> tuple[Record | None, str]:
        """The record of a finished stage, if command, options, inputs and output are still those.

        The output of one that no longer fits is removed: a command that finds its result there
        would take it for finished, damaged or not.

        Returns:
            The record, or None and what no longer fits (empty if the stage was never done).
        """
        path = self._record_path(stage)
        if not path.exists():
            return None, ""
        if stage.always:
            path.unlink()
            return None, ""
        record, why = _read_record(path), "its record is damaged"
        if record is not None:
            why = _misfit(record, stage, inputs, fingerprint(self.folder / stage.output))
            if not why:
                return record, ""
        remove(self.folder / stage.output)
        path.unlink()
        return None, why

    def _record_path(self, stage: Stage) -> Path:
        return record_path(self.folder, stage.name)

    def _started(self, stage: Stage, inputs: dict[str, str | None]) -> Running:
        """Start the process of a stage; what it prints goes to its log."""
        (self.folder / stage.output).parent.mkdir(parents=True, exist_ok=True)
        options = f"configs/{stage.name}.json"
        write_json(self.folder / options, stage.options)
        program, *arguments = stage.command
        command = [program, *arguments, "--config", options]
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        log = logs / f"{stage.name}.log"
        log.write_text(f"$ {shlex.join(command)}\n", encoding="utf-8")
        process = self.server.begin(command, self.folder, log, self._cores_of(stage))
        return Running(stage, process, inputs)

    def _finish(self, job: Running) -> None:
        """Keep what an ended process did, and show what it printed."""
        self.running.remove(job)
        stage, code = job.stage, job.process.returncode
        log = self.folder / "logs" / f"{stage.name}.log"
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[1:]:
            print(f"    {line}", flush=True)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        output = fingerprint(self.folder / stage.output)
        if code or output is None:
            raise StageFailure(stage, code or 1)
        seconds = time.monotonic() - job.began
        record = as_json(
            Record(
                stage.command,
                stage.options,
                job.inputs,
                output,
                seconds,
                job.process.processor_seconds,
            )
        )
        write_json(self._record_path(stage), {**record, "sha256": sha256_of_json(record)})
        self.seconds[stage.name] = seconds


def begun(printed: str) -> str:
    """The stage that a run began last, in the words of what it printed; empty if there is none."""
    lines = re.findall(r"^\[\d+/\d+\] .*$", printed, re.MULTILINE)
    return next((line for line in reversed(lines) if SKIPPED not in line), "")


def record_path(folder: Path, stage: str) -> Path:
    """Where a stage's record lies in a run directory."""
    return folder / "stages" / f"{stage}.json"


def stage_record(folder: Path, stage: str) -> Record | None:
    """What a stage of a run did; None of one that has no record, or a damaged one."""
    path = record_path(folder, stage)
    return _read_record(path) if path.exists() else None


def _read_record(path: Path) -> Record | None:
    """A record of a stage; None of one that is damaged."""
    try:
        kept = read_json(path)
        return (
            of_json(Record, kept, str(path)) if kept.pop("sha256") == sha256_of_json(kept) else None
        )
    except (ValueError, KeyError, AttributeError):
        return None


def _misfit(record: Record, stage: Stage, inputs: dict[str, str | None], output: str | None) -> str:
    """What no longer fits a record; empty if everything does."""
    if output is None or record.output is None:
        return f"{stage.output} is missing"
    if output != record.output:
        return f"{stage.output} is not what was written"
    changed = [name for name in inputs if inputs[name] != record.inputs.get(name)]
    if changed or inputs.keys() != record.inputs.keys():
        return f"{' and '.join(changed) or 'what it reads'} changed"
    if (stage.command, stage.options) != (record.command, record.options):
        return "its options changed"
    return ""


def fingerprint(path: Path, but: Sequence[str] = ()) -> str | None:
    """SHA-256 of a file, or of the names and contents of a folder; None if there is nothing.

    Args:
        path: of the file or folder.
        but: patterns of names in the folder that do not count.
    """
    if path.is_file():
        return sha256_of_file(path)
    if not path.is_dir():
        return None
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        if not any(file.match(pattern) for pattern in but):
            digest.update(f"{file.relative_to(path)}\0{sha256_of_file(file)}\n".encode())
    return digest.hexdigest()


def remove(path: Path) -> None:
    """Remove a file or a folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
