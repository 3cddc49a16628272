"""`python -m orbits`: the same as the command `orbits`."""

from typing import NoReturn

from orbits.entry import enter


def main() -> NoReturn:
    """Run the command line and end the process."""
    enter("orbits")


if __name__ == "__main__":
    main()
