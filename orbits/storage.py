"""Where a dataset lies: its files, the checksums they carry, and what says which are finished.

Every chunk carries a CRC-32C that zarr writes and compares. `.manifest.json` is whole or absent,
carries a checksum of its own, and says which shards are finished and what `zarr.json` must be: a
shard that it does not name does not exist.
"""

import contextlib
import json
import os
import shutil
import warnings
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import zarr
from upath import UPath
from zarr.abc.store import Store
from zarr.storage import FsspecStore, LocalStore

from orbits.files import as_json, held, json_of, of_json, require_output, write_text

MANIFEST = ".manifest.json"


class Place:
    """Where a dataset lives: `data/x.zarr`, `s3://bucket/x.zarr`, `memory://x.zarr`.

    Raises:
        ValueError: for what is no path, or an address that cannot be opened.
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        if not isinstance(address, (str, os.PathLike)):
            raise ValueError(f"{address!r} is no path; give a folder or an fsspec address.")
        self.address = str(address)
        if not self.address:
            raise ValueError("the path of the data set is empty; give a folder.")
        self.local = None if "://" in self.address else Path(self.address)
        try:
            with warnings.catch_warnings(action="ignore"):  # rare protocols
                self.path: Path | UPath = self.local or UPath(self.address)
                getattr(self.path, "fs", None)  # here an unknown protocol can be answered
        except (ValueError, TypeError, ImportError) as error:
            raise ValueError(f"{self.address} cannot be opened: {error}.") from None

    def __str__(self) -> str:
        return self.address

    def store(self, read_only: bool = False) -> Store:
        """The zarr store of this place."""
        if self.local is not None:
            return LocalStore(self.local, read_only=read_only)
        return FsspecStore.from_url(self.address, read_only=read_only)

    def group(self, mode: Literal["r", "r+"] = "r+") -> zarr.Group:
        """The zarr group of this place, as its own files say."""
        store = self.store(read_only=mode == "r")
        return zarr.open_group(store, mode=mode, zarr_format=3, use_consolidated=False)

    def exists(self, name: str = "") -> bool:
        """Whether there is anything of that name."""
        return self._within(name).exists()

    def is_empty(self) -> bool:
        """Whether nothing is here yet, apart from hidden files of our own."""
        if self.local is not None:
            require_output(self.local)
        if not self.path.is_dir():
            return not self.path.exists()
        return all(entry.name.startswith(".") for entry in self.path.iterdir())

    def is_file(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return self._within(name).is_file()

    def checksum(self, name: str) -> int | None:
        """CRC-32 of a file, or None where there is none."""
        return zlib.crc32(self._within(name).read_bytes()) if self.is_file(name) else None

    def read_json(self, name: str) -> Any:
        """A JSON file's value, or None where it is missing or not whole."""
        if not self._within(name).is_file():
            return None
        try:
            return json_of(self._within(name).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file; on a local disk it is whole or absent."""
        text = json.dumps(value, indent=2)
        if self.local is not None:
            write_text(self.local / name, text)
        else:
            self._within(name).write_text(text, encoding="utf-8")

    def remove(self, name: str) -> None:
        """Remove a file, if there is one, or a folder in its place."""
        if self.local is not None and (self.local / name).is_dir():
            shutil.rmtree(self.local / name)
        self._within(name).unlink(missing_ok=True)

    def remove_partial_files(self) -> None:
        """Remove what killed writers left half-written beside the files."""
        for file in self.local.rglob("*.partial") if self.local is not None else ():
            file.unlink(missing_ok=True)

    def free_bytes(self) -> int | None:
        """Free space where this place is or will be; None where nobody can say."""
        if self.local is None:
            return None
        existing = next(p for p in (self.local, *self.local.absolute().parents) if p.exists())
        return shutil.disk_usage(existing).free

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Keep other writers out of a local place while a block runs.

        Raises:
            ValueError: if another process holds the place.
        """
        if self.local is None:
            return contextlib.nullcontext()
        return held(
            self.local,
            f"{self.address} is being written by another process; wait for it, or choose another "
            "path.",
        )

    def _within(self, name: str) -> Path | UPath:
        return self.path / name if name else self.path


@dataclass
class Manifest:
    """What is finished of a dataset."""

    configuration_sha256: str
    """Of the configuration that decides every bit."""
    metadata: dict[str, int]
    """CRC-32 of every `zarr.json`, and of the times."""
    shards: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Measured errors and drifts of every finished shard; none of an ephemeris."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """Attributes of the dataset that are known once it is complete."""
    complete: bool = False

    @classmethod
    def read(cls, place: Place) -> "Manifest | None":
        """The manifest of a place; None where there is none, or it or a `zarr.json` was changed."""
        held = place.read_json(MANIFEST)
        if not isinstance(held, dict) or held.pop("checksum", None) != _checksum(held):
            return None
        try:
            manifest = of_json(cls, held, MANIFEST)
        except ValueError:
            return None
        sound = all(place.checksum(name) == crc for name, crc in manifest.metadata.items())
        return manifest if sound else None

    def write(self, place: Place) -> None:
        """Write it, whole or not at all."""
        held = as_json(self)
        place.write_json(MANIFEST, held | {"checksum": _checksum(held)})


def _checksum(held: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(held, sort_keys=True).encode())
