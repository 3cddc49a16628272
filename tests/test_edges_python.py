"""Wrong arguments in Python: one line that says what is wrong, before any work."""

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
    "a number": (lambda data: 3, "data is int; a dataset of orbits is needed"),
    "an array": (lambda data: STATES, "data is ndarray; a dataset of orbits is needed"),
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
    "no law": (lambda: orbits.parse_law(None), "law is NoneType"),
    "no positions": (lambda: orbits.from_arrays(None, 0.1), "positions are of type object"),
    "complex": (lambda: orbits.from_arrays(STATES + 1j, 0.1), "positions are of type complex128"),
    "ragged": (lambda: orbits.from_arrays([[[1, 2]], [[1], [2]]], 0.1), "positions are no array"),
    "no module": (lambda: worldmodel.TorchModule("net", 2), "module is str"),
    "no context": (lambda: worldmodel.TorchModule(torch.nn.Identity(), 0), "context_length is 0"),
    "back": (lambda: roll_out(worldmodel.StraightLine(), STATES, -1), "steps is -1"),
    "from nothing": (lambda: roll_out(worldmodel.StraightLine(), None, 1), "the shape ()"),
    "no formula": (lambda: symreg.compare(None, "r"), "NoneType is no formula"),
    "no range": (lambda: symreg.compare("r", "2*r", ["r"], {"r": (1, 0)}), "domain of r is 1 to 0"),
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
