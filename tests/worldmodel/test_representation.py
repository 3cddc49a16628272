"""Representations: what a network sees of positions and says of vectors, and the way back; runs of
the format before, when coordinates were all that it knew."""

import json
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
import torch

from orbits.files import read_json, write_sealed
from worldmodel.checkpoint import FORMAT, FORMER
from worldmodel.config import ModelConfig, TrainConfig
from worldmodel.representation import REPRESENTATIONS
from worldmodel.representation.base import Feature, Scale, in_units, out_of_units
from worldmodel.representation.logarithms import LONGEST, SHORTEST
from worldmodel.training import train
from worldmodel.world_model import WorldModel

DATA = Path(__file__).parents[1] / "data"
FORMER_RUNS = sorted(DATA.glob("former_run_of_*"))
SHAPES = list(product([1, 2], [2, 3]))
"""Bodies and axes."""
SMALL = {"d_model": 8, "n_layers": 1, "n_heads": 2, "steps": 3, "batch_tokens": 32, "threads": 1}


def allowed(option):
    """Values of an option of the model."""
    return get_args(get_type_hints(ModelConfig)[option])


def positions_of(bodies=1, axes=2, batch=3, time=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, time, bodies, axes, dtype=torch.float64, generator=generator)


def values_of(parts):
    return [part.values for part in parts]


def turned(positions, angle=0.7):
    """About the last axis of three, or in the plane."""
    c, s = np.cos(angle), np.sin(angle)
    turn = torch.eye(positions.shape[-1], dtype=positions.dtype)
    turn[:2, :2] = torch.tensor([[c, -s], [s, c]])
    return positions @ turn.T


def test_the_options_list_every_representation():
    assert sorted(allowed("inputs")) == sorted(REPRESENTATIONS)
    assert set(allowed("outputs")) <= set(REPRESENTATIONS)
    for name, each in REPRESENTATIONS.items():
        assert each.name == name


@pytest.mark.parametrize(("bodies", "axes"), SHAPES)
@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_vectors_come_back_from_what_is_said_of_them(name, bodies, axes):
    representation, vectors = REPRESENTATIONS[name], positions_of(bodies, axes)
    parts = representation.said(vectors)
    assert tuple(part.values.shape[-1] for part in parts) == representation.numbers(axes)
    for part in parts:
        assert part.values.shape[:3] == vectors.shape[:3]
    again = representation.vectors(values_of(parts))
    torch.testing.assert_close(again, vectors, rtol=1e-14, atol=0)


@pytest.mark.parametrize(("bodies", "axes"), SHAPES)
@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_nothing_is_seen_of_later_positions(name, bodies, axes):
    positions = positions_of(bodies, axes)
    before = REPRESENTATIONS[name].seen(positions)
    for time in range(positions.shape[1] - 1):
        other = positions.clone()
        other[:, time + 1 :] = positions_of(bodies, axes, seed=1)[:, time + 1 :]
        for own, part in zip(before, REPRESENTATIONS[name].seen(other), strict=True):
            assert torch.equal(own.values[:, : time + 1], part.values[:, : time + 1])
        # and nothing depends on how long the orbit is
        short = REPRESENTATIONS[name].seen(positions[:, : time + 1])
        for own, part in zip(before, short, strict=True):
            assert torch.equal(own.values[:, : time + 1], part.values)


@pytest.mark.parametrize(("bodies", "axes"), SHAPES)
@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_what_is_not_known_at_first_is_zero_and_all_else_is_not(name, bodies, axes):
    for part in REPRESENTATIONS[name].seen(positions_of(bodies, axes)):
        assert part.values.shape[:3] == (3, 7, bodies)
        assert not part.values[:, : part.first].any()
        assert (part.values[:, part.first :] != 0).all()


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_units_lead_there_and_back(name):
    parts = REPRESENTATIONS[name].seen(positions_of(2, 3))
    units = [Scale(0.3 * number - 1, 0.2 + number) for number in range(len(parts))]
    scaled = in_units(parts, units)
    for own, again in zip(parts, out_of_units(scaled, units), strict=True):
        torch.testing.assert_close(again, own.values, rtol=1e-14, atol=1e-14)
    for own, unit, found in zip(parts, units, scaled, strict=True):
        torch.testing.assert_close(found * unit.size + unit.origin, own.values)
    with pytest.raises(ValueError, match="zip"):
        in_units(parts, units[1:])


@pytest.mark.parametrize("shifted", [True, False])
def test_a_unit_is_measured_where_numbers_are_known(shifted):
    values = 5 + 2 * positions_of(1, 1, batch=4000, time=3)
    values[:, 0] = 0
    unit = Feature(values, first=1, shifted=shifted).unit()
    expected = Scale(5.0, 2.0) if shifted else Scale(0.0, 29**0.5)  # 5² + 2²
    # 8000 normal numbers: their mean is known to 0.02
    assert unit.origin == pytest.approx(expected.origin, abs=0.1)
    assert unit.size == pytest.approx(expected.size, abs=0.1)
    assert Feature(values[:, :1], first=1).unit() == Scale(), "nothing is known"
    assert Feature(torch.zeros(2, 3, 1, 1)).unit() == Scale(), "no number may be divided by 0"


@pytest.mark.parametrize(("bodies", "axes"), SHAPES)
def test_a_turned_orbit_has_the_same_logarithms_and_turned_directions(bodies, axes):
    positions = positions_of(bodies, axes)
    own = values_of(REPRESENTATIONS["logarithms"].seen(positions))
    other = values_of(REPRESENTATIONS["logarithms"].seen(turned(positions)))
    torch.testing.assert_close(other[0], own[0], rtol=0, atol=1e-14)
    for before, after in zip(own[1:], other[1:], strict=True):
        torch.testing.assert_close(after, turned(before), rtol=0, atol=1e-13)


@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e9])
@pytest.mark.parametrize(("bodies", "axes"), SHAPES)
def test_a_larger_orbit_differs_by_the_logarithm_of_its_factor_alone(bodies, axes, factor):
    positions = positions_of(bodies, axes)
    own = values_of(REPRESENTATIONS["logarithms"].seen(positions))
    other = values_of(REPRESENTATIONS["logarithms"].seen(factor * positions))
    torch.testing.assert_close(other[0], own[0] + np.log(factor), rtol=0, atol=1e-13)
    for before, after in zip(own[1:], other[1:], strict=True):
        torch.testing.assert_close(after, before, rtol=1e-13, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logarithms_are_finite_wherever_an_untrained_network_goes(dtype):
    """In float32 the square of 1e20 au is infinite, and that of 1e-25 au is 0."""
    sizes = torch.tensor([1.0, 1e-25, 1e20, 0.0, 1e30, 0.0, 0.0], dtype=dtype)
    positions = sizes[:, None] * torch.tensor([0.6, -0.8], dtype=dtype)
    logarithms = REPRESENTATIONS["logarithms"]
    parts = values_of(logarithms.seen(positions[None, :, None]))
    assert all(torch.isfinite(part).all() for part in parts)
    logs = parts[0].flatten()[[0, 1, 2, 4]].double()
    torch.testing.assert_close(logs, sizes[[0, 1, 2, 4]].double().log(), rtol=1e-6, atol=1e-6)
    wild = torch.tensor([-1e30, -100.0, 2.0, 100.0, 1e30], dtype=dtype)[None, :, None, None]
    said = logarithms.vectors([wild, positions[None, :5, None] / sizes.max()])
    lengths = torch.linalg.vector_norm(said.double(), dim=-1).flatten().tolist()
    assert lengths == pytest.approx([SHORTEST, 0, np.exp(2), 0, LONGEST], rel=1e-5)


@pytest.mark.parametrize("axes", [2, 3])
def test_derivatives_through_logarithms_are_those_of_the_vectors(axes):
    """Also along an axis, where the largest coordinate is all of the length."""
    logarithms = REPRESENTATIONS["logarithms"]
    vectors = torch.cat((positions_of(1, axes)[:1], torch.eye(axes).double()[None, :, None]), dim=1)

    def around(x):
        return logarithms.vectors(values_of(logarithms.said(x)))

    jacobian = torch.autograd.functional.jacobian(around, vectors)
    size = vectors.numel()
    torch.testing.assert_close(jacobian.reshape(size, size), torch.eye(size).double())


COMBINATIONS = list(
    product(
        allowed("inputs"),
        allowed("outputs"),
        allowed("norm"),
        allowed("layout"),
        ("residual", "displacement", "position"),
    )
)


@pytest.fixture(scope="module")
def pairs(make_orbits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    world = {"system": "barycentric", "mass": (0.5, 2.0), "orbits": 20, "samples": 12}
    return make_orbits(folder / "pairs.zarr", **world)


@pytest.mark.few(24)
@pytest.mark.parametrize(("inputs", "outputs", "norm", "layout", "target"), COMBINATIONS)
def test_every_combination_learns_and_is_loaded_again(
    pairs, tmp_path, inputs, outputs, norm, layout, target
):
    options = {"inputs": inputs, "outputs": outputs, "norm": norm, "layout": layout}
    model = train(pairs, out=tmp_path / "run", target=target, **options, **SMALL)
    lines = map(json.loads, (tmp_path / "run" / "metrics.jsonl").read_text().splitlines())
    losses = [line[name] for line in lines for name in ("loss", "held_out_loss") if name in line]
    assert len(losses) >= 2
    assert np.isfinite(losses).all()
    model.save(tmp_path / "saved")
    seen = positions_of(2, 2, batch=2, time=6).numpy()
    said = model.predict(seen)
    assert np.isfinite(said[:, model.context_length - 1 :]).all()
    if "logarithms" in (inputs, outputs):
        # hardly trained, it may go anywhere, but not where there are no numbers
        assert np.isfinite(model.rollout(seen, 20)).all()
    for folder in ("run", "saved"):
        again = WorldModel.load(tmp_path / folder)
        assert again.record == model.record
        np.testing.assert_array_equal(again.predict(seen), said)
    assert read_json(tmp_path / "saved" / "config.json")["format"] == FORMAT


@pytest.mark.parametrize("inputs", allowed("inputs"))
def test_a_representation_of_more_numbers_is_refused_in_few_bits(inputs):
    if inputs == "coordinates":
        assert TrainConfig(inputs=inputs, precision="bf16-true").inputs == inputs
        return
    with pytest.raises(ValueError, match=f"inputs {inputs} needs .* bf16-mixed"):
        TrainConfig(inputs=inputs, precision="bf16-true")
    if inputs == "logarithms":  # bins have none
        assert TrainConfig(inputs=inputs, precision="bf16-true", head="tokens").inputs == inputs


@pytest.mark.parametrize("run", FORMER_RUNS, ids=lambda run: run.name)
def test_a_run_of_the_format_before_predicts_what_it_did(run, tmp_path):
    """Its numbers were written by the code of that time."""
    assert read_json(run / "config.json")["format"] == FORMER
    told = {name: np.array(x) for name, x in read_json(run / "predictions.json").items()}
    model = WorldModel.load(run)
    start, steps = model.context_length - 1, told["rolled"].shape[1]
    # float32 weights: another processor sums in another order
    near = {"rtol": 0, "atol": 1e-6}
    np.testing.assert_allclose(model.predict(told["seen"])[:, start:], told["predicted"], **near)
    np.testing.assert_allclose(model.rollout(told["seen"], steps), told["rolled"], **near)
    # written again it is of the format of today, and of the same identity
    model.save(tmp_path / "run")
    again = WorldModel.load(tmp_path / "run")
    assert read_json(tmp_path / "run" / "config.json")["format"] == FORMAT
    assert again.record == model.record
    assert again.identity == read_json(run / "config.json")["identity"]
    np.testing.assert_array_equal(again.predict(told["seen"]), model.predict(told["seen"]))


def test_both_kinds_of_former_inputs_are_among_these_runs():
    train_options = [read_json(run / "config.json")["train"] for run in FORMER_RUNS]
    assert {each["inputs"] for each in train_options} == {"positions", "differences"}
    known = [WorldModel.load(run).record for run in FORMER_RUNS]
    assert {record.train.inputs for record in known} == {"coordinates", "differences"}
    assert {(record.train.outputs, record.train.norm) for record in known} == {
        ("coordinates", "layer")
    }


def test_a_former_run_is_not_gone_on_with(tmp_path, pairs):
    run = shutil.copytree(DATA / "former_run_of_differences", tmp_path / "run")
    before = (run / "config.json").read_bytes()
    config = WorldModel.load(run).record.train
    with pytest.raises(ValueError, match=r"another configuration \(steps 20 there, 30 here\)"):
        train(pairs, replace(config, steps=30), out=run)
    with pytest.raises(ValueError, match=r"another .* \(it was begun by an earlier version\)"):
        train(pairs, config, out=run)
    assert (run / "config.json").read_bytes() == before


DAMAGES = {
    "a unit is missing": lambda stored: stored["scales"].pop("position"),
    "a unit is a text": lambda stored: stored["scales"].update(target="one"),
    "a unit is a list": lambda stored: stored["scales"].update(position=[1.0]),
    "the number of bodies is missing": lambda stored: stored["scales"].pop("bodies"),
    "units are none": lambda stored: stored.update(scales=None),
    "units are a list of names": lambda stored: stored.update(scales=["position", "target"]),
    "options are missing": lambda stored: stored.pop("train"),
    "options are a text": lambda stored: stored.update(train="position"),
    "inputs are missing": lambda stored: stored["train"].pop("inputs"),
    "inputs are unknown": lambda stored: stored["train"].update(inputs="velocities"),
    "inputs are a list": lambda stored: stored["train"].update(inputs=["positions"]),
    "the identity is missing": lambda stored: stored.pop("identity"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("run", FORMER_RUNS, ids=lambda run: run.name)
def test_a_damaged_former_run_is_refused_in_one_line(run, tmp_path, damage):
    run = shutil.copytree(run, tmp_path / "run")
    stored = read_json(run / "config.json")
    del stored["sha256"]
    damage(stored)
    write_sealed(run / "config.json", stored)  # with a right checksum
    with pytest.raises(ValueError, match="is damaged or of another version") as said:
        WorldModel.load(run)
    assert str(run / "config.json") in str(said.value)
    assert len(str(said.value).splitlines()) == 1


def test_a_former_run_that_was_changed_is_refused_by_its_checksum(tmp_path):
    run = shutil.copytree(FORMER_RUNS[0], tmp_path / "run")
    path = run / "config.json"
    path.write_text(path.read_text().replace('"axes": 2', '"axes": 3', 1))
    with pytest.raises(ValueError, match="is damaged") as said:
        WorldModel.load(run)
    assert len(str(said.value).splitlines()) == 1
