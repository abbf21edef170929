"""Hashing methods by name: one paper, one file.

>>> METHODS["idhn"].__name__
'IDHN'
"""

import inspect
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from softhash.errors import UsageError, unknown_name
from softhash.training.methods.method import Method, Shallow

__all__ = ["METHODS", "Method", "Shallow", "create", "describe", "method_class"]


_SHARED = ("losses", "method", "registry")


def _found() -> dict[str, type[Method]]:
    """Collect what the modules of this package define."""
    methods: dict[str, type[Method]] = {}
    package = import_module(__package__)
    for module in iter_modules(package.__path__):
        if module.name not in _SHARED and not module.name.startswith("_"):
            methods |= import_module(f"{__package__}.{module.name}").METHODS
    return dict(sorted(methods.items()))


METHODS = _found()


def method_class(name: str) -> type[Method]:
    """Find a method by its name."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name]


def create(name: str, bits: int, classes: int, **settings: Any) -> Method:
    """Build a method with its own settings.

    >>> create("idhn", bits=48, classes=20).settings()["alpha"] == 5 / 48
    True
    """
    kind = method_class(name)
    for setting in settings:
        if setting not in kind.setting_names():
            raise unknown_name(f"setting of method '{name}'", setting, kind.setting_names())
    try:
        return kind(bits, classes, **{k: _number(v, bits) for k, v in settings.items()})
    except (TypeError, ValueError) as error:
        raise UsageError(f"method '{name}' cannot be set up with {settings}: {error}") from error


def _number(value: Any, bits: int) -> Any:
    """Read a setting that is given in terms of the bits, such as "5/q".

    >>> _number("5/q", 10), _number(0.1, 10)
    (0.5, 0.1)
    """
    if isinstance(value, str) and value.endswith("/q"):
        return float(value.removesuffix("/q")) / bits
    return value


def describe() -> dict[str, str]:
    """One line about each method."""
    return {name: (inspect.getdoc(kind) or "").partition("\n")[0] for name, kind in METHODS.items()}
