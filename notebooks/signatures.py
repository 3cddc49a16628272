"""Signatures in the reference: what takes the options of a dataclass, as callers see it."""

from griffe import Alias, Extension, Function, Module, ParameterKind

DECORATOR = "keywords_of"


class Keywords(Extension):
    """Under `@keywords_of(TrainConfig)`, `f(x, **options)` shows whose fields the options are.

    A package's stub lists every keyword for editors, and imports the function itself as `_f`: a
    reader gets that function, with its docstring.
    """

    def on_function(self, *, func: Function, **_: object) -> None:
        """Called by griffe for every function that it reads."""
        given = [str(d.value) for d in func.decorators if d.callable_path.endswith(DECORATOR)]
        if not given:
            return
        options = given[0].split("(", 1)[1].rstrip(")")
        for parameter in func.parameters:
            if parameter.kind is ParameterKind.var_keyword:
                parameter.annotation = options

    def on_package(self, *, pkg: Module, **_: object) -> None:
        """Called by griffe for every package, once it is read."""
        for name, member in list(pkg.members.items()):
            if name.startswith("_") and not name.startswith("__") and isinstance(member, Alias):
                pkg.set_member(name[1:], Alias(name[1:], member.target_path, parent=pkg))
