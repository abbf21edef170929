"""Hashing methods by name: those of this package, one paper per file, and those of plug-ins.

>>> METHODS["idhn"].__name__
'IDHN'
"""

import inspect
import math
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, get_args

from softhash import plugins
from softhash.errors import SofthashError, UsageError, unknown_name
from softhash.training.methods.method import Method, Shallow

__all__ = [
    "METHODS",
    "create",
    "describe",
    "find_method",
    "is_shallow",
    "method_class",
    "unsupervised_methods",
]


def defined_methods(module: ModuleType) -> dict[str, type[Method]]:
    """Return the methods that a module defines: classes of its own that have a name."""
    return {
        kind.name: kind
        for kind in vars(module).values()
        if _is_method(kind) and kind.name and kind.__module__ == module.__name__
    }


def _built_in() -> dict[str, type[Method]]:
    methods: dict[str, type[Method]] = {}
    for module in iter_modules(import_module(__package__).__path__):
        if module.name != "registry" and not module.name.startswith("_"):
            methods |= defined_methods(import_module(f"{__package__}.{module.name}"))
    return dict(sorted(methods.items()))


def _is_method(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Method)


METHODS = _built_in()


def method_class(method: str | type[Method]) -> type[Method]:
    """Find a method by its name; a class is returned as it is.

    Raises:
        InputError: a plug-in has that name, and cannot be imported or is not a method.
        UsageError: there is no method of that name, or the class states none.

    """
    if not isinstance(method, str):
        return _named(method)
    if method in METHODS:
        return METHODS[method]
    found = plugins.load_plugin(plugins.METHODS, method)
    if found is None:
        raise unknown_name("method", method, [*METHODS, *plugins.plugin_names(plugins.METHODS)])
    if not _is_method(found) or found.name != method:
        problem = f"is {found!r}, not a subclass of Method whose name is '{method}'"
        raise plugins.plugin_error(plugins.METHODS, method, problem)
    return _named(found)


def _named(kind: type[Method]) -> type[Method]:
    """Return a class that can be recorded in a recipe, or raise."""
    if not _is_method(kind):
        raise UsageError(f"method is {kind!r}", "give a name, or a subclass of Method")
    if not kind.name:
        raise UsageError(f"{kind.__name__} has no name", f'state one: name = "{_guess(kind)}"')
    return kind


def _guess(kind: type[Method]) -> str:
    return kind.__name__.lower()


def find_method(name: str) -> type[Method] | None:
    """Find a method by its name; None where there is none that can be used."""
    try:
        return method_class(name)
    except SofthashError:
        return None


def is_shallow(method: str | type[Method]) -> bool:
    """Return whether a method learns from fixed features alone, so that it cannot be fine-tuned.

    >>> is_shallow("lsh"), is_shallow("idhn"), is_shallow("nobody's")
    (True, False, False)
    """
    kind = find_method(method) if isinstance(method, str) else method
    return kind is not None and (issubclass(kind, Shallow) or kind.unsupervised)


def unsupervised_methods() -> list[str]:
    """Name the built-in methods that need no labels, the best first.

    >>> "itq" in unsupervised_methods(), "idhn" in unsupervised_methods()
    (True, False)
    """
    names = [name for name, kind in METHODS.items() if kind.unsupervised]
    return sorted(names, key=lambda name: METHODS[name].order)


def create(method: str | type[Method], bits: int, classes: int, /, **settings: Any) -> Method:
    """Build a method with its own settings.

    Args:
        method: a name, or a class.
        bits: length of the codes.
        classes: columns of the labels.
        settings: the method's own; a text such as "5/q" is in terms of the bits.

    >>> create("idhn", 48, 20).settings()["alpha"] == 5 / 48
    True

    """
    kind = method_class(method)
    for setting in settings:
        if setting not in kind.setting_names():
            raise unknown_name(f"setting of method '{kind.name}'", setting, kind.setting_names())
    try:
        kinds = inspect.signature(kind).parameters
        return kind(
            bits, classes,
            **{k: _checked(k, _number(v, bits), kinds.get(k)) for k, v in settings.items()},
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        what = f"method '{kind.name}' cannot be set up with {settings}"
        raise UsageError(f"{what}: {error}") from error


def _number(value: Any, bits: int) -> Any:
    """Read a setting that is given in terms of the bits, such as "5/q".

    >>> _number("5/q", 10), _number(0.1, 10)
    (0.5, 0.1)
    """
    if isinstance(value, str) and value.endswith("/q"):
        return float(value.removesuffix("/q")) / bits
    return value


def _checked(name: str, value: Any, parameter: inspect.Parameter | None) -> Any:
    """Return a value that is of the type that a setting is annotated with, else raise ValueError.

    >>> _checked("alpha", 5, inspect.Parameter("alpha", inspect.Parameter.KEYWORD_ONLY))
    5
    """
    wanted = getattr(parameter, "annotation", None)
    types = {wanted} if isinstance(wanted, type) else set(get_args(wanted))
    if value is None and type(None) in types:
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if float in types and not (number and math.isfinite(value)):
        raise ValueError(f"{name} is {value!r}; give a number, or one such as '5/q'")
    if int in types and not (number and isinstance(value, int) and value >= 0):
        raise ValueError(f"{name} is {value!r}; give a whole number that is not negative")
    if wanted is bool and not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}; give true or false")
    return value


def describe() -> dict[str, str]:
    """Return one line about each method, built-in ones first."""
    built_in = {name: _summary(name) for name in METHODS}
    return built_in | plugins.describe_plugins(plugins.METHODS, METHODS, _summary)


def _summary(name: str) -> str:
    return (inspect.getdoc(method_class(name)) or "").partition("\n")[0]
