"""A study runs its cells side by side, once, and loses nothing: not to a failure, not to a stop.

Most cells are toys here, in threads; one real study is at the end.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
import yaml

from orbits.files import read_json, write_json
from orbits.provenance import provenance
from symreg.cli import main
from symreg.experiments import study as studies
from symreg.experiments.result import Run, StatesResult
from symreg.experiments.verdict import WorldModelKind
from symreg.recovery.result import Agreement, Quantity, Recovery

STUDIES = Path(__file__).parents[2] / "notebooks" / "studies"
CONTEXT = STUDIES / "context.py"


def quantity(name, value, truth):
    return Quantity(value, value - 0.1, value + 0.1, name=name, truth=truth)


LAW = Recovery(
    recovered=True, verdict="up_to_scale", reference="newton", expression="39.5/r**2",
    raw_expression=None, law="newton", selected_from="portfolio",
    constant=quantity("GM", 39.5, 39.478), exponents={"r": quantity("r", -2.0, -2.0)},
    parameters={}, r2=0.99, r2_linear=0.99, r2_log=0.99, agreement=Agreement(1, 1), nulls={},
    gates=(),
    engine="portfolio", engine_reason="", pareto_front=(), rows=9, rows_used=9, groups=3,
    non_central=0.0, error_floor=0.02,
)  # fmt: skip


class Toys:
    """Cells that take no time: counted, failing or waiting by their seeds."""

    def __init__(self, folder):
        self.folder = folder
        self.ran, self.failing, self.waiting = [], set(), set()
        self.go_on = threading.Event()

    def run_cell(self, config):
        self.ran.append(config.seed)
        if config.seed in self.waiting:
            self.go_on.wait(20)
            return 0.0
        if config.seed in self.failing:
            raise ValueError("no luck")
        config.folder.mkdir(parents=True)
        config.write(config.folder)
        run = Run(
            config.folder, "newton", True, "", WorldModelKind("law", (), ()), (),
            {"kicked": StatesResult(LAW, 0.99, {"1": 0.98, "4": 0.99})}, {},
            {"linear": {"none": {"x": 0.5}}},
            {"model": 2.0, "forces/kicked.parquet": 1.0}, {"model": 1.5},
            **provenance(config.identity),
        )  # fmt: skip
        run.write()
        return 1.0

    def study(self, *options):
        self.ran.clear()
        return main(["study", str(self.folder / "s.yaml"), "--out", str(self.out), *options])

    @property
    def out(self):
        return self.folder / "out"


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """A study of four seeds."""
    toys = Toys(tmp_path)

    @contextmanager
    def threads(config, cells):
        pool = ThreadPoolExecutor(2)
        try:
            yield pool, 2
        finally:
            toys.go_on.set()
            pool.shutdown(cancel_futures=True)
            toys.go_on.clear()

    monkeypatch.setattr(studies, "run_cell", toys.run_cell)
    monkeypatch.setattr(studies, "workers_for", threads)
    content = {"name": "s", "question": "What?", "grid": {"seed": [0, 1, 2, 3]}}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(content))
    return toys


def test_every_cell_runs_once_and_has_its_row(toys, capsys):
    assert toys.study() == 0
    assert sorted(toys.ran) == [0, 1, 2, 3]
    assert capsys.readouterr().err.count("law, law recovered") == 4
    table = pd.read_parquet(toys.out / "results.parquet")
    pd.testing.assert_frame_equal(
        table, pd.read_csv(toys.out / "results.csv").convert_dtypes(), check_dtype=False
    )
    assert list(table["cell"]) == [f"seed={n}" for n in range(4)]
    row = table.iloc[0]
    assert (row["status"], row["world_model"]) == ("done", "law")
    assert (row["kicked.exponent"], row["kicked.exponent_low"]) == (-2.0, -2.1)
    assert (row["kicked.kick_r2_1"], row["linear.x"]) == (0.98, 0.5)
    assert (row["seconds"], row["seconds.model"]) == (3.0, 2.0)
    assert row["processor_seconds.model"] == 1.5
    assert toys.study() == 0
    assert toys.ran == []
    assert "4 finished already" in capsys.readouterr().err


def test_a_failed_cell_is_reported_stops_nobody_and_runs_again(toys, capsys):
    toys.failing = {1}
    assert toys.study() == 1
    assert sorted(toys.ran) == [0, 1, 2, 3]
    assert "failed: seed=1: no luck" in capsys.readouterr().out
    table = pd.read_csv(toys.out / "results.csv")
    assert list(table["status"]) == ["done", "failed", "done", "done"]
    page = (toys.out / "report.html").read_text()
    assert "no luck" in page
    assert "3 done" in " ".join(page.split())
    toys.failing = set()
    assert toys.study() == 0
    assert toys.ran == [1]
    assert list(pd.read_csv(toys.out / "results.csv")["status"]) == ["done"] * 4


def test_a_piece_of_limited_time_stops_and_goes_on(toys, capsys):
    toys.waiting = {1}
    assert toys.study("--minutes", "0.02") == 130
    assert "Run the same command to go on" in capsys.readouterr().err
    status = pd.read_csv(toys.out / "results.csv").set_index("seed")["status"]
    assert status[1] == "pending"
    assert (toys.out / "report.html").exists()
    toys.waiting = set()
    assert toys.study() == 0
    assert sorted(toys.ran) == sorted(status.index[status == "pending"])


def test_other_options_or_files_in_the_folder_are_refused_before_anything_runs(toys, capsys):
    cell = toys.out / "cells" / "seed=2"
    cell.mkdir(parents=True)
    write_json(cell / "configuration.json", {"seed": 2, "steps": 7})
    write_json(toys.out / "study.json", {})
    assert toys.study() == 2
    error = capsys.readouterr().err
    assert "belongs to another configuration: --steps 7 (now " in error
    assert error.count("\n") == 1
    (toys.out / "study.json").unlink()
    assert toys.study() == 2
    assert "is no folder of a study and not empty" in capsys.readouterr().err
    assert toys.ran == []


def small(**keys):
    """A study of models that hardly train."""
    base = {
        "simulator": "kepler", "orbits": 16, "samples": 32, "steps": 10, "d_model": 16,
        "search_seeds": 1, "sources": ["kicked"], "controls": [], "readouts": ["evaluate"],
        "engine": "rational",
    }  # fmt: skip
    return {"name": "small", "question": "Does it run?", "base": base, **keys}


def test_a_small_study_from_end_to_end(tmp_path):
    """Really: orbits, training, kicks, search, roll-out, report, in a process of its own."""
    path, out = tmp_path / "small.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump(small(figure=str(CONTEXT), grid={"context_length": [4]})))
    assert main(["study", str(path), "--out", str(out)]) == 0
    table = pd.read_csv(out / "results.csv")
    assert list(table["status"]) == ["done"]
    assert list(table["world_model"]) == ["neither"]
    assert table["kicked.kick_r2_1"].notna().all()
    assert (table["evaluate.error_16"] > 0).all()
    made = ["data/train.zarr", "model", "forces/kicked.parquet", "readouts/evaluate.json"]
    assert {f"seconds.{name}" for name in made} <= set(table.columns)
    verdict = read_json(out / "cells" / "context_length=4" / "verdict.json")
    assert verdict["world_model"]["inside"]
    page = (out / "report.html").read_text()
    assert 'id="figure-context"' in page
    assert "Does it run?" in page
    assert (out / "cells" / "context_length=4" / "report.html").exists()


def test_the_protocol_of_fine_tuning_runs_small(tmp_path):
    """The study of the pages, with networks that hardly train: every learner has its law."""
    content = yaml.safe_load((STUDIES / "protocol.yaml").read_text())
    few = "few=40, few_labels=0, steps=250", "labelled=60,few=10,points=100,steps=4"
    (readouts,) = content["grid"][0]["readouts"]
    readouts = [text.replace(*few) for text in readouts]
    content["base"] |= small()["base"] | {
        "context_length": 6, "readouts": readouts, "sources": [], "controls": []
    }  # fmt: skip
    content |= {"grid": {"attention": ["lssar"]}, "figure": str(STUDIES / "protocol.py")}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(content))
    assert main(["study", str(tmp_path / "small.yaml"), "--out", str(tmp_path / "out")]) == 0
    rows = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert list(rows["learner"]) == [
        "network", "last block", "network, size", "head", "forest", "network, shuffled labels",
    ]  # fmt: skip
    assert (tmp_path / "out" / "figures" / "protocol.png").exists()


@pytest.mark.slow  # that a cluster works here: tests/orbits/test_cluster.py
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dask_cluster_runs_the_cells(tmp_path):
    distributed = pytest.importorskip("distributed")
    path, out = tmp_path / "small.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump(small(grid={"seed": [0, 1]})))
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as c:
        assert (
            main(["study", str(path), "--out", str(out), "--scheduler", c.scheduler_address]) == 0
        )
    assert list(pd.read_csv(out / "results.csv")["status"]) == ["done", "done"]
