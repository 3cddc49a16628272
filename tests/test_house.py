"""The house: which module may know of which, what starts a process, what is declared once."""

import ast
import re
import runpy
import subprocess
import sys
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

PACKAGES = ("orbits", "worldmodel", "symreg")
ROOT = Path(__file__).parents[1]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
}
HEAVY = ("torch", "pandas", "xarray", "zarr", "sklearn", "matplotlib")


def imports_of(module, inside_functions):
    """Modules of the project that one imports; those under TYPE_CHECKING are not imported."""
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
    assert len(graph) > 100
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize(("package", "above"), [("orbits", PACKAGES[1:]), ("worldmodel", "symreg")])
def test_a_package_knows_nothing_of_those_above_it(package, above):
    for module in FILES:
        if module.startswith(package):
            known = imports_of(module, inside_functions=True)
            assert [name for name in known if name.startswith(above)] == [], module


@pytest.mark.parametrize("module", ["worldmodel.data", "worldmodel.training"])
def test_training_knows_nothing_of_probes(module):
    assert [n for n in reached_from(module) if n.startswith("worldmodel.probes")] == []
    assert "worldmodel.kick" in reached_from(module), "the graph sees what is imported"


def test_nothing_of_ours_is_started_as_a_process_but_pysr():
    """Julia and torch in one process crash, so that PySR has one of its own; git is asked too."""
    started = {
        module
        for module, path in FILES.items()
        if re.search(r"subprocess\.|os\.fork|Popen\(", path.read_text())
    }
    provenance = {module for module in started if module.endswith("provenance")}
    assert started == {"symreg.engines.pysr", "symreg.engines.installing"} | provenance


@pytest.mark.parametrize(
    ("modules", "unwanted"),
    [
        ("orbits, orbits.cli, orbits.config", (*HEAVY, "sympy", "scipy")),
        ("worldmodel, worldmodel.cli, worldmodel.probes.config", (*HEAVY, "sympy", "scipy")),
        ("symreg, symreg.cli, symreg.experiments.config", HEAVY),
    ],
)
def test_importing_a_package_its_commands_and_options_loads_nothing_heavy(modules, unwanted):
    code = (
        f"import sys, {modules}; dir({modules.split(',')[0]}); "
        f"print([m for m in {unwanted} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_simulating_loads_no_torch():
    code = "import orbits, sys; orbits.generate(orbits=2); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_none_is_a_module(package):
    found = import_module(package)
    for name in found.__all__:
        assert not isinstance(getattr(found, name), ModuleType), name
        assert f"{package}.{name}" not in FILES
        assert name == "__version__" or getattr(found, name).__doc__, name
    assert set(found.__all__) <= set(dir(found))
    assert found.__version__
    with pytest.raises(AttributeError, match="trian"):
        found.trian  # noqa: B018


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "benchmarks").glob("*.py")), ids=lambda p: p.stem
)
def test_a_benchmark_imports_what_is_there(path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.syspath_prepend(path.parent)  # as for a script
    runpy.run_path(str(path), run_name="imported")
