"""The notebook that tells Newton from Kepler runs from top to bottom, in a small setting."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "05_which_world_model.ipynb"


def test_the_notebook_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("PRINCIPIA_SMALL", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    drawn = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    assert sum("image/png" in output["data"] for output in drawn) == 3
    tables = [o["data"]["text/plain"] for o in drawn if "text/html" in o["data"]]
    undisturbed = [line for line in tables[0].splitlines() if line.startswith("an ellipse")]
    assert " 1.000 " in undisturbed[0], "an ellipse follows undisturbed orbits exactly"
