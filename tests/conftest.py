"""What the tests of every package share."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # each worker of pytest has one core


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of the parameters of a test with the mark `few(n)`, n evenly among them are fast, the others
    slow."""
    every = defaultdict(list)
    for item in items:
        if mark := item.get_closest_marker("few"):
            every[item.path, item.originalname, mark.args[0]].append(item)
    for (_, _, count), cases in every.items():
        fast = {round(place * (len(cases) - 1) / max(1, count - 1)) for place in range(count)}
        for place, item in enumerate(cases):
            if place not in fast:
                item.add_marker(pytest.mark.slow)


def pytest_runtest_setup(item):
    """Skip what needs an optional package, by its mark or by its parameter, where that is not."""
    needed = {mark.args[0] for mark in item.iter_markers("needs")}
    if hasattr(item, "callspec"):
        needed |= {"heyoka"} & {v for v in item.callspec.params.values() if isinstance(v, str)}
    for package in sorted(needed):
        if find_spec(package) is None:
            pytest.skip(f"the optional package {package} is not installed")


@pytest.fixture
def refused(capsys):
    """Run a command that must refuse: exit code 2, and one line by its name, which is returned."""

    def run(program, *words):
        capsys.readouterr()
        assert import_module(f"{program}.cli").main([*map(str, words)]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"{program} {words[0]}: ")
        assert said.count("\n") == 1
        return said

    return run


@pytest.fixture(scope="session")
def verlet():
    """Störmer's rule with Newton's force, as a plain function of positions."""
    import numpy as np

    from orbits import GM_SUN

    def following(x):
        r = np.linalg.norm(x, axis=-1, keepdims=True)
        later = np.full(x.shape, np.nan)
        push = (0.008**2 * GM_SUN * x / r**3)[:, 1:]
        later[:, 1:] = 2 * x[:, 1:] - x[:, :-1] - push
        return later

    following.__name__ = "verlet"
    return following


@pytest.fixture(scope="session")
def told_by_browser():
    """What a page writes into its title, as JSON, when Chromium opens it; nothing may be logged."""
    browser = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine to open the page with")

    def told(page, *flags, dark=False):
        done = subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                f"--user-data-dir={page.parent / 'profile'}", "--window-size=1500,2100",
                f"--blink-settings=preferredColorScheme={0 if dark else 1}", *flags,
                "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom",
                page.as_uri(),
            ],
            capture_output=True, text=True, timeout=180, check=True,
        )  # fmt: skip
        assert "CONSOLE" not in done.stderr, done.stderr
        title = re.search(r"<title>(\{.*?\})</title>", done.stdout)
        assert title, done.stdout[:300]
        return json.loads(title[1])

    return told


def doors():
    """What commands refuse before their work begins; the others read their options first."""
    from orbits.generation.recipe import resolve
    from orbits.planets import dates_of
    from symreg.cli import require_possible
    from symreg.experiments.own_data import of_data
    from symreg.experiments.run import check
    from symreg.experiments.study import check_study

    def of_run(config):
        missing = config.data is not None and not Path(config.data).exists()
        check(of_data(replace(config, data=None) if missing else config))  # a page makes it

    return {
        ("orbits", "generate"): lambda path, config: resolve(config),
        ("orbits", "ephemeris"): lambda path, config: dates_of(config),
        ("symreg", "run"): of_run,
        ("symreg", "study"): check_study,
        ("symreg", "recover"): lambda table, out, config: require_possible(table, config),
    }


@pytest.fixture(scope="session")
def at_the_door():
    """The exit code of a command line whose command refuses what it must, and then does no work."""
    from orbits.command_line import main

    def run(program, arguments):
        commands = [
            replace(command, run=doors().get((program, command.name), lambda *given: None))
            for command in import_module(f"{program}.cli").COMMANDS
        ]
        return main(program, commands, arguments)

    return run


@pytest.fixture
def broken_style():
    """A matplotlibrc with which nothing can be drawn here: LaTeX that is not there, and more."""
    import matplotlib as mpl

    broken = {
        "text.usetex": True, "text.latex.preamble": r"\nonsense", "figure.hooks": ["nowhere:hook"],
        "figure.dpi": 1e6, "savefig.dpi": 1e6, "savefig.format": "none", "font.size": 1e4,
        "axes.formatter.limits": [0, 0], "axes.xmargin": 1e9, "figure.autolayout": True,
    }  # fmt: skip
    with mpl.rc_context(broken):
        yield
        left = {name: mpl.rcParams[name] for name in broken}
        assert left == broken, "a user's own settings stay"


@pytest.fixture
def add_variant(tmp_path, monkeypatch):
    """Lay a file into a folder that a package looks through; gone when the test ends."""

    def add(package, name, text):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / f"{name}.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        monkeypatch.setitem(sys.modules, f"{package.__name__}.{name}", None)
        del sys.modules[f"{package.__name__}.{name}"]

    return add
