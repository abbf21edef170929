"""What docstrings of the public names contain, and what they lack.

A public name is one of `softhash.__all__`, or a public method or property of a class among them.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import softhash

MANY = 3  # parameters from which on each of them is to be explained
_ENTRY = re.compile(r"^ {4}([*\w]+(?:, [*\w]+)*)(?: \([^)]*\))?: +(\S.*)$")


def entries(docstring: str | None, *sections: str) -> dict[str, str]:
    r"""Return the entries of sections such as `Args`, by name.

    >>> entries("Add.\n\nArgs:\n    a, b: what is\n        added.\n", "Args")
    {'a': 'what is added.', 'b': 'what is added.'}
    """
    found: dict[str, str] = {}
    names: list[str] = []
    inside = False
    for line in inspect.cleandoc(docstring or "").splitlines():
        if line and not line.startswith(" "):
            inside, names = line.rstrip(":") in sections and line.endswith(":"), []
        elif inside and (entry := _ENTRY.match(line)):
            names = [name.lstrip("*") for name in entry[1].split(", ")]
            found |= dict.fromkeys(names, entry[2])
        elif inside and line.strip():
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
    return found


def public_names() -> dict[str, Any]:
    """Return every public name with its object, methods as `Class.method`."""
    found: dict[str, Any] = {}
    for name in softhash.__all__:
        one = getattr(softhash, name)
        found[name] = one
        if inspect.isclass(one):
            found |= {f"{name}.{member}": value for member, value in _members(one)}
    return found


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that softhash itself defines."""
    seen: set[str] = set(getattr(kind, "__dataclass_fields__", ()))  # the class explains these
    for base in kind.__mro__:
        if not base.__module__.startswith("softhash"):
            continue
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            if isinstance(plain, FunctionType | property):
                yield name, plain


def undocumented() -> list[str]:
    """Return the public names without a docstring of their own."""
    return [name for name, one in public_names().items() if not _own_docstring(one)]


def _own_docstring(one: Any) -> str:
    """Return a docstring, unless it is the signature that dataclasses write by themselves."""
    text = one.__doc__ or ""
    return "" if inspect.isclass(one) and text.startswith(f"{one.__name__}(") else text


def unexplained() -> list[str]:
    """Return the parameters without an entry, of callables that have three or more of them."""
    found = []
    for name, one in public_names().items():
        explained = entries(one.__doc__, "Args", "Attributes")
        names = _parameters(one)
        if len(names) >= MANY:
            found += [f"{name}({given})" for given in names if given not in explained]
    return found


def _parameters(one: Any) -> list[str]:
    if isinstance(one, property):
        return []
    called: Callable[..., Any] = one
    if inspect.isclass(one) and issubclass(one, BaseException):
        called = one.__init__  # the signature of the class would be that of BaseException.__new__
        if not isinstance(called, FunctionType):
            return []
    names = list(inspect.signature(called).parameters)
    return [name for name in names if name not in ("self", "cls")]
