"""The notebook of force laws runs from top to bottom, in a small setting."""


def test_notebook_runs(run_notebook):
    notebook = run_notebook("04_force_laws.ipynb", timeout=600)
    outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    printed = "".join(output.get("text", "") for output in outputs)
    shown = "".join(output.get("data", {}).get("text/plain", "") for output in outputs)
    assert "It has the form of newton" in printed
    assert "Its length is" in printed
    assert "not recovered" in shown, "shuffled targets hold no law"
    for verdict in ("up_to_scale", "same_exponents", "different", "exact"):
        assert verdict in shown
    assert any("image/png" in output.get("data", {}) for output in outputs)
