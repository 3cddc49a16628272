"""What every result of this package can do: be read and written as JSON, and print itself."""

import html
import os
from typing import Any, Self

from orbits.files import as_json, of_json, read_typed, write_sealed


class Result:
    """Base of results, which are frozen dataclasses with a `__str__` for terminals."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON's own types."""
        return as_json(self)

    @classmethod
    def of(cls, value: Any, name: str = "") -> Self:
        """A result from `to_dict`.

        Raises:
            ValueError: if it is not one (says where).
        """
        return of_json(cls, value, name or f"the {cls.__name__.lower()}")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """A result from the JSON file that `write`, or the command, wrote.

        Raises:
            ValueError: if the file is missing, not one (says where), or was changed since.
        """
        return read_typed(cls, path)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file with a checksum of itself, whole or not at all."""
        write_sealed(path, self.to_dict())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
