"""From a table of positions to force samples: what `symreg recover --trajectories` reads."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from orbits.config import UNKNOWN, ForcesConfig, ImportConfig, TrajectoriesConfig
from orbits.options import OptionError, changed, option_names, values_of
from symreg.recovery.config import RecoverConfig

if TYPE_CHECKING:
    import xarray as xr

    from orbits.force_samples import ForceSamples


@dataclass(frozen=True)
class RecoverFileConfig(RecoverConfig, TrajectoriesConfig, ForcesConfig):
    """The file: trajectories are first read and measured."""

    trajectories: bool = False
    """The table holds positions over time, as for `orbits import`; accelerations are measured along
    them first."""

    RARE: ClassVar[tuple[str, ...]] = ("compare_limit", *option_names(ForcesConfig))
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

    def forces_of(
        self, table: str, announce: Callable[[str], object] | None = None
    ) -> "ForceSamples | None":
        """Force samples along trajectories of a table or dataset; None for a file of forces.

        Raises:
            ValueError: as `orbits.from_table` and `orbits.measure_forces` do.
        """
        from orbits.dataset import open_dataset
        from orbits.trajectories.from_table import from_table

        if self.trajectories and Path(table).is_dir():
            raise ValueError(f"{table} is a dataset already; leave --trajectories out.")
        if self.trajectories:
            columns = values_of(TrajectoriesConfig, self)
            importing = ImportConfig(**columns, bad_rows=self.bad_rows)
            data = from_table(table, config=importing, announce=announce)
            return forces_along(data, ForcesConfig(self.noise))
        if Path(table).is_dir():
            return forces_along(open_dataset(table), ForcesConfig(self.noise))
        if self.noise:
            raise ValueError(f"{table} holds no trajectories to measure; see --trajectories.")
        return None


def forces_along(data: "xr.Dataset", measuring: ForcesConfig | None = None) -> "ForceSamples":
    """Force samples along trajectories; without a known law, with the drag in them."""
    from orbits.derivatives.accelerations import measure_forces
    from symreg.weighing.weigh import drag_in

    found = measure_forces(data, measuring)
    drag = drag_in(data) if data.attrs["law"] == UNKNOWN else None
    told = {} if drag is None or drag.value is None else {"drag": str(drag)}
    return replace(found, attributes={**found.attributes, **told})
