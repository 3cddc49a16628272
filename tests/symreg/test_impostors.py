"""Predictors whose truth is known: none that holds no such force is said to know it.

Each is asked by the very run that a trained model is asked by, in a small setting.
"""

import math

import numpy as np
import pytest

import orbits
import symreg
from orbits.forces import known_law
from symreg.experiments.verdict import ANOTHER, KEPLERIAN, LAW, NEITHER, OBEYS
from worldmodel.controls import lookups

SMALL = {
    "orbits": 60, "held_out_orbits": 80, "samples": 64, "simulator": "kepler", "search_seeds": 2,
    "sources": ("orbit", "kicked"), "controls": ("injected",), "workers": 1, "readouts": (),
    "engine": "rational",
}  # fmt: skip
DT = 0.008


class Pushed:
    """Störmer's rule under a force of place and velocity; of a context of two."""

    context_length = 2

    def __init__(self, force, dt=DT):
        self.force, self.dt = force, dt

    def predict(self, positions):
        said = np.full(positions.shape, np.nan)
        x, before = positions[:, 1:], positions[:, :-1]
        step = (x - before) / self.dt
        v = step
        for _ in range(4):  # the velocity at x, of the mean one before it
            push = self.force(x, v)
            v = step + push * self.dt / 2
        said[:, 1:] = 2 * x - before + self.dt**2 * push
        return said


def newton(x, v=None, n=2.0, gm=orbits.GM_SUN, centre=(0.0, 0.0)):
    x = x - np.array(centre)
    r = np.linalg.norm(x, axis=-1, keepdims=True)
    return -gm * x / r ** (n + 1)


def distance(x):
    return np.linalg.norm(x, axis=-1, keepdims=True)


def turned(v):
    return v[..., ::-1] * np.array([-1.0, 1.0])


NOT_NEWTON = {
    "a drag of 1/yr": lambda x, v: newton(x) - v,
    "a drag of 2/yr": lambda x, v: newton(x) - 2 * v,
    "a drag of 5/yr outside 1 au": lambda x, v: newton(x) - 5 * v * (distance(x) > 1),
    "a magnetic part": lambda x, v: newton(x) + turned(v),
    "a field squeezed by 10 %": lambda x, v: newton(x) * np.array([1.1, 0.9]),
    "a centre off by 0.04 au": lambda x, v: newton(x, centre=(0.04, 0.0)),
    "an exponent of 2.2": lambda x, v: newton(x, n=2.2),
    "an attraction 7 % too strong": lambda x, v: newton(x, gm=1.07 * orbits.GM_SUN),
    "a term in 1/r⁴": lambda x, v: newton(x) * (1 + 0.2 / distance(x) ** 2),
    "Hooke's law": lambda x, v: -orbits.GM_SUN * x,
}


def judged(predictor, **options):
    folder = options.pop("out")
    return symreg.run(predictor=predictor, out=str(folder), progress=lambda _: None,
                      **{**SMALL, **options})  # fmt: skip


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """Positions of the orbits that a run of the same options would train on."""
    made = orbits.generate(orbits=400, samples=64, simulator="kepler", seed=0)
    return made["position"].values


@pytest.mark.slow
def test_the_law_itself_is_a_law_to_ten_times_the_distance(tmp_path):
    found = judged(Pushed(newton), out=tmp_path / "run")
    assert found.recovered
    assert found.world_model.kind == LAW
    assert found.world_model.holds_to == pytest.approx(10 * found.world_model.far.radius[1])
    assert found.numbers("far")["error"] < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    ["hooke", "logarithmic", "power_law(n=2.5)", "deep_mond", "plummer(softening=0.1)",
     "yukawa(length=1)", "newton_gr(b=0.02)"],
)  # fmt: skip
def test_every_law_itself_is_a_law(law, tmp_path):
    force = known_law(law)

    def exact(x, v):
        here = x.reshape(-1, 2)
        return force.acceleration(here, np.full(len(here), orbits.GM_SUN)).reshape(x.shape)

    found = judged(Pushed(exact), law=law, out=tmp_path / "run", simulator="auto", engine="auto")
    assert found.world_model.kind == LAW, found.world_model
    assert found.world_model.holds_to >= 4 * found.world_model.far.radius[1] * 0.99


@pytest.mark.slow
@pytest.mark.parametrize("way", ["thin_plate", "copied", "linear"])
def test_a_lookup_holds_no_law(training, tmp_path, way):
    """Its orbits are others than the run's, which its rivals have."""
    interpolation = getattr(lookups, way)
    neighbours = {"copied": 1, "linear": 60, "thin_plate": 100}[way]
    found = judged(
        lookups.Lookup(training[:60], 2, neighbours, interpolation), out=tmp_path / "run"
    )
    assert not found.recovered
    assert found.world_model.kind == NEITHER
    if way != "copied":  # it passes the kick: both of its positions lie after it
        assert found.kicked.kick_r2["1"] > 0.9
        assert found.world_model.beside.ratio < 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a drag of 1/yr", "a field squeezed by 10 %"])
def test_another_force_is_told_as_such(name, tmp_path):
    found = judged(Pushed(NOT_NEWTON[name]), out=tmp_path / "run")
    assert not found.recovered
    assert found.world_model.kind == ANOTHER
    failed = {gate.name for gate in found.world_model.inside if not gate.passed}
    part = "along the velocity" if "drag" in name else "with the direction"
    assert f"no part {part}" in failed


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_NEWTON)
def test_no_other_force_is_the_laws(name, tmp_path):
    found = judged(Pushed(NOT_NEWTON[name]), out=tmp_path / "run")
    assert not found.recovered
    # a drag that begins at 1 au is none of the parts that are fitted
    assert found.world_model.kind in ((NEITHER,) if "outside" in name else (ANOTHER,)), (
        found.world_model
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["forest", "boosted trees", "five neighbours"])
def test_no_regression_on_triples_is_newtonian(kind, training, tmp_path):
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
    from sklearn.multioutput import MultiOutputRegressor
    from sklearn.neighbors import KNeighborsRegressor

    models = {
        "forest": ExtraTreesRegressor(100, random_state=0, n_jobs=1),
        "boosted trees": MultiOutputRegressor(HistGradientBoostingRegressor(random_state=0)),
        "five neighbours": KNeighborsRegressor(5, weights="distance"),
    }
    x = training[:200].astype(float)
    second = (x[:, 2:] - 2 * x[:, 1:-1] + x[:, :-2]).reshape(-1, 2) / DT**2
    features = np.concatenate((x[:, 1:-1], np.diff(x, axis=1)[:, :-1] / DT / 6), axis=2)
    fitted = models[kind].fit(features.reshape(-1, 4), second)

    def force(here, step):
        asked = np.concatenate((here, step / 6), axis=-1)
        return fitted.predict(asked.reshape(-1, 4)).reshape(here.shape)

    class Regression(Pushed):
        def predict(self, positions):
            said = np.full(positions.shape, np.nan)
            here, before = positions[:, 1:], positions[:, :-1]
            push = force(here, (here - before) / DT)
            said[:, 1:] = 2 * here - before + DT**2 * push
            return said

    found = judged(Regression(None), out=tmp_path / "run")
    assert not found.recovered
    assert found.world_model.kind not in OBEYS


@pytest.mark.slow
def test_the_law_at_a_coarse_step_is_a_law(tmp_path):
    """Second differences of coarse steps are not the acceleration; the injected law shows it."""
    dt = 0.016  # at twice that, two positions near 0.3 au lie on more than one orbit
    found = judged(Exact(dt), out=tmp_path / "run", dt=dt)
    assert found.world_model.kind == LAW
    assert found.recovered


class Exact:
    """Newton's law by the exact two-body motion through two positions."""

    context_length = 2

    def __init__(self, dt):
        self.dt = dt

    def predict(self, positions):
        said = np.full(positions.shape, np.nan)
        x, before = positions[:, 1:].astype(float), positions[:, :-1].astype(float)
        v = (x - before) / self.dt
        for _ in range(12):  # Newton's steps to the velocity that leads from one to the other
            missed = self._moved(x, v, -self.dt)[0] - before
            moved = [self._moved(x, v + 1e-5 * axis, -self.dt)[0] for axis in np.eye(2)]
            slope = np.stack([(place - before - missed) / 1e-5 for place in moved], axis=-1)
            v = v - np.linalg.solve(slope, missed[..., None])[..., 0]
        said[:, 1:] = self._moved(x, v, self.dt)[0]
        return said

    def _moved(self, x, v, dt, steps=16):
        h = dt / steps
        for _ in range(steps):
            k1 = newton(x)
            k2 = newton(x + h / 2 * v)
            k3 = newton(x + h / 2 * v + h * h / 4 * k1)
            k4 = newton(x + h * v + h * h / 2 * k2)
            x, v = x + h * v + h * h / 6 * (k1 + k2 + k3), v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x, v


@pytest.mark.slow
def test_a_model_of_one_direction_is_told_on_which_half_it_is_right(tmp_path):
    class OneWay(Pushed):
        def predict(self, positions):
            said = super().predict(positions)
            x, before = positions[:, 1:], positions[:, :-1]
            clockwise = before[..., 0] * x[..., 1] - before[..., 1] * x[..., 0] < 0
            said[:, 1:][clockwise] = (2 * x - before)[clockwise]
            return said

    found = judged(OneWay(newton), out=tmp_path / "run")
    assert not found.recovered
    assert "for bodies that move anticlockwise" in " ".join(str(found).split())


class Curve:
    """Goes on along the polynomial of time through some positions."""

    def __init__(self, length):
        self.context_length = length
        self.weights = [(-1) ** (length - 1 - k) * math.comb(length, k) for k in range(length)]

    def predict(self, positions):
        said = np.full(positions.shape, np.nan)
        windows = np.lib.stride_tricks.sliding_window_view(positions, self.context_length, axis=1)
        said[:, self.context_length - 1 :] = windows @ np.array(self.weights, dtype=float)
        return said


@pytest.mark.slow
@pytest.mark.parametrize(("length", "dt"), [(3, 0.01), (4, 0.016), (6, 0.02)])
def test_a_polynomial_of_time_is_not_keplerian(length, dt, tmp_path):
    found = judged(Curve(length), out=tmp_path / "run", dt=dt)
    assert not found.recovered
    assert found.world_model.kind not in (*OBEYS, KEPLERIAN), found.world_model


@pytest.mark.slow
def test_a_force_that_turns_every_body_the_same_way_is_seen(tmp_path):
    found = judged(Pushed(lambda x, v: newton(x) + 0.1 * turned(newton(x))), out=tmp_path / "run")
    assert not found.recovered
    assert found.world_model.kind == ANOTHER
    failed = {gate.name for gate in found.world_model.inside if not gate.passed}
    assert "no part around the centre" in failed
