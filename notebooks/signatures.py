"""Signatures in the reference: what takes the options of a dataclass, as callers see it."""

from griffe import Extension, Function, ParameterKind

DECORATOR = "keywords_of"


class Keywords(Extension):
    """Under `@keywords_of(TrainConfig)`, `f(kind, x, *args, **options)` is `f(x, **options)`."""

    def on_function(self, *, func: Function, **_: object) -> None:
        """Called by griffe for every function that it reads."""
        given = [str(d.value) for d in func.decorators if d.callable_path.endswith(DECORATOR)]
        if not given:
            return
        options = given[0].split("(", 1)[1].rstrip(")")
        for parameter in list(func.parameters):
            if parameter.name == "kind" or parameter.kind is ParameterKind.var_positional:
                del func.parameters[parameter.name]
            elif parameter.kind is ParameterKind.var_keyword:
                parameter.annotation = options
