"""Connects to a dask cluster, for every command with a `--scheduler`."""

from typing import Any

CONNECTING = 10
"""Seconds to wait for a dask scheduler."""


def connect(scheduler: str) -> Any:
    """A `distributed.Client` of the running scheduler at an address, tcp://host:port.

    Raises:
        ValueError: if dask is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ValueError(
            "--scheduler needs the packages dask and distributed; pip install dask distributed."
        ) from None
    try:
        return Client(scheduler, timeout=CONNECTING)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no dask scheduler answers at {scheduler} ({error}); start one with `dask scheduler`."
        ) from None
