"""What a central force leaves of a motion is named, or the law is not found."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

import orbits
from orbits.derivatives.stepping import stepping
from orbits.force_samples import vectors
from orbits.powers import non_central_part
from orbits.units import GivenUnits
from symreg.fit.form import fit_form
from symreg.recovery.config import RecoverConfig
from symreg.recovery.leftovers import leftovers
from symreg.recovery.motion import problems_of
from symreg.recovery.positions import grain, unreadable
from symreg.recovery.recover import solve

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
GM = orbits.GM_SUN
QUICK = RecoverConfig(engine="projection", seeds=1, null=False, time_limit=4)
START, TIMES = [1.0, 0.0, 0.0, 5.6], 0.01 * np.arange(400)


def kepler(x):
    return -GM * x / np.linalg.norm(x) ** 3


def moved(rates, start=START, t=TIMES):
    """(time, axis) positions by the acceleration of (time, position, velocity)."""
    axes = len(start) // 2
    found = solve_ivp(
        lambda s, y: [*y[axes:], *rates(s, y[:axes], y[axes:])], (0, t[-1]), start, t_eval=t,
        rtol=1e-11, atol=1e-12, method="DOP853",
    )  # fmt: skip
    return found.y[:axes].T


def frame(t, x):
    return pd.DataFrame({"time": t} | {name: x[:, k] for k, name in enumerate("xyz"[: x.shape[1]])})


def forces(t, x, **units):
    position = ",".join("xyz"[: x.shape[1]])
    return orbits.measure_forces(orbits.from_table(frame(t, x), position=position, **units))


def gates(problem):
    return {gate.name: gate.passed for gate in problem.gates}


def noisy(x, size, seed=0):
    return x + size * np.random.default_rng(seed).standard_normal(x.shape)


def one(left):
    """The only part of what is left, that it is all, and that no other force explains it."""
    assert left.complete, left
    assert not left.rivals
    (part,) = left.parts
    return part


@pytest.mark.parametrize("noise", [0.0, 1e-8])
def test_a_drag_that_falls_with_the_distance_is_said_with_its_power(noise):
    t = TIMES / 2
    x = noisy(moved(lambda s, x, v: kepler(x) - 0.06 * v / (x @ x), t=t), noise)
    part = one(leftovers(forces(t, x)))
    assert part.kind.name == "drag over r^2"
    assert part.components[0].value == pytest.approx(0.06, rel=1e-3)
    assert 0.06 in part.components[0]
    (problem,) = problems_of(forces(t, x), QUICK)
    assert "k·v/r^2 with k = 0.06" in " ".join(problem.notes)
    assert gates(problem)["nothing left over"]
    r, a = problem.samples.X[:, 0], problem.samples.y
    assert np.median(a * r**2) == pytest.approx(GM, rel=1e-6)  # the drag is taken away


@pytest.mark.few(1)
@pytest.mark.parametrize("noise", [0.0, 1e-7])
def test_a_strength_that_grows_with_time_is_told_from_another_exponent(noise):
    x = noisy(moved(lambda s, x, v: kepler(x) * (1 + 0.1 * s)), noise)
    part = one(leftovers(forces(TIMES, x)))
    assert part.kind.name == "growth"
    assert part.components[0].value == pytest.approx(0.1, rel=1e-4)
    (problem,) = problems_of(forces(TIMES, x), QUICK)
    assert "% yr^-1" in " ".join(problem.notes)
    a, r = problem.samples.y, problem.samples.X[:, 0]
    assert np.median(a * r**2) == pytest.approx(GM, rel=1e-4)  # the law at the first time


@pytest.mark.parametrize("axis", [(1.0, 0.0), (0.6, 0.8)])
def test_a_force_that_time_explains_and_the_state_does_not_ends_found(axis):
    t = np.linspace(0, 10, 500)
    x = moved(lambda s, x, v: -4 * x + 0.7 * np.sin(s**2) * np.array(axis), [1, 0.3, 0.4, 1.5], t)
    samples = forces(t, x, length_unit="m", time_unit="s")
    (problem,) = problems_of(samples, QUICK)
    assert gates(problem)["nothing left over"] is False
    assert "that changes with time" in " ".join(problem.notes)
    assert np.median(problem.samples.y / problem.samples.X[:, 0]) == pytest.approx(4, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("magnetic", lambda s, x, v: kepler(x) + 0.01 * v[::-1] * [1, -1]),
        ("uniform", lambda s, x, v: kepler(x) + np.array([0.02, -0.05])),
        ("centre", lambda s, x, v: kepler(x - [0.002, 0.001])),
        ("periodic", lambda s, x, v: kepler(x) + 0.05 * np.cos(17 * s) * np.array([1, 0.5])),
        ("quadratic drag", lambda s, x, v: kepler(x) - 1e-3 * np.linalg.norm(v) * v),
    ],
)
def test_small_forces_are_named_under_noise(name, rates):
    part = one(leftovers(forces(TIMES, noisy(moved(rates), 1e-6))))
    assert part.kind.name.split("(")[0] == name
    assert part.share < 0.02
    assert part.sure > 10


@pytest.mark.parametrize("frequencies", [(2.0, 3.0), (1.3, 3.1)])
def test_a_spring_for_each_axis_is_no_isotropic_one_beside_a_wave(frequencies):
    """A wave of either frequency, or a pull that goes with the direction, leaves as little."""
    t = 0.02 * np.arange(300)
    x = np.column_stack([np.cos(frequencies[0] * t), 0.8 * np.sin(frequencies[1] * t + 0.4)])
    samples = forces(t, noisy(x, 1e-5))
    assert leftovers(samples).rivals
    assert gates(problems_of(samples, QUICK)[0])["no other force as good"] is False


@pytest.mark.few(1)
@pytest.mark.parametrize(("more", "noise"), [(0.5, 1e-6), (0.05, 1e-7), (0.0, 1e-6), (0.0, 0.0)])
def test_a_small_correction_is_seen_beside_a_free_curve_and_noise_is_not(more, noise):
    x = moved(lambda s, x, v: kepler(x) - more * x / np.linalg.norm(x) ** 4, [1, 0, 0, 5.0])
    samples = forces(TIMES, noisy(x, noise))
    (problem,) = problems_of(samples, QUICK)
    newton = fit_form("GM/r^2", problem.samples)
    chance = problem.beyond(newton)
    assert chance < 1e-9 if more else chance > 1e-3
    found = solve(problem, QUICK)
    assert found.written != "39.478/r**2" if more else found.found, found.explanation
    assert not (more and found.found and len(found.coefficients) == 1)


@pytest.mark.few(6)
@pytest.mark.parametrize("noise", [0.0, 1e-10, 1e-6, 1e-4])
@pytest.mark.parametrize("power", [-2.5, -2.0, -1.0, 1.0])
def test_nothing_is_left_of_a_clean_motion(power, noise):
    x = noisy(moved(lambda s, x, v: -GM * x * np.linalg.norm(x) ** (power - 1)), noise)
    left = leftovers(forces(TIMES, x))
    assert [*left.parts, left.unnamed] == [0]
    assert left.complete


@pytest.mark.few(1)
@pytest.mark.parametrize("noise", [0.0, 1e-8, 1e-5])
def test_coarse_sampling_at_the_pericentre_is_nothing_left(noise):
    start, t = [1.2, 0.0, 0.0, 3.2], np.linspace(0, 3, 400)
    x = noisy(moved(lambda s, x, v: kepler(x), start, t), noise)
    left = leftovers(forces(t, x))
    assert [*left.parts, left.unnamed] == [0]


def test_a_centre_that_is_not_sure_leaves_nothing_of_itself():
    for seed in range(3):
        x = noisy(moved(lambda s, x, v: kepler(x), [0.75, 0, 0.3, 6.2], TIMES / 2), 1e-5, seed)
        left = leftovers(forces(TIMES / 2, x))
        assert [*left.parts, left.unnamed] == [0]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("centre", "moving", "drag", "noise"),
    [
        ((0.2, 0.12), (0.0, 0.0), 0.0, 0.0),
        ((1e5, 3e4), (0.0, 0.0), 0.0, 0.0),
        ((-5.0, 3.0), (0.0, 0.0), 0.1, 1e-7),
        ((2.0, 1.0), (0.3, 0.1), 0.0, 1e-5),
        ((0.0, 0.0), (0.3, 0.1), 0.0, 0.0),
    ],
)
def test_a_centre_is_found_wherever_it_is_and_moves(centre, moving, drag, noise):
    x = moved(lambda s, x, v: kepler(x) - drag * v, t=TIMES / 2)
    x = noisy(x + np.array(centre) + np.outer(TIMES / 2, moving), noise)
    samples = forces(TIMES / 2, x)
    left = leftovers(samples)
    assert left.complete
    expected = {"centre"} if any(centre) else set()
    expected |= {"moving"} if any(moving) else set()
    expected |= {"drag"} if drag else set()
    assert {part.kind.name for part in left.parts} == expected
    (problem,) = problems_of(samples, QUICK)
    r, a = problem.samples.X[:, 0], problem.samples.y
    assert np.median(a * r**2) == pytest.approx(GM, rel=1e-3)
    assert not orbits.from_table(frame(TIMES / 2, x), position="x,y").attrs["remarks"]


@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_a_turning_frame_has_its_centrifugal_force_and_a_magnetic_field_none(noise):
    t, spin = TIMES / 2, 0.7
    x = moved(lambda s, x, v: kepler(x), t=t)
    turn = np.exp(-1j * spin * t) * (x[:, 0] + 1j * x[:, 1])
    field = moved(lambda s, x, v: kepler(x) + 2 * spin * v[::-1] * [1, -1], t=t)
    for seen, turning in ((np.column_stack([turn.real, turn.imag]), True), (field, False)):
        (problem,) = problems_of(forces(t, noisy(seen, noise)), QUICK)
        assert ("frame that turns by half of that" in " ".join(problem.notes)) == turning
        r, a = problem.samples.X[:, 0], problem.samples.y
        assert np.median(np.abs(a * r**2 / GM - 1)) < 1e-3


def test_the_headline_is_of_a_component_that_has_a_force():
    t = np.linspace(0, 1, 200)
    x = np.column_stack([3 * t, 10 + 4 * t - 9.81 * t**2 / 2])
    first, second = problems_of(forces(t, x, length_unit="m", time_unit="s"), QUICK)
    assert (first.samples.target, second.samples.target) == ("a_y", "a_x")
    assert first.notes
    assert not second.notes


def test_a_centre_never_runs_away():
    benchmark = runpy.run_path(str(BENCHMARKS / "leftovers.py"), run_name="imported")
    random = np.random.default_rng([4711, 58])  # its first centre is further away at every step
    t, x, _ = benchmark["drawn"]("constant", "periodic", 1e-8, random)
    left = leftovers(orbits.measure_forces(orbits.from_arrays(x[None], time=t)))
    assert [part.kind.name.split("(")[0] for part in left.parts] == ["periodic"]
    assert not left.centre.any()


def test_a_force_that_nothing_explains_is_no_law():
    def rates(s, x, v):
        return kepler(x) * (1 + 0.05 * np.tanh(20 * x[0] * x[1])) + 0.3 * np.array([x[1], 0])

    left = leftovers(forces(TIMES, moved(rates)))
    assert not left.complete


SI = {"length_unit": "m", "time_unit": "s"}
EARTH, LOW = 3.986004418e14, [8.5e6, 0.0, 0.0, 0.0, 6200.0, 2000.0]


def satellite(beside=lambda s, x, v: 0.0, noise=0.0, count=500):
    """(time,) s and (time, axis) m of a satellite of the Earth's, with a force beside its pull."""
    t = np.linspace(0, 3e4, count)
    rates = lambda s, x, v: -EARTH * x / np.linalg.norm(x) ** 3 + beside(s, x, v)  # noqa: E731
    return t, noisy(moved(rates, LOW, t), noise)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_drag_in_metres_and_seconds(noise):
    samples = forces(*satellite(lambda s, x, v: -3e8 * v / (x @ x), noise), **SI)
    (problem,) = problems_of(samples, QUICK)
    (row,) = problem.metrics["left_over"]
    assert (row["name"], row["unit"]) == ("drag over r^2", "m^2 s^-1")
    assert row["low"] <= 3e8 <= row["high"]
    assert gates(problem)["nothing left over"]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("strength", "name", "last"),
    [
        (lambda s: 1 - 4e-6 * s, "growth", None),
        (lambda s: np.exp(-1e-5 * s), "trend", 100 * np.expm1(-0.3 * 495 / 499)),
        (lambda s: 1 + 0.05 * np.sin(2e-4 * s), "trend", 5 * np.sin(6 * 495 / 499)),
    ],
)
def test_a_strength_changes_with_time_in_any_way(strength, name, last):
    pull = lambda s, x, v: (1 - strength(s)) * EARTH * x / np.linalg.norm(x) ** 3  # noqa: E731
    (problem,) = problems_of(forces(*satellite(pull, 0.01), **SI), QUICK)
    (row,) = problem.metrics["left_over"]
    assert row["name"] == name
    assert row["low"] <= (-4e-4 if last is None else last) <= row["high"]
    assert "a strength that changes with time" in " ".join(problem.notes)
    r, a = problem.samples.X[:, 0], problem.samples.y
    assert np.median(a * r**2) == pytest.approx(EARTH, rel=1e-5)  # that of the first time


def test_nothing_is_left_of_circles_with_noise():
    speed = lambda e: (GM * (1 + e) / (1 - e)) ** 0.5  # noqa: E731
    for seed, (e, noise) in enumerate(((0.01, 1e-4), (0.002, 1e-3), (0.05, 3e-3), (0.001, 1e-6))):
        t = np.linspace(0, 6, 500)
        x = noisy(moved(lambda s, x, v: kepler(x), [1 - e, 0, 0, speed(e)], t), noise, seed)
        left = leftovers(forces(t, x))
        assert [*left.parts, left.unnamed] == [0]


@pytest.mark.filterwarnings("error")
def test_circles_have_no_fingerprint_and_no_power():
    t = 0.01 * np.arange(100)
    x = noisy(np.column_stack([np.cos(6.2 * t), np.sin(6.2 * t)]), 1e-5)
    (problem,) = problems_of(forces(t, x), QUICK)
    assert "circles about the centre" in " ".join(problem.notes)


@pytest.mark.parametrize(
    "rates",
    [
        lambda s, x, v: kepler(x) * [0.8, 1.2],
        lambda s, x, v: GM / np.linalg.norm(x) ** 3 * x[::-1] * [-0.5, 0.5] - GM * x,
    ],
)
def test_no_part_is_named_that_is_another_one_at_another_time(rates):
    t = np.linspace(0, 1.2, 400)
    problems = problems_of(forces(t, moved(rates, [1, 0.2, 0.5, 5], t)), QUICK)
    assert [problem.samples.target for problem in problems] == ["a_x", "a_y"]
    assert problems[0].metrics["left_over"] == []


def test_steps_that_are_too_long_leave_something():
    def of_order_2(x, v, dt):  # of no method known
        some = x + 2 / 3 * dt * v
        push = 0.25 * kepler(x) + 0.75 * kepler(some)
        return x + dt * (0.25 * v + 0.75 * (v + 2 / 3 * dt * kepler(x))), v + dt * push

    t, x = stepped(600, 0.004, of_order_2)
    (problem,) = problems_of(forces(t, x), QUICK)
    assert gates(problem)["nothing left over"] is False


def test_noise_across_the_line_is_no_force_there():
    x = noisy(moved(lambda s, x, v: kepler(x)), 0.03)
    samples = forces(TIMES, x)
    (problem,) = problems_of(samples, QUICK)
    across = non_central_part(vectors(samples.table, "a_"), vectors(samples.table))
    assert across > 0.15  # of noise alone
    assert problem.non_central is None
    assert gates(problem) == {"nothing left over": True}


def test_outliers_are_numbers_too():
    t, x = satellite(noise=1.0)
    x[[40, 123]] += [3e4, -2e4, 1e4]
    x[200:217] += [5000, -3000, 1000]
    (problem,) = problems_of(forces(t, x, **SI), QUICK)
    single, block = problem.metrics["left_out"]
    assert single["rows"] == [41, 124]  # as in the file, from one
    assert single["shift"] is None
    assert block["rows"] == list(range(201, 218))
    assert block["shift"] == pytest.approx([5000, -3000, 1000], abs=10)


def stepped(n, dt, advance, start=START):
    x, v, path = np.array(start[:2]), np.array(start[2:]), []
    for _ in range(n):
        path.append(x)
        x, v = advance(x, v, dt)
    return dt * np.arange(n), np.array(path)


def explicit(x, v, dt):
    return x + dt * v, v + dt * kepler(x)


def symplectic(x, v, dt):
    v = v + dt * kepler(x)
    return x + dt * v, v


def implicit(x, v, dt):
    y = x + dt * v
    for _ in range(60):
        y = x + dt * (v + dt * kepler(y))
    return y, v + dt * kepler(y)


def first_order(x, v, dt):
    return x + dt * v + dt**2 / 2 * kepler(x), v + dt * kepler(x)


def midpoint(x, v, dt):
    middle = x + dt / 2 * v
    return x + dt * (v + dt / 2 * kepler(x)), v + dt * kepler(middle)


def heun(x, v, dt):
    first, second = kepler(x), kepler(x + dt * v)
    return x + dt * (v + dt / 2 * first), v + dt / 2 * (first + second)


def of_order_4(x, v, dt):
    k1 = kepler(x)
    k2 = kepler(x + dt / 2 * v)
    k3 = kepler(x + dt / 2 * (v + dt / 2 * k1))
    k4 = kepler(x + dt * (v + dt / 2 * k2))
    return x + dt * (v + dt / 6 * (k1 + k2 + k3)), v + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@pytest.mark.parametrize(
    ("advance", "dt", "share", "words", "grows"),
    [
        (explicit, 0.01, -1, "explicit Euler: their second difference at k is the force at k - 1",
         1),
        (symplectic, 0.01, 0, "leapfrog or a symplectic Euler method", 0),
        (implicit, 0.003, 1, "implicit Euler: their second difference at k is the force at k + 1",
         -1),
        (first_order, 0.01, -0.5, "is 0.5 of the force at k - 1", 1),
        (midpoint, 0.01, 0, "the midpoint method: its steps lead", 0),
        (heun, 0.01, 0, "Heun's method: its steps lead", 0),
        (of_order_4, 0.01, 0, "Runge and Kutta's method of order 4: its steps lead", 0),
    ],
)  # fmt: skip
def test_the_fingerprint_of_an_integrator_is_told(advance, dt, share, words, grows):
    t, x = stepped(200, dt, advance)
    (problem,) = problems_of(forces(t, x), QUICK)
    (note,) = problem.notes
    assert words in note
    if grows:
        assert f"{'-' if grows < 0 else '+'}" in note.split("changes by")[1]
    assert gates(problem)["steps that follow the motion"] == (share == 0)
    if share in (-1, 0, 1):  # then the law is that of the second differences, to the digit
        assert np.ptp(problem.samples.y * problem.samples.X[:, 0] ** 2) < 1e-6 * GM


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-5])
@pytest.mark.parametrize("start", [START, [1.0, 0.0, 0.0, 2 * np.pi]])
def test_a_motion_has_no_such_fingerprint(noise, start):
    samples = forces(TIMES, noisy(moved(lambda s, x, v: kepler(x), start), noise))
    table = samples.table
    assert stepping(vectors(table), vectors(table, "a_"), 0.01) is None


def test_a_damped_spring_is_no_integrator():
    t = np.linspace(0, 3, 600)
    (problem,) = problems_of(
        forces(t, moved(lambda s, x, v: -5 * x - 0.2 * v, [1, 0.3, 0.4, 1.1], t)), QUICK
    )
    assert "a drag against the velocity, k·v with" in " ".join(problem.notes)
    assert gates(problem) == {"nothing left over": True}


@pytest.mark.slow
def test_a_component_has_no_name_that_its_vector_lacks():
    t = TIMES / 2
    x = moved(lambda s, x, v: -GM * np.ones(3) / 3**0.5 / (x @ x), [1, 0.2, 0.3, 0.5, 5.0, 2.0], t)
    problems = problems_of(forces(t, x), QUICK)
    assert [problem.samples.target for problem in problems] == ["a_x", "a_y", "a_z"]
    found = solve(problems[1], QUICK)
    assert found.forms == ()
    assert found.matches is None
    assert "Newton" not in str(found)


def test_units_in_which_gm_is_one_are_a_guess():
    t = 0.05 * np.arange(400)
    x = moved(lambda s, x, v: -0.99996 * x / np.linalg.norm(x) ** 3, [1, 0, 0, 0.85], t)
    (problem,) = problems_of(forces(t, x), QUICK)
    assert "au and yr are the units of columns for which none is given" in " ".join(problem.notes)
    (problem,) = problems_of(forces(TIMES, moved(lambda s, x, v: kepler(x))), QUICK)
    assert problem.notes == ()


def test_positions_rounded_beside_the_pull_cannot_be_read():
    x = moved(lambda s, x, v: kepler(x))
    mantissa, exponent = np.frexp(x)
    rounded = np.ldexp(np.round(mantissa * 2**8) / 2**8, exponent)  # as bfloat16
    problem, *_ = problems_of(forces(TIMES, rounded), QUICK)
    assert gates(problem)["readable at this step"] is False
    assert "cannot be read at this step" in " ".join(problem.notes)
    units = GivenUnits({})
    assert unreadable(forces(TIMES, np.round(x, 3)), units) is not None
    t, far = satellite(count=700)  # in metres numbers are rounded on the way to au
    mantissa, exponent = np.frexp(far)
    coarse = forces(t, np.ldexp(np.round(mantissa * 2**8) / 2**8, exponent), **SI)
    assert unreadable(coarse, GivenUnits(coarse.attributes)) is not None
    for fine in (x, np.round(x, 9), x.astype(np.float32)):
        assert unreadable(forces(TIMES, fine), units) is None
    assert grain(np.round(x, 3)) == 1e-3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_a_straight_line_shows_no_force(noise):
    line = np.column_stack([1 + 2 * TIMES, 3 - TIMES])
    (problem,) = problems_of(forces(TIMES, noisy(line, noise)), QUICK)
    assert gates(problem)["a force to explain"] is False
    assert "it shows no force" in " ".join(problem.notes)
    assert "rounded" not in " ".join(problem.notes)
    slow = line + 0.01 * TIMES[:, None] ** 2  # bends by more than its errors
    assert not any(
        "no force" in n for p in problems_of(forces(TIMES, slow), QUICK) for n in p.notes
    )


def test_too_few_states_are_counted_as_in_the_file():
    random = np.random.default_rng(0)
    parts = []
    for orbit in range(30):
        t = np.sort(random.uniform(0, 1.2, 7))
        parts.append(frame(t, moved(lambda s, x, v: kepler(x), t=t)).assign(orbit=orbit))
    data = orbits.from_table(pd.concat(parts), position="x,y", orbit="orbit")
    with pytest.raises(
        ValueError, match=r"30 orbits of 7 states were given.*at least 9 such states"
    ):
        orbits.measure_forces(data)


def test_of_short_series_those_that_show_a_force_are_taken():
    random = np.random.default_rng(0)
    parts = []
    for orbit in range(40):
        t = 0.02 * np.arange(random.integers(5, 16))
        start = [random.uniform(0.8, 1.5), 0, 0, 5.5]
        x = moved(lambda s, x, v: kepler(x), start, t)
        parts.append(frame(t, x).assign(orbit=orbit))
    data = orbits.from_table(pd.concat(parts), position="x,y", orbit="orbit")
    table = orbits.measure_forces(data).table
    assert np.median(table["a_norm"] * table["r"] ** 2) == pytest.approx(GM, rel=1e-4)
    assert "stretch(es) of fewer than 9 states were left out" in " ".join(data.attrs["remarks"])


def test_two_clocks_are_one_line(tmp_path):
    x = moved(lambda s, x, v: kepler(x))
    two = [frame(TIMES, x).assign(orbit="A"), frame(365.25 * TIMES, x).assign(orbit="B")]
    with pytest.raises(ValueError, match=r"orbit A every 0.01 yr and orbit B every 3.65 yr are"):
        orbits.from_table(pd.concat(two), position="x,y", orbit="orbit")
    unequal = np.array([np.zeros((4, 2)), np.zeros((5, 2))], dtype=object)
    np.savez(tmp_path / "unequal.npz", position=unequal, time=np.arange(5.0))
    with pytest.raises(ValueError, match="as of rows of unequal length"):
        orbits.from_table(tmp_path / "unequal.npz")


def test_errors_of_accelerations_are_relative_and_say_so():
    assert "of their size" in forces(TIMES, moved(lambda s, x, v: kepler(x))).attributes["summary"]


@pytest.mark.slow
def test_euler_is_not_found_and_a_joined_drag_is():
    for samples, status in (
        (forces(*stepped(400, 0.01, explicit)), "approximation"),
        (forces(TIMES / 2, moved(lambda s, x, v: kepler(x) - 0.06 * v / (x @ x), t=TIMES / 2)),
         "found"),
    ):  # fmt: skip
        (problem,) = problems_of(samples, QUICK)
        found = solve(problem, QUICK)
        assert found.status == status
        assert found.matches == "newton"
