"""`python -m symreg`: the same as the command `symreg`."""

from typing import NoReturn

from orbits.entry import enter


def main() -> NoReturn:
    """Run the command line and end the process."""
    enter("symreg")


if __name__ == "__main__":
    main()
