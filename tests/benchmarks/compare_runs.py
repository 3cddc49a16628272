"""Whether two runs found the same: laws, constants, intervals, exponents and verdicts.

    python tests/benchmarks/compare_runs.py RUN OTHER_RUN [--tolerance 1e-9]

Prints a line for every number that differs by more than the tolerance (relative), and exits with 1
if there is one. For runs before and after a change that should change no number.
"""

import argparse
import json
import math
from pathlib import Path

NAMES = ("verdict", "recovered", "reference", "expression", "law", "r2", "kick_r2", "seeds")
QUANTITIES = ("constant", "exponent")


def found_by(run):
    """What a run found, by the name of the number."""
    verdict = json.loads((Path(run) / "verdict.json").read_text())
    found = {"recovered": verdict["recovered"], "kind": verdict["world_model"]["kind"]}
    for name, source in (verdict["sources"] | verdict["controls"]).items():
        source = source.get("recovery", {}) | source
        source["exponent"] = source["exponents"].get("r")
        found |= {f"{name}.{key}": source[key] for key in NAMES}
        for quantity in QUANTITIES:
            for part in ("value", "low", "high", "truth"):
                found[f"{name}.{quantity}.{part}"] = (source[quantity] or {}).get(part)
    for name, metrics in verdict["readouts"].items():
        found |= {f"{name}.{key}": value for key, value in metrics.items()}
    return found


def differences(first, second, tolerance):
    """Lines that say what differs."""
    lines = []
    for name in sorted(first.keys() & second.keys()):
        a, b = first[name], second[name]
        if isinstance(a, float) and isinstance(b, float):
            same = math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
        else:
            same = a == b
        if not same:
            lines.append(f"{name}: {a} and {b}")
    return lines


def main():
    """Compare two runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--tolerance", type=float, default=1e-9)
    options = parser.parse_args()
    first, second = found_by(options.first), found_by(options.second)
    lines = differences(first, second, options.tolerance)
    alone = len(first.keys() ^ second.keys())
    same = len(first.keys() & second.keys()) - len(lines)
    print(
        "\n".join([*lines, f"{same} numbers and verdicts are the same; {alone} of one run alone."])
    )
    raise SystemExit(1 if lines else 0)


if __name__ == "__main__":
    main()
