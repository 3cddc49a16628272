"""What the tests of every package share."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.fixture
def run_notebook(tmp_path, monkeypatch):
    """Run a notebook of the project from top to bottom, in its small setting; returns it."""

    def run(name, timeout):
        monkeypatch.setenv("PRINCIPIA_SMALL", "1")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
        resources = {"metadata": {"path": str(tmp_path)}}
        client = NotebookClient(
            notebook, timeout=timeout, kernel_name="python3", resources=resources
        )
        return client.execute()

    return run
