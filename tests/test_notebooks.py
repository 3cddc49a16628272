"""The notebooks use the public names of the packages, and were run before they were saved."""

import ast
import re
import shutil
from importlib import import_module
from itertools import zip_longest
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
OURS = ("orbits", "worldmodel", "symreg")
SMALL = {
    "01_newton_from_positions": """LAW = "GM*exp(-r/b)/r**2; b=3"  # a law of one's own
SIZE = {"orbits": 60, "steps": 40, "search_seeds": 2}""",
}
"""Settings of the first notebook with which it only shows that everything runs."""
LONG = {
    "03_attention": "CONTEXT, ORBITS, HELD_OUT, STEPS, COUNTS = 8, 20, 20, 5, (16, 64, 256, 1024)",
    "05_which_world_model": "ORBITS, STEPS = 60, 40",
    "06_weighing_the_solar_system": "YEARS = 5",
    "07_a_probe_of_your_own": """ORBITS, HELD_OUT = 60, 20
SETTINGS = [{"target": "residual", "steps": n, "context_length": 2} for n in (5, 20)]""",
}
"""The same of those that train four to eight networks or weigh bodies five times, minutes of a
processor: run in no other setting."""


def assigned(node):
    """The names that a statement assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else ()
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def with_settings(source, settings):
    """The first cell of a notebook, with other settings right behind its own."""
    statements = ast.parse(re.sub("^%.*$", "pass", source, flags=re.MULTILINE)).body
    names = set().union(*map(assigned, ast.parse(settings).body))
    known = set().union(*map(assigned, statements))
    assert names <= known, f"the first cell assigns no {names - known}"
    last = max(node.end_lineno for node in statements if assigned(node) & names)
    lines = source.splitlines()
    return "\n".join([*lines[:last], settings, *lines[last:]])


@pytest.fixture
def run_notebook(tmp_path, monkeypatch):
    """Run a notebook of the project from top to bottom, in its small setting; returns it."""

    def run(name, timeout, small=True):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setenv("COLUMNS", "120")  # as in a notebook; a worker of pytest has 80
        notebook = nbformat.read(FOLDER / name, as_version=4)
        if small:
            first = next(cell for cell in notebook.cells if cell.cell_type == "code")
            first.source = with_settings(first.source, {**SMALL, **LONG}[Path(name).stem])
        if any("ipywidgets" in cell.source for cell in notebook.cells):
            pytest.importorskip("ipywidgets", reason="a slider needs the extra `notebooks`")
        for part in ("images", "examples"):  # copies: a notebook may draw a figure of a page anew
            shutil.copytree(FOLDER / part, tmp_path / part)
        resources = {"metadata": {"path": str(tmp_path)}}
        client = NotebookClient(
            notebook, timeout=timeout, kernel_name="python3", resources=resources
        )
        return client.execute()

    return run


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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_for_its_reader(path):
    """No word about the tests, and no line that a laptop cuts off."""
    lines = [line for cell in code_cells(path) for line in cell.source.splitlines()]
    assert not [line for line in lines if "SMALL" in line or "environ" in line]
    assert not [line for line in lines if len(line) > 82]


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


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
DURATION = re.compile(r"\b\d[\d.]* (?:s|seconds?|minutes?)\b")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
EXHAUSTED = re.compile(
    r"Note:\s+(?:gone\s+through\s+without\s+omission|the\s+search\s+ended\s+at\s+its\s+limit)[^.]*\."
)
"""A faster processor goes through more, and meets no limit."""
HASH = re.compile(r"(?<!\.)\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}(?:\+|\b)")
"""Of a commit or a file; 6601371e of 1.6601371e-07 is none."""


def printed(output):
    """What an output says: the table of a page before that of a terminal, without its mark-up."""
    data = output.get("data", {})
    text = output.get("text") or data.get("text/html") or data.get("text/plain", "")
    if "text/html" in data:
        text = re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    text = EXHAUSTED.sub("", DURATION.sub("some time", text))
    return HASH.sub("a hash", ADDRESS.sub("", text))


WIDGET = "application/vnd.jupyter.widget-view+json"


def texts(cell):
    """What the outputs of a cell say, but for the words that stand in a widget's place, and for the
    nothing that a bar leaves at its end."""
    told = [o for o in cell.outputs if o.get("name") != "stderr"]
    said = [printed(output) for output in told if WIDGET not in output.get("data", {})]
    return [text for text in said if text.strip()]


TRAINS = "worldmodel.train(", "symreg.run("
EXACT, TRAINED = 0.05, 0.5
"""Relative differences: of what is computed, and of what a trained network decides. Rounding grows
in training until another processor is as another seed, and seeds differ by up to a half."""
ROUNDING = 1e-12
"""Of float64 over a thousand operations: another processor rounds otherwise."""


def disagreement(shown, found, within):
    """Where two texts part, or None: words to the letter, numbers within a relative difference.

    What is written to one or two digits may also differ by one of the last. Of what a trained
    network decides one number in five may differ by more: an R² near zero differs between seeds by
    more than itself.
    """
    # a rule below a column is as long as its longest number; NumPy sets a shorter number of an
    # array apart from its comma
    words = (
        re.sub(r"-{3,}", "---", re.sub(r" +(?=[],])", "", text)).split() for text in (shown, found)
    )
    numbers, before = [], ""
    # the formula of an untrained network, which knows no law, differs between machines
    for pair in zip_longest(*words, fillvalue=""):
        forms = tuple(NUMBER.sub("#", word) for word in pair)
        if forms[0] == forms[1]:
            numbers += zip(*map(NUMBER.findall, pair), strict=True)
        elif within != TRAINED or before != "untrained" or not all("#" in form for form in forms):
            return forms
        before = pair[0]
    apart = []
    for a, b in numbers:
        mantissa, _, power = a.partition("e")
        last_digit = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
        one_more = last_digit if "." in mantissa or power else 0
        largest = max(abs(float(a)), abs(float(b)))
        if abs(float(a) - float(b)) > max(within * largest, 1.001 * one_more, ROUNDING):
            apart.append((a, b))
    allowed = len(numbers) // 5 if within == TRAINED else 0
    return apart[0] if len(apart) > allowed else None


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL, *LONG])
def test_a_notebook_runs_in_its_small_setting(name, run_notebook):
    cells = run_notebook(f"{name}.ipynb", timeout=600).cells
    drawn = [output for cell in cells for output in cell.get("outputs", ()) if "data" in output]
    assert any({"image/png", "text/html"} & set(output["data"]) for output in drawn)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if path.stem not in LONG], ids=lambda path: path.stem
)
def test_a_notebook_prints_what_it_shows(path, run_notebook):
    """At its full settings, so that what readers see is what the program says today."""
    code = path.read_text()
    within = TRAINED if any(call in code for call in TRAINS) else EXACT
    again = run_notebook(path.name, timeout=1800, small=False)
    ran = [cell for cell in again.cells if cell.cell_type == "code"]
    for saved, cell in zip(code_cells(path), ran, strict=True):
        shown, found = texts(saved), texts(cell)
        assert len(shown) == len(found), cell.source
        parted = [disagreement(*pair, within) for pair in zip(shown, found, strict=True)]
        assert not any(parted), (cell.source, parted)


DECIMAL = re.compile(r"\d+\.\d+")
CITED = re.compile(r"arXiv:\d+\.\d+(?:v\d+)?|arxiv\.org/abs/[\d.]+|```.*?```", re.DOTALL)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_number_that_a_notebook_tells_is_one_that_it_shows(path):
    """With a decimal point, in its prose: found in an output or in the code."""
    notebook = nbformat.read(path, as_version=4)
    prose = [CITED.sub("", c.source) for c in notebook.cells if c.cell_type == "markdown"]
    told = {number for text in prose for number in DECIMAL.findall(text)}
    cells = code_cells(path)
    shown = {n for cell in cells for n in DECIMAL.findall("\n".join([cell.source, *texts(cell)]))}
    assert told - shown == set()


@pytest.mark.parametrize(
    ("other", "within", "agree"),
    [
        ("error 0.021, R² 0.98", EXACT, True),
        ("error 0.031, R² 0.98", EXACT, False),
        ("error 0.031, R² 0.92", TRAINED, True),
        ("error 0.061, R² 0.98", TRAINED, False),
        ("mistake 0.020, R² 0.98", TRAINED, False),
        ("error 0.020*r, R² 0.98", TRAINED, False),
    ],
)
def test_numbers_of_networks_may_differ_as_seeds_do_and_words_may_not(other, within, agree):
    assert (disagreement("error 0.020, R² 0.98", other, within) is None) == agree


def test_the_formula_of_an_untrained_network_alone_may_differ():
    for row, may in (("untrained", True), ("kicked", False)):
        parted = disagreement(f"{row} -1.8 other", f"{row} -1.7*r**(3/2) other", TRAINED)
        assert (parted is None) == may
    assert disagreement("untrained -1.8", "untrained -1.7*r", EXACT) is not None


def test_one_number_of_five_of_a_network_may_differ_by_more():
    shown = "[0.75, 0.50 , 0.99, 0.98, 0.04]"
    assert disagreement(shown, "[0.75, 0.501, 0.99, 0.98, -0.15]", TRAINED) is None
    assert disagreement(shown, "[0.75, 0.501, 0.99, 0.98, -0.15]", EXACT) == ("0.04", "-0.15")
    assert disagreement(shown, "[0.15, 0.501, 0.99, 0.98, -0.15]", TRAINED) == ("0.75", "0.15")
