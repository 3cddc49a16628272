"""Options of `symreg recover` for a file; light, so `--help` is fast."""

from dataclasses import dataclass
from typing import ClassVar

from orbits.config import ForcesConfig, TrajectoriesConfig
from orbits.options import OptionError, changed, option_names, values_of
from symreg.recovery.config import RecoverConfig


@dataclass(frozen=True)
class RecoverFileConfig(TrajectoriesConfig, ForcesConfig, RecoverConfig):
    """The file: trajectories are first read and measured."""

    trajectories: bool = False
    """The table holds positions over time, as for `orbits import`; accelerations are measured along
    them first."""

    RARE: ClassVar[tuple[str, ...]] = tuple(option_names(ForcesConfig))
    """Options that the short help leaves out."""

    def __post_init__(self) -> None:
        """Check that columns of positions are named for trajectories only."""
        super().__post_init__()
        if self.trajectories and self.own_table:
            raise OptionError("target", "is for a table of rows without order; leave it out here.")
        columns = changed(self.columns, TrajectoriesConfig())
        if columns and not self.trajectories:
            raise OptionError(columns[0], "is for trajectories; add --trajectories.")

    @property
    def columns(self) -> TrajectoriesConfig:
        """The columns of trajectories."""
        return TrajectoriesConfig(**values_of(TrajectoriesConfig, self))
