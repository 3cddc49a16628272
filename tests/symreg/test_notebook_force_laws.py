"""The notebook of force laws runs from top to bottom, in a small setting."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "04_force_laws.ipynb"


def test_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PRINCIPIA_SMALL", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    printed = "".join(output.get("text", "") for output in outputs)
    assert "It has the form of newton" in printed
    assert "Its length is" in printed
    assert "recovered: False" in printed
    for verdict in ("up_to_scale", "same_exponents", "different"):
        assert verdict in printed
    assert any("image/png" in output.get("data", {}) for output in outputs)
