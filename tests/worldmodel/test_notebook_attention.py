"""The notebook on attention runs from top to bottom, in a small setting."""


def test_the_notebook_runs(run_notebook):
    notebook = run_notebook("03_attention.ipynb", timeout=120)
    drawn = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    assert sum("image/png" in output["data"] for output in drawn) >= 5
