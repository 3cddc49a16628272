"""`python -m orbits`: the same as the command `orbits`."""

import sys

from orbits.cli import main

if __name__ == "__main__":
    sys.exit(main())
