"""Options of `symreg study`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from orbits.command.options import Between, Options, Output
from orbits.config import WORKERS_LIMIT


@dataclass(frozen=True)
class StudyConfig(Options):
    """Where a study is kept and who does the work."""

    out: Annotated[str, Output()] | None = None
    """Folder of the study; by default studies/NAME."""
    workers: Annotated[int, Between(0, WORKERS_LIMIT)] = 0
    """Cells that run at the same time; 0 takes one for every core."""
    scheduler: str = ""
    """Address of a dask scheduler (tcp://host:port) whose workers run the cells instead; they
    must see the same folder."""
    minutes: Annotated[float, Between(0, 1e6)] = 0.0
    """Stop after so many minutes, as Ctrl-C would, to go on later; 0 never stops."""

    def folder(self, name: str) -> Path:
        """The study's folder."""
        return Path(self.out) if self.out is not None else Path("studies") / name
