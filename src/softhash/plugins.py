"""What other packages add to softhash: methods, backbones, formats and stores.

A package announces what it adds as entry points, in its own ``pyproject.toml``::

    [project.entry-points."softhash.methods"]
    my-method = "my_package.my_method:MyMethod"

The groups are ``softhash.methods``, ``softhash.backbones``, ``softhash.formats`` and
``softhash.stores``. Names are listed without importing anything, and a plug-in is imported when it
is asked for by name: one that is broken breaks nothing else. Built-in names win, and a plug-in that
has taken one is not used.
"""

import sys
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from softhash.errors import InputError, SofthashError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

METHODS = "softhash.methods"
BACKBONES = "softhash.backbones"
FORMATS = "softhash.formats"
STORES = "softhash.stores"


def plugin_names(group: str) -> list[str]:
    """List the names that installed packages add to a group, in alphabetical order.

    >>> plugin_names("softhash.nothing")
    []
    """
    return sorted({point.name for point in _entry_points(group)})


def load_plugin(group: str, name: str) -> Any:
    """Import what a package adds to a group under a name; None where no package does.

    Args:
        group: one of the groups above.
        name: of the entry point.

    Raises:
        InputError: it cannot be imported, or several packages add that name.

    """
    points = [point for point in _entry_points(group) if point.name == name]
    if not points:
        return None
    what = f"{_kind(group)} '{name}'"
    if len(points) > 1:
        packages = ", ".join(sorted(map(_package, points)))
        raise InputError(f"several packages add a {what}: {packages}", "uninstall all but one")
    try:
        return points[0].load()
    except Exception as error:  # whatever somebody else's module raises when it is imported
        raise InputError(
            f"the {what} of package '{_package(points[0])}' cannot be imported: "
            f"{type(error).__name__}: {error}",
            "update that package, or uninstall it",
        ) from error


def plugin_error(group: str, name: str, problem: str) -> InputError:
    """Build the error for a plug-in that was imported and is not what its group takes.

    Args:
        group: one of the groups above.
        name: of the entry point.
        problem: what is wrong with it.

    """
    packages = [_package(point) for point in _entry_points(group) if point.name == name]
    package = packages[0] if packages else "unknown"
    return InputError(f"the {_kind(group)} '{name}' of package '{package}' {problem}")


def describe_plugins(
    group: str, built_in: Collection[str], describe: Callable[[str], str]
) -> dict[str, str]:
    """Return one line about each plug-in; for one that cannot be used, the line is the reason.

    Args:
        group: one of the groups above.
        built_in: names that softhash itself has.
        describe: returns the line about a plug-in, or raises a SofthashError.

    """
    lines = {}
    for point in sorted(_entry_points(group), key=lambda point: (point.name, _package(point))):
        if point.name in built_in:
            key = f"{point.name} ({_package(point)})"
            lines[key] = "Not used: softhash has a built-in one of that name."
            continue
        try:
            lines[point.name] = describe(point.name)
        except SofthashError as error:
            lines[point.name] = f"Cannot be used: {error}"
    return lines


def _entry_points(group: str) -> "tuple[EntryPoint, ...]":
    return _installed(group, tuple(sys.path))


@lru_cache(maxsize=16)
def _installed(group: str, path: tuple[str, ...]) -> "tuple[EntryPoint, ...]":
    """Look through the installed packages; once, as long as they are looked for in one place."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def _package(point: "EntryPoint") -> str:
    return point.dist.name if point.dist else point.module


def _kind(group: str) -> str:
    return group.rpartition(".")[2].removesuffix("s")
