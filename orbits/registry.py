"""Variants found by their folder: one object per file, and no list anywhere.

A package whose modules each hold variants of one contract becomes a mapping by name:

    LAWS = Registry("orbits.forces", ForceLaw, of_classes=True)
    LAWS["newton"]

A file elsewhere is found after `orbits.forces.__path__.append(folder)`.
"""

import functools
import importlib
import inspect
import os
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class Registry(Mapping[str, T], Generic[T]):
    """The objects satisfying a contract that a package's modules define, by `name`.

    Args:
        package: dotted name of the package.
        contract: class that the objects are instances of; or, with `of_classes`, subclasses. Its
            dotted name, where importing it is slow and the names alone must be quick.
        of_classes: whether the variants are classes (laws, whose objects have parameters).
        by_file: whether a variant is called as its file, which is not imported to know the name.
        order: names that come first, where the order matters; the others follow by name.
        skip: modules that hold no variant; `base` never does.
    """

    package: str
    contract: type[Any] | str
    of_classes: bool = False
    by_file: bool = False
    order: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    _read: tuple[str, ...] = field(default=(), init=False)
    _by_name: dict[str, T] = field(default_factory=dict, init=False)

    def __getitem__(self, name: str) -> T:
        if not self.by_file:
            return self._variants()[name]
        if name not in self._modules():
            raise KeyError(name)
        (variant,) = self._members(name)
        return variant

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules() if self.by_file else self._variants())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"<{self.package}: {', '.join(self)}>"

    def _modules(self) -> tuple[str, ...]:
        """Names of the files that may hold variants."""
        folders = tuple(importlib.import_module(self.package).__path__)
        files = tuple(name for folder in folders for name in os.listdir(folder))
        return tuple(name for name in _modules_in(folders, files) if name not in self.skip)

    def _variants(self) -> dict[str, T]:
        names = self._modules()
        if names != self._read:  # a file has come or gone
            members: list[Any] = [each for name in names for each in self._members(name)]
            variants = {each.name: each for each in members}
            first = [name for name in self.order if name in variants]
            order = [*first, *sorted(set(variants) - set(first))]
            self._read, self._by_name = names, {name: variants[name] for name in order}
        return self._by_name

    def _members(self, name: str) -> list[T]:
        """The variants in a file."""
        module = importlib.import_module(f"{self.package}.{name}")
        return [each for each in vars(module).values() if self._is_variant(each, module.__name__)]

    def _is_variant(self, value: Any, module: str) -> bool:
        if isinstance(self.contract, str):
            package, _, name = self.contract.rpartition(".")
            self.contract = vars(importlib.import_module(package))[name]
        contract: Any = self.contract
        if not self.of_classes:
            return isinstance(value, contract)
        own = inspect.isclass(value) and value.__module__ == module
        own = own and not value.__name__.startswith("_")
        return own and issubclass(value, contract) and not inspect.isabstract(value)


@functools.cache
def _modules_in(folders: tuple[str, ...], files: tuple[str, ...]) -> tuple[str, ...]:
    """Modules in folders that hold these files; again if a file comes or goes."""
    return tuple(
        module.name
        for module in pkgutil.iter_modules(folders)
        if module.name != "base" and not (module.name.startswith("_") or module.ispkg)
    )
