"""The notebook that walks the whole path runs from top to bottom, in a small setting."""


def test_the_notebook_runs(run_notebook):
    notebook = run_notebook("01_newton_from_positions.ipynb", timeout=300)
    drawn = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    assert sum("image/png" in output["data"] for output in drawn) == 4
    shown = [o["data"]["text/plain"] for o in drawn if "text/html" in o["data"]]
    lines = [line for text in shown for line in text.splitlines()]
    assert any(line.startswith("WorldModel(") for line in lines)
    assert any(line.startswith("Recovery(") for line in lines)
    injected = [line for line in lines if line.startswith("injected")]
    assert "up_to_scale" in injected[0]
