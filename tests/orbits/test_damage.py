"""A damaged data set is refused in one line, by every reader, and never called valid."""

import errno
import json
import os
import random
import shutil
import zlib
from dataclasses import replace

import numpy as np
import pytest

from orbits import dataset
from orbits.cli import main
from orbits.config import EphemerisConfig, GenerateConfig
from orbits.dataset.reading import shuffled_batches
from orbits.dataset.validation import validate
from orbits.files import fingerprint, read_sealed, write_sealed
from orbits.generation.generate import generate
from orbits.planets import ephemeris

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
    place = path / name / "c" / str(shard)
    return next(file for file in (place, *place.rglob("*")) if file.is_file())


def contents(path):
    """Every byte of a data set, metadata too."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.mark.parametrize("name", ["position", "velocity"])
def test_a_flipped_bit_is_refused_where_it_is_read_and_nowhere_else(copied, name):
    flip(chunk(copied, name, 1))
    data = dataset.open_dataset(copied)
    assert np.isfinite(data[name].isel(orbit=slice(0, 16)).values).all()
    with pytest.raises(ValueError, match="checksum"):
        _ = data[name].isel(orbit=20).values
    with pytest.raises(ValueError, match="checksum"):
        list(shuffled_batches(copied, (name,)))


@pytest.mark.parametrize("command", [["info"], ["plot", "out.png"]])
def test_commands_refuse_a_damaged_chunk(copied, command, tmp_path, refused, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flip(chunk(copied, "velocity", 0))
    assert "is damaged" in refused("orbits", command[0], copied, *command[1:])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.zarr"]


def problems_of(path):
    try:
        return validate(path)
    except ValueError as error:
        return [str(error)]


FILES = [
    "zarr.json", ".manifest.json", "gm/zarr.json", "position/zarr.json", "time/c/0", "gm/c/1",
    "position/c/2/0/0", "velocity/c/0/0/0", "eccentricity/c/0",
]  # fmt: skip


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("seed", range(2))
def test_one_flipped_bit_in_any_file_is_noticed_and_made_again(copied, whole, file, seed):
    chance = random.Random(seed)
    content = bytearray((copied / file).read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    (copied / file).write_bytes(content)
    try:
        read = dataset.open_dataset(copied).load()
    except ValueError:
        read = None
    assert read is None or read.identical(dataset.open_dataset(whole).load())
    assert problems_of(copied)
    if file == "zarr.json":  # it may no longer be told whose it is
        return
    generate(copied, CONFIG)
    assert contents(copied) == contents(whole)
    assert validate(copied) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: (path / ".manifest.json").unlink(),
        lambda path: (path / ".manifest.json").write_text("[]"),
        lambda path: (path / "gm" / "zarr.json").write_text("[]"),
        lambda path: (path / "velocity" / "zarr.json").unlink(),
        lambda path: chunk(path, "position", 2).write_bytes(b"torn"),
        lambda path: chunk(path, "position", 2).unlink(),
        lambda path: shutil.rmtree(path / "gm" / "c"),
    ],
)
def test_what_is_missing_or_torn_is_made_again(copied, whole, damage):
    damage(copied)
    assert problems_of(copied)
    with pytest.raises(ValueError, match=r"unfinished|cut short|checksum"):
        dataset.open_dataset(copied).load()
    generate(copied, CONFIG)
    assert contents(copied) == contents(whole)
    assert validate(copied) == []


@pytest.mark.parametrize("file", ["zarr.json", ".manifest.json", "position/c/0/0/0"])
@pytest.mark.parametrize("kind", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_never_ends_is_not_read(copied, file, kind):
    (copied / file).unlink()
    kind(copied / file)
    assert problems_of(copied)
    with pytest.raises(ValueError, match=r"unfinished|cut short|not a dataset"):
        dataset.open_dataset(copied)


def test_a_shard_of_another_seed_is_noticed_and_made_again(copied, whole, tmp_path):
    """Its own checksums are right, and so is its physics."""
    generate(tmp_path / "other.zarr", replace(CONFIG, seed=1))
    for name in ("position", "velocity", "semi_major_axis", "eccentricity"):
        shutil.copy(chunk(tmp_path / "other.zarr", name, 1), chunk(copied, name, 1))
    assert validate(copied) == ["1 shard(s) missing, damaged or of another dataset: 1"]
    generate(copied, CONFIG)
    assert contents(copied) == contents(whole)


FORGED = {
    "shards": 10**12, "configuration": None, "dtype": "float16", "shard_orbits": 0, "dt": "0.1",
    "system": "galaxy", "law": "GM*", "units": {}, "versions": 7,
}  # fmt: skip


def forge(path, file, change):
    """Change a document of a data set, and the checksums of the manifest with it."""
    document = json.loads((path / file).read_text())
    change(document)
    (path / file).write_text(json.dumps(document))
    manifest = read_sealed(path / dataset.MANIFEST)
    manifest["metadata"][file] = zlib.crc32((path / file).read_bytes())
    write_sealed(path / dataset.MANIFEST, manifest)


COMMANDS = [["info"], ["forces", "f.parquet"], ["plot", "out.png"]]


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("command", COMMANDS)
def test_forged_attributes_are_refused_in_a_line(copied, name, command, refused, monkeypatch):
    """Whoever forges them can forge the checksums of the manifest too."""
    forge(copied, "zarr.json", lambda document: document["attributes"].update({name: FORGED[name]}))
    monkeypatch.chdir(copied.parent)
    assert "is damaged" in refused("orbits", command[0], copied, *command[1:])
    assert problems_of(copied)


METADATA = {
    "chunk_key_encoding": "x", "codecs": [["orbit"]], "dimension_names": None, "attributes": 0.5,
    "storage_transformers": 1, "shape": [2.5], "data_type": [], "chunk_grid": {"name": 7},
    "node_type": "group", "zarr_format": "3",
}  # fmt: skip


@pytest.mark.parametrize("name", METADATA)
@pytest.mark.parametrize("array", ["position", "time"])
def test_forged_metadata_of_an_array_are_refused_in_a_line(copied, name, array, refused):
    def change(document):
        document["consolidated_metadata"]["metadata"][array][name] = METADATA[name]

    forge(copied, "zarr.json", change)
    assert "is damaged" in refused("orbits", "info", copied)
    assert problems_of(copied)


@pytest.mark.parametrize("attributes", [{}, {"law": 7}, {"dt": "x"}, {"integration": [1]}])
def test_attributes_that_a_manifest_forges_are_refused_or_not_needed(copied, attributes, capsys):
    manifest = read_sealed(copied / dataset.MANIFEST)
    write_sealed(copied / dataset.MANIFEST, manifest | {"attributes": attributes})
    options = "--orbits 40 --samples 20 --shard-orbits 16 --workers 1".split()
    for command in (["info", str(copied)], ["generate", str(copied), *options]):
        assert main(command) == (2 if attributes else 0)
        said = capsys.readouterr().err
        assert "is damaged" in said if attributes else "damaged" not in said


def test_an_ephemeris_is_whole_again_after_damage(tmp_path):
    config = EphemerisConfig(("mercury", "earth"), 1990.0, 1996.0)
    ephemeris(tmp_path / "a.zarr", config)
    ephemeris(tmp_path / "b.zarr", config)
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")
    flip(chunk(tmp_path / "b.zarr", "position", 0))
    with pytest.raises(ValueError, match="checksum"):
        dataset.open_dataset(tmp_path / "b.zarr")["position"].load()
    ephemeris(tmp_path / "b.zarr", config)
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")


@pytest.mark.parametrize(
    "error",
    [RuntimeError("can't start new thread"), OSError(errno.EMFILE, "files"), MemoryError("none")],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("fails", ["zarr.open_group", "pathlib.Path.read_bytes", "zlib.crc32"])
def test_what_a_process_may_not_have_is_no_damage_of_its_data(whole, error, fails, monkeypatch):
    def none(*given, **named):
        raise error

    before = fingerprint(whole)
    monkeypatch.setattr(fails, none)
    monkeypatch.setattr("xarray.open_zarr", none)
    for reads in (dataset.open_dataset, validate, lambda path: generate(path, CONFIG)):
        with pytest.raises(type(error)) as told:
            reads(whole)
        assert told.value is error
    monkeypatch.undo()
    assert fingerprint(whole) == before
