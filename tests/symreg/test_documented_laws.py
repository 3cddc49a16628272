"""Every law that help and pages show goes all the way: orbits, a probe, a formula, a comparison."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import orbits
import symreg
import worldmodel
from orbits import config
from orbits.forces import LAWS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "notebooks").rglob("*.md"))]
SHOWN = re.compile(r"""(?:--law[ =]|\blaw[:=] ?)["']?((?<=["'])[^"'{}]+|[a-z_]+(?:\([^()]*\))?)""")


def documented() -> list[str]:
    """The laws in the help of `--law`, and those that pages give to a command or a function."""
    words = inspect.getsource(config).split("Law of force: ")[1].split('."""')[0]
    shown = re.findall(r'"([^"]+)"', words) + re.findall(r"\w+\([^()]*=[^()]*\)", words)
    shown += [name for name in LAWS if name in words]
    for page in PAGES:
        shown += [law for law in SHOWN.findall(page.read_text()) if reads(law)]
    return sorted({orbits.parse_law(law).spec for law in shown})


def reads(text: str) -> bool:
    try:
        orbits.parse_law(text)
    except ValueError:
        return False
    return True


DOCUMENTED = documented()


def test_the_laws_that_crashed_are_among_them():
    for text in ("GM*exp(-r/b)/r**2; b=0.5", "30*r**-2.5", "yukawa(length=1)"):
        assert orbits.parse_law(text).spec in DOCUMENTED


VERDICTS = ("exact", "up_to_scale", "same_exponents", "different")


class Steps:
    """A model that moves every state by a law, in steps of Störmer's rule."""

    context_length = 2

    def __init__(self, law, dt):
        self.law, self.dt = orbits.parse_law(law), dt

    def predict(self, positions):
        following = np.full_like(positions, np.nan)
        before, at = positions[:, :-1], positions[:, 1:]
        pull = self.law.acceleration(at, orbits.GM_SUN)
        following[:, 1:] = 2 * at - before + self.dt**2 * pull
        return following


@pytest.mark.few(2)
@pytest.mark.parametrize("law", [*DOCUMENTED, "k*r**-2.5", "GM/r**p; p=2.2", "k*r**-2.5; k=40"])
def test_a_documented_law_goes_all_the_way(law):
    size = dict(orbits=8, samples=24, dt=0.002, dtype="float64", simulator="scipy")
    data = orbits.generate(law=law, **size)
    forces = worldmodel.probe(Steps(law, 0.002), data, states="orbit")
    quick = dict(engine="rational", seeds=1, null=False)
    found = symreg.recover(forces, **quick)
    assert found.reference is not None
    assert abs(found.exponent.value - found.exponent.truth) < 0.05
    if ";" not in law:  # so small a search may end at another form of those with parameters
        assert found.constant.truth == pytest.approx(found.constant.value, rel=0.1)
        assert symreg.recover(forces, law=law, **quick).constant.truth == found.constant.truth
    assert symreg.compare(found.expression, law).verdict in VERDICTS
