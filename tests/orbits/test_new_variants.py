"""A law and a simulator of one's own: one file each, and nothing else is touched."""

import pytest

import orbits.forces
import orbits.simulators
from orbits.cli import main
from orbits.dataset import open_dataset
from orbits.dataset.validation import validate
from orbits.forces import LAWS, parse_law
from orbits.simulators import SIMULATORS

LAW = '''
"""An attraction as the inverse of the separation to the power of 3/2."""

from dataclasses import dataclass
from typing import ClassVar

import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw, parameter


@dataclass(frozen=True)
class ThreeHalves(ForceLaw):
    """GM scale/r^1.5."""

    name: ClassVar[str] = "three_halves"
    energy: ClassVar[sympy.Expr] = -2 * GM_SYMBOL * parameter("scale") / sympy.sqrt(RADIUS)
    scale: float = 1.0
'''

ENGINE = '''
"""Leapfrog with a thousand steps between two states."""

from dataclasses import dataclass

import numpy as np

from orbits.simulators.base import Simulator


@dataclass(frozen=True)
class Leapfrog(Simulator):
    name: str = "leapfrog"

    def relative(self, law, position, velocity, gm, times):
        x, v = position.copy(), velocity.copy()
        found = [(x, v)]
        for before, after in zip(times, times[1:]):
            h = (after - before) / 1000
            for _ in range(1000):
                x = x + h / 2 * v
                v = v + h * law.acceleration(x, gm)
                x = x + h / 2 * v
            found.append((x, v))
        return tuple(np.stack(states, axis=1) for states in zip(*found))


LEAPFROG = Leapfrog()
'''


@pytest.fixture
def variants(add_variant):
    add_variant(orbits.forces, "three_halves", LAW)
    add_variant(orbits.simulators, "leapfrog", ENGINE)


@pytest.mark.usefixtures("variants")
def test_a_new_law_and_a_new_simulator_are_found_by_their_files(tmp_path, capsys):
    assert "three_halves" in LAWS
    assert "leapfrog" in SIMULATORS
    assert parse_law("three_halves(scale=2)").scale == 2.0
    path = tmp_path / "x.zarr"
    options = "--law three_halves(scale=0.5) --simulator leapfrog --orbits 8 --samples 12"
    assert main(["generate", str(path), *options.split()]) == 0, capsys.readouterr().err
    data = open_dataset(path)
    assert data.attrs["law"] == "three_halves(scale=0.5)"
    assert data.attrs["integration"]["simulator"] == "leapfrog"
    # leapfrog errs by (w h)^2/24 of a radian per radian: w h = 2e-4 at 0.28 au
    assert data.attrs["integration"]["max_relative_error"] < 1e-7
    assert validate(path) == []


def test_what_is_not_installed_says_how_to_get_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(type(SIMULATORS["heyoka"]), "requires", "no_such_package")
    assert (
        main(["generate", str(tmp_path / "x.zarr"), "--simulator", "heyoka", "--orbits", "2"]) == 2
    )
    assert "pip install no_such_package" in capsys.readouterr().err
    without = ["generate", str(tmp_path / "x.zarr"), "--law", "hooke", "--orbits", "2"]
    assert main([*without, "--samples", "4"]) == 0
    assert open_dataset(tmp_path / "x.zarr").attrs["integration"]["simulator"] == "scipy"
