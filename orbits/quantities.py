"""Numbers that carry a unit: those of astropy, pint and xarray, and durations of numpy and pandas.

None of these packages is needed: what has `unit` or `units`, and `to(unit)`, carries one, and so do
attributes of an array with `units`.
"""

from typing import Any

import numpy as np
import pandas as pd

from orbits.units import YEARS, parse_unit


def carried_unit(values: Any) -> str | None:
    """The unit that an array, a number, a column of a DataFrame or the first member of a list
    carries; None without one."""
    if isinstance(values, (list, tuple)):
        return carried_unit(values[0]) if values else None
    if isinstance(values, pd.Series):  # of pint-pandas; `values.unit` might be a row
        return str(units) if (units := getattr(values.dtype, "units", None)) is not None else None
    if not callable(getattr(values, "to", None)):
        units = getattr(values, "attrs", {}).get("units")  # of xarray
        return None if units is None else str(units)
    days = "d" if hasattr(values, "jd1") else None  # astropy's TimeDelta
    unit = getattr(values, "unit", getattr(values, "units", days))
    return None if unit is None else str(unit) or "dimensionless"


def without_unit(values: Any, unit: str, name: str) -> Any:
    """The numbers in `unit`, such as au or km/d, of values that carry a unit of their own.

    What carries none is returned as it is.

    Args:
        values: an array, a number, or a column of a DataFrame; `name` in messages.
        unit: of the numbers that are returned.

    Raises:
        ValueError: if the two units measure different things, for dates, and for a list whose
            members carry units.
    """
    if (own := carried_unit(values)) is not None:
        if isinstance(values, (list, tuple)):
            raise ValueError(
                f"{name}: a list whose members carry units cannot be read; make one array of it."
            )
        quantity: Any = values.pint if isinstance(values, pd.Series) else values
        try:
            if not hasattr(quantity, "to"):
                return np.asarray(values) * _ratio(own, unit)
            converted = quantity.to(unit)
        except Exception as error:  # of whichever package it is
            raise ValueError(
                f"{name}: the unit {own!r} cannot be converted to {unit} "
                f"({(str(error).strip() or own).splitlines()[0].rstrip('.'):.100})."
            ) from None
        converted = getattr(converted, "pint", converted)
        return converted.magnitude if hasattr(converted, "magnitude") else converted.value
    return _without_duration(values, unit, name)


def require_no_unit(values: Any, name: str) -> None:
    """Refuse values that carry a unit, which would be dropped.

    Raises:
        ValueError: names the unit.
    """
    if (unit := carried_unit(values)) is not None:
        raise ValueError(f"{name} carries the unit {unit!r}; give its numbers alone.")


def _ratio(own: str, other: str) -> float:
    """The size of a unit in another; 1 exactly for itself."""
    one, two = parse_unit(own), parse_unit(other)
    if one.powers != two.powers:
        raise ValueError(f"it measures {one.text}, not {two.text}")
    return one.size / two.size


def _without_duration(values: Any, unit: str, name: str) -> Any:
    """The same for durations, and for nothing else."""
    if getattr(getattr(values, "dtype", None), "kind", "O") not in "OmM":
        return values
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # ragged
        return values
    first = array.ravel()[0] if array.dtype.kind == "O" and array.size else None
    if hasattr(first, "total_seconds"):
        array, first = array.astype("timedelta64[ns]"), None
    if array.dtype.kind == "M" or hasattr(first, "isoformat") or hasattr(values, "jd1"):
        raise ValueError(
            f"{name}: dates are no times of a motion; give the time since the first of them, as in "
            "t - t[0]."
        )
    if array.dtype.kind != "m":
        return values
    if unit not in YEARS:
        raise ValueError(f"{name}: a duration cannot be converted to {unit}.")
    seconds = array / np.timedelta64(1, "s")
    return np.where(np.isnat(array), np.nan, seconds) / parse_unit(unit).size
