"""A run on disk: its configuration, its weights, and the state from which training resumes.

`config.json` says what the run is. `last.safetensors` and `best.safetensors` hold weights;
`resume.safetensors` holds weights, optimisers and batches together. Tensors are safetensors and
everything else is JSON, so that nothing is unpickled. Each file is written aside and renamed, and
carries its own checksum and the identity of its configuration.
"""

import dataclasses
import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from orbits.files import (
    as_json,
    of_json,
    read_sealed,
    require_output,
    sha256_of_json,
    write_sealed,
    written_aside,
)
from orbits.memory import out_of_resources
from orbits.provenance import provenance
from worldmodel.config import TrainConfig
from worldmodel.model import Scales
from worldmodel.source import DataFacts

FORMAT, FORMER = "orbitlaw-run 3", "orbitlaw-run 2"


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """Contents of `config.json`: how a run was trained, on what, in which units of length."""

    train: TrainConfig
    data: DataFacts
    scales: Scales
    radius: tuple[float, float]
    """Smallest and largest distance from the centre in the training orbits, au."""
    identity: str
    """Fingerprint of the options and the data together, as it was when the run began."""

    @classmethod
    def of(
        cls, train: TrainConfig, data: DataFacts, scales: Scales, radius: tuple[float, float]
    ) -> "RunRecord":
        """Of a run that begins."""
        identity = f"{train.identity()[:16]}-{data.fingerprint[:16]}"
        return cls(train, data, scales, radius, identity)


def write_record(run: Path, record: RunRecord) -> None:
    """Write `config.json`."""
    content = {"format": FORMAT, **as_json(record)}
    content |= {"provenance": provenance(record.train)}
    write_sealed(run / "config.json", content)


def read_record(run: str | os.PathLike[str]) -> RunRecord:
    """Read a run's `config.json`; ValueError if it is missing, damaged or of another format."""
    path = named(run) / "config.json"
    if not path.is_file():
        raise ValueError(
            f"{run} is not a run: it has no config.json; `worldmodel train DATA.zarr {run}` "
            "makes one."
        )
    stored = read_sealed(path)
    if stored.get("format") == FORMER:
        try:
            stored = _of_former(stored)
        except (KeyError, TypeError) as error:
            where = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(f"{path} is damaged or of another version ({where}).") from None
    elif stored.get("format") != FORMAT:
        raise ValueError(
            f"{path} is not the configuration of a run ({FORMAT}); train again in another folder."
        )
    return of_json(RunRecord, stored, str(path))


def _of_former(stored: dict[str, Any]) -> dict[str, Any]:
    """The contents as they are now, from a time when coordinates were all that a network knew."""
    train, scales = {**stored["train"]}, {**stored["scales"]}
    lengths = ["position", "step", "bend"] if train["inputs"] == "differences" else ["position"]
    if train["inputs"] == "positions":
        train["inputs"] = "coordinates"
    train |= {"outputs": "coordinates", "norm": "layer"}

    def units(names: list[str]) -> list[dict[str, float]]:
        return [{"origin": 0.0, "size": scales[name]} for name in names]

    scales["inputs"], scales["outputs"] = units(lengths), units(["target"])
    scales = {name: scales[name] for name in ("bodies", "axes", "inputs", "outputs")}
    return {**stored, "train": train, "scales": scales}


def named(folder: str | os.PathLike[str]) -> Path:
    """A run's folder; an empty name is refused: it would mean the current folder."""
    if not str(folder):
        raise ValueError("the name of the run's folder is empty; give a path.")
    return Path(folder)


def require_run_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder; ValueError if its name is empty, or it holds anything but a run."""
    run = require_output(named(folder))
    if run.exists() and not run.is_dir():
        raise ValueError(f"{run} is a file; give a folder for the run.")
    if run.is_dir() and not (run / "config.json").exists():
        # Hidden files are locks, and what was being written when an earlier process was killed.
        held = sorted(path.name for path in run.iterdir() if not path.name.startswith("."))
        if held:
            raise ValueError(
                f"{run} is not empty and holds no run (there is {held[0]}); give another folder."
            )
    return run


def require_same_run(run: Path, record: RunRecord) -> None:
    """Raise ValueError if the folder holds a run of another configuration or other data."""
    if not (run / "config.json").exists():
        return
    earlier = read_record(run)
    if earlier.identity == record.identity:
        return
    was, now = dataclasses.asdict(earlier.train), dataclasses.asdict(record.train)
    differences = [
        f"{name} {was[name]!r} there, {now[name]!r} here"
        for name in now
        if was[name] != now[name] and name not in TrainConfig.FREE
    ]
    if earlier.data.fingerprint != record.data.fingerprint:
        differences.append(f"data {earlier.data.path} there, {record.data.path} here")
    differences = differences or ["it was begun by an earlier version"]
    raise ValueError(
        f"{run} belongs to another configuration ({'; '.join(differences)}); give another "
        "folder, or remove that one."
    )


def save_tensors(path: Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Write tensors with a JSON header and one checksum of both, whole or not at all."""
    whole = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    checksum = sha256_of_json([header, sha256_of_tensors(whole)])
    metadata = {"header": json.dumps(header), "sha256": checksum}
    content = save(whole, metadata)
    # the library writes the entries of its head in random order, and equal tensors give equal files
    first = struct.calcsize("<Q")
    end = first + struct.unpack_from("<Q", content)[0]
    entries = json.dumps(json.loads(content[first:end]), sort_keys=True, separators=(",", ":"))
    with written_aside(path) as aside:
        aside.write_bytes(content[:first] + entries.encode().ljust(end - first) + content[end:])


def sha256_of_tensors(tensors: Mapping[str, Tensor]) -> str:
    """Fingerprint of tensors by name, whatever their file."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        values = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
        digest.update(values.numpy().tobytes())
    return digest.hexdigest()


def load_tensors(path: Path, identity: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read tensors and their header; ValueError if the file is missing, damaged, or belongs to
    another configuration."""
    if not path.is_file():
        raise ValueError(
            f"{path} does not exist; the run has not come that far: run `worldmodel train` again "
            "with the same options to go on."
        )
    with damage_named(path):
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(metadata["header"])
        if metadata["sha256"] != sha256_of_json([header, sha256_of_tensors(tensors)]):
            raise ValueError("its numbers are not those that were written")
        theirs, step = header["identity"], header["step"]
        if not isinstance(step, int) or step < 0:
            raise ValueError(f"its step is {step!r}")
    if theirs != identity:
        raise ValueError(
            f"{path} belongs to another configuration than {path.parent / 'config.json'}; "
            "restore the file that was trained there, or train again in another folder."
        )
    return tensors, header


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn what a file of tensors that are not a run's makes libraries raise into one ValueError.

    A checksum may be right and the tensors others: of an earlier version, or forged.
    """
    try:
        yield
    except (
        SafetensorError, struct.error, KeyError, IndexError, TypeError, ValueError, OSError,
        AttributeError, RuntimeError,
    ) as error:  # fmt: skip
        if out_of_resources(error):
            raise
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"{path} is damaged: it is cut short, or no checkpoint ({first:.200}); remove it and "
            "train again, or restore it."
        ) from None
