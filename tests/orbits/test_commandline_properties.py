"""Whatever is typed, `orbits` answers with a dataset or with one clear line."""

import contextlib
import io
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orbits.cli import main
from orbits.validation import validate

BASE = {"orbits": ["3"], "samples": ["4"], "engine": ["heyoka"], "workers": ["1"]}

BAD = {
    "orbits": ["0", "-3", "2.5", "many"],
    "samples": ["0", "1", "-7", "1e3"],
    "dt": ["0", "-0.1", "inf", "1e15"],
    "seed": ["-1", "x"],
    "dimensions": ["1", "4"],
    "mass": ["0", "-2", "nan", "1 2 3", "3 1"],
    "companion-mass": ["0", "-1e-3", "2 1"],
    "eccentricity": ["1", "1.5", "-0.2", "0.5 0.2", "0 1", "nan"],
    "semi-major-axis": ["0", "-1", "2 1", "0.1 1", "inf", "0.5 1 2"],
    "min-perihelion": ["-1", "5", "inf"],
    "planets": ["0", "9"],
    "hill-spacing": ["-1"],
    "engine": ["heyoke", "kepler2", "dop853"],
    "dtype": ["float16"],
    "system": ["binary"],
    "population": ["stars"],
    "workers": ["-1"],
    "shard-orbits": ["-16"],
    "law": [
        "newtn", "yukawa(length=-1)", "power_law(m=2)", "newton(1)",  # near misses
        "k/(r-1)**2", "GM/(r**2-1)", "GM*tan(r)",  # poles in range
        "-k/r**2", "GM*log(r)", "GM*sin(4*r)",  # repulsion in range
        "2*k", "k*b/r", "r**r**r**9", "__import__('os')", "k*r**60", "GM/r**2; b=2",  # no laws
    ],
}  # fmt: skip


def run(options):
    """Exit code, files left, their problems and the lines said, of `orbits generate`."""
    folder = Path(tempfile.mkdtemp())
    arguments = [word for name, words in options.items() for word in (f"--{name}", *words)]
    try:
        with redirect(said := io.StringIO()):
            code = main(["generate", str(folder / "x.zarr"), *arguments])
        left = sorted(path.name for path in folder.iterdir())
        problems = validate(folder / "x.zarr") if code == 0 else []
    finally:
        shutil.rmtree(folder)
    return code, left, problems, said.getvalue().strip().splitlines()


@contextlib.contextmanager
def redirect(stream):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(stream):
        yield


@pytest.mark.parametrize(("name", "value"), [(name, v) for name in BAD for v in BAD[name]])
def test_every_mistake_is_one_line_and_nothing_is_written(name, value):
    words = [value] if name == "law" else value.split()
    code, left, _, lines = run({**BASE, name: words})
    assert (code, left) == (2, [])
    assert len(lines) == 1
    assert lines[0].startswith("orbits generate: ")
    assert len(lines[0]) < 700


sizes = st.floats(0.3, 30).map(lambda a: f"{a:.3g}")


@settings(max_examples=12, deadline=None)
@given(
    law=st.sampled_from(
        ["newton", "hooke", "plummer", "newton_gr", "deep_mond", "power_law(n=1.2)", "k*r**-2.5"]
    ),
    system=st.sampled_from(["relative", "barycentric"]),
    population=st.sampled_from(["controlled", "exoplanets"]),
    dimensions=st.sampled_from(["2", "3"]),
    dtype=st.sampled_from(["float32", "float64"]),
    dt=st.floats(1e-3, 0.05),
    seed=st.integers(0, 2**63),
    orbits=st.integers(1, 20),
    samples=st.integers(2, 9),
    size=st.tuples(sizes, sizes).map(lambda pair: sorted(pair, key=float)),
)
def test_every_sensible_command_makes_a_valid_dataset(size, dt, **words):
    options = {name: [str(value)] for name, value in words.items()}
    options.update({"semi-major-axis": size, "dt": [repr(dt)], "workers": ["1"]})
    options["min-perihelion"] = ["0.1"]
    code, left, problems, _ = run(options)
    assert (code, left, problems) == (0, ["x.zarr"], [])
