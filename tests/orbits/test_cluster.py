"""Other places and other workers: the same bits."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from orbits.cli import main
from orbits.config import GenerateConfig
from orbits.dataset import open_dataset
from orbits.generation.generate import generate

SETTINGS = {"orbits": 70, "samples": 20, "shard_orbits": 16}


def content(path):
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if "/c/" in str(file) and file.is_file()
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dask_cluster_makes_the_same_bits(tmp_path, capsys):
    distributed = pytest.importorskip("distributed")
    generate(tmp_path / "here.zarr", GenerateConfig(**SETTINGS, workers=1))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        options = ["--orbits", "70", "--samples", "20", "--shard-orbits", "16"]
        scheduler = ["--scheduler", cluster.scheduler_address]
        assert main(["generate", str(tmp_path / "there.zarr"), *options, *scheduler]) == 0
    assert cluster.scheduler_address in capsys.readouterr().err
    assert content(tmp_path / "here.zarr") == content(tmp_path / "there.zarr")
    here, there = (open_dataset(tmp_path / f"{name}.zarr").attrs for name in ("here", "there"))
    assert here == there


@pytest.mark.needs("distributed")
def test_a_scheduler_that_is_not_there(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("orbits.cluster.CONNECTING", 0.5)
    options = ["--orbits", "5", "--scheduler", "tcp://127.0.0.1:1"]
    assert main(["generate", str(tmp_path / "x.zarr"), *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("orbits generate: no dask scheduler answers")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("distributed")
def test_a_study_without_its_scheduler_leaves_nothing(tmp_path, refused, monkeypatch):
    monkeypatch.setattr("orbits.cluster.CONNECTING", 0.5)
    (tmp_path / "s.yaml").write_text("name: s\nquestion: which?\ngrid: {seed: [0]}\n")
    words = ["study", tmp_path / "s.yaml", "--out", tmp_path / "out"]
    said = refused("symreg", *words, "--scheduler", "tcp://127.0.0.1:1")
    assert "no dask scheduler answers" in said
    assert not (tmp_path / "out").exists()


def test_an_address_is_no_folder(tmp_path):
    with pytest.raises(ValueError, match="memory://x is an address; give a folder"):
        generate("memory://x", GenerateConfig(**SETTINGS))


@pytest.mark.slow
@pytest.mark.needs("distributed")
def test_a_worker_of_a_cluster_is_killed_and_every_file_is_that_of_one_process(tmp_path):
    script = Path(__file__).parents[1] / "benchmarks" / "cluster.py"
    sizes = ["--orbits", "40000", "--cells", "6", "--workers", "2"]
    said = subprocess.run(
        [sys.executable, script, tmp_path / "out", *sizes],
        check=True,
        text=True,
        capture_output=True,
    ).stdout
    assert re.findall(r"^\| 2 \| (\d) \| .* \| (yes|no) \|$", said, re.MULTILINE) == [
        ("1", "yes"), ("1", "yes"),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_a_user_of_slurm_types_asks_for_workers_of_the_same_python(monkeypatch):
    """As far as it goes without Slurm: the text of a job, and the address that is given."""
    jobqueue = pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    page = Path(__file__).parents[2] / "notebooks" / "how-to" / "study.md"
    code = page.read_text().split('```python title="on_slurm.py"\n')[1].partition("```")[0]
    commands, asked = [], []
    monkeypatch.setattr("subprocess.run", lambda words, check: commands.append(words))
    monkeypatch.setattr(jobqueue.SLURMCluster, "scale", lambda self, jobs: asked.append(jobs))
    monkeypatch.setattr(jobqueue.SLURMCluster, "wait_for_workers", lambda self, n: None)
    given = {}
    exec(code, given)
    cluster = given["cluster"]
    text, address = cluster.job_script(), cluster.scheduler_address
    cluster.close()
    for line in ("#SBATCH --cpus-per-task=1", "#SBATCH -t 04:00:00", "#SBATCH --mem=3G"):
        assert line in text
    assert f"{sys.executable} -m distributed.cli.dask_worker {address}" in text
    assert "--nthreads 1" in text
    assert asked[0] == 16
    assert commands == [[*commands[0][:-2], "--scheduler", address]]
    assert commands[0][:2] == ["symreg", "study"]
