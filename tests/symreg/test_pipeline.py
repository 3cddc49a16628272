"""A run is a chain of processes: done once, gone on with, never mixed up."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from orbits.options import option_names
from orbits.files import read_json, write_json
from symreg.experiments import pipeline
from symreg.experiments.config import RunConfig
from symreg.experiments.folder import held_as
from symreg.experiments.pipeline import Pipeline, StageFailure, begun, run_stages
from symreg.experiments.run import check
from symreg.experiments.stages import Stage, stages

TOY_STAGE = """
    # reads its inputs, appends its name, counts its runs; obeys a file named `fail` or `wait`
    import sys, time, pathlib
    output, *inputs = sys.argv[1 : sys.argv.index("--config")]
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
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"), prepend=os.pathsep)
    chain = [
        Stage("a", "make a", ("toy_stage", "a"), {}, (), "a"),
        Stage("b", "make b", ("toy_stage", "b", "a"), {}, ("a",), "b"),
        Stage("c", "make c", ("toy_stage", "c", "b"), {}, ("b",), "c"),
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
    assert (
        toy.folder / "logs" / "b.log"
    ).read_text() == "$ toy_stage b a --config configs/b.json\nmade b\n"
    assert begun(capsys.readouterr().out) == "[3/3] make c"
    assert run_stages(toy) == seconds
    assert runs(toy) == []
    again = capsys.readouterr().out
    assert again.count("there already") == 3
    assert begun(again) == ""


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
        from orbits.command_line import interruptible
        from symreg.experiments import pipeline
        from symreg.experiments.pipeline import run_stages
        from symreg.experiments.config import RunConfig
        from symreg.experiments.stages import Stage
        pipeline.stages = lambda config: {pipeline.stages(toy)!r}
        try:
            with interruptible():
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
        held_as(toy.folder, "configuration.json", "symreg run"),
        pytest.raises(ValueError, match="in use by another `symreg run`"),
    ):
        run_stages(toy)


def run_config(**options):
    """Options of a run by their short names."""
    return RunConfig.of(options)


def options_of(config):
    """Options of every stage by its name."""
    return {stage.name: stage.options for stage in stages(config)}


def test_options_reach_the_stages():
    config = run_config(
        law="power_law(n=3)", attention="lssar(p=15)", context_length=16, seed=7, engine="operon"
    )
    options = options_of(config)
    assert options["train_orbits"]["law"] == "power_law(n=3)"
    assert options["train"]["attention"] == "lssar(p=15)"
    assert options["train"]["context_length"] == 16
    assert options["recover_kicked"]["engine"] == "operon"
    assert options["recover_kicked"]["law"] == "power_law(n=3)"
    assert options["probe_kicked"]["states"] == "kicked"
    assert options["probe_untrained"]["control"] == "untrained"
    assert options.pop("held_out_orbits")["seed"] == 1000010
    assert "seed" not in options.pop("planets")
    assert all(stage["seed"] == 7 for stage in options.values())


def test_new_options_reach_the_stages_and_questions_are_stages_of_their_own():
    config = run_config(
        window=2, kicked=0.5, inputs="differences", mass=(0.5, 2.0), simulator="kepler",
        n_layers=3, sources=("kicked",), controls=("keplerian",),
        readouts=("kick_response", "evaluate", "extrapolate", "transfer"),
        **{"probe.transfer": {"labelled": 90, "few": 10, "batch_tokens": 512}},
    )  # fmt: skip
    options = options_of(config)
    assert sorted(options) == sorted([
        "train_orbits", "held_out_orbits", "long_orbits", "transfer_orbits", "train", "begin",
        "probe_kicked", "recover_kicked", "probe_keplerian", "recover_keplerian",
        "kick_response", "kick_response_keplerian", "evaluate", "extrapolate", "transfer",
        "recover_transfer",
    ])  # fmt: skip
    assert options["train_orbits"]["mass"] == [0.5, 2.0]
    assert options["train_orbits"]["engine"] == "kepler"
    assert options["transfer_orbits"]["orbits"] == 100
    tuned = options["transfer"]["transfer"]
    assert (tuned["labelled"], tuned["few"], tuned["steps"], tuned["batch_tokens"]) == (
        90, 10, 500, 512,
    )  # fmt: skip
    assert options["long_orbits"]["samples"] == 33  # 16 contexts of two, and the state after
    train = options["train"]
    assert (train["window"], train["kicked"], train["inputs"], train["n_layers"]) == (
        2, 0.5, "differences", 3,
    )  # fmt: skip
    options = options_of(
        run_config(controls=("untrained",), readouts=("transfer", "transfer_frozen"))
    )
    untrained = {name for name, stage in options.items() if stage.get("control") == "untrained"}
    assert untrained == {"probe_untrained", "transfer_untrained", "transfer_frozen_untrained"}
    frozen = {name for name, stage in options.items() if stage.get("transfer", {}).get("frozen")}
    assert frozen == {"transfer_frozen", "transfer_frozen_untrained"}
    assert "recover_transfer_frozen_untrained" in options
    options = options_of(run_config(head="tokens", bins=100))
    assert (options["train"]["head"], options["train"]["bins"]) == ("tokens", 100)
    assert "jacobian" not in options  # of bins there are no derivatives


def test_every_option_of_a_stage_is_declared_by_the_stage_alone():
    """The run's own options are few; all others are the stages' own, and reach them unchanged."""
    own = [name for name in RunConfig.__annotations__ if name.islower()]
    groups = {"generate", "planets", "train", "probe", "evaluate", "extrapolate", "recover",
              "predictor"}  # fmt: skip
    assert set(own) - groups == {
        "out", "seed", "held_out_orbits", "sources", "controls", "readouts", "workers", "fit",
        "data",
    }  # fmt: skip
    for short, full in RunConfig.ALIASES.items():
        assert full in set(option_names(RunConfig)), short
    for decided in RunConfig.DECIDED:
        assert decided in set(option_names(RunConfig))


def test_what_the_run_decides_cannot_be_given():
    with pytest.raises(ValueError, match=r"train.seed is decided by the command itself"):
        run_config(**{"train.seed": 3})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context_length": 0}, "train.context_length is 0; a whole number of at least 1"),
        ({"dt": -1.0}, "generate.dt is -1.0; a number above 0"),
        ({"dt": float("nan")}, "generate.dt is nan"),
        ({"orbits": 3}, "generate.orbits is 3; at least 8"),
        ({"context_length": 100}, "a context of 100 needs at least 200"),
        ({"bodies": ()}, "bodies"),
        ({"window": 0}, "train.window is 0"),
        ({"kicked": 1.5}, "train.kicked is 1.5"),
        ({"mass": (2.0, 1.0)}, "generate.mass"),
        ({"seed": -1}, "seed is -1"),
        ({"sources": ("planet",)}, "did you mean 'planets'"),
        ({"controls": ("injected", "injected")}, "controls names something twice"),
        ({"controls": ("none",)}, "control 'none' is not known"),
        ({"sources": (), "readouts": ()}, "nothing to ask"),
        ({"system": "barycentric"}, "leave planets out"),
        ({"system": "nbody"}, "one body"),
        ({"dt": 1.0, "samples": 251}, "the positions end in 2200"),
        ({"probe.transfer.labelled": 0}, "probe.transfer.labelled is 0"),
        (
            {"system": "barycentric", "kicked": 0.5, "sources": ("orbit",)},
            "leave it out with --system barycentric",
        ),
        ({"orbits": 16, "readouts": ("linear",)}, "linear needs 10 held-out orbits; there are 4"),
        ({"agreement": 7}, "agreement"),
        ({"contxt_length": 7}, "did you mean 'context_length'"),
    ],
)
def test_options_that_cannot_work_are_refused_before_any_stage(options, message):
    with pytest.raises(ValueError, match=message):
        run_config(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"law": "newtn"}, "did you mean 'newton'"),
        ({"attention": "lsar"}, "did you mean 'lssa"),
        ({"bodies": ["pluton"]}, "did you mean 'pluto'"),
        ({"engine": "oporon"}, "did you mean 'operon'"),
        ({"simulator": "heyoko"}, "did you mean 'heyoka'"),
        ({"law": "3*r**-2 - 100*r"}, "does not attract"),
    ],
)
def test_what_no_stage_could_do_is_refused_before_any_stage(options, message):
    with pytest.raises(ValueError, match=message):
        check(run_config(**options))


def stage(name, *inputs, cores=1):
    """A toy that reads and writes files of their names."""
    return Stage(name, f"make {name}", ("toy_stage", name, *inputs), {}, inputs, name, cores)


def test_stages_run_side_by_side_as_far_as_they_can(toy):
    """b and c need a; d needs both. One core does one at a time, two do b and c together."""
    todo = [stage("a"), stage("b", "a"), stage("c", "a"), stage("d", "b", "c")]
    toy.folder.mkdir()
    most = []

    class Watched(Pipeline):
        def _start_some(self):
            started = super()._start_some()
            most.append(sorted(job.stage.name for job in self.running))
            return started

    Watched(toy.folder, todo, 2).run()
    assert ["b", "c"] in most
    assert max(map(len, most)) == 2
    assert (toy.folder / "d").read_text() == "ab" + "ac" + "d"
    for name in "abcd":
        (toy.folder / name).unlink()
        (toy.folder / "stages" / f"{name}.json").unlink()
    most.clear()
    Watched(toy.folder, todo, 1).run()
    assert max(map(len, most)) == 1


def test_a_stage_that_keeps_all_cores_busy_runs_alone_even_where_there_are_fewer(toy):
    toy.folder.mkdir()
    Pipeline(toy.folder, [stage("a", cores=8), stage("b")], 2).run()
    assert (toy.folder / "b").exists()


def test_a_changed_input_is_noticed_though_the_output_is_whole(toy):
    """Records hold what a stage read: a new input makes it again, with other options likewise."""
    toy.folder.mkdir()
    (toy.folder / "given").write_text("1")
    todo = [stage("a", "given")]
    Pipeline(toy.folder, todo, 1).run()
    (toy.folder / "given").write_text("2")
    Pipeline(toy.folder, todo, 1).run()
    assert (toy.folder / "a").read_text() == "2a"
    runs(toy)
    Pipeline(toy.folder, [replace(todo[0], options={"x": 1})], 1).run()
    assert runs(toy) == ["a"]


def test_a_damaged_output_is_never_certified(toy, monkeypatch):
    """A command that finds its result there says it is done; the damaged one is removed first."""
    run_stages(toy)
    (toy.folder / "b").write_text("flipped")
    lazy = (toy.folder.parent / "lib" / "toy_stage.py").read_text()
    (toy.folder.parent / "lib" / "toy_stage.py").write_text(
        "import pathlib, sys\nif pathlib.Path(sys.argv[1]).exists(): sys.exit(0)\n" + lazy
    )
    run_stages(toy)
    assert (toy.folder / "b").read_text() == "ab"


def test_a_stage_that_writes_nothing_has_failed(toy):
    (toy.folder.parent / "lib" / "toy_stage.py").write_text("")
    with pytest.raises(StageFailure):
        run_stages(toy)
    assert not (toy.folder / "stages").exists()


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [("orbits", ("torch", "worldmodel", "symreg")), ("symreg", ("torch", "pysr"))],
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
    assert "/" not in run_config(law="k*r**-2/3").folder.name


def test_no_two_sets_of_orbits_share_a_seed():
    """Equal seeds would give equal orbits: the model would be questioned on those it knows."""
    for seed in (0, 1, 7):
        options = options_of(run_config(seed=seed, readouts=("extrapolate", "transfer")))
        seeds = {name: stage["seed"] for name, stage in options.items() if "_orbits" in name}
        assert seeds.keys() == {"train_orbits", "held_out_orbits", "long_orbits", "transfer_orbits"}
        assert len(set(seeds.values())) == 4


def test_every_question_is_asked_of_the_right_model_and_states():
    """The trained model itself, controls in its place, and never the orbits of its training."""
    readouts = ("jacobian", "linear", "evaluate", "kick_response", "extrapolate", "transfer")
    made = {stage.name: stage for stage in stages(run_config(readouts=readouts))}
    reading = {
        name: stage
        for name, stage in made.items()
        if stage.command[0] == "worldmodel" and stage.command[1] != "train"
    }
    for name, stage in reading.items():
        model, data, *beside = stage.inputs
        # what a model was trained on is known to a probe, and never what it is asked about
        assert beside in ([], ["data/train.zarr"]), name
        control = stage.options.get("control", "none")
        assert model == ("model" if control == "none" else "untrained"), name
        assert data != "data/train.zarr", name
        assert stage.command[2:4] == (model, data), name
    kicked = {name for name, stage in reading.items() if stage.options.get("states") == "kicked"}
    assert kicked == {"probe_kicked", "probe_injected", "probe_untrained"}
    assert made["probe_planets"].inputs[1] == "data/planets.zarr"
    assert made["probe_orbit"].inputs == made["probe_kicked"].inputs


def test_a_damaged_record_is_no_record(toy):
    run_stages(toy)
    runs(toy)
    path = toy.folder / "stages" / "b.json"
    write_json(path, read_json(path) | {"seconds": 1e6})
    seconds = run_stages(toy)
    assert runs(toy) == ["b"]
    assert seconds["b"] < 1e6
