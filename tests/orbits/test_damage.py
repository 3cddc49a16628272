"""A damaged data set is refused in one line, by every reader, and never called valid."""

import json
import random
import shutil

import numpy as np
import pytest

from orbits import dataset
from orbits.cli import main
from orbits.config import EphemerisConfig, GenerateConfig
from orbits.generation import generate
from orbits.planets import ephemeris
from orbits.reading import shuffled_batches
from orbits.records.places import Place
from orbits.validation import validate

CONFIG = GenerateConfig(orbits=40, samples=20, shard_orbits=16, workers=1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "x.zarr"
    generate(path, CONFIG)
    return path


@pytest.fixture
def copied(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "x.zarr")
    return tmp_path / "x.zarr"


def flip(file, place=100):
    content = bytearray(file.read_bytes())
    content[place % len(content)] ^= 4
    file.write_bytes(content)


def chunk(path, name, shard):
    return next(file for file in (path / name / "c" / str(shard)).rglob("*") if file.is_file())


def contents(path):
    """Every byte of a data set, metadata and markers too."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.mark.parametrize("name", ["position", "velocity"])
def test_a_flipped_bit_is_refused_where_it_is_read_and_nowhere_else(copied, name):
    flip(chunk(copied, name, 1))
    data = dataset.open_dataset(copied)
    assert np.isfinite(data[name].isel(orbit=slice(0, 16)).values).all()
    with pytest.raises(ValueError, match=f"{name}/c/1/0/0 is damaged"):
        _ = data[name].isel(orbit=20).values
    with pytest.raises(ValueError, match="is damaged"):
        list(shuffled_batches(copied, (name,)))


@pytest.mark.parametrize("command", [["info"], ["plot", "out.png"]])
def test_commands_refuse_a_damaged_chunk(copied, command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flip(chunk(copied, "velocity", 0))
    assert main([command[0], str(copied), *command[1:]]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"orbits {command[0]}: ")
    assert "is damaged" in error
    assert error.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.zarr"]


def edit(path, alter):
    document = json.loads((path / "zarr.json").read_text())
    alter(document["attributes"])
    (path / "zarr.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    "alter",
    [
        lambda a: a.update(shards=-1),
        lambda a: a.update(shards=10**15),
        lambda a: a.update(shards="3"),
        lambda a: a.update(shard_orbits=0),
        lambda a: a.update(dt=[0.1]),
        lambda a: a.update(dt=float("nan")),
        lambda a: a.update(law=["newton"]),
        lambda a: a.update(law="hooke"),
        lambda a: a.update(configuration="none"),
        lambda a: a.update(integration=[1]),
        lambda a: a.update(bodies=3),
        lambda a: a.update(dtype="float16"),
        lambda a: a.update(system=["relative"]),
        lambda a: a.update(complete="yes"),
        lambda a: a.pop("versions"),
    ],
)
def test_nonsense_in_the_attributes_is_refused_by_all(copied, alter, capsys):
    edit(copied, alter)
    try:
        problems = validate(copied)
    except ValueError as error:
        problems = [str(error)]
    assert problems
    assert main(["info", str(copied)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "alter",
    [
        lambda m: [],
        lambda m: None,
        lambda m: {**m, "files": {}},
        lambda m: {**m, "files": [1]},
        lambda m: {**m, "files": {name: 3 for name in m["files"]}},
        lambda m: {**m, "shard": "0"},
        lambda m: {**m, "shard": 2},
        lambda m: {**m, "quality": [1]},
        lambda m: {**m, "quality": {"checked": "many"}},
        lambda m: {**m, "orbits": None},
        lambda m: {**m, "configuration_sha256": 7},
    ],
)
def test_a_marker_that_is_none_vouches_for_nothing_and_is_made_again(copied, whole, alter):
    marker = copied / ".markers" / "shard-00001.json"
    marker.write_text(json.dumps(alter(json.loads(marker.read_text()))))
    with pytest.raises(ValueError, match=r"1 of 3 shards are missing or not whole \(1\)"):
        dataset.open_dataset(copied)
    assert any("missing, cut short or changed: 1" in problem for problem in validate(copied))
    generate(copied, CONFIG)
    assert contents(copied) == contents(whole)


@pytest.mark.parametrize("seed", range(60))
def test_random_damage_is_noticed_or_changes_nothing(copied, whole, seed):
    """One byte of any file: every reader refuses, or nothing that it reads has changed."""
    chance = random.Random(seed)
    files = sorted(f for f in copied.rglob("*") if f.is_file() and f.name != ".lock")
    damaged = chance.choice(files)
    content = bytearray(damaged.read_bytes())
    at = chance.randrange(len(content))
    content[at] ^= 1 << chance.randrange(8)
    damaged.write_bytes(content)
    try:
        read = dataset.open_dataset(copied).load()
    except ValueError:
        read = None
    if read is not None:
        assert read.identical(dataset.open_dataset(whole).load())
    try:
        problems = validate(copied)
    except ValueError as error:
        problems = [str(error)]
    if read is None:
        assert problems, damaged
    elif problems:  # an array's own metadata, which no command reads, or a marker's seed
        assert damaged.name in ("zarr.json", "0", ".lock") or ".markers" in str(damaged)


def test_a_data_set_finished_after_any_interruption_has_the_same_bytes(whole, tmp_path):
    """Metadata too: whatever was there of it when the process was killed."""
    path = tmp_path / "x.zarr"
    shutil.copytree(whole, path)
    edit(path, lambda a: a.update(complete=False))
    document = json.loads((path / "zarr.json").read_text())
    for name in ("integration", "document_sha256"):
        del document["attributes"][name]
    del document["consolidated_metadata"]
    (path / "zarr.json").write_text(json.dumps(document))
    (path / ".markers" / "shard-00002.json").unlink()
    chunk(path, "position", 2).write_bytes(b"torn")
    generate(path, CONFIG)
    assert contents(path) == contents(whole)


@pytest.mark.parametrize("damage", ["attributes", "array", "cut", "consolidated"])
def test_damaged_metadata_are_made_again(copied, whole, damage):
    if damage == "attributes":
        edit(copied, lambda a: a.update(law="hooke"))
    elif damage == "array":
        (copied / "gm" / "zarr.json").write_text("[]")
        edit(copied, lambda a: a.update(complete=False))
    elif damage == "cut":
        text = (copied / "velocity" / "zarr.json").read_text()
        (copied / "velocity" / "zarr.json").write_text(text[:50])
        edit(copied, lambda a: a.update(complete=False))
    else:
        document = json.loads((copied / "zarr.json").read_text())
        del document["consolidated_metadata"]
        (copied / "zarr.json").write_text(json.dumps(document))
    assert validate(copied)
    generate(copied, CONFIG)
    assert contents(copied) == contents(whole)
    assert validate(copied) == []


def test_an_ephemeris_is_whole_again_after_damage(tmp_path):
    config = EphemerisConfig(("mercury", "earth"), "1990", "1996")
    ephemeris(tmp_path / "a.zarr", config)
    ephemeris(tmp_path / "b.zarr", config)
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")
    flip(chunk(tmp_path / "b.zarr", "position", 0))
    with pytest.raises(ValueError, match="is damaged"):
        dataset.open_dataset(tmp_path / "b.zarr")["position"].load()
    assert not dataset.is_complete(Place(tmp_path / "b.zarr"), checksums=True)
    ephemeris(tmp_path / "b.zarr", config)
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")
