"""A dataset's place: a local folder or an fsspec address, read and written alike."""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import fsspec
import zarr
from zarr.abc.store import Store
from zarr.storage import FsspecStore, LocalStore

from orbits.records.files import write_text


class Place:
    """Where a dataset lives: `data/x.zarr`, `s3://bucket/x.zarr`, `memory://x.zarr`."""

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.address = str(address)
        self.is_local = "://" not in self.address
        if self.is_local:
            self.path = Path(self.address)
        else:
            try:
                self.files, self.root = fsspec.core.url_to_fs(self.address)
            except (ValueError, ImportError) as error:
                raise ValueError(f"{self.address} cannot be opened: {error}.") from None

    def __str__(self) -> str:
        return self.address

    def store(self, read_only: bool = False) -> Store:
        """The zarr store of this place."""
        if self.is_local:
            return LocalStore(self.path, read_only=read_only)
        return FsspecStore.from_url(self.address, read_only=read_only)

    def group(self, mode: Literal["r", "r+"] = "r+") -> zarr.Group:
        """The zarr group of this place."""
        store = self.store(read_only=mode == "r")
        return zarr.open_group(store, mode=mode, zarr_format=3, use_consolidated=False)

    def new_group(self, attributes: Mapping[str, Any]) -> zarr.Group:
        """A zarr group with these attributes, written in one go; one that is there stays."""
        if self.size("zarr.json") is not None:
            return self.group()
        return zarr.create_group(self.store(), attributes=dict(attributes), zarr_format=3)

    def exists(self, name: str = "") -> bool:
        """Whether there is anything of that name."""
        if self.is_local:
            return (self.path / name).exists()
        return bool(self.files.exists(self._within(name)))

    def is_empty(self) -> bool:
        """Whether nothing is here yet, apart from hidden files of our own."""
        if self.is_local:
            if not self.path.is_dir():
                return not self.path.exists()
            return all(entry.name.startswith(".") for entry in self.path.iterdir())
        return not self.files.exists(self.root) or not self.files.ls(self.root)

    def size(self, name: str) -> int | None:
        """Bytes of a file, or None where there is none."""
        try:
            if self.is_local:
                return (self.path / name).stat().st_size
            return int(self.files.size(self._within(name)))
        except FileNotFoundError:
            return None

    def sha256(self, name: str) -> str:
        """Fingerprint of a file's bytes."""
        if self.is_local:
            with open(self.path / name, "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        return hashlib.sha256(self.files.cat_file(self._within(name))).hexdigest()

    def read_json(self, name: str) -> Any:
        """A JSON file's value, or None where it is missing or not whole."""
        try:
            if self.is_local:
                text = (self.path / name).read_text(encoding="utf-8")
            else:
                text = self.files.cat_file(self._within(name)).decode()
            return json.loads(text)
        except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError, json.JSONDecodeError):
            return None

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file; on a local disk it is whole or absent."""
        text = json.dumps(value, sort_keys=True)
        if self.is_local:
            write_text(self.path / name, text)
        else:
            self.files.pipe_file(self._within(name), text.encode())

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        if self.is_local:
            (self.path / name).unlink(missing_ok=True)
        elif self.files.exists(self._within(name)):
            self.files.rm_file(self._within(name))

    def remove_partial_files(self) -> None:
        """Remove what killed writers left half-written beside the files."""
        if self.is_local:
            for file in self.path.rglob("*.partial"):
                file.unlink(missing_ok=True)

    def free_bytes(self) -> int | None:
        """Free space where this place is or will be; None where nobody can say."""
        if not self.is_local:
            return None
        existing = next(p for p in (self.path, *self.path.absolute().parents) if p.exists())
        return shutil.disk_usage(existing).free

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other generators out of a local place while the block runs.

        The lock belongs to the process: a killed one leaves none behind.

        Raises:
            ValueError: if another process holds the place.
        """
        if not self.is_local:
            yield
            return
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / ".lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                raise ValueError(
                    f"{self.address} is being written by another process; wait for it, or choose "
                    "another path."
                ) from None
            yield

    def _within(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{name}" if name else self.root
