"""The notebook that tells Newton from Kepler runs from top to bottom, in a small setting."""


def test_the_notebook_runs(run_notebook):
    notebook = run_notebook("05_which_world_model.ipynb", timeout=300)
    drawn = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    assert sum("image/png" in output["data"] for output in drawn) == 4
    tables = [o["data"]["text/plain"] for o in drawn if "text/html" in o["data"]]
    assert any("widget-view" in kind for output in drawn for kind in output["data"])
    lines = [line for table in tables for line in table.splitlines()]
    undisturbed = [line for line in lines if line.startswith("an ellipse")]
    assert " 1.000 " in undisturbed[0], "an ellipse follows undisturbed orbits exactly"
