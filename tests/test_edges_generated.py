"""Whatever documented values are combined, and whatever a table holds: an answer, or one line."""

import contextlib
import io
import os
import tempfile
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import orbits
from orbits.cli import main as orbits_command
from symreg.cli import main as symreg_command
from worldmodel.cli import main as worldmodel_command

pytestmark = pytest.mark.slow
MANY = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))

LAWS = (
    "newton", "power_law(n=3)", "logarithmic", "hooke", "yukawa(length=1)", "deep_mond",
    "plummer(softening=0.1)", "newton_gr(b=0.001)", "k*r**-2.5", "GM*exp(-r/b)/r**2; b=0.5",
)  # fmt: skip
BODIES = "sun mercury venus earth moon mars jupiter saturn uranus neptune pluto".split()


def run(command, arguments, leaves=(), then=lambda: []):
    """Exit code and what was said in an empty folder; a warning is an error, and so is a file, and
    what is found wrong with what was made."""
    here, said = os.getcwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        os.chdir(folder)
        stack.callback(os.chdir, here)
        stack.enter_context(contextlib.redirect_stdout(said))
        stack.enter_context(contextlib.redirect_stderr(said))
        stack.enter_context(warnings.catch_warnings(action="error"))
        code = command([*map(str, arguments)])
        left = set(os.listdir("."))
        assert code or then() == []
    assert code in (0, 2), said.getvalue()
    assert left <= set(leaves if code == 0 else ()), left
    if code == 2:
        assert said.getvalue().count("\n") == 1, said.getvalue()
    return code, said.getvalue()


def options(**values):
    """Some of the options, each with one of its values."""
    chosen = st.fixed_dictionaries({}, optional={n: st.sampled_from(v) for n, v in values.items()})
    return chosen.map(
        lambda found: (
            [
                word
                for name, value in found.items()
                for word in (f"--{name.replace('_', '-')}", *str(value).split())
                if name != "law"
            ]
            + (["--law", found["law"]] if "law" in found else [])
        )
    )


GENERATE = options(
    law=LAWS, system=("relative", "barycentric", "nbody"), dimensions=(0, 2, 3),
    population=("controlled", "exoplanets"), dtype=("float32", "float64"), planets=(1, 2, 8),
    simulator=("auto", "scipy", "scipy-lsoda", "kepler"), mass=("1", "0.5 2"),
    eccentricity=("0", "0 0.5"), semi_major_axis=("1", "1 5"), min_perihelion=(0, 0.28),
    hill_spacing=(0, 10), shard_orbits=(0, 1), dt=(0.008, 1e-6),
)  # fmt: skip


@MANY
@given(GENERATE)
def test_every_combination_of_generate_is_checked(at_the_door, given_options):
    run(partial(at_the_door, "orbits"), ["generate", "x.zarr", *given_options])


@settings(MANY, max_examples=100)
@given(GENERATE)
def test_every_combination_of_generate_is_made_or_refused(given_options):
    small = ["--orbits", 2, "--samples", 5, "--workers", 1]
    made = ["generate", "x.zarr", *given_options, *small]
    run(orbits_command, made, leaves=["x.zarr"], then=lambda: orbits.validate("x.zarr"))


@MANY
@given(
    st.lists(st.sampled_from(BODIES), min_size=1, max_size=4),
    options(
        frame=("orbit", "ecliptic", "icrf"), dt=(0.008, 0.1), start=(1950, 1999.5, 2060),
        stop=(1951, 2050), samples=(2, 64),
    ),
    st.booleans(),
)  # fmt: skip
def test_every_combination_of_ephemeris_is_checked(at_the_door, bodies, given_options, together):
    more = ["--together"] if together else []
    asked = ["ephemeris", "x", "--bodies", *bodies, *given_options, *more]
    run(partial(at_the_door, "orbits"), asked)


NAMES = st.sampled_from(["time", "x", "y", "r²", "½", " r", "a b", "lambda", "pi", "c1", "µ", "F"])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-10, 10)
CELLS = {
    "numbers": st.lists(NUMBERS, min_size=12, max_size=12),
    "alike": st.floats(-1e3, 1e3).map(lambda value: [value] * 12),
    "rising": st.floats(1e-3, 1e3).map(lambda step: list(step * np.arange(12.0))),
    "large": st.integers(-308, 300).map(lambda k: list(10.0**k * np.linspace(1, 2, 12))),
    "missing": st.lists(st.none() | st.floats(-9, 9), min_size=12, max_size=12),
    "truth": st.lists(st.booleans(), min_size=12, max_size=12),
    "words": st.lists(st.sampled_from(["a", "1", "1e3", "", "nan", "-"]), min_size=12, max_size=12),
    "dates": st.just(list(pd.date_range("2020-01-01", periods=12))),
    "whole": st.lists(st.integers(-(2**62), 2**62), min_size=12, max_size=12),
}
COLUMN = st.one_of(*CELLS.values())


def written(table, ending):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, f"t.{ending}")
    if ending == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    return path


@MANY
@given(COLUMN, COLUMN, st.sampled_from(["csv", "parquet"]))
def test_any_table_is_imported_or_refused(x, y, ending):
    table = pd.DataFrame({"time": 0.01 * np.arange(12), "x": x, "y": y})
    source = written(table, ending)
    run(orbits_command, ["import", source, "x.zarr"], leaves=["x.zarr"])


@MANY
@given(NAMES, COLUMN, NAMES, COLUMN, st.sampled_from(["csv", "parquet"]))
def test_any_table_is_searched_or_refused(target, y, feature, x, ending):
    table = pd.DataFrame({target: y, feature: x})
    source = written(table, ending)
    command = ["recover", source, "law.json", "--target", target.strip(), "--features"]
    search = "--engine projection --seeds 1 --no-null --time-limit 0.1".split()
    run(symreg_command, [*command, feature.strip(), *search], leaves=["law.json"])


FORMULA = st.recursive(
    st.sampled_from(["r", "GM", "k", "2", "0.5", "1e200", "pi", "newton", "deep_mond", "x"]),
    lambda parts: (
        st.tuples(parts, st.sampled_from(["+", "-", "*", "/", "**"]), parts).map("".join)
        | st.tuples(st.sampled_from(["exp", "log", "sqrt", "sin", "-"]), parts).map(
            lambda pair: f"{pair[0]}({pair[1]})"
        )
    ),
    max_leaves=4,
)


@MANY
@given(FORMULA, FORMULA, options(variables=("r", "r x"), high=(1, 1e9), margin=(0, 0.5)))
def test_any_two_formulas_are_compared_or_refused(first, second, given_options):
    run(symreg_command, ["compare", "--limit", 0.2, *given_options, "--", first, second])


@MANY
@given(
    options(
        law=LAWS, system=("relative", "barycentric", "nbody"),
        population=("controlled", "exoplanets"), sources=("orbit", "kicked", "planets orbit"),
        readouts=("linear causal", "far", "transfer", "evaluate"),
        controls=("injected", "untrained", "nearest keplerian", "parrot", "autoregression"),
        attention=("softmax", "lssa", "lssar(p=15)", "relu"), orbits=(1, 8, 1000),
        samples=(4, 24, 128), context_length=(1, 2, 5, 128), n_layers=(1, 2), d_model=(6, 64),
        head=("regression", "tokens"), steps=(0, 10),
        inputs=("positions", "differences"), target=("residual", "position"),
        held_out_orbits=(0, 4),
    )
)  # fmt: skip
def test_every_combination_of_a_run_is_checked(at_the_door, given_options):
    run(partial(at_the_door, "symreg"), ["run", *given_options])


@pytest.fixture(scope="module")
def untrained(tmp_path_factory):
    """A model of one body and one of two after a single step, and orbits for each."""
    folder = tmp_path_factory.mktemp("untrained")
    size = "--d-model 8 --n-heads 1 --n-layers 1 --steps 1 --threads 1 --accelerator cpu".split()
    for name, system in (("one", "relative"), ("two", "barycentric")):
        small = ["--orbits", 12, "--samples", 24, "--system", system]
        run(orbits_command, ["generate", folder / f"{name}.zarr", *small])
        run(worldmodel_command, ["train", folder / f"{name}.zarr", folder / name, *size])
    return folder


MODEL = st.sampled_from(["one", "two"])
DATA = st.sampled_from(["one.zarr", "one.zarr", "two.zarr", "none.zarr", "one"])


@MANY
@given(
    DATA,
    options(
        attention=("softmax", "lssa", "lssar(p=15)", "relu"), context_length=(1, 2, 5, 128),
        window=(1, 64), inputs=("positions", "differences"), layout=("joint", "interleaved"),
        target=("displacement", "residual", "position"), head=("regression", "tokens"),
        bins=(2, 7000), bin_range=(0.1, 50), d_model=(6, 8, 64), n_layers=(1, 3), n_heads=(1, 4),
        steps=(0, 10), batch_tokens=(1, 4096), held_out_share=(0, 0.1, 0.99),
        kicked=(0, 0.5, 1), warmup=(0, 10**6), precision=("32-true", "bf16-mixed"), devices=(1, 2),
        accelerator=("auto", "cpu", "cuda"), context_noise=(0, 1),
    ),
)  # fmt: skip
def test_every_combination_of_training_is_checked(at_the_door, untrained, data, given_options):
    run(partial(at_the_door, "worldmodel"), ["train", untrained / data, "model", *given_options])


READOUTS = ("far", "jacobian", "kick_response", "linear",
            "evaluate", "extrapolate", "causal")  # fmt: skip
PROBE = options(
    readout=("implied", *READOUTS),
    control=(
        "none", "untrained", "injected", "nearest", "locally_linear", "keplerian", "parrot",
        "straight_line", "autoregression",
    ),
    states=("orbit", "kicked"), correction=("numerov", "none"), orbits=(1, 2, 100),
    kick_angle=(0.1, 3), kick_steps=(1, 8, 64),
    seed=(0, 7), checkpoint=("last", "best"),
    **{"evaluate.steps": (0, 1, 5, 1000), "causal.states": (1, 60), "causal.steps": (0, 2)},
)  # fmt: skip


@settings(MANY, max_examples=300)
@given(MODEL, DATA, PROBE)
def test_every_combination_of_a_probe_answers_or_is_refused(untrained, model, data, given_options):
    out = "o.json" if {*given_options} & set(READOUTS) else "o.parquet"
    command = ["probe", untrained / model, untrained / data, out, "--threads", 1]
    run(worldmodel_command, [*command, *given_options], leaves=[out])
