"""What a training run says: metrics.jsonl always, a bar on a terminal, lines elsewhere."""

import json
import sys
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from orbits.files import write_text


class Logbook:
    """Writes metrics.jsonl, where there is a folder for it, and shows progress.

    Going on from a step drops the lines after it, so that the file reads as one run.
    """

    def __init__(self, run: Path | None, first_step: int, steps: int, tensorboard: bool) -> None:
        self.file = None if run is None else _continued(run / "metrics.jsonl", first_step)
        self.steps = steps
        self.bar = (
            tqdm(total=steps, initial=first_step, unit="step", desc="train")
            if sys.stderr.isatty()
            else None
        )
        self.board = _summary_writer(run) if tensorboard and run is not None else None

    def write(self, step: int, **values: float) -> None:
        """Record numbers of a step."""
        if self.file is not None:
            self.file.write(json.dumps({"step": step, **values}) + "\n")
            self.file.flush()
        if self.board is not None:
            for name, value in values.items():
                self.board.add_scalar(name, value, step)

    def advance(self, step: int, loss: float) -> None:
        """Show that a step is finished."""
        if self.bar is not None:
            self.bar.update()
            if step % 10 == 0:
                self.bar.set_postfix(loss=f"{loss:.2e}")
        elif step % max(1, self.steps // 10) == 0 or step == self.steps:
            self.say(f"step {step} of {self.steps}: loss {loss:.3e}")

    def say(self, line: str) -> None:
        """A line among the progress."""
        if self.bar is not None:
            self.bar.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Finish the files and the bar."""
        if self.file is not None:
            self.file.close()
        if self.bar is not None:
            self.bar.close()
        if self.board is not None:
            self.board.close()


def _continued(path: Path, step: int) -> TextIO:
    """The file, open for the lines after a step; those of an earlier run after it are dropped."""
    kept = []
    if step and path.is_file():
        kept = [line for line in path.read_text().splitlines() if _step_of(line) <= step]
    write_text(path, "".join(f"{line}\n" for line in kept))
    return path.open("a", encoding="utf-8")


def _step_of(line: str) -> float:
    """The step of a line of metrics; infinite for a line that was cut short."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")


def _summary_writer(run: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ValueError(
            "tensorboard is not installed; `pip install tensorboard`, or leave --tensorboard out: "
            "metrics.jsonl holds the same numbers."
        ) from None
    return SummaryWriter(str(run / "tensorboard"))
