"""What importing `orbits` must not drag in."""

import subprocess
import sys

import pytest

MODULES = (
    "forces, integration, generation, dataset, planets, validation, info, plot, reading, systems"
)


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        (f"from orbits import {MODULES}", ("torch", "worldmodel", "symreg", "heyoka", "dask")),
        ("import orbits.cli", ("torch", "sympy", "xarray", "zarr", "matplotlib", "scipy")),
    ],
)
def test_imports_stay_light(statement, unwanted):
    """torch stays out of every process of `orbits`, and `--help` loads nothing heavy."""
    code = f"{statement}; import sys; print([m for m in {unwanted!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
