"""Files that are compared with their checksums when they are first read."""

from collections.abc import Mapping
from typing import Any, Self

from zarr.abc.store import Store
from zarr.storage import WrapperStore

from orbits.records.places import Place


class Checksums:
    """What the files of a place must be, and which of them have been looked at.

    A file is read and hashed once, before its first use: about 1 s for each GB, of those files
    alone that are used.

    Args:
        place: where the files lie.
        sha256: by file; others are not compared.
        advice: what to do about a file that differs.
    """

    def __init__(self, place: Place, sha256: Mapping[str, str], advice: str) -> None:
        self.place = place
        self.sha256 = dict(sha256)
        self.advice = advice
        self.sound: set[str] = set()

    def require(self, file: str) -> None:
        """Refuse a file that is not what it was.

        Raises:
            ValueError: names it.
        """
        if file in self.sound or file not in self.sha256:
            return
        try:
            found = self.place.sha256(file)
        except FileNotFoundError:
            raise ValueError(f"{self.place}: {file} is missing; {self.advice}.") from None
        if found != self.sha256[file]:
            raise ValueError(
                f"{self.place}: {file} is damaged: it is not what was written; {self.advice}."
            )
        self.sound.add(file)


class CheckedStore(WrapperStore[Store]):
    """A zarr store that compares every file with its checksum before it is first read."""

    def __init__(self, store: Store, checksums: Checksums) -> None:
        super().__init__(store)
        self.checksums = checksums

    def _with_store(self, store: Store) -> Self:
        return type(self)(store, self.checksums)

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        """Bytes of a file, as zarr asks for them."""
        self.checksums.require(key)
        return await super().get(key, prototype, byte_range)

    async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:
        """Parts of files, as zarr asks for them."""
        ranges = list(key_ranges)
        for key, _ in ranges:
            self.checksums.require(key)
        return await super().get_partial_values(prototype, ranges)
