"""The notebook runs from top to bottom, in a small setting."""


def test_notebook_runs(run_notebook):
    notebook = run_notebook("02_orbits.ipynb", timeout=300)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    printed = "".join(
        output.get("text", "") for cell in cells for output in cell.outputs if "text" in output
    )
    assert "problems: []" in printed
    pictures = [o for cell in cells for o in cell.outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == 7
