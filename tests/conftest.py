"""What the tests of every package share."""

import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def pytest_runtest_setup(item):
    """Skip what needs an optional package, by its mark or by its parameter, where that is not."""
    needed = {mark.args[0] for mark in item.iter_markers("needs")}
    if hasattr(item, "callspec"):
        needed |= {"heyoka"} & {v for v in item.callspec.params.values() if isinstance(v, str)}
    for package in sorted(needed):
        if find_spec(package) is None:
            pytest.skip(f"the optional package {package} is not installed")


@pytest.fixture
def run_notebook(tmp_path, monkeypatch):
    """Run a notebook of the project from top to bottom, in its small setting; returns it."""

    def run(name, timeout, small=True):
        if small:
            monkeypatch.setenv("PRINCIPIA_SMALL", "1")
        else:
            monkeypatch.delenv("PRINCIPIA_SMALL", raising=False)
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
        if any("ipywidgets" in cell.source for cell in notebook.cells):
            pytest.importorskip("ipywidgets", reason="a slider needs the extra `notebooks`")
        resources = {"metadata": {"path": str(tmp_path)}}
        client = NotebookClient(
            notebook, timeout=timeout, kernel_name="python3", resources=resources
        )
        return client.execute()

    return run


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
