"""A dataset's place: a local folder or an fsspec address, read and written alike."""

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import zarr
from upath import UPath
from zarr.abc.store import Store
from zarr.storage import FsspecStore, LocalStore

from orbits.records.files import json_of, require_output, write_text
from orbits.records.locks import held


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
            self.path: Path | UPath = self.local or UPath(self.address)
            getattr(self.path, "fs", None)  # here an unknown protocol can be answered
        except (ValueError, ImportError) as error:
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

    def new_group(self, attributes: Mapping[str, Any]) -> zarr.Group:
        """A zarr group with these attributes, written in one go."""
        group = {"attributes": dict(attributes), "zarr_format": 3, "node_type": "group"}
        self.write_json("zarr.json", group)
        return self.group()

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

    def size(self, name: str) -> int | None:
        """Bytes of a file, or None where there is none."""
        try:
            return self._within(name).stat().st_size
        except FileNotFoundError:
            return None

    def sha256(self, name: str) -> str:
        """Fingerprint of a file's bytes."""
        with self._within(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

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
        """Remove a file, if there is one."""
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
