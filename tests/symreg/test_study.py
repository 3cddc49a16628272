"""A study runs its cells side by side, once, and loses nothing: not to a kill, not to a failure.

Its cells are toys here, processes that take no time and obey files; one real study is at the end.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pandas as pd
import pytest
import yaml

from orbits.files import read_json
from symreg.cli import main
from symreg.experiments import processes
from symreg.experiments.config import RunConfig
from symreg.experiments.folder import held_as
from symreg.experiments.studies import cells as study_cells
from symreg.experiments.grid import Cell

TOY_CELL = '''
    """Counts its runs in runs.txt; obeys the files `fail` and `wait`, whose lines name seeds."""
    import pathlib, sys, time
    from orbits.command_line import interruptible
    from orbits.files import read_json, write_json
    from orbits.records.provenance import provenance
    from symreg.recovery.judge import WorldModelKind
    from symreg.recovery.result import Quantity, Recovery, Seeds
    from symreg.experiments.config import RunConfig
    from symreg.experiments.result import Run, Source
    config, workers, out = sys.argv[2], sys.argv[4], pathlib.Path(sys.argv[6])
    options = read_json(config)
    toys = pathlib.Path(__file__).parent
    said = lambda name: (toys / name).read_text().split() if (toys / name).exists() else []
    with open(toys / "runs.txt", "a") as file:
        print(options["seed"], file=file)
    print(f"[1/2] think of {options['seed']}", flush=True)
    try:
        with interruptible():
            while str(options["seed"]) in said("wait"):
                time.sleep(0.05)
    except KeyboardInterrupt:
        print(options["seed"], file=open(toys / "kept.txt", "a"))
        sys.exit(130)
    if str(options["seed"]) in said("fail"):
        print("toy: a first line\\ntoy: no luck\\n", file=sys.stderr)
        sys.exit(2)
    quantity = lambda name, v, truth: Quantity(name, v, v - 0.1, v + 0.1, truth=truth)
    law = Recovery(
        recovered=True, verdict="up_to_scale", reference="newton", expression="39.5/r**2",
        raw_expression=None, law="newton", selected_from="operon",
        constant=quantity("GM", 39.5, 39.478), exponents={"r": quantity("r", -2.0, -2.0)},
        parameters={}, r2=0.99, r2_linear=0.99, r2_log=0.99, seeds=Seeds(1, 1), nulls={}, gates=(),
        engine="operon", engine_reason="", pareto_front=(), rows=9, rows_used=9, groups=3,
        non_central=0.0, error_floor=0.02,
    )
    kicked = Source(law, 0.99, {"1": 0.98, "4": 0.99})
    whole = RunConfig.of(options)
    run = Run(
        out, "newton", True, "", WorldModelKind("Newtonian", (), ()), (), {"kicked": kicked}, {},
        {"linear": {"x": 0.5}}, {"train": 2.0, "probe_kicked": 1.0}, **provenance(whole.identity),
    )
    write_json(out / "verdict.json", run.to_dict())
'''


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """A folder with a study of four seeds whose cells are toys."""
    (tmp_path / "cell.py").write_text(textwrap.dedent(TOY_CELL))
    (tmp_path / "s.yaml").write_text(
        yaml.safe_dump({"name": "s", "question": "What?", "grid": {"seed": [0, 1, 2, 3]}})
    )
    monkeypatch.setattr(study_cells, "RUN", (sys.executable, str(tmp_path / "cell.py")))
    monkeypatch.setattr(processes, "TERMINAL", 0.1)
    return tmp_path


def study(toys, *options):
    return main(["study", str(toys / "s.yaml"), "--out", str(toys / "out"), *options])


def runs(toys):
    """Seeds of the cells that ran since the last look."""
    path = toys / "runs.txt"
    seeds = sorted(path.read_text().split()) if path.exists() else []
    path.unlink(missing_ok=True)
    return seeds


def start(toys, *options):
    """The same study as a process of its own, that leads a group."""
    script = f"""
        import sys
        from symreg.experiments import processes
        from symreg.experiments.studies import cells as study_cells, run as study_run
        from symreg.cli import main
        study_run.EVERY = 0.1
        study_cells.RUN = (sys.executable, {str(toys / "cell.py")!r})
        processes.TERMINAL = 0.1
        arguments = ["--out", {str(toys / "out")!r}, "--workers", "2", *{list(options)!r}]
        sys.exit(main(["study", {str(toys / "s.yaml")!r}, *arguments]))
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def runs_so_far(toys):
    return (toys / "runs.txt").read_text().split()


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_every_cell_runs_once_and_has_its_row(toys, capsys):
    assert study(toys, "--workers", "2") == 0
    assert runs(toys) == ["0", "1", "2", "3"]
    assert capsys.readouterr().out.count("Newtonian, law recovered") == 4
    table = pd.read_parquet(toys / "out" / "results.parquet")
    pd.testing.assert_frame_equal(
        table, pd.read_csv(toys / "out" / "results.csv").convert_dtypes(), check_dtype=False
    )
    assert list(table["cell"]) == [f"seed={n}" for n in range(4)]
    assert list(table.columns[:4]) == ["cell", "status", "error", "seed"]
    row = table.iloc[0]
    assert row["status"] == "done"
    assert row["world_model"] == "Newtonian"
    assert row["kicked.exponent"] == -2.0
    assert row["kicked.exponent_low"] == -2.1
    assert row["kicked.kick_r2_1"] == 0.98
    assert row["linear.x"] == 0.5
    assert row["seconds"] == 3.0
    assert row["seconds.train"] == 2.0
    assert study(toys) == 0
    assert runs(toys) == []
    assert "4 finished already" in capsys.readouterr().out


def test_a_failed_cell_is_reported_stops_nobody_and_runs_again(toys, capsys):
    (toys / "fail").write_text("1")
    assert study(toys) == 1
    assert runs(toys) == ["0", "1", "2", "3"]
    assert "failed: seed=1: toy: no luck" in capsys.readouterr().out
    table = pd.read_csv(toys / "out" / "results.csv")
    assert list(table["status"]) == ["done", "failed", "done", "done"]
    assert table["error"][1] == "toy: no luck"
    page = (toys / "out" / "report.html").read_text()
    assert "toy: no luck" in page
    assert "3 done" in " ".join(page.split())
    (toys / "fail").unlink()
    assert study(toys) == 0
    assert runs(toys) == ["1"]
    assert list(pd.read_csv(toys / "out" / "results.csv")["status"]) == ["done"] * 4


def test_a_running_cell_says_once_which_stage_it_is_in(toys):
    (toys / "wait").write_text("1 2")
    process = start(toys)
    wait_for(lambda: (toys / "runs.txt").exists() and len(runs_so_far(toys)) == 3)
    time.sleep(2)  # twenty looks at cells in the same stage
    (toys / "wait").unlink()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    told = [line for line in out.splitlines() if "think of" in line]
    assert {"    seed=1: [1/2] think of 1", "    seed=2: [1/2] think of 2"} <= set(told)
    assert len(told) == len(set(told))


def test_stages_are_told_by_turns_and_not_those_of_an_earlier_attempt(tmp_path):
    (tmp_path / "logs").mkdir()
    one, two = (tmp_path / "logs" / f"seed={n}.log" for n in (1, 2))
    progress = study_cells.Progress(tmp_path)
    cells = ["seed=1", "seed=2", "seed=3"]
    assert progress.line(cells) is None
    one.write_text("[1/9] simulate\n")
    two.write_text("[1/9] simulate\n    100 orbits\n[2/9] train\n    [3/9] not a stage\n")
    assert progress.line(cells) == "    seed=1: [1/9] simulate"
    one.write_text("[1/9] simulate\n[2/9] train\n[3/9] look: there already (2 s)\n")
    assert progress.line(cells) == "    seed=2: [2/9] train"
    assert progress.line(cells) == "    seed=1: [2/9] train"
    assert progress.line(cells) is None
    two.write_text("[3/9] search\n")
    assert progress.line(["seed=1", "seed=3"]) is None  # the second has ended
    cell = Cell("seed=1", {"seed": 1}, RunConfig())
    study_cells.prepare(tmp_path, cell)
    assert study_cells.Progress(tmp_path).line(["seed=1"]) is None


def test_a_killed_study_goes_on_without_repeating_finished_cells(toys):
    (toys / "wait").write_text("2 3")
    process = start(toys)
    results = toys / "out" / "results.csv"
    wait_for(lambda: results.exists() and list(pd.read_csv(results)["status"]).count("done") == 2)
    wait_for(lambda: len(runs_so_far(toys)) == 4)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    runs(toys)
    (toys / "wait").unlink()
    assert study(toys) == 0
    assert runs(toys) == ["2", "3"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_cells_and_says_how_to_go_on(toys, number):
    (toys / "wait").write_text("1 2 3")
    process = start(toys)
    results = toys / "out" / "results.csv"
    wait_for(lambda: results.exists() and "done" in list(pd.read_csv(results)["status"]))
    wait_for(lambda: len(runs_so_far(toys)) == 3)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Run the same command to go on" in error.splitlines()[-1]
    assert "Traceback" not in error
    assert runs(toys) == ["0", "1", "2"]  # the cell that waited for its turn never began
    assert (toys / "out" / "report.html").exists()
    (toys / "wait").unlink()
    assert study(toys) == 0
    assert runs(toys) == ["1", "2", "3"]


def test_cells_of_a_background_job_keep_what_they_have(toys):
    """A shell's background job ignores SIGINT, and so do all processes that it starts."""
    (toys / "wait").write_text("0 1")
    earlier = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start(toys)
    finally:
        signal.signal(signal.SIGINT, earlier)
    wait_for(lambda: (toys / "runs.txt").exists() and len(runs_so_far(toys)) == 2)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=study_cells.PATIENCE / 2)
    assert process.returncode == 130
    assert sorted((toys / "kept.txt").read_text().split()) == ["0", "1"]


def test_a_piece_of_limited_time_stops_and_goes_on(toys):
    (toys / "wait").write_text("1")
    assert study(toys, "--workers", "2", "--minutes", "0.05") == 130
    runs(toys)
    status = pd.read_csv(toys / "out" / "results.csv").set_index("seed")["status"]
    assert status[1] == "pending"
    (toys / "wait").unlink()
    assert study(toys) == 0
    assert runs(toys) == [str(seed) for seed in status.index[status == "pending"]]


def test_each_worker_gets_its_share_of_the_cores(toys, monkeypatch):
    monkeypatch.setattr("symreg.experiments.study.cores", lambda: 8)
    text = (toys / "cell.py").read_text()
    (toys / "cell.py").write_text(
        text.replace('print(options["seed"], file=file)',
                     'import os; print(os.environ["OMP_NUM_THREADS"], sys.argv[4], file=file)')
    )  # fmt: skip
    assert study(toys, "--workers", "2") == 0
    assert runs(toys) == ["4"] * 8


def test_other_options_in_the_same_folder_are_refused_before_anything_runs(toys, capsys):
    cell = toys / "out" / "cells" / "seed=2"
    cell.mkdir(parents=True)
    (cell / "configuration.json").write_text(json.dumps({"seed": 2, "steps": 7}))
    assert study(toys) == 2
    error = capsys.readouterr().err
    assert "belongs to another configuration: --steps 7 (now 3000)" in error
    assert error.count("\n") == 1
    assert runs(toys) == []


def test_more_read_outs_may_be_asked_of_finished_cells(toys):
    assert study(toys) == 0
    runs(toys)
    content = yaml.safe_load((toys / "s.yaml").read_text())
    (toys / "s.yaml").write_text(yaml.safe_dump(content | {"base": {"readouts": ["linear"]}}))
    assert study(toys) == 0
    assert runs(toys) == ["0", "1", "2", "3"]


def test_a_folder_in_use_or_of_somebody_else_is_left_alone(toys, capsys):
    out = toys / "out"
    with held_as(out, "study.json", "symreg study"):
        assert study(toys) == 2
    assert "in use by another `symreg study`" in capsys.readouterr().err
    (out / "thesis.tex").touch()
    assert study(toys) == 2
    assert "not a directory of `symreg study` and not empty" in capsys.readouterr().err
    assert runs(toys) == []


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dask_cluster_runs_the_cells(toys):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        (toys / "fail").write_text("3")
        assert study(toys, "--scheduler", cluster.scheduler_address) == 1
    assert runs(toys) == ["0", "1", "2", "3"]
    table = pd.read_csv(toys / "out" / "results.csv")
    assert list(table["status"]) == ["done", "done", "done", "failed"]
    assert table["error"][3] == "toy: no luck"


def test_a_small_study_from_end_to_end(tmp_path, capsys):
    """A hardly trained model, really: orbits, training, kicks, search, roll-out, report."""
    base = {
        "simulator": "kepler", "orbits": 16, "samples": 32, "steps": 10, "d_model": 16,
        "search_seeds": 1, "sources": ["kicked"], "controls": [], "readouts": ["evaluate"],
    }  # fmt: skip
    content = {
        "name": "small", "question": "Does it run?", "base": base, "figure": "context",
        "grid": {"context_length": [4]},
    }  # fmt: skip
    path, out = tmp_path / "small.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump(content))
    assert main(["study", str(path), "--out", str(out)]) == 0
    table = pd.read_csv(out / "results.csv")
    assert list(table["status"]) == ["done"]
    assert list(table["world_model"]) == ["neither"]
    assert table["kicked.kick_r2_1"].notna().all()
    assert (table["evaluate.error_16"] > 0).all()
    stages = ["train_orbits", "held_out_orbits", "train", "probe_kicked", "recover_kicked"]
    assert {f"seconds.{stage}" for stage in (*stages, "evaluate")} <= set(table.columns)
    verdict = read_json(out / "cells" / "context_length=4" / "verdict.json")
    assert verdict["world_model"]["newtonian"]
    page = (out / "report.html").read_text()
    assert 'id="figure-context"' in page
    assert "Does it run?" in page
    assert (out / "cells" / "context_length=4" / "report.html").exists()
