"""Every mutant fits the code as it is, and none of them survives its tests (slow)."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "mutants.py"
MUTANTS = runpy.run_path(str(SCRIPT))["MUTANTS"]
NAMES = [f"{number} {mutant.file}: {mutant.what}" for number, mutant in enumerate(MUTANTS, 1)]


def functions_of(path):
    """Names of the functions of a test file."""
    return {
        node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
    }


def test_every_mutant_fits_the_code_and_has_its_tests():
    stale, homeless = [], []
    known = {}
    for name, mutant in zip(NAMES, MUTANTS, strict=True):
        source = (SCRIPT.parents[1] / mutant.file).read_text()
        if source.count(mutant.old) != 1 or mutant.old == mutant.new:
            stale.append(name)
        else:
            ast.parse(source.replace(mutant.old, mutant.new))
        for test in mutant.tests:
            file, _, function = test.partition("::")
            path = SCRIPT.parent / file
            known[file] = known[file] if file in known else functions_of(path)
            if function and function.partition("[")[0] not in known[file]:
                homeless.append(f"{name}: {test}")
        assert mutant.tests, name
    assert stale == []
    assert homeless == []
    assert len(MUTANTS) >= 50
    assert len({mutant.what for mutant in MUTANTS}) == len(MUTANTS)


@pytest.fixture(scope="module")
def killers(request):
    """What killed each of the chosen mutants, by its number: the script runs them all at once."""
    chosen = [
        item.callspec.params["number"]
        for item in request.session.items
        if "killers" in item.fixturenames
    ]
    command = [sys.executable, str(SCRIPT), *map(str, chosen)]
    done = subprocess.run(command, capture_output=True, text=True)
    rows = re.findall(r"^\| (\d+) \| .* \| (.*) \| \d+ \|$", done.stdout, re.MULTILINE)
    assert len(rows) == len(chosen), done.stdout + done.stderr
    return {int(number): killer for number, killer in rows}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, len(MUTANTS) + 1), ids=NAMES)
def test_no_mutant_survives(killers, number):
    assert killers[number].startswith("`"), NAMES[number - 1]
