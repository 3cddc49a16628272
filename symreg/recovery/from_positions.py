"""From a table of positions to force samples: what `symreg recover --trajectories` reads."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from orbits.config import UNKNOWN, ForcesConfig, ImportConfig
from orbits.options import OptionError, changed, option_names, short_names
from symreg.recovery.config import RecoverConfig

if TYPE_CHECKING:
    import xarray as xr

    from orbits.force_samples import ForceSamples


@dataclass(frozen=True)
class RecoverFileConfig(RecoverConfig):
    """How to search for a law in a file, and first to read and measure trajectories."""

    trajectories: bool = False
    """The table holds positions over time, as for `orbits import`; accelerations are measured along
    them first."""
    importing: ImportConfig = field(default_factory=ImportConfig)
    measuring: ForcesConfig = field(default_factory=ForcesConfig)

    ALIASES: ClassVar[dict[str, str]] = {
        **RecoverConfig.ALIASES,
        **short_names(
            "importing", (n for n in option_names(ImportConfig) if n not in ("law", "bad_rows"))
        ),
        **short_names("measuring", option_names(ForcesConfig)),
    }
    """Short names of the options of `orbits import` and `orbits forces` too."""
    DECIDED: ClassVar[tuple[str, ...]] = ("importing.law", "importing.gm", "importing.bad_rows")
    """A given law is not searched for; bad rows are one option for all tables."""
    RARE: ClassVar[tuple[str, ...]] = (
        "compare_limit", *RecoverConfig.ALIASES, *option_names(ForcesConfig)
    )  # fmt: skip
    """Left out of the short help: thresholds of the verdict, and how accelerations are measured."""

    def __post_init__(self) -> None:
        """Check that columns of positions are named for trajectories only."""
        super().__post_init__()
        if self.trajectories and self.own_table:
            raise OptionError("target", "is for a table of rows without order; leave it out here.")
        if not self.trajectories and self.importing != ImportConfig():
            given = changed(self.importing, ImportConfig())[0]
            raise OptionError(given, "is for trajectories; add --trajectories.")

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
            importing = replace(self.importing, bad_rows=self.bad_rows)
            data = from_table(table, config=importing, announce=announce)
            return forces_along(data, self.measuring)
        if Path(table).is_dir():
            return forces_along(open_dataset(table), self.measuring)
        if self.measuring != ForcesConfig():
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
