"""Which module may know of which: no cycles, and training knows nothing of probes."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import worldmodel

ROOT = Path(worldmodel.__file__).parent
FILES = {
    ".".join(("worldmodel", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in ROOT.rglob("*.py")
}


def imports_of(module, inside_functions):
    """Modules of the package that one imports; those under TYPE_CHECKING are not imported."""
    found = set()

    def visit(node):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                visit(other)
            return
        if isinstance(node, ast.FunctionDef) and not inside_functions:
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update({name if name in FILES else node.module for name in whole})
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(FILES[module].read_text()))
    return {name for name in found if name in FILES} - {module}


def reached_from(module):
    """Everything that a module imports, directly or not, at any time."""
    reached, waiting = set(), [module]
    while waiting:
        for name in imports_of(waiting.pop(), inside_functions=True) - reached:
            reached.add(name)
            waiting.append(name)
    return reached


def test_no_module_is_imported_by_what_it_imports():
    graph = {module: imports_of(module, inside_functions=False) for module in FILES}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize("module", ["worldmodel.data", "worldmodel.training"])
def test_training_knows_nothing_of_probes(module):
    unwanted = ("worldmodel.probes", "worldmodel.predictors")
    assert [name for name in reached_from(module) if name.startswith(unwanted)] == []
    assert "worldmodel.kick" in reached_from(module), "the graph sees what is imported"


def test_importing_the_package_or_its_options_loads_nothing_heavy():
    heavy = ("torch", "sympy", "pandas", "xarray", "scipy", "sklearn", "matplotlib")
    modules = "worldmodel, worldmodel.cli, worldmodel.config, worldmodel.probes.config"
    code = (
        f"import sys, {modules}; dir(worldmodel); print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_none_is_a_module():
    for name in worldmodel.__all__:
        assert not isinstance(getattr(worldmodel, name), ModuleType), name
        assert f"worldmodel.{name}" not in FILES
    assert set(worldmodel.__all__) < set(dir(worldmodel))
    assert worldmodel.__version__
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        worldmodel.trian  # noqa: B018
