"""The same tables before and after a change: what was answered, was it found, at what cost.

    python tests/benchmarks/boards.py run FOLDER --boards small-exact small-noisy
    python tests/benchmarks/boards.py run FOLDER
    python tests/benchmarks/boards.py read FOLDER fastsrb-exact srbf.csv
    python tests/benchmarks/boards.py compare FOLDER
    python tests/benchmarks/boards.py compare FOLDER --with OTHER

`run` writes one CSV a board, row by row, and a run that was stopped goes on. Seeds are fixed, so
that what differs from the frozen files (`tests/benchmarks/frozen`, of commit 042ace47) is the
change. `read` takes the table that `notebooks/benchmarks/srbf/judge.py` writes. `compare` prints
each case whose mark or answer differs, the sums of right and found by board, and the seconds of the
processor as a ratio of the sums, over the cases that both have. Seconds of two machines say
nothing: run both trees on one, in turns.

Marks: S the law itself, E not to be told from it by the table, N right by numbers, R right, F found
to be a law.
"""

import argparse
import csv
import runpy
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

HERE = Path(__file__).parent
FROZEN = HERE / "frozen"
COLUMNS = ("case", "mark", "answer", "cpu")
Row = dict[str, str]
Case = tuple[str, Callable[[], Row]]


def row(mark: str, answer: object, cpu: float) -> Row:
    """What a board keeps of a case."""
    return {"mark": mark, "answer": str(answer), "cpu": f"{cpu:.2f}"}


def marks(found: dict) -> str:
    """Letters of a row of `discovery.py` or `found_with_noise.py`."""
    flags = {"S": "structure", "E": "equivalent", "N": "numbers", "F": "found"}
    return "".join(letter if found[flag] else "-" for letter, flag in flags.items())


def laws(name: str, noise: float, seed: int = 0) -> Iterator[Case]:
    """Of one list of `discovery.py`, noise relative to the rms, one seed."""
    import discovery

    options = argparse.Namespace(noise_of="rms", rows=500)

    def answered(law: object) -> Row:
        found = discovery.one(law, noise, "orbitlaw", seed, options)
        return row(marks(found), found["formula"], found["cpu"])

    return ((law.name, partial(answered, law)) for law in discovery.LAWS[name]())


def forty() -> Iterator[Case]:
    """Half 1 of the laws that scientists fit, at 2 % noise, at most 20 s each."""
    import found_with_noise

    def answered(law: object) -> Row:
        found = found_with_noise.row_of(law, 0.02, 0, 20.0)
        return row(marks(found), found["formula"], found["cpu"])

    return ((law.name, partial(answered, law)) for law in found_with_noise.science(1, 0))


def nulls() -> Iterator[Case]:
    """Two hundred tables without a law: right if none is found."""
    import discovery

    def answered(draw: int) -> Row:
        table, began = discovery.null_table(draw), time.process_time()
        found = discovery.recover(table, target="F", features=("r", "m1"), seed=draw, null=False)
        mark = "-F" if found.found else "R-"
        return row(mark, found.expression, time.process_time() - began)

    return ((f"draw {draw}", partial(answered, draw)) for draw in range(200))


def leftovers() -> Iterator[Case]:
    """Sixty trajectories with something beside a central force, and sixty without."""
    import leftovers

    def answered(place: int, clean: bool) -> Row:
        found = leftovers.examined(place, 20261126, clean)
        return row("R" if found["right"] else "-", found["answer"], found["cpu"])

    return (
        (f"{'clean' if clean else 'leftover'} {place}", partial(answered, place, clean))
        for clean in (False, True)
        for place in range(60)
    )


def solar() -> Iterator[Case]:
    """Masses of eleven bodies of the solar system: right if all but Pluto's are within 10 %."""
    import numpy as np
    import weighing

    import symreg

    data = weighing.solar_system()

    def answered(noise: float) -> Row:
        began = time.process_time()
        found = symreg.weigh(weighing.noisy(data, noise, 0))
        cpu, truth = time.process_time() - began, data["mass"].values[0]
        off = [m.value / t - 1 for m, t in zip(found.masses, truth, strict=True)]
        right = np.max(np.abs(off[:-1])) < 0.1
        shown = ", ".join(f"{value:+.1e}" for value in off)
        return row("R" if right else "-", f"{found.law}; {shown}", cpu)

    return ((f"noise {noise:g} au", partial(answered, noise)) for noise in (0.0, 1e-8, 1e-6))


def departures() -> Iterator[Case]:
    """A hundred forces that depart smoothly from Newton's: F if called Newtonian and recovered.

    An examination has fresh states, so that a share at a threshold may fall on either side.
    """
    folder = HERE.parents[1] / "notebooks" / "examples" / "calibration"
    sys.path.insert(0, str(folder))
    own = runpy.run_path(str(folder / "departures.py"))
    data = own["orbits"].generate(orbits=100, seed=1_000_003, simulator="kepler")
    constant = own["np"].array([own["orbits"].GM_SUN])
    world = own["World"](own["known_law"]("newton"), own["DT"], own["ENDS"], constant, None, 2)

    def answered(force: Callable) -> Row:
        began, (within, median) = time.process_time(), own["truth"](force, world)
        said = own["judged"](force, world, data)
        mark = ("R" if within >= 0.95 else "-") + ("F" if said["recovered"] else "-")
        answer = f"within 10 % {within:.3f}, median {median:.2g}; {said['failed']}"
        return row(mark, answer, time.process_time() - began)

    every = islice(enumerate(own["forces"](177694710)), own["COUNT"])
    return ((f"{k} {kind}", partial(answered, force)) for k, (kind, _, force) in every)


def default() -> Iterator[Case]:
    """The default network of ten seeds: R if it has the field, F if recovered."""
    import examine_seeds

    def answered(seed: int) -> Row:
        began = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            said = examine_seeds.line(examine_seeds.row(Path(folder), seed))
        right = any(f": {kind}" in said for kind in ("Newtonian", "law", "field"))
        found = "not recovered" not in said
        mark = ("R" if right else "-") + ("F" if found else "-")
        return row(mark, said, time.process_time() - began)

    return ((f"seed {seed}", partial(answered, seed)) for seed in range(10))


BOARDS: dict[str, Callable[[], Iterator[Case]]] = {
    "small-exact": partial(laws, "small", 0.0),
    "small-noisy": partial(laws, "small", 0.01),
    "powers-exact": partial(laws, "powers", 0.0),
    "powers-noisy": partial(laws, "powers", 0.01),
    "forty-noisy": forty,
    "nulls": nulls,
    "leftovers": leftovers,
    "solar": solar,
    "default": default,
    "departures": departures,
    "feynman-noisy": partial(laws, "feynman", 0.01),
    "kinds": partial(laws, "kinds", 0.0, 20261190),
    "compositions": partial(laws, "compositions-reported", 0.0),
    "relations": partial(laws, "relations", 0.0),
}
READ = ("fastsrb-exact", "fastsrb-noisy")
"""Boards that somebody else's judge runs."""


def rows_of(path: Path) -> dict[str, Row]:
    """The rows of a file by case; none if there is no file."""
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {each["case"]: each for each in csv.DictReader(file)}


def write(path: Path, rows: dict[str, Row]) -> None:
    """All rows of a board."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def run(options: argparse.Namespace) -> None:
    """What a tree answers, one board after the other."""
    for name in options.boards:
        path = options.folder / f"{name}.csv"
        rows = rows_of(path)
        for place, (case, answered) in enumerate(BOARDS[name]()):
            if case in rows or place % options.every:
                continue
            rows[case] = {"case": case} | answered()
            write(path, rows)
            shown = [*rows[case].values()]
            print(f"{name:<15}{shown[0]:<22}{shown[1]:<5}{shown[3]:>7} s  {shown[2][:100]}",
                  flush=True)  # fmt: skip


def read(options: argparse.Namespace) -> None:
    """A table of srbf's judge as a board."""
    with options.table.open(newline="", encoding="utf-8") as file:
        judged = [each for each in csv.DictReader(file) if each["recovered"]]
    rows = {}
    for each in judged:
        mark = "".join(
            letter if each[flag] == "1" else "-"
            for letter, flag in (("S", "structure"), ("R", "recovered"), ("F", "found"))
        )
        case = f"{each['law']} {each['draw']}"
        rows[case] = {"case": case} | row(mark, each["formula"], float(each["processor"] or "nan"))
    write(options.folder / f"{options.board}.csv", rows)


def compare(options: argparse.Namespace) -> None:
    """Case by case, what differs; exits with 1 if a case is lost, or found and wrong as it was not.

    A case is lost if it was right or found, and is not.
    """
    worse = False
    for name in options.boards or [*BOARDS, *READ]:
        before, after = (
            rows_of(options.base / f"{name}.csv"),
            rows_of(options.folder / f"{name}.csv"),
        )
        both = [case for case in before if case in after]
        if not both:
            continue
        print(f"== {name}: {len(both)} of {len(before)} cases")
        for case in both:
            old, new = before[case], after[case]
            right, found = (set("SENR"), {"F"})
            lost = any(
                set(old["mark"]) & kind and not set(new["mark"]) & kind for kind in (right, found)
            )
            false = "F" in new["mark"] and not set(new["mark"]) & right
            false = false and not ("F" in old["mark"] and not set(old["mark"]) & right)
            worse = worse or lost or false
            if old["mark"] != new["mark"] or (options.answers and old["answer"] != new["answer"]):
                word = "WRONG" if false else "LOST" if lost else "other"
                print(f"   {word:<6}{case:<22}{old['mark']:<5}{old['answer'][:60]}  ->  "
                      f"{new['mark']:<5}{new['answer'][:60]}")  # fmt: skip
        for letter in "SENRF":
            counts = [
                sum(letter in each[case]["mark"] for case in both) for each in (before, after)
            ]
            if any(counts):
                print(f"   {letter}: {counts[0]} and {counts[1]}")
        costs = [sum(float(each[case]["cpu"]) for case in both) for each in (before, after)]
        print(f"   seconds of the processor: {costs[0]:.0f} and {costs[1]:.0f}, ratio "
              f"{costs[1] / costs[0]:.2f}")  # fmt: skip
    raise SystemExit(int(worse))


def main() -> None:
    """Run, read or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts = parser.add_subparsers(required=True)
    for name, action in {"run": run, "read": read, "compare": compare}.items():
        part = parts.add_parser(name)
        part.add_argument("folder", type=Path)
        part.set_defaults(action=action)
        if name == "read":
            part.add_argument("board", choices=READ)
            part.add_argument("table", type=Path)
        else:
            known = BOARDS if name == "run" else [*BOARDS, *READ]
            part.add_argument("--boards", nargs="+", choices=known,
                              default=[*BOARDS] if name == "run" else None)  # fmt: skip
        if name == "run":
            part.add_argument("--every", type=int, default=1, help="each so manyth case")
        if name == "compare":
            part.add_argument("--with", dest="base", type=Path, default=FROZEN)
            part.add_argument("--answers", action="store_true", help="other answers of equal mark")
    arguments = parser.parse_args()
    sys.path.insert(0, str(HERE))
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    arguments.action(arguments)


if __name__ == "__main__":
    main()
