"""`python -m symreg`: the same as the command `symreg`."""

import sys

from symreg.cli import main

if __name__ == "__main__":
    sys.exit(main())
