"""Wrong arguments in Python: one line that says what is wrong, before any work."""

import inspect
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch

import orbits
import symreg
import worldmodel
from worldmodel.predictor import roll_out

STATES = np.random.default_rng(0).normal(size=(3, 16, 2))
WORLD = {"orbits": 1, "samples": 200, "dt": 0.01, "system": "nbody"}


@pytest.fixture(scope="module")
def world():
    return orbits.generate(**WORLD).load()


def changed(data, **attributes):
    data = data.copy(deep=True)
    data.attrs.update(attributes)
    return data


DATASETS = {
    "a number": (lambda data: 3, "data is "),
    "an array": (lambda data: STATES, "data is "),
    "no step": (lambda data: changed(data, dt="soon"), "has the step dt = 'soon'"),
    "a step of nan": (lambda data: changed(data, dt=float("nan")), "has the step dt = nan"),
    "nothing known": (lambda data: data.assign_attrs({}).drop_attrs(), "lacks the attribute"),
    "no velocity": (lambda data: data.drop_vars("velocity"), "has no velocity over"),
    "transposed": (lambda data: data.transpose(), "has no position over (orbit, time, body, axis)"),
    "no orbit": (lambda data: data.isel(orbit=slice(0, 0)), "holds no orbit"),
}
READERS = {
    "measure": orbits.measure_forces,
    "weigh": symreg.weigh,
    "train": partial(worldmodel.train, steps=1),
    "probe": lambda data: worldmodel.probe(lambda x: x, data, model_context=1),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize(("make", "words"), DATASETS.values(), ids=DATASETS)
def test_a_dataset_that_is_none_is_refused_by_every_reader(world, reader, make, words):
    with pytest.raises(ValueError) as refused:
        reader(make(world))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def still(data):
    data["position"].values[:] = data["position"].values[:, :1]


def infinite(data):
    data["position"].values[0, 5] = np.inf


@pytest.mark.parametrize(
    ("damage", "options", "words"),
    [
        (still, {}, "the bodies do not move"),
        (infinite, {}, "a position is not a finite number"),
        (lambda data: data.attrs.update(bodies=["sun"]), {}, "1 name(s) stand for"),
        (lambda data: None, {"noise": 1e300}, "no less than the largest distance"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_cannot_be_weighed_is_refused_in_a_line(world, damage, options, words):
    data = world.copy(deep=True)
    damage(data)
    with pytest.raises(ValueError) as refused:
        symreg.weigh(data, **options)
    assert words in str(refused.value)


def regressor(**given):
    rows = pd.DataFrame({"r": np.arange(1.0, 11.0)})
    return symreg.LawRegressor().fit(rows, rows.r**-2, **given)


CALLS = {
    "no law": (lambda: orbits.parse_law(None), "text is None; it should be a valid string"),
    "no positions": (
        lambda: orbits.from_arrays(None, 0.1),
        "positions is None; it should be an array",
    ),
    "complex": (lambda: orbits.from_arrays(STATES + 1j, 0.1), "positions: of type complex128"),
    "ragged": (lambda: orbits.from_arrays([[[1, 2]], [[1], [2]]], 0.1), "it should be an array"),
    "no module": (lambda: worldmodel.TorchModule("net", 2), "module is str"),
    "no context": (lambda: worldmodel.TorchModule(torch.nn.Identity(), 0), "context_length is 0"),
    "back": (lambda: roll_out(worldmodel.StraightLine(), STATES, -1), "steps is -1"),
    "from nothing": (lambda: roll_out(worldmodel.StraightLine(), None, 1), "the shape ()"),
    "no formula": (
        lambda: symreg.compare(None, "r"),
        "first is None; it should be an Expr or text",
    ),
    "no range": (lambda: symreg.compare("r", "2*r", ["r"], {"r": (2, 1)}), "domain of r is 2 to 1"),
    "options": (lambda: symreg.run({"law": "newton"}), "RunConfig"),
    "nowhere": (lambda: symreg.run(trained_on="nowhere.zarr"), "nowhere.zarr"),
    "errors": (lambda: regressor(sigma=np.ones(9)), "sigma has the shape (9,); (10,)"),
    "groups": (lambda: regressor(groups=np.ones((10, 2))), "groups has the shape (10, 2)"),
}


@pytest.mark.parametrize(("call", "words"), CALLS.values(), ids=CALLS)
@pytest.mark.filterwarnings("error")
def test_a_wrong_argument_is_refused_in_a_line(call, words):
    with pytest.raises(ValueError) as refused:
        call()
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


TABLE = pd.DataFrame({"time": np.arange(60) * 0.01, "x": np.arange(60.0), "y": np.arange(60.0)})
ROWS = pd.DataFrame({"r": np.linspace(0.5, 3, 30), "F": np.linspace(0.5, 3, 30) ** -2.0})
recover = partial(symreg.recover, ROWS, target="F", features="r", null=False, time_limit=2)
ARGUMENTS = {
    "an empty column": (lambda: recover(sigma=""), "sigma is ''; it should have at least 1"),
    "empty groups": (lambda: recover(groups=""), "groups is ''; it should have at least 1"),
    "progress": (lambda: recover(progress=7), "progress is 7; it should be a function or a bool."),
    "no table": (lambda: orbits.from_table(None), "table is None; it should be a path"),
    "a list": (lambda: orbits.from_table([1, 2]), "table is [1, 2]; it should be a path"),
    "a set": (lambda: symreg.recover({1}), "table is a set; it should be"),
    "announce": (lambda: orbits.from_table(TABLE, announce=7), "announce is 7; it should be a fun"),
    "a huge step": (lambda: orbits.from_arrays(STATES, dt=10**30), "no number is as large"),
    "a step beyond": (lambda: orbits.from_arrays(STATES, dt=1e308), "dt is 1e+308; one time above"),
    "times beyond": (
        lambda: orbits.from_arrays(STATES, time=np.arange(16) * 1e307),
        "times must be",
    ),
    "true": (
        lambda: orbits.from_arrays(STATES, dt=True),
        "dt is True; it should be a valid number",
    ),
    "noise": (
        lambda: orbits.measure_forces("x", noise=1e308),
        "noise is 1e+308; it should be less",
    ),
    "a long path": (
        lambda: orbits.open_dataset("x" * 5000),
        "which is no path: File name too long",
    ),
    "a long table": (lambda: symreg.recover("x" * 5000), "which is no path: File name too long"),
    "long parts": (lambda: symreg.recover("x/" * 4096), "which is no path: File name too long"),
    "a null byte": (lambda: orbits.validate("a\0b"), "which is no path"),
    "no velocity": (lambda: orbits.energy_scale(None), "velocity is None; it should be an array"),
    "a flat one": (lambda: orbits.energy_scale([1, 2]), "(orbit, time, axis) is needed"),
    "words": (lambda: orbits.energy_scale("fast"), "velocity is 'fast'; it should be an array"),
    "batch": (
        lambda: orbits.shuffled_batches("x", ["a"], pd.DataFrame(), 0),
        "batch is a DataFrame",
    ),
    "a seed": (lambda: orbits.shuffled_batches("x", ["a"], 4, "0"), "seed is '0'; it should be a"),
    "a law": (lambda: orbits.parse_law(5), "text is 5; it should be a valid string"),
    "orbits": (
        lambda: orbits.plot_orbits("x", orbits="5"),
        "orbits is '5'; it should be a valid int",
    ),
    "kind": (lambda: worldmodel.make_attention(5, 8, 1), "spec is 5; it should be a valid string"),
    "width": (
        lambda: worldmodel.make_attention("lssa", 8.5, 1),
        "d_head is 8.5; it should be a valid",
    ),
    "at": (lambda: worldmodel.steer(None, "far"), "amount is 'far'; it should be a valid number"),
    "training data": (lambda: worldmodel.train(3, steps=1), "data is int; a dataset"),
    "many signs": (lambda: recover(law="-" * 400 + "r"), "nested deeper than 40 levels"),
}


@pytest.mark.parametrize(("call", "words"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_are_checked_as_options_are(call, words):
    with pytest.raises(ValueError) as refused:
        call()
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_numbers_of_numpy_are_numbers():
    data = orbits.from_arrays(STATES, dt=np.int64(3))
    assert orbits.from_arrays(STATES.tolist(), dt=np.float32(3)).identical(data) or data.dt == 3


@pytest.mark.parametrize("package", [orbits, symreg, worldmodel])
def test_every_public_function_checks_its_arguments(package):
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.isfunction(value) and inspect.signature(value).parameters:
            assert hasattr(value, "__wrapped__"), name
