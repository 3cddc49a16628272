"""What a run asks, of whom, on which states; and what is refused before anything begins."""

import subprocess
import sys
import textwrap
from concurrent.futures import Future
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import orbits
from orbits.options import option_names
from symreg.experiments.cache import Made
from symreg.experiments.config import RunConfig, require_same_run
from symreg.experiments.run import check, experiment


def run_config(**options):
    """Options of a run by their short names."""
    return RunConfig.of(options)


class Recorder:
    """Stands in the place of the cache: keeps what would be made, and makes nothing."""

    def __init__(self, folder):
        self.calls, self.folder = {}, folder

    def __call__(self, path, title, function, *inputs, here=False, **options):
        read = [each.result().path if isinstance(each, Future) else each for each in inputs]
        self.calls[path] = (function.__name__, [str(each) for each in read], options.get("config"))
        done = Future()
        done.set_result(Made(Path(path), path))
        return done


def calls_of(config):
    """Function, inputs and options of everything that a run makes, by its path."""
    with TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        experiment(config, recorder)
    return recorder.calls


def options_of(config):
    """Options of everything that a run makes, by its path."""
    return {path: options for path, (_, _, options) in calls_of(config).items()}


def test_options_reach_the_steps():
    config = run_config(
        law="power_law(n=3)",
        attention="lssar(p=15)",
        context_length=16,
        seed=7,
        engine="rational",
    )
    options = options_of(config)
    assert options["data/train.zarr"].law == "power_law(n=3)"
    assert options["model"].attention == "lssar(p=15)"
    assert options["model"].context_length == 16
    assert options["untrained"].steps == 0
    assert options["laws/kicked.json"].engine == "rational"
    assert options["laws/kicked.json"].law == "power_law(n=3)"
    assert options["forces/kicked.parquet"].states == "kicked"
    assert options["forces/untrained.parquet"].control == "untrained"
    assert options.pop("data/held_out.zarr").seed == 1000010
    for without in ("data/planets.zarr", "forces/reach.parquet"):
        options.pop(without)
    assert all(step.seed == 7 for step in options.values())


def test_of_bins_there_are_no_derivatives():
    assert "readouts/jacobian.json" not in options_of(run_config(head="tokens", bins=100))


def test_what_the_run_sets_itself_is_no_option():
    names = set(option_names(RunConfig))
    assert not names & {"states", "control", "readout", "target_names", "resume", "scheduler"}
    assert len(names) <= 70


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context_length": 0}, "context_length is 0"),
        ({"dt": -1.0}, "dt is -1.0"),
        ({"dt": float("nan")}, "dt is nan"),
        ({"orbits": 3}, "orbits is 3; at least 8"),
        ({"context_length": 100}, "a context of 100 needs at least 200"),
        ({"context_length": 1, "target": "displacement"}, "one position holds no velocity"),
        ({"bodies": ()}, "bodies"),
        ({"window": 0}, "window is 0"),
        ({"kicked": 1.5}, "kicked is 1.5"),
        ({"mass": (2.0, 1.0)}, "mass"),
        ({"seed": -1}, "seed is -1"),
        ({"sources": ("planet",)}, "did you mean 'planets'"),
        ({"controls": ("injected", "injected")}, "controls names something twice"),
        ({"controls": ("none",)}, "control 'none' is not known"),
        ({"sources": (), "readouts": ()}, "nothing to ask"),
        ({"system": "barycentric"}, "leave planets out"),
        ({"system": "nbody"}, "system is 'nbody'; it should be 'relative' or 'barycentric'"),
        ({"dt": 1.0, "samples": 251}, "the positions end in 2200"),
        ({"readouts": ("transfer(labelled=0)",)}, "transfer.labelled is 0"),
        (
            {"system": "barycentric", "kicked": 0.5, "sources": ("orbit",)},
            "leave it out with --system barycentric",
        ),
        ({"orbits": 12, "readouts": ("linear",)}, "linear needs 4 held-out orbits; there are 3"),
        ({"readouts": ("transfer(label=7)",)}, "did you mean 'labelled'"),
        ({"contxt_length": 7}, "did you mean 'context_length'"),
    ],
)
def test_options_that_cannot_work_are_refused_before_any_step(options, message):
    with pytest.raises(ValueError, match=message):
        run_config(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"law": "newtn"}, "did you mean 'newton'"),
        ({"attention": "lsar"}, "did you mean 'lssa"),
        ({"bodies": ["pluton"]}, "did you mean 'pluto'"),
        ({"engine": "projektion"}, "did you mean 'projection'"),
        ({"simulator": "heyoko"}, "did you mean 'heyoka'"),
        ({"law": "3*r**-2 - 100*r"}, "does not attract"),
    ],
)
def test_what_no_step_could_do_is_refused_before_any_step(options, message):
    with pytest.raises(ValueError, match=message):
        check(run_config(**options))


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
    assert RunConfig().folder == Path("runs/newton-softmax-context3-seed0")
    assert "/" not in run_config(law="k*r**-2/3").folder.name


def test_no_two_sets_of_orbits_share_a_seed():
    """Equal seeds would give equal orbits: the model would be questioned on those it knows."""
    for seed in (0, 1, 7):
        options = options_of(run_config(seed=seed, readouts=("extrapolate", "transfer")))
        seeds = [o.seed for path, o in options.items() if path in SIMULATED]
        assert len(set(seeds)) == len(SIMULATED)


SIMULATED = ("data/train.zarr", "data/held_out.zarr", "data/extrapolate.zarr", "data/transfer.zarr")


def test_every_question_is_asked_of_the_right_model_and_states():
    """The trained model itself, controls in its place, and never the orbits of its training."""
    readouts = ("jacobian", "linear", "evaluate", "kick_response", "extrapolate", "transfer")
    made = calls_of(run_config(readouts=readouts))
    reading = {path: call for path, call in made.items() if call[0] == "probe"}
    for path, (_, (model, data, *beside), options) in reading.items():
        # what a model was trained on is known to a probe, and never what it is asked about
        assert beside in ([], ["data/train.zarr"]), path
        assert model == ("model" if options.control == "none" else "untrained"), path
        assert data != "data/train.zarr", path
    kicked = {p for p, call in reading.items() if call[2].states == "kicked"}
    assert kicked == {f"forces/{name}.parquet" for name in ("kicked", *RunConfig().controls)}
    assert made["forces/planets.parquet"][1][1] == "data/planets.zarr"
    assert made["forces/orbit.parquet"][1] == made["forces/kicked.parquet"][1]


def test_a_probe_asked_twice_is_called_by_what_differs():
    both = ("transfer(few=40, learner=head)", "transfer(few=40)", "evaluate(steps=5)")
    config = run_config(readouts=both, controls=("untrained",), sources=("orbit",))
    assert list(config.asked) == ["transfer(learner=head)", "transfer", "evaluate"]
    made = calls_of(config)
    for name in ("transfer(learner=head)", "transfer"):
        for key in (name, f"{name}_untrained"):
            _, (_, data), options = made[f"forces/{key}.parquet"]
            assert (data, options.read_out.few) == (f"data/{name}.zarr", 40)
            assert made[f"laws/{key}.json"][1] == [f"forces/{key}.parquet"]
    with pytest.raises(ValueError, match="readouts names something twice"):
        run_config(readouts=("transfer(few=100)", "transfer"))


def test_another_configuration_is_told_apart_by_the_option_that_differs(tmp_path):
    config = run_config(out=str(tmp_path / "run"))
    require_same_run(config)
    (tmp_path / "run").mkdir()
    config.write(tmp_path / "run")
    require_same_run(run_config(out=config.out, controls=("keplerian",)))  # what is asked may grow
    with pytest.raises(ValueError, match=r"belongs to another configuration: --seed 0 \(now 1\)"):
        require_same_run(run_config(out=config.out, seed=1))
    (tmp_path / "run" / "configuration.json").write_text("[]")
    with pytest.raises(ValueError, match="is damaged"):
        require_same_run(config)


def test_a_folder_of_somebody_elses_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="is no run directory and not empty"):
        require_same_run(run_config(out=str(tmp_path)))


def test_planets_have_as_many_axes_as_the_orbits(tmp_path):
    calls = calls_of(run_config(**{"dimensions": 3, "samples": 40}))
    planets = orbits.ephemeris(tmp_path / "planets.zarr", calls["data/planets.zarr"][2])
    assert planets.sizes["axis"] == 3
