"""A run is a chain of processes: done once, gone on with, never mixed up."""

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from symreg.runs import pipeline
from symreg.runs.config import RunConfig
from symreg.runs.folder import held
from symreg.runs.pipeline import StageFailure, run_stages
from symreg.runs.stages import Stage, stages

TOY_STAGE = """
    # reads its inputs, appends its name, counts its runs; obeys a file named `fail` or `wait`
    import sys, time, pathlib
    output, *inputs = sys.argv[1:]
    with open("runs.txt", "a") as file:
        print(output, file=file)
    if pathlib.Path("wait").exists():
        print("waiting", flush=True)
        time.sleep(60)
    if pathlib.Path("fail").exists():
        print("toy: no luck", file=sys.stderr)
        sys.exit(2)
    text = "".join(pathlib.Path(name).read_text() for name in inputs)
    pathlib.Path(output).write_text(text + output)
    print(f"made {output}")
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A chain of three stages, each a real process: a, then b from a, then c from b."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "toy_stage.py").write_text(textwrap.dedent(TOY_STAGE))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    chain = [
        Stage("a", "make a", ("toy_stage", "a"), (), "a"),
        Stage("b", "make b", ("toy_stage", "b", "a"), ("a",), "b"),
        Stage("c", "make c", ("toy_stage", "c", "b"), ("b",), "c"),
    ]
    monkeypatch.setattr(pipeline, "stages", lambda config: chain)
    return RunConfig(out=str(tmp_path / "run"))


def runs(config):
    """Names of the stages that ran since the last look."""
    path = config.folder / "runs.txt"
    names = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return names


def test_stages_run_in_order_once_and_keep_their_records(toy, capsys):
    seconds = run_stages(toy)
    assert runs(toy) == ["a", "b", "c"]
    assert (toy.folder / "c").read_text() == "abc"
    assert (toy.folder / "logs" / "b.log").read_text() == "$ toy_stage b a\nmade b\n"
    assert run_stages(toy) == seconds
    assert runs(toy) == []
    assert capsys.readouterr().out.count("there already") == 3


def test_a_changed_file_is_made_again_with_all_that_follows(toy):
    run_stages(toy)
    runs(toy)
    (toy.folder / "b").write_text("forged")
    run_stages(toy)
    assert runs(toy) == ["b"]  # c was made from the same b as now: nothing follows
    (toy.folder / "a").write_text("forged")
    (toy.folder / "b").unlink()
    run_stages(toy)
    assert runs(toy) == ["a", "b"]
    assert (toy.folder / "c").read_text() == "abc"


def test_a_failed_stage_keeps_what_was_finished_and_the_next_run_goes_on(toy):
    run_stages(toy)
    runs(toy)
    (toy.folder / "b").unlink()
    (toy.folder / "fail").touch()
    with pytest.raises(StageFailure) as failure:
        run_stages(toy)
    assert (failure.value.stage.name, failure.value.code) == ("b", 2)
    (toy.folder / "fail").unlink()
    run_stages(toy)
    assert runs(toy) == ["b", "b"]


def test_another_configuration_is_told_apart_by_the_option_that_differs(toy):
    run_stages(toy)
    with pytest.raises(ValueError, match=r"belongs to another configuration: --seed 0 \(now 1\)"):
        run_stages(RunConfig(out=toy.out, seed=1))


def test_a_folder_of_somebody_elses_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="not a directory of `symreg run` and not empty"):
        run_stages(RunConfig(out=str(tmp_path)))
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_running_stage_and_loses_nothing(toy, tmp_path, number):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        from orbits.command.parser import terminated_as_interrupt
        from symreg.runs import pipeline
        from symreg.runs.pipeline import run_stages
        from symreg.runs.config import RunConfig
        from symreg.runs.stages import Stage
        pipeline.stages = lambda config: {pipeline.stages(toy)!r}
        try:
            with terminated_as_interrupt():
                run_stages(RunConfig(out={toy.out!r}))
        except KeyboardInterrupt:
            raise SystemExit(130)
        """)
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if "make b" in line:
            break
        if "made a" in line:
            (toy.folder / "wait").touch()
    while "b" not in (toy.folder / "runs.txt").read_text().split():
        time.sleep(0.05)
    process.send_signal(number)
    process.stdout.read()
    assert process.wait(timeout=30) == 130
    assert (toy.folder / "a").exists()
    assert not (toy.folder / "b").exists()
    (toy.folder / "wait").unlink()
    runs(toy)
    run_stages(toy)
    assert runs(toy) == ["b", "c"]


def test_two_runs_on_one_directory_do_not_mix(toy):
    toy.folder.mkdir()
    with (
        held(toy.folder, toy.folder / "configuration.json", "symreg run"),
        pytest.raises(ValueError, match="in use by another `symreg run`"),
    ):
        run_stages(toy)


def test_options_reach_the_stages():
    config = RunConfig(
        law="power_law(n=3)", attention="lssar(p=15)", context_length=16, seed=7, engine="operon"
    )
    commands = {stage.name: " ".join(stage.command) for stage in stages(config)}
    assert "--law power_law(n=3)" in commands["train_orbits"]
    assert "--attention lssar(p=15) --context-length 16" in commands["train"]
    assert "--engine operon" in commands["recover_kicked"]
    assert "--states kicked" in commands["probe_kicked"]
    assert "--control untrained" in commands["probe_untrained"]
    assert "--seed 1000010" in commands.pop("held_out_orbits")
    assert "--seed" not in commands.pop("planets")
    assert all("--seed 7" in command for command in commands.values())


def test_new_options_reach_the_stages_and_questions_are_stages_of_their_own():
    config = RunConfig(
        window=2, kicked=0.5, inputs="differences", mass=(0.5, 2.0), simulator="kepler",
        n_layers=3, sources=("kicked",), controls=("keplerian",),
        readouts=("kick_response", "evaluate", "extrapolate", "transfer"), transfer=(90, 10),
        batch_tokens=512,
    )  # fmt: skip
    commands = {stage.name: " ".join(stage.command) for stage in stages(config)}
    assert list(commands) == [
        "train_orbits", "held_out_orbits", "long_orbits", "transfer_orbits", "train",
        "probe_kicked", "recover_kicked", "probe_keplerian", "recover_keplerian",
        "kick_response", "kick_response_keplerian", "evaluate", "extrapolate", "transfer",
        "recover_transfer",
    ]  # fmt: skip
    assert "--mass 0.5 2.0" in commands["train_orbits"]
    assert "--engine kepler" in commands["train_orbits"]
    assert "--orbits 100" in commands["transfer_orbits"]
    for option in ("labelled 90", "few 10", "steps 500", "batch-tokens 512"):
        assert f"--transfer.{option}" in commands["transfer"]
    assert "--samples 33" in commands["long_orbits"]  # 16 contexts of two, and the state after
    for option in ("--window 2", "--kicked 0.5", "--inputs differences", "--n-layers 3"):
        assert option in commands["train"]
    tuned = RunConfig(controls=("untrained",), readouts=("transfer", "transfer_frozen"))
    commands = {stage.name: " ".join(stage.command) for stage in stages(tuned)}
    untrained = {name for name, command in commands.items() if "--control untrained" in command}
    assert untrained == {"probe_untrained", "transfer_untrained", "transfer_frozen_untrained"}
    frozen = {name for name, command in commands.items() if "--transfer.frozen" in command}
    assert frozen == {"transfer_frozen", "transfer_frozen_untrained"}
    assert "recover_transfer_frozen_untrained" in commands
    tokens = RunConfig(head="tokens", bins=100)
    commands = {stage.name: " ".join(stage.command) for stage in stages(tokens)}
    assert "--head tokens --bins 100" in commands["train"]
    assert "jacobian" not in commands  # of bins there are no derivatives


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context_length": 0}, "--context-length is 0; at least 1"),
        ({"dt": -1.0}, r"--dt is -1.0 yr; it must be positive"),
        ({"dt": float("nan")}, "--dt is nan yr"),
        ({"orbits": 3}, "--orbits is 3; at least 8"),
        ({"context_length": 100}, "a context of 100 needs at least 200"),
        ({"bodies": ()}, "--bodies is empty"),
        ({"window": 0}, "--window is 0"),
        ({"kicked": 1.5}, "--kicked is 1.5"),
        ({"mass": (2.0, 1.0)}, "--mass is 2.0 1.0; give low and high"),
        ({"seed": -1}, "--seed is -1"),
        ({"sources": ("planet",)}, "did you mean 'planets'"),
        ({"controls": ("injected", "injected")}, "--controls names something twice"),
        ({"sources": (), "readouts": ()}, "nothing to ask"),
        ({"system": "barycentric"}, "leave planets away"),
        ({"dt": 1.0, "samples": 251}, "the positions end in 2200"),
        ({"transfer": (900,)}, "--transfer is 900; give two counts"),
        (
            {"system": "barycentric", "kicked": 0.5, "sources": ("orbit",)},
            "leave it away with --system barycentric",
        ),
        ({"orbits": 16, "readouts": ("linear",)}, "linear needs 10 held-out orbits; there are 4"),
    ],
)
def test_options_that_cannot_work_are_refused_before_any_stage(options, message):
    with pytest.raises(ValueError, match=message):
        RunConfig(**options)


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [("orbits", ("torch", "worldmodel", "symreg")), ("symreg", ("torch", "worldmodel"))],
)
def test_no_package_imports_what_it_must_not(package, forbidden):
    code = textwrap.dedent(f"""
        import importlib, pkgutil, sys
        import {package}
        for module in pkgutil.walk_packages({package}.__path__, "{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        found = {forbidden!r}
        print([name for name in found if name in sys.modules])
    """)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"


def test_a_run_directory_is_named_after_what_it_holds():
    assert RunConfig().folder == Path("runs/newton-softmax-context2-seed0")
    assert "/" not in RunConfig(law="k*r**-2/3", attention="../x").folder.name
