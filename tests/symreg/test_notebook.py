"""The notebook that walks the whole path runs from top to bottom, in a small setting."""


def test_the_notebook_runs(run_notebook):
    notebook = run_notebook("01_newton_from_positions.ipynb", timeout=300)
    drawn = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    assert sum("image/png" in output["data"] for output in drawn) == 4
    tables = [o["data"]["text/plain"] for o in drawn if "text/html" in o["data"]]
    assert "injected" in tables[0]
    injected = next(line for line in tables[0].splitlines() if line.startswith("injected"))
    assert "up_to_scale" in injected
