"""Damaged data, runs and weights are refused in one line, and so is what no machine can do."""

import json
import shutil

import pytest
import torch
from safetensors import safe_open

import orbits
from worldmodel.checkpoint import save_tensors
from worldmodel.cli import main

SMALL = "--steps 1 --d-model 8 --n-layers 1 --n-heads 1 --batch-tokens 8".split()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A data set and a run."""
    here = tmp_path_factory.mktemp("whole")
    orbits.generate(here / "x.zarr", orbits=40, samples=12, shard_orbits=16, workers=1)
    assert main(["train", str(here / "x.zarr"), str(here / "run"), *SMALL]) == 0
    return here


@pytest.fixture
def here(whole, tmp_path, monkeypatch):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def flip(file, place):
    content = bytearray(file.read_bytes())
    content[place] ^= 4
    file.write_bytes(content)


EVALUATE = "probe run x.zarr new.json --readout evaluate".split()
READERS = [
    "train x.zarr new --steps 1",
    "train x.zarr new --steps 1 --stream",
    "probe run x.zarr new.parquet",
    "probe run x.zarr new.json --readout evaluate",
    "probe run x.zarr new.json --readout extrapolate(factors=1)",
]


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_a_damaged_chunk_refuses_it(here, refused, reader):
    for shard in range(3):
        flip(here / f"x.zarr/position/c/{shard}/0/0", 100)
    before = sorted(p.name for p in here.iterdir())
    assert "is damaged" in refused("worldmodel", *reader.split())
    assert sorted(p.name for p in here.iterdir()) == before


def test_numbers_that_were_changed_are_no_weights(here, refused):
    path = here / "run/last.safetensors"
    flip(path, len(path.read_bytes()) - 3)
    assert "is damaged" in refused("worldmodel", *EVALUATE)


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("scales", "inputs", []),
        ("scales", "bodies", "one"),
        ("data", "dt", None),
        ("train", "d_model", [8]),
        ("train", "window", {}),
    ],
)
def test_a_configuration_that_was_changed_is_refused(here, refused, group, name, value):
    path = here / "run/config.json"
    stored = json.loads(path.read_text())
    stored[group][name] = value
    path.write_text(json.dumps(stored))
    assert "is damaged" in refused("worldmodel", *EVALUATE)


def reseal(path, change):
    """Change a file of tensors, and its checksum with it."""
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()["header"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(header, tensors)
    save_tensors(path, tensors, header)


SWAPPED = {
    "a header without its step": lambda header, tensors: header.pop("step"),
    "a header without an identity": lambda header, tensors: header.pop("identity"),
    "a step that is a text": lambda header, tensors: header.update(step="1"),
    "a tensor that is missing": lambda header, tensors: tensors.pop(min(tensors)),
    "a tensor of another shape": lambda header, tensors: tensors.update(
        {max(tensors): torch.zeros(7, 5, 3)}
    ),
    "a tensor too many": lambda header, tensors: tensors.update(more=torch.zeros(1)),
}


@pytest.mark.parametrize("change", SWAPPED.values(), ids=SWAPPED)
@pytest.mark.parametrize("name", ["last", "resume"])
def test_tensors_of_another_make_are_refused_whatever_their_checksum(here, refused, name, change):
    reseal(here / f"run/{name}.safetensors", change)
    again = ["train", "x.zarr", "run", *SMALL]
    assert "is damaged" in refused("worldmodel", *(EVALUATE if name == "last" else again))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_refused_before_anything_is_made(here, refused):
    said = refused("worldmodel", *"train x.zarr new --accelerator cuda".split())
    assert "there is no CUDA device here" in said
    assert not (here / "new").exists()
