"""`python -m worldmodel`: the same as the command `worldmodel`."""

import sys

from worldmodel.cli import main

if __name__ == "__main__":
    sys.exit(main())
