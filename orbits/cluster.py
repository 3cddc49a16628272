"""A dask cluster in the place of worker processes, for every command with a `--scheduler`."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from orbits.workers import lost_worker

CONNECTING = 10
"""Seconds to wait for a dask scheduler."""


@contextmanager
def cluster_pool(scheduler: str) -> Iterator[tuple[Executor, int]]:
    """The workers of a running scheduler at an address, tcp://host:port, and their number.

    Raises:
        ValueError: if dask is not installed, no scheduler answers, it has no workers, or too many
            of them died.
    """
    try:
        from distributed import Client, KilledWorker
    except ModuleNotFoundError:
        raise ValueError(
            "--scheduler needs the packages dask and distributed; pip install dask distributed."
        ) from None
    with _connected(Client, scheduler) as client:
        count = sum(client.nthreads().values())
        if not count:
            raise ValueError(f"the dask scheduler at {scheduler} has no workers.")
        try:
            with client.get_executor(pure=False, retries=0) as executor:
                yield executor, count
        except KilledWorker:
            raise lost_worker(f"the dask cluster at {scheduler}") from None


def require_cluster(scheduler: str) -> None:
    """Refuse an address where nobody answers, before anything is written; none means no cluster."""
    if scheduler:
        with cluster_pool(scheduler):
            pass


def _connected(client: Any, scheduler: str) -> Any:
    try:
        return client(scheduler, timeout=CONNECTING)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no dask scheduler answers at {scheduler} ({error}); start one with `dask scheduler`."
        ) from None
