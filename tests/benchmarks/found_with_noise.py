"""How often is a right formula said to be found, with noise, and how often a wrong one?

    python tests/benchmarks/found_with_noise.py board.csv --half 0 --noise 0.02 --seeds 1
    python tests/benchmarks/found_with_noise.py board.csv --counts

Forty laws that scientists fit, of enzymes, kinetics, hydraulics, heat, acoustics, optics and
electricity, with the ranges in which these are measured. Every seed draws the constants, the number
of rows (60 to 300) and the noise's kind, relative to the target or to its rms. The halves are those
with even and odd places in a drawn order: 0 was developed on, 1 not. Each row is written when it is
done and is not run again.

A formula is *right* if it is the law with other numbers, or if the table cannot tell it from the
law, which is no shorter (`discovery.py`); *right by numbers* if it errs by less than the noise
within the ranges and by less than four times that a quarter beyond them. *Found and wrong* is
neither. For right ones the gates are printed that refused them.
"""

import argparse
import csv
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import sympy
from discovery import literally, untellable
from discovery_laws import Law, law_of_text
from discovery_small import right_inside_and_beyond

from symreg.recovery.recover import recover

SCIENCE = (
    ("michaelis", "{V}*s/({K} + s)", "V:1:20 K:0.3:3", "s:0.05:10:log"),
    ("competitive inhibitor", "{V}*s/({K}*(1 + i/{J}) + s)", "V:1:20 K:0.3:3 J:0.3:2",
     "s:0.1:10:log i:0:4"),
    ("hill", "{V}*s**{n}/({K} + s**{n})", "V:1:20 K:0.5:4 n:1.4:3.4", "s:0.1:6:log"),
    ("excess substrate", "{V}*s/({K} + s + s**2/{J})", "V:1:20 K:0.3:2 J:2:8", "s:0.05:15:log"),
    ("two substrates", "{V}*a/({K} + a)*b/({J} + b)", "V:1:20 K:0.3:2 J:0.3:2",
     "a:0.1:8:log b:0.1:8:log"),
    ("arrhenius", "{A}*exp(-{E}/T)", "A:1e5:1e7 E:4000:7000", "T:280:420"),
    ("decay to a background", "{b} + {a}*exp(-{k}*t)", "a:1:10 b:0.2:2 k:0.3:1.2", "t:0:8"),
    ("second order", "c/(1 + {k}*c*t)", "k:0.1:1", "c:0.5:3 t:0:10"),
    ("intermediate", "{D}*(exp(-{k}*t) - exp(-{j}*t))", "D:1:10 k:0.1:0.3 j:0.9:2", "t:0.1:15"),
    ("logistic", "{K}/(1 + {A}*exp(-{r}*t))", "K:2:50 A:5:50 r:0.5:1.2", "t:0:12"),
    ("manning", "R**(2/3)*sqrt(s)/n", "", "R:0.2:4 s:1e-4:1e-2:log n:0.01:0.06"),
    ("darcy-weisbach", "f*L*v**2/(19.62*D)", "", "f:0.01:0.05 L:10:500 v:0.3:4 D:0.05:0.6"),
    ("hazen-williams", "{k}*R**0.63*s**0.54", "k:80:130", "R:0.05:1 s:1e-4:1e-2:log"),
    ("weir", "{c}*b*h**1.5", "c:1.6:2.2", "b:0.2:3 h:0.02:0.6"),
    ("outflow", "sqrt(19.62*h/(1 + k))", "", "h:0.2:10 k:0.1:6"),
    ("ergun", "{a}*v/d**2 + {b}*v**2/d", "a:0.05:0.4 b:1:3", "v:0.02:1 d:0.1:0.6"),
    ("radiation", "{e}*5.67e-8*(T**4 - S**4)", "e:0.3:0.95", "T:400:900 S:250:380"),
    ("cooling", "S + (T - S)*exp(-{k}*t)", "k:0.03:0.2", "S:10:25 T:60:95 t:0:40"),
    ("dittus-boelter", "{c}*Re**0.8*Pr**0.4", "c:0.02:0.03", "Re:1e4:2e5:log Pr:0.7:12"),
    ("ranz-marshall", "2 + {c}*sqrt(Re)*Pr**(1/3)", "c:0.5:0.7", "Re:2:400:log Pr:0.6:8"),
    ("fin", "tanh(m*L)/(m*L)", "", "m:5:60 L:0.01:0.08"),
    ("mean difference", "(a - b)/log(a/b)", "", "a:40:90 b:3:30"),
    ("doppler", "f*(343 + v)/(343 - u)", "", "f:200:2000 v:0:60 u:0:80"),
    ("level", "L - 20*log(r)/log(10) - {a}*r", "a:0.01:0.05", "L:80:120 r:1:200:log"),
    ("sabine", "0.161*V/(S*a)", "", "V:50:5000:log S:60:900 a:0.05:0.6"),
    ("resonator", "54.6*sqrt(A/(V*l))", "", "A:1e-4:1e-3 V:1e-3:1e-2 l:0.01:0.1"),
    ("image", "{f}*u/(u - {f})", "f:0.05:0.2", "u:0.3:3"),
    ("cauchy", "{a} + {b}/w**2", "a:1.4:1.7 b:0.003:0.01", "w:0.35:0.8"),
    ("snell", "asin(sin(a)/n)", "", "a:0.1:1.4 n:1.2:2.4"),
    ("malus", "{I}*cos(t)**2 + {b}", "I:1:10 b:0.1:1", "t:0:6.28"),
    ("absorption", "I*exp(-{e}*c*l)", "e:0.5:3", "I:1:10 c:0.05:1 l:0.2:2"),
    ("etalon", "1/(1 + {F}*sin(d/2)**2)", "F:2:15", "d:0:12.5"),
    ("planck", "{a}*x**3/(exp({b}*x) - 1)", "a:1:10 b:0.7:2", "x:0.2:8"),
    ("charging", "V*(1 - exp(-t/(R*C)))", "", "V:1:12 t:0.1:5 R:0.5:3 C:0.3:2"),
    ("diode", "{I}*(exp(v/{w}) - 1)", "I:1e-9:1e-7 w:0.03:0.05", "v:0.1:0.55"),
    ("impedance", "sqrt(R**2 + (w*{L} - 1/(w*{C}))**2)", "L:0.5:2 C:0.3:1", "R:0.3:4 w:0.4:4"),
    ("archie", "{a}*p**-{m}*s**-{n}", "a:0.5:2 m:1.7:2.3 n:1.6:2.4", "p:0.08:0.35 s:0.2:1"),
    ("omori", "{K}/(t + {c})**{p}", "K:20:200 c:0.05:0.5 p:0.9:1.3", "t:0.05:60:log"),
    ("freundlich", "{k}*c**{n}", "k:0.5:8 n:0.25:0.75", "c:0.02:30:log"),
    ("metabolism", "{B}*m**0.75*exp(-{E}/T)", "B:1e8:1e9 E:6500:8000", "m:0.01:50:log T:275:310"),
)  # fmt: skip
"""Name, law, the ranges of its constants, and those of its columns."""


def science(half: int, seed: int) -> list[Law]:
    """Half of the laws, constants and rows drawn by a seed."""
    order = np.random.default_rng(68).permutation(len(SCIENCE))
    return [_drawn(place, seed) for place in sorted(order[half::2])]


def _drawn(place: int, seed: int) -> Law:
    name, text, constants, ranges = SCIENCE[place]
    rng = np.random.default_rng([place, seed, 69])
    values = {}
    for each in constants.split():
        constant, low, high = each.split(":")
        values[constant] = f"{np.exp(rng.uniform(np.log(float(low)), np.log(float(high)))):.3g}"
    law = law_of_text(name, text.format(**values), ranges)
    return Law(**vars(law) | {"rows": int(rng.choice([60, 100, 200, 300]))})


def row_of(law: Law, noise: float, seed: int, limit: float) -> dict:
    """What is selected from one noisy table, and how right it is."""
    rng = np.random.default_rng([seed, 1])
    of = str(np.random.default_rng([len(law.name), seed]).choice(["target", "rms"]))
    assert law.rows is not None  # for the type checker: all of this board have theirs
    table = law.table(rng, law.rows, noise, of)
    began = time.process_time()
    found = recover(
        table, target="target", features=tuple(n for n in table if n != "target"), seed=seed,
        null=False, time_limit=limit,
    )  # fmt: skip
    taken = time.process_time() - began
    formula = sympy.sympify(found.formula)
    structure = literally(law, formula)
    numbers = all(right_inside_and_beyond(law, formula, noise))
    refused = [f"{g.name}: {g.found}" for g in found.found_gates if g.passed is False]
    return {
        "law": law.name, "noise": noise, "seed": seed, "rows": law.rows, "of": of,
        "structure": structure, "equivalent": not structure and untellable(law, formula, table, of),
        "numbers": numbers, "found": found.found, "cpu": round(taken, 1),
        "refused": "; ".join(refused), "formula": found.expression, "truth": str(law.formula),
        "rivals": " | ".join(rival.expression for rival in found.rivals if rival.as_good),
    }  # fmt: skip


def counts(rows: list[dict]) -> str:
    """Right, found, found and wrong, by noise; and the gates that refused right formulas."""
    lines = []
    for noise in sorted({row["noise"] for row in rows}):
        some = [row for row in rows if row["noise"] == noise]
        right = [row for row in some if row["structure"] or row["equivalent"]]
        near = [row for row in some if row["numbers"] and row not in right]
        wrong = [row for row in some if row not in right and row not in near]
        said = [sum(row["found"] for row in part) for part in (right, near, wrong)]
        lines.append(
            f"noise {noise:g}: {len(some)} tables, right {len(right)} (found {said[0]}), by "
            f"numbers alone {len(near)} (found {said[1]}), wrong {len(wrong)} (found {said[2]})"
        )
        lines += [
            f"    found and not right: {row['law']}, {row['formula'][:100]}"
            for row in (*near, *wrong)
            if row["found"]
        ]
        gates = (row["refused"].split("; ") for row in right if not row["found"])
        refused = Counter(gate.split(":")[0] for each in gates for gate in each)
        lines += [f"    {count} right refused: {gate}" for gate, count in refused.most_common()]
    return "\n".join(lines)


def written(path: Path) -> list[dict]:
    """Rows of an earlier run."""
    if not path.is_file():
        return []
    flags = ("structure", "equivalent", "numbers", "found")
    with path.open(newline="", encoding="utf-8") as file:
        return [
            row | {"noise": float(row["noise"]), "seed": int(row["seed"])}
            | {flag: row[flag] == "True" for flag in flags}
            for row in csv.DictReader(file)
        ]  # fmt: skip


def main() -> None:
    """Run what is missing in a file, and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--half", type=int, choices=[0, 1], default=0)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.02])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a search")
    parser.add_argument("--laws", nargs="*")
    parser.add_argument("--counts", action="store_true", help="of what is there, without a run")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    rows = written(arguments.out)
    done = {(row["law"], row["noise"], row["seed"]) for row in rows}
    for noise in () if arguments.counts else arguments.noise:
        for seed in range(arguments.seeds):
            for law in science(arguments.half, seed):
                if (law.name, noise, seed) in done or law.name not in (
                    arguments.laws or [law.name]
                ):
                    continue
                rows.append(row_of(law, noise, seed, arguments.limit))
                marks = "".join(
                    mark if rows[-1][flag] else "-"
                    for mark, flag in zip(
                        "SENF", ("structure", "equivalent", "numbers", "found"), strict=True
                    )
                )
                print(
                    f"{law.name:<22}{noise:<6g}{marks} {rows[-1]['cpu']:6.1f} s  "
                    f"{rows[-1]['formula'][:80]}  [{rows[-1]['refused'][:80]}]",
                    flush=True,
                )
                fresh = not arguments.out.is_file()
                with arguments.out.open("a", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, rows[-1])
                    if fresh:
                        writer.writeheader()
                    writer.writerow(rows[-1])
    print(counts(rows))


if __name__ == "__main__":
    main()
