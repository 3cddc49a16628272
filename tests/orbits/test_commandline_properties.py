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


@pytest.mark.parametrize(
    "words",
    [
        "--orbits 2.5", "--dt inf", "--mass nan", "--eccentricity 0.5 0.2", "--min-perihelion 5",
        "--engine dop853", "--law power_law(m=2)", "--law r**r**r**9", "--law __import__('os')",
        "--law k/(r-1)**2", "--law GM*tan(r)",  # poles in range
        "--law -k/r**2", "--law GM*log(r)", "--law GM*sin(4*r)",  # repulsion in range
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_nothing_is_written(words):
    name, *values = words.split()
    code, left, _, lines = run({"orbits": ["3"], "samples": ["4"], name[2:]: values})
    assert (code, left, len(lines)) == (2, [], 1)
    assert lines[0].startswith("orbits generate: ")


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
