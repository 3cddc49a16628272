"""Law and masses from positions alone: found where they are, and refused where they are not."""

import json

import numpy as np
import pandas as pd
import pytest
import sympy
from scipy.integrate import solve_ivp

import orbits
import symreg
from orbits.estimates import Estimate
from orbits.forces import parse_law
from orbits.units import GivenUnits
from symreg.cli import main
from symreg.weighing.records import Unseen
from symreg.weighing.words import formula_of, of_the_unseen

TWO = ("x1,y1", "x2,y2")


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("law", "exponent"), [("newton", 2.0), ("logarithmic", 1.0), ("power_law(n=2.5)", 2.5)]
)
@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_powers_and_masses_of_simulated_worlds(law, exponent, noise, world, noisy):
    data = noisy(world(law), noise)
    found = symreg.weigh(data)
    assert found.law == law
    assert found.central
    assert found.exponent.value == pytest.approx(exponent, abs=1e-5)
    true = data["mass"].values[0]
    for mass, truth in zip(found.masses, true, strict=True):
        assert mass.weighable
        assert mass.value == pytest.approx(truth, rel=1e-3)


@pytest.mark.needs("rebound")
@pytest.mark.parametrize("known", [{}, {"reference": "body1", "reference_mass": 5.0}])
def test_a_simulation_of_rebound_is_weighed_in_its_units(known):
    """With G = 1, au and solar masses its year lasts 2 pi; a known mass replaces all units."""
    rebound = pytest.importorskip("rebound")
    unit = known.get("reference_mass", 1.0)
    simulation = rebound.Simulation()
    simulation.integrator = "ias15"
    for planet in ({"m": unit}, {"m": 1e-3 * unit, "a": 1.0, "e": 0.05},
                   {"m": 3e-4 * unit, "a": 2.2, "e": 0.1, "f": 1.0}):  # fmt: skip
        simulation.add(**planet)
    simulation.move_to_com()
    times = np.linspace(0, 12 * 2 * np.pi / np.sqrt(unit), 1500)
    states = np.empty((1, len(times), 3, 3))
    for k, time in enumerate(times):
        simulation.integrate(time)
        states[0, k] = [[each.x, each.y, each.z] for each in simulation.particles]
    scale = 1.0 if known else 2 * np.pi
    found = symreg.weigh(orbits.from_arrays(states, time=times / scale), **known)
    assert found.law == "newton"
    masses = [mass.value for mass in found.masses]
    np.testing.assert_allclose(masses, unit * np.array([1, 1e-3, 3e-4]), rtol=1e-8)


@pytest.mark.slow
def test_a_screened_force_is_no_power(world):
    data = world("yukawa(length=2)", seed=1)
    found = symreg.weigh(data)
    assert found.law.startswith("yukawa")
    assert found.parameters["length"].value == pytest.approx(2.0, rel=1e-3)
    for mass, truth in zip(found.masses, data["mass"].values[0], strict=True):
        assert mass.value == pytest.approx(truth, rel=1e-3)


@pytest.mark.parametrize("speed", [0.8, 1.6])
@pytest.mark.parametrize("n", [2.0, 1.8])
def test_two_stars_bound_or_not(n, speed, two_stars):
    found = symreg.weigh(two_stars(n, speed))
    assert found.central
    assert found.exponent.value == pytest.approx(n, abs=1e-5)
    assert found.mass("a").value / found.mass("b").value == pytest.approx(3.0, rel=1e-6)
    assert ("another unit" in found.scale) == (n != 2)


@pytest.mark.parametrize("drag", [0.03, 0.003])
def test_a_drag_is_no_central_law(drag, two_stars):
    found = symreg.weigh(two_stars(drag=drag))
    assert found.law == "none"
    assert not found.central
    # positions of an integration to 1e-12, three thousand states: the drag to seven digits
    assert found.drag.value == pytest.approx(drag, rel=1e-7)
    assert found.exponent.value == pytest.approx(2.0, abs=1e-9)
    assert "drag" in found.explanation


@pytest.mark.parametrize(
    ("beside", "name", "values"),
    [
        (lambda t, v, pull: 0.05 * t * pull, "growth", [5]),
        (lambda t, v, pull: 0.2 * v[:, ::-1] * [1, -1], "magnetic", [0.2]),
        (
            lambda t, v, pull: -0.01 * np.linalg.norm(v, axis=1)[:, None] * v,
            "quadratic drag",
            [0.01],
        ),
        (lambda t, v, pull: np.tile([0.02, 0.01], (2, 1)), "uniform", [0.02, 0.01]),
    ],
)
def test_a_force_beside_the_law_is_named_as_for_one_body(beside, name, values):
    masses = np.array([[3.0], [1.0]])

    def rates(t, y):
        x, v = y.reshape(2, 2, 2)
        line = x[1] - x[0]
        pull = orbits.G * np.array([line, -line]) * masses[::-1] / np.hypot(*line) ** 3
        return np.concatenate([v, pull + beside(t, v, pull)]).ravel()

    start = [-0.25, 0, 0.75, 0, 0, -2.5, 0, 7.5]
    t = np.linspace(0, 3, 900)
    y = solve_ivp(rates, (0, 3), start, t_eval=t, rtol=1e-12, atol=1e-12, method="DOP853").y
    found = symreg.weigh(orbits.from_arrays(y[:4].T.reshape(1, -1, 2, 2), time=t))
    assert [row["name"] for row in found.left_over] == [name] * len(values)
    assert [row["value"] for row in found.left_over] == pytest.approx(values, rel=1e-4)
    assert found.exponent.value == pytest.approx(2, abs=1e-5)
    assert found.masses[0].value == pytest.approx(3, rel=1e-4)


def test_the_interval_of_a_drag_holds_it_beside_noise(two_stars, noisy):
    clean = two_stars(drag=0.03)
    found = [symreg.weigh(noisy(clean, 1e-6, seed)).drag for seed in range(5)]
    # one of twenty may miss; two of five would be chance in one of fifty
    assert sum(0.03 in drag for drag in found) >= 4
    assert all(drag.half_width < 3e-5 for drag in found)


@pytest.mark.parametrize("law", ["newton", "power_law(n=2.5)"])
def test_results_are_in_the_units_of_the_positions(law, world):
    data = world(law, planets=2, samples=600)
    seconds, metres = 365.25 * 86_400, 149_597_870_700.0
    position = data["position"].values[0]
    moved = orbits.from_arrays(
        position[None] * metres, time=data["time"].values * seconds, length_unit="m", time_unit="s"
    )
    ours, theirs = symreg.weigh(data), symreg.weigh(moved)
    assert theirs.units == {"length": "m", "time": "s", "mass": "kg"}
    # the attraction by each body at a distance is the same, in m/s^2, by the formula as printed
    g_au, g_si = 4 * np.pi**2, 6.6743e-11
    for one, other in zip(ours.masses, theirs.masses, strict=True):
        pull = [
            float(sympy.sympify(found.formula).subs({"G": g, "m": mass.value, "r": r}))
            for found, g, mass, r in ((ours, g_au, one, 1.5), (theirs, g_si, other, 1.5 * metres))
        ]
        assert pull[1] == pytest.approx(pull[0] * metres / seconds**2, rel=1e-4)
        if law == "newton":
            # GM of the Sun over CODATA's G; 1e-4: Gauss's year is not 365.25 days
            assert other.value == pytest.approx(one.value * 1.98841e30, rel=1e-4)
    assert theirs.curve[0].r == pytest.approx(ours.curve[0].r * metres, rel=1e-6)
    printed = str(theirs)
    assert "mass, kg" in printed
    assert "attraction, m/s²" in printed
    assert not any(unit in printed for unit in (" au", "M☉", " yr"))


def test_an_unseen_body_is_in_the_units_of_the_positions():
    neptune = Unseen(
        mass=Estimate(5.15e-5, 5e-5, 5.3e-5), semi_major_axis=Estimate(30.07, 30.0, 30.1),
        eccentricity=Estimate(0.0086), centre="sun", times=(0.0, 10.0), before=9.0, after=1.0,
        distance=(Estimate(29.9), Estimate(30.2)), longitude=(Estimate(1.0), Estimate(23.0)),
        latitude=(Estimate(0.0), Estimate(0.1)),
    )  # fmt: skip
    units = GivenUnits({"length_unit": "km", "time_unit": "d"})
    told = neptune.in_units(units)
    # 1.024e26 kg and 4.498e9 km in every table of the planets
    assert told.mass.value == pytest.approx(1.024e26, rel=1e-3)
    assert told.semi_major_axis.value == pytest.approx(4.4984e9, rel=1e-4)
    assert told.times[1] == pytest.approx(3652.5)
    assert told.distance[0].value == pytest.approx(29.9 * 149597870.7)
    printed = " ".join(
        f"{name} {text}"
        for name, text in of_the_unseen(told, {"length": "km", "time": "d", "mass": "kg"}).items()
    )
    assert "unseen body, kg" in printed
    assert "where it is after 3652 d" in printed
    assert not any(unit in printed for unit in (" au", "M☉", " yr"))


def test_a_solar_mass_is_the_suns_and_the_result_says_so():
    gm, t = 2.9591220828559e-4, np.linspace(0, 900, 700)  # Gauss' k², au³/d²: GM of the Sun
    mean = np.sqrt(gm) * t
    x = np.column_stack([np.cos(mean), np.sin(mean)])
    data = orbits.from_arrays(
        np.stack([0 * x, x], axis=1)[None] - 1e-9 * x[None, :, None], time=t, time_unit="d"
    )
    found = symreg.weigh(data, law="newton")
    assert found.units["mass"] == "M☉"
    assert found.masses[0].value == pytest.approx(1, abs=1e-7)
    assert "of which the Sun has 1" in found.scale
    assert GivenUnits({}).mass_factor == 1
    pc = GivenUnits({"length_unit": "pc"})
    assert pc.newton == pytest.approx(4.498502e-15, rel=1e-6)  # pc³/yr²/M☉, as astropy has it


@pytest.mark.parametrize("text", ["newton", "yukawa(length=2)", "plummer(softening=0.3)"])
def test_a_formula_gives_the_same_pull_in_other_units(text):
    law, units = parse_law(text), GivenUnits({"length_unit": "km", "time_unit": "d"})
    here, there = (sympy.sympify(formula_of(law, each)) for each in (GivenUnits({}), units))
    pull = here.subs({"G": orbits.G, "m": 3.0, "r": 1.5})
    kilometres = 1.5 * units.factor(1, 0)
    moved = there.subs({"G": units.newton, "m": 3.0 * units.mass_factor, "r": kilometres})
    # printed to six digits
    assert float(moved) == pytest.approx(float(pull) * units.factor(1, -2), rel=1e-5)


def of_two(positions):
    frame = pd.DataFrame(positions, columns=["x1", "y1", "x2", "y2"])
    return orbits.from_table(frame.assign(time=0.01 * np.arange(2000)), position=TWO)


def test_noise_is_not_taken_for_a_law():
    noise = np.random.default_rng(0).standard_normal((2000, 4))
    with pytest.raises(ValueError, match="no path leads through so few states"):
        symreg.weigh(of_two(noise))
    found = symreg.weigh(of_two(np.cumsum(noise, axis=0) + np.array([0, 0, 900, 0])))
    assert not any(mass.weighable for mass in found.masses)
    assert not found.central or found.exponent.high - found.exponent.low > 0.5


def test_intervals_hold(world, noisy):
    data, held = world(samples=800), []
    true = [*data["mass"].values[0], 2.0]
    size = float(np.sqrt(np.mean(data["position"].values ** 2)))
    for seed in range(30):
        found = symreg.weigh(noisy(data, 1e-6 * size, seed))
        estimates = [*found.masses, found.exponent]
        held += [e.low <= t <= e.high for e, t in zip(estimates, true, strict=True)]
    # 120 estimates, those of one draw not independent: 95 % within 3.5 standard errors
    assert np.mean(held) > 0.88


def test_where_a_body_is_seen_from_another(world):
    data = world()
    position = data["position"].values[0]
    frame = pd.DataFrame({"time": data["time"].values})
    for k in (1, 2):
        seen = position[:, k] - position[:, 0]
        for axis, name in enumerate("xyz"):
            frame[f"{name}{k}"] = seen[:, axis]
    moved = orbits.from_table(frame, position=("x1,y1,z1", "x2,y2,z2"), origin="star")
    found = symreg.weigh(moved)
    assert found.law == "newton"
    assert found.momentum.unbalanced is None
    for mass, truth in zip(found.masses, data["mass"].values[0], strict=True):
        assert mass.value == pytest.approx(truth, rel=1e-3)


def test_the_scale_may_come_from_a_body_and_the_law_may_be_granted(two_stars):
    data = two_stars()
    found = symreg.weigh(data, reference="b", reference_mass=7.0)
    assert found.mass("b").value == 7.0
    assert found.mass("b").low == pytest.approx(7.0)
    assert found.mass("a").value == pytest.approx(21.0, rel=1e-6)
    granted = symreg.weigh(data, law="newton")
    assert granted.mass("a").value == pytest.approx(3.0, rel=1e-8)
    wrong = symreg.weigh(data, law="hooke")
    assert not wrong.central


def test_the_command_writes_what_the_function_gives(tmp_path, capsys, world):
    data = world(samples=600)
    orbits.from_table(
        pd.DataFrame(
            {"time": data["time"].values}
            | {
                f"{n}{k}": data["position"].values[0, :, k, a]
                for k in range(3)
                for a, n in enumerate("xyz")
            }
        ),
        tmp_path / "w.zarr",
        position=tuple(f"x{k},y{k},z{k}" for k in range(3)),
    )
    out = tmp_path / "w.json"
    assert main(["weigh", str(tmp_path / "w.zarr"), str(out)]) == 0
    assert "newton" in capsys.readouterr().out
    written = json.loads(out.read_text())
    assert {"law", "exponent", "masses"} <= set(written)
    assert set(written["masses"][0]) >= {"body", "value", "low", "high", "weighable"}
    assert symreg.Weighing.read(out).law == "newton"


@pytest.mark.slow
def test_the_solar_system():
    bodies = "sun mercury venus earth moon mars jupiter saturn uranus neptune pluto".split()
    data = orbits.ephemeris(
        bodies=bodies, together=True, frame="icrf", dt=0.25 / 365.25,
        samples=43830, start=1985, stop=2015.01,
    )  # fmt: skip
    found = symreg.weigh(data)
    assert found.law == "newton"
    assert abs(found.exponent.value - 2) < 1e-4
    for mass, truth in zip(found.masses, data["mass"].values[0], strict=True):
        if mass.body == "pluto":
            assert not mass.weighable
        else:
            assert mass.value == pytest.approx(truth, rel=1e-5 if mass.body == "sun" else 0.01)


def test_the_simplest_law_that_the_data_allow_is_the_headline(two_stars, noisy):
    # an exponent whose interval holds 2 is 2, in the masses and in the scale too
    for seed in range(3):
        found = symreg.weigh(noisy(two_stars(), 1e-4, seed))
        assert found.exponent.value != 2
        assert found.law == "newton"
        assert "another unit" not in found.scale
        given = symreg.weigh(noisy(two_stars(), 1e-4, seed), law="newton")
        assert found.mass("a").value == pytest.approx(given.mass("a").value, rel=1e-9)


@pytest.mark.slow
def test_a_weak_screening_is_told_and_none_is_not(world):
    # a length a hundred times the system: 1/r^2 leaves 5e-5, which no unseen error does
    screened = symreg.weigh(world("yukawa(length=100)", samples=3000))
    assert screened.law.startswith("yukawa")
    assert symreg.weigh(world(samples=3000)).law == "newton"


def test_a_coarse_sampling_is_said_before_the_work(two_stars):
    said = []
    symreg.weigh(two_stars(), progress=said.append)
    assert not any("turns by up to" in line for line in said)
    coarse = two_stars().isel(time=slice(None, None, 20))
    coarse.attrs["dt"] *= 20
    found = symreg.weigh(coarse, progress=said.append)
    assert "turns by up to" in said[0]
    assert "turns by up to" in found.explanation


def test_rows_that_follow_one_another_are_one_stretch():
    planets = {"bodies": ("sun", "jupiter", "saturn", "uranus", "neptune"), "together": True,
               "frame": "icrf", "dt": 0.05}  # fmt: skip
    cut = symreg.weigh(orbits.ephemeris(**planets, samples=50))
    whole = symreg.weigh(orbits.ephemeris(**planets, samples=2000))
    assert cut.law == whole.law == "newton"
    for one, other in zip(cut.masses, whole.masses, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-9)


@pytest.mark.slow
def test_eleven_bodies_by_the_command_of_the_page():
    data = orbits.ephemeris(
        bodies="sun mercury venus earth moon mars jupiter saturn uranus neptune pluto".split(),
        together=True, frame="icrf",
    )  # fmt: skip
    said = []
    found = symreg.weigh(data, progress=said.append)
    assert found.law == "newton"
    assert sum(mass.weighable for mass in found.masses) >= 10
    assert said
    assert found.seconds < 60


def test_what_is_left_points_at_the_body_that_is_not_seen():
    bodies = ("sun", "jupiter", "saturn", "uranus", "neptune")
    data = orbits.ephemeris(
        bodies=bodies, together=True, frame="ecliptic", dt=0.05, samples=2000,
        start=1900, stop=2000.1,
    )  # fmt: skip
    position = data["position"].values[0]
    found = symreg.weigh(orbits.from_arrays(position[None, :, :4], 0.05))
    assert not found.central
    (rest,) = (rest for rest in found.rests if rest.body == "body4")
    state = round(rest.time / 0.05)
    line = position[state, 4] - position[state, 3]
    cosine = np.dot(line, rest.acceleration) / np.linalg.norm(line)
    assert cosine / np.linalg.norm(rest.acceleration) > np.cos(np.radians(1))
    assert "On body4 most is left" in found.explanation
    assert "longitude" in found.explanation
    assert symreg.weigh(data, relativity="einstein").rests == ()


@pytest.mark.few(1)
@pytest.mark.parametrize("relativity", ["none", "einstein"])
def test_intervals_hold_what_relativity_and_unseen_bodies_do(relativity):
    bodies = "sun mercury venus earth mars jupiter saturn uranus neptune".split()
    data = orbits.ephemeris(bodies=bodies, together=True, frame="icrf", start=1950, stop=2000)
    found = symreg.weigh(data, relativity=relativity)
    assert found.law == "newton"
    true = data["mass"].values[0]
    held = [m.low <= t <= m.high for m, t in zip(found.masses, true, strict=True)]
    # the asteroids are not seen, and relativity is not where it is left out; the giants' masses
    # hang on the Sun's pull, which relativity changes by 1e-7 of itself
    assert sum(held) >= 8
    assert sum(mass.weighable for mass in found.masses) >= 8
