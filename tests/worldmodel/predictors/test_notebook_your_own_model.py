"""The notebook that asks a model of one's own runs from top to bottom, in a small setting."""


def test_the_notebook_runs(run_notebook):
    notebook = run_notebook("06_your_own_model.ipynb", timeout=300)
    assert notebook.cells[-1].outputs[0]["data"]["text/plain"] == "True"
    tables = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    lines = [line for o in tables for line in o["data"].get("text/plain", "").splitlines()]
    ellipse = next(line for line in lines if line.startswith("keplerian"))
    assert " 1.000 " in ellipse, "an ellipse follows undisturbed orbits exactly"
