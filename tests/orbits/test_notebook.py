"""The notebook runs from top to bottom, in a small setting."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "02_orbits.ipynb"


def test_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PRINCIPIA_SMALL", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    printed = "".join(
        output.get("text", "") for cell in cells for output in cell.outputs if "text" in output
    )
    assert "problems: []" in printed
    pictures = [o for cell in cells for o in cell.outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == 7
