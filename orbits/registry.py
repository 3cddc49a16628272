"""Variants found by their folder: one object per file, and no list anywhere.

A package whose modules each hold variants of one contract becomes a mapping by name:

    LAWS = Registry("orbits.forces", ForceLaw, of_classes=True)
    LAWS["newton"]

A file elsewhere is found after `orbits.forces.__path__.append(folder)`.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class Registry(Mapping[str, T], Generic[T]):
    """The objects satisfying a contract that a package's modules define, by `name`.

    Args:
        package: dotted name of the package.
        contract: class that the objects are instances of; or, with `of_classes`, subclasses.
        of_classes: whether the variants are classes (laws, whose objects have parameters).
        order: names that come first, where the order matters; the others follow by name.
        skip: modules that hold no variant; `base` never does.
    """

    package: str
    contract: type[Any]
    of_classes: bool = False
    order: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> T:
        return self._found()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def __repr__(self) -> str:
        return f"<{self.package}: {', '.join(self)}>"

    def _found(self) -> dict[str, T]:
        package = importlib.import_module(self.package)
        found: dict[str, T] = {}
        for module in pkgutil.iter_modules(package.__path__):
            if module.name in ("base", *self.skip) or module.name.startswith("_") or module.ispkg:
                continue
            path = f"{self.package}.{module.name}"
            members = list(vars(importlib.import_module(path)).values())
            found |= {value.name: value for value in members if self._is_variant(value, path)}
        first = [name for name in self.order if name in found]
        return {name: found[name] for name in [*first, *sorted(set(found) - set(first))]}

    def _is_variant(self, value: Any, module: str) -> bool:
        if not self.of_classes:
            return isinstance(value, self.contract)
        own = inspect.isclass(value) and value.__module__ == module
        return own and issubclass(value, self.contract) and not inspect.isabstract(value)
