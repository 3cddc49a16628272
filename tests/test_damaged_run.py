"""One bit flipped, one file deleted, one replaced by another run's: a run notices every one.

It says which, makes exactly what is needed again, and ends with the verdict of before.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from symreg.cli import main

pytestmark = pytest.mark.slow

OPTIONS = [
    "--orbits", "40", "--steps", "40", "--search-seeds", "2", "--sources", "orbit", "kicked",
    "--controls", "injected", "--simulator", "kepler",
]  # fmt: skip
STAGES = 9

AFTER_MODEL = {"probe_orbit", "recover_orbit", "probe_kicked", "recover_kicked", "jacobian"}
"""What reads the model; training to the same weights repeats none of them."""

FILES = {
    "data chunk": ("data/train.zarr/position/c/0/0/0", {"train_orbits"}),
    "data metadata": ("data/held_out.zarr/zarr.json", {"held_out_orbits"}),
    "weights": ("model/last.safetensors", {"train"}),
    "resume state": ("model/resume.safetensors", {"train"}),
    "configuration of the model": ("model/config.json", {"train"}),
    "log of the training": ("model/metrics.jsonl", {"train"}),
    "force samples": ("forces/kicked.parquet", {"probe_kicked"}),
    "law": ("laws/kicked.json", {"recover_kicked"}),
    "read-out": ("readouts/jacobian.json", {"jacobian"}),
    "record of a stage": ("stages/recover_orbit.json", {"recover_orbit"}),
    "verdict": ("verdict.json", set()),
    "report": ("report.html", set()),
    "figure": ("figures/law.png", set()),
}
"""A file of each kind, and the stages that are needed again."""


def run(folder, capsys, *options):
    assert main(["run", "--out", str(folder), *OPTIONS, *options]) == 0
    return capsys.readouterr().out


def verdict(folder):
    found = json.loads((folder / "verdict.json").read_text())
    kept = {name: found[name] for name in ("recovered", "expression", "gates", "world_model", "r2")}
    return kept, {name: source["law"] for name, source in found["sources"].items()}


def first_file(folder: Path, name):
    """The file, or where a store lays its chunks out otherwise, the first of its array."""
    path = folder / name
    if path.exists():
        return path
    return next(p for p in sorted((path.parents[3] / "position").rglob("*")) if p.name[0] != "z")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        assert main(["run", "--out", str(folder / str(seed)), *OPTIONS, "--seed", str(seed)]) == 0
    return folder


def repeated(printed):
    """Stages that were made again, by their records' order in what was printed."""
    return [line for line in printed.splitlines() if line.startswith("[") and "there" not in line]


@pytest.mark.parametrize("damage", ["flipped", "deleted", "another's"])
@pytest.mark.parametrize("kind", FILES)
def test_damage_is_noticed_and_mended(finished, capsys, kind, damage):
    name, again = FILES[kind]
    folder = finished / "0"
    path = first_file(folder, name)
    before, expected = path.read_bytes(), verdict(folder)
    records = {p.stem: p.stat().st_mtime_ns for p in (folder / "stages").iterdir()}
    if damage == "flipped":
        flipped = bytearray(before)
        flipped[len(before) * 2 // 3] ^= 1 << int(np.random.default_rng(0).integers(0, 8))
        path.write_bytes(flipped)
    elif damage == "deleted":
        path.unlink()
    else:
        other = first_file(finished / "1", name)
        if other.read_bytes() == before:
            pytest.skip("both runs have the same")
        shutil.copyfile(other, path)
    printed = run(folder, capsys)
    now = {p.stem: p.stat().st_mtime_ns for p in (folder / "stages").iterdir()}
    assert {stage for stage in now if now[stage] != records.get(stage)} == again, printed
    assert len(repeated(printed)) == len(again)
    if again and not (kind == "record of a stage" and damage == "deleted"):
        assert "(again: " in printed
        output = "model" if name.startswith("model") else "/".join(name.split("/")[:2])
        assert kind == "record of a stage" or f"(again: {output} is " in printed
    assert verdict(folder) == expected
    if kind not in ("verdict", "report", "law", "record of a stage", "log of the training"):
        assert path.read_bytes() == before
    assert run(folder, capsys).count("there already") == len(now)
