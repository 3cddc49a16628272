"""The ellipse fitter knows Kepler's laws exactly, and nothing else."""

import numpy as np
import pytest

from orbits.elements import propagate_kepler
from orbits.forces import parse_law
from orbits.simulators.integrate import integrate
from orbits.units import GM_SUN
from worldmodel.controls.ellipse import predict_by_ellipse

DT = 0.008


def kepler_orbits(count=20, axes=2, samples=40):
    random = np.random.default_rng(0)
    x = random.normal(size=(count, axes))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    across = random.normal(size=(count, axes))
    across -= (across * x).sum(-1, keepdims=True) * x
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    r = random.uniform(0.4, 2, (count, 1))
    # From apsis to apsis at up to 1.26 times the circular speed: eccentricities up to 0.6.
    v = np.sqrt(GM_SUN / r) * random.uniform(0.75, 1.25, (count, 1)) * across
    return propagate_kepler(r * x, v, np.full(count, GM_SUN), DT * np.arange(samples))[0]


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("context_length", [3, 5, 16])
def test_kepler_orbits_are_continued_exactly(context_length, axes):
    x = kepler_orbits(axes=axes)
    predicted = predict_by_ellipse(x, context_length)
    assert np.isnan(predicted[:, : context_length - 1]).all()
    # Rounding, times the condition of fitting a conic to an arc of a few degrees.
    np.testing.assert_allclose(
        predicted[:, context_length - 1 : -1], x[:, context_length:], atol=1e-11
    )


def test_a_hyperbola_is_a_conic_too():
    start = np.array([[1.0, 0.0]]), np.array([[3.0, 2 * np.sqrt(2.2 * GM_SUN / 2)]])
    times = DT * np.arange(30)
    x, _ = integrate(parse_law("newton"), *start, np.array([GM_SUN]), times)
    predicted = predict_by_ellipse(x, 6)
    np.testing.assert_allclose(predicted[:, 5:-1], x[:, 6:], atol=1e-9)  # DOP853 at 1e-12


def test_another_law_s_orbits_are_no_ellipses():
    start = np.array([[1.0, 0.0]]), np.array([[0.0, 1.2 * np.sqrt(GM_SUN)]])
    times = DT * np.arange(80)
    x, _ = integrate(parse_law("hooke"), *start, np.array([GM_SUN]), times)
    predicted = predict_by_ellipse(x, 32)
    assert np.abs(predicted[:, 31:-1] - x[:, 32:]).max() > 1e-4
