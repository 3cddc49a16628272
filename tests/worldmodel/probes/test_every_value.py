"""Every read-out with every control runs to its end; what cannot be asked is refused in a line."""

import pytest

import orbits
import worldmodel
from worldmodel.controls import CONTROLS
from worldmodel.probes.readouts import READOUTS

TINY = {
    "causal": {"states": 60, "steps": 2},
    "evaluate": {"steps": 4},
    "extrapolate": {"factors": (1, 2)},
    "far": {"count": 40, "beside": False},
    "jacobian": {"states": 5},
    "kick_response": {"steps": 3},
    "linear": {"states": 60},
    "transfer": {"labelled": 20, "few": 10, "points": 20, "steps": 2, "batch_tokens": 64},
}
NETWORK = {"steps": 1, "d_model": 16, "n_layers": 1, "n_heads": 2, "batch_tokens": 64}


@pytest.fixture(scope="module")
def model(few_orbits):
    return worldmodel.train(few_orbits, **NETWORK)


@pytest.mark.parametrize(
    ("readout", "control"),
    [(name, who) for name, kind in READOUTS.items() for who in kind.controls or CONTROLS],
)
def test_every_read_out_takes_every_control(model, few_orbits, readout, control):
    data, few = few_orbits, READOUTS[readout](**TINY.get(readout, {}))
    found = worldmodel.probe(model, data, readout=few, control=control, orbits=20)
    assert found.metrics
    assert READOUTS[readout].question
    assert CONTROLS[control].label


@pytest.mark.parametrize(
    ("made", "options", "words"),
    [
        ({}, {"readout": "transfer"}, "has 40 orbits, but transfer"),
        ({}, {"readout": "linear", "orbits": 3}, "3 orbit.s. cannot be split into folds"),
        ({"dt": 0.016}, {}, "every 0.016 yr, but the model was trained on 0.008 yr"),
        ({"dimensions": 3}, {}, "3 axes"),
    ],
)
def test_what_does_not_fit_is_refused(model, made, options, words):
    data = orbits.generate(**({"orbits": 40, "samples": 24, "simulator": "kepler"} | made))
    with pytest.raises(ValueError, match=words):
        worldmodel.probe(model, data, **options)


def test_bodies_are_refused_where_a_read_out_knows_fewer():
    options = {"orbits": 12, "samples": 12, "seed": 1}
    pair = orbits.generate(system="barycentric", **options)
    with pytest.raises(ValueError, match="reads one body around a centre"):
        worldmodel.probe(worldmodel.train(pair, **NETWORK), pair, readout="causal")
    three = orbits.generate(system="nbody", planets=2, **options)
    with pytest.raises(ValueError, match="3 bodies in each state"):
        worldmodel.probe(worldmodel.StraightLine(), three, readout="jacobian")
    with pytest.raises(ValueError, match="keplerian knows the motion of one or two bodies"):
        worldmodel.probe(worldmodel.StraightLine(), three, control="keplerian")


@pytest.mark.parametrize(
    ("out", "options", "words"),
    [
        ("a.parquet", ("--readout", "kick_response"), "a .json file is written"),
        ("a.json", (), "a .parquet file is written"),
        ("a.parquet", ("--states", "kicked"), "is not a run"),
    ],
)
def test_a_mistake_is_one_line(few_orbits, tmp_path, refused, out, options, words):
    said = refused("worldmodel", "probe", tmp_path / "run", few_orbits, tmp_path / out, *options)
    assert words in said
