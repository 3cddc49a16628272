"""What pyproject.toml asks for: constraints.txt pins all of it, and each has a lowest version."""

import runpy
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("test", "dev", "docs", "fast", "cluster", "zoo")
"""Those that the tests and the site are made with."""

lowest = runpy.run_path(str(ROOT / "tests" / "lower_bounds.py"))["lowest"]


def asked(*extras):
    texts = [*PROJECT["dependencies"]]
    for extra in extras:
        texts += PROJECT["optional-dependencies"][extra]
    found = [Requirement(text) for text in texts]
    return [requirement for requirement in found if requirement.name != PROJECT["name"]]


def test_the_constraints_pin_what_is_installed_and_what_tests_and_site_need():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    wrong = [
        str(requirement)
        for requirement in asked(*EXTRAS)
        if versions.get(canonicalize_name(requirement.name)) not in requirement.specifier
    ]
    assert wrong == []


def test_every_dependency_has_a_lowest_version():
    pins = dict(pin.split("==") for pin in lowest(asked("test"), taken=["torch"]))
    assert "torch" not in pins
    assert pins["de421"] == "2008.1"
    for requirement in asked("test"):
        assert pins.get(requirement.name, "2.9") in requirement.specifier
