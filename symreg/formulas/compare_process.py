"""The process in which two formulas are compared: pickled question in, pickled answer out."""

import math
import pickle
import resource
import sys

from symreg.formulas.compare import Comparison, decide
from symreg.formulas.reading import read_formula


def main() -> None:
    """Read the question from stdin, decide, write the answer (or a user's mistake) to stdout.

    The time limit is one of CPU time, kept by the kernel, so that neither a loaded machine nor
    code that never returns to Python changes the answer.
    """
    first, second, variables, domain, margin, limit = pickle.load(sys.stdin.buffer)
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime
    seconds = math.ceil(spent + limit)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    answer: Comparison | str
    try:
        formulas = [read_formula(e) if isinstance(e, str) else e for e in (first, second)]
        answer = decide(formulas[0], formulas[1], variables, domain, margin)
    except ValueError as error:
        answer = str(error)
    pickle.dump(answer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
