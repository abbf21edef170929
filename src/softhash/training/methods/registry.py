"""Hashing methods by name: those of this package, one paper per file, and those of plug-ins.

>>> METHODS["idhn"].__name__
'IDHN'
"""

import inspect
import math
from importlib import import_module
from numbers import Integral, Real
from pkgutil import iter_modules
from types import ModuleType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin

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

_HINTS: dict[type, str] = {  # for what a setting may be annotated with, the widest first
    float: "give a number, or one such as '5/q'",
    int: "give a whole number that is not negative",
    bool: "give true or false",
}


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
        known, counts = inspect.signature(kind).parameters, METHODS.get(kind.name) is kind
        checked = {
            name: _checked(name, _number(value, bits), known.get(name), counts)
            for name, value in settings.items()
        }
        return kind(bits, classes, **checked)
    except (TypeError, ValueError, OverflowError) as error:
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


def _checked(name: str, value: Any, parameter: inspect.Parameter | None, counts: bool) -> Any:
    """Return a value that fits what a setting is annotated with, else raise ValueError.

    A default is valid, and what is annotated with more than float, int, bool and None is not
    checked.

    Args:
        name: of the setting.
        value: that is given.
        parameter: of the method's `__init__`.
        counts: whether whole numbers are counts, 0 or more: those of built-in methods all are. A
            plug-in's may be negative, such as -1 for "all".

    >>> _checked("alpha", 5, inspect.Parameter("alpha", inspect.Parameter.KEYWORD_ONLY), True)
    5

    """
    if parameter is None or value is parameter.default:
        return value
    wanted = parameter.annotation
    members = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    kinds = [kind for kind in _HINTS if kind in members]
    if not kinds or any(member not in (*kinds, NoneType) for member in members):
        return value
    if any(_fits(value, member, counts) for member in members):
        return value
    raise ValueError(f"{name} is {value!r}; {_HINTS[kinds[0]]}")


def _fits(value: Any, kind: type, counts: bool) -> bool:
    """Return whether a value is of a kind; True and False are not numbers.

    >>> _fits(0.5, float, True), _fits(True, int, True), _fits(-1, int, True), _fits(-1, int, False)
    (True, False, False, True)
    """
    if kind in (bool, NoneType) or isinstance(value, bool):
        return type(value) is kind
    if kind is int:
        return isinstance(value, Integral) and (not counts or int(value) >= 0)
    return isinstance(value, Real) and math.isfinite(value)


def describe() -> dict[str, str]:
    """Return one line about each method, built-in ones first."""
    built_in = {name: _summary(name) for name in METHODS}
    return built_in | plugins.describe_plugins(plugins.METHODS, METHODS, _summary)


def _summary(name: str) -> str:
    return (inspect.getdoc(method_class(name)) or "").partition("\n")[0]
