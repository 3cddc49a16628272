"""`python -m worldmodel`: the same as the command `worldmodel`."""

from typing import NoReturn

from orbits.entry import enter


def main() -> NoReturn:
    """Run the command line and end the process."""
    enter("worldmodel")


if __name__ == "__main__":
    main()
