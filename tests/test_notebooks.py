"""The notebooks use the public names of the packages, and were run before they were saved."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
OURS = ("orbits", "worldmodel", "symreg")


def code_cells(path):
    notebook = nbformat.read(path, as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def parsed(path):
    """The code of a notebook as one tree, without its magics."""
    lines = [line for cell in code_cells(path) for line in cell.source.splitlines()]
    return ast.parse("\n".join(line for line in lines if not line.startswith("%")))


def private_uses(tree):
    """Whatever code takes from our packages that is not one of their public names."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name, alias.asname) for alias in node.names]
            found += [
                name
                for name, other in names
                if name.split(".")[0] in OURS and (name not in OURS or other)
            ]
        elif isinstance(node, ast.ImportFrom):
            package = node.module or ""
            if package in OURS:
                public = import_module(package).__all__
                found += [f"{package}.{a.name}" for a in node.names if a.name not in public]
            elif package.split(".")[0] in OURS:
                found.append(package)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            package = node.value.id
            if package in OURS and node.attr not in import_module(package).__all__:
                found.append(f"{package}.{node.attr}")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_uses_public_names_alone(path):
    assert private_uses(parsed(path)) == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import orbits.plot", "orbits.plot"),
        ("from symreg.runs import figures", "symreg.runs"),
        ("from worldmodel import plot", "worldmodel.plot"),
        ("import orbits\norbits.dataset.open_dataset('x')", "orbits.dataset"),
        ("import orbits as o", "orbits"),
    ],
)
def test_what_is_not_public_is_noticed(code, name):
    assert private_uses(ast.parse(code)) == [name]


@pytest.mark.parametrize("package", OURS)
def test_no_public_name_is_a_module(package):
    module = import_module(package)
    modules = [n for n in module.__all__ if isinstance(getattr(module, n), ModuleType)]
    assert modules == []


def test_no_public_name_changes_how_a_notebook_draws():
    code = (
        "import matplotlib, orbits, symreg, worldmodel\n"
        "matplotlib.use('svg')\n"
        "[getattr(p, name) for p in (orbits, symreg, worldmodel) for name in p.__all__]\n"
        "print(matplotlib.get_backend())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "svg"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_settings_are_in_the_first_cell_alone(path):
    first, *others = [cell.source for cell in code_cells(path)]
    assert "PRINCIPIA_SMALL" in first
    assert not any("PRINCIPIA_SMALL" in source or "SMALL" in source for source in others)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_run_in_order_and_shows_nothing_of_the_machine(path):
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    texts = [output.get("text", "") for output in outputs]
    texts += [
        text for o in outputs for kind, text in o.get("data", {}).items() if kind[:4] == "text"
    ]
    assert not re.findall(r"/(?:home|tmp|work|root|Users)/\S*|Warning", "\n".join(texts))
