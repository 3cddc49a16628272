"""The moving picture: both forces are those of the laws of motion, and its page plays alone."""

import json
import re

import numpy as np
import pytest

import orbits
import worldmodel
from worldmodel.kick import turned


@pytest.fixture(scope="module")
def held_out():
    return orbits.generate(orbits=3, samples=64, simulator="kepler", seed=5)


@pytest.fixture(scope="module")
def moving(held_out, verlet):
    models = {
        "the <law>": worldmodel.load_predictor(verlet, model_context=2),
        "a straight line": worldmodel.StraightLine(),
    }
    return worldmodel.animate(models, held_out, orbit=2, turn=0.4, factor=1.1, steps=20)


def shown_in(page):
    return json.loads(re.search(r'id="shown">(.*)</script>', page)[1])


def test_the_force_of_the_law_is_right_after_the_kick_and_a_straight_line_has_none(moving):
    assert list(moving.step) == list(range(-31, 21))
    # Störmer's rule is off where the arc bends within a step: (ω dt)²/12
    assert max(moving.error["the <law>"]) < 0.02
    np.testing.assert_allclose(moving.error["a straight line"], 1)


def test_the_page_holds_the_orbit_its_kick_and_both_forces(moving, held_out):
    shown = shown_in(moving.page)
    place = np.array(shown["place"])
    before = held_out.position[2, 1:33].values
    np.testing.assert_allclose(place[moving.step <= 0], before, atol=1e-3)
    after = np.array(shown["true"])
    r = np.linalg.norm(place, axis=1, keepdims=True)
    np.testing.assert_allclose(
        after, -orbits.GM_SUN * place / r**3, rtol=0.01, atol=0.1
    )  # of three decimals
    law, line = shown["panels"]
    assert (law["title"], line["title"]) == ("the <law>", "a straight line")
    np.testing.assert_allclose(law["force"], after, rtol=0.03, atol=0.3)
    np.testing.assert_allclose(line["force"], 0, atol=0.01)
    # the next step after the kick leaves the old orbit by the angle and the factor
    old, new = (held_out.position[2].values[33] - before[-1], place[32] - before[-1])
    turn = abs(np.angle(complex(*new) / complex(*old)))
    assert turn == pytest.approx(0.4, abs=0.05)
    assert np.hypot(*new) / np.hypot(*old) == pytest.approx(1.1, abs=0.05)


def test_a_velocity_is_turned_outwards():
    x, v = np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]])
    new = turned(x, v, np.array([np.pi / 6]), np.array([1.5]))
    np.testing.assert_allclose(new, [[1.5, 3 * np.cos(np.pi / 6)]])


def test_a_context_that_is_not_full_gives_no_arrow_and_models_see_the_same_positions(held_out):
    class Long(worldmodel.StraightLine):
        context_length = 40

    models = {"short": worldmodel.StraightLine(), "long": Long()}
    moving = worldmodel.animate(models, held_out, steps=5)
    assert list(moving.step) == [1, 2, 3, 4, 5]  # the kick comes at the 39th position
    assert all(np.isfinite(error).all() for error in moving.error.values())


def test_the_page_is_written_whole_and_stands_in_a_notebook(moving, tmp_path):
    moving.save(tmp_path / "kick.html")
    page = (tmp_path / "kick.html").read_text()
    assert page == moving.page
    assert len(page) < 1_000_000
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert moving._repr_html_().count("<") == 2  # a frame with the page inside, escaped


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"orbit": 3}, "orbit is 3; the data hold 3, counted from 0"),
        ({"orbit": -1}, "orbit is -1"),
        ({"steps": 0}, "steps is 0"),
        ({"turn": "left"}, "turn"),
    ],
)
def test_a_mistake_is_said(held_out, options, message):
    with pytest.raises(ValueError, match=message):
        worldmodel.animate(worldmodel.StraightLine(), held_out, **options)


def test_without_a_law_there_is_no_true_force(held_out):
    positions = held_out.position.values
    unknown = orbits.from_arrays(positions, dt=0.008)
    with pytest.raises(ValueError, match="law"):
        worldmodel.animate(worldmodel.StraightLine(), unknown)


PROBE = """<script>addEventListener('load', () => setTimeout(() => {
    const slider = document.getElementById('frame'), first = +slider.value;
    const button = document.getElementById('play');
    const said = button.textContent;
    slider.value = 40; slider.dispatchEvent(new Event('input'));
    const told = [...document.querySelectorAll('output')].map(e => e.textContent);
    document.title = JSON.stringify({first, said, told, after: button.textContent,
        last: +slider.max, overflow: document.documentElement.scrollWidth - innerWidth});
}, 300));</script></body>"""


@pytest.mark.parametrize("still", [False, True])
def test_it_plays_and_stands_still_for_who_wants_no_motion(
    moving, tmp_path, told_by_browser, still
):
    page = tmp_path / "kick.html"
    page.write_text(moving.page.replace("</body>", PROBE))
    flags = ["--force-prefers-reduced-motion"] if still else []
    told = told_by_browser(page, *flags, dark=still)
    assert ("play" in told["said"]) == still
    if still:  # where it errs most in the first steps after the kick
        assert 0 < moving.step[told["first"]] <= 16
    assert "play" in told["after"], "whoever moves the slider stops it"
    assert told["told"][0].startswith("force off by ")
    assert told["told"][1] == "force off by 100 %"
    assert told["told"][2] == f"{moving.step[40]} steps after the kick"
    assert told["last"] == len(moving.step) - 1
    assert told["overflow"] <= 0
