"""The notebook on attention runs from top to bottom, in a small setting."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "03_attention.ipynb"


def test_the_notebook_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("PRINCIPIA_SMALL", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    drawn = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    assert sum("image/png" in output["data"] for output in drawn) >= 5
