"""The process in which two formulas are compared: pickled question in, pickled answer out."""

import pickle
import sys

from symreg.compare import Comparison, decide
from symreg.formulas import read_formula


def main() -> None:
    """Read the question from stdin, decide, write the answer (or a user's mistake) to stdout."""
    first, second, variables, domain, margin = pickle.load(sys.stdin.buffer)
    answer: Comparison | str
    try:
        formulas = [read_formula(e) if isinstance(e, str) else e for e in (first, second)]
        answer = decide(formulas[0], formulas[1], variables, domain, margin)
    except ValueError as error:
        answer = str(error)
    pickle.dump(answer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
