"""Readers of labelled collections: one layout per file, and those of plug-ins.

Each module has `matches(path)`, a few looks at the disk, and `read(path, **options)`, which returns
an ImageSet. The first line of its docstring describes the layout. `FORMATS` is in the order of
detection; plug-ins come before the last one, which takes any folder with pictures.
"""

import inspect
import logging
from pathlib import Path
from types import ModuleType
from typing import Any

from softhash import plugins
from softhash.data.formats import (
    coco,
    folder,
    iaprtc12,
    labelstudio,
    lists,
    mirflickr,
    nuswide,
    saiapr,
    table,
    voc,
)
from softhash.data.image_set import ImageSet
from softhash.errors import InputError, UsageError, unknown_name

_log = logging.getLogger("softhash")


FORMATS: dict[str, ModuleType] = {
    "table": table,
    "voc": voc,
    "coco": coco,
    "mirflickr": mirflickr,
    "nuswide": nuswide,
    "iaprtc12": iaprtc12,
    "saiapr": saiapr,
    "labelstudio": labelstudio,
    "lists": lists,
    "folder": folder,
}


def describe() -> dict[str, str]:
    """Return one line about each format.

    >>> describe()["folder"]
    'Pictures without labels, in a folder and the folders within.'
    """
    built_in = {name: _summary(name) for name in FORMATS}
    return built_in | plugins.describe_plugins(plugins.FORMATS, FORMATS, _summary)


def _summary(name: str) -> str:
    return (_format(name).__doc__ or "").partition("\n")[0]


def detect(path: Path) -> str:
    """Name the first format that the folder or file matches."""
    if not path.exists():
        raise InputError(f"{path} does not exist")
    try:
        *first, last = FORMATS
        for name in first:
            if FORMATS[name].matches(path):
                return name
        for name in plugins.plugin_names(plugins.FORMATS):
            if name not in FORMATS and _plugin_matches(name, path):
                return name
        if FORMATS[last].matches(path):
            return last
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    looked_for = "; ".join(f"{name}: {line}" for name, line in describe().items())
    raise InputError(f"{path} is in no layout that softhash knows. Looked for {looked_for}")


def _plugin_matches(name: str, path: Path) -> bool:
    """Ask a plug-in; one that cannot be used is reported, and does not stop the others."""
    try:
        return bool(_format(name).matches(path))
    except Exception as error:  # whatever somebody else's code raises
        _log.warning("format '%s' was not looked for: %s: %s", name, type(error).__name__, error)
        return False


def list_options(format: str) -> tuple[str, ...]:
    """Name the options that a format's reader takes.

    >>> list_options("mirflickr")
    ('concepts',)
    """
    return tuple(inspect.signature(_format(format).read).parameters)[1:]


def read(path: Path, format: str | None = None, **options: object) -> ImageSet:
    """Read a collection.

    Args:
        path: a folder or a file.
        format: its layout; found out by default.
        options: of the layout, see `list_options`.

    """
    path = path.resolve()
    format = detect(path) if format is None else format
    known = list_options(format)
    for option in options:
        if not known:
            raise UsageError(f"format '{format}' takes no options, but '{option}' was given")
        if option not in known:
            raise unknown_name(f"option of format '{format}'", option, known)
    if not path.exists():
        raise InputError(f"{path} does not exist")
    try:
        images: ImageSet = _format(format).read(path, **options)
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    return images


def _format(name: str) -> Any:
    """Find a format that is built in or a plug-in."""
    if name in FORMATS:
        return FORMATS[name]
    found = plugins.load_plugin(plugins.FORMATS, name)
    if found is None:
        raise unknown_name("format", name, [*FORMATS, *plugins.plugin_names(plugins.FORMATS)])
    if not (callable(getattr(found, "matches", None)) and callable(getattr(found, "read", None))):
        problem = f"is {found!r}, which has no `matches` and `read`"
        raise plugins.plugin_error(plugins.FORMATS, name, problem)
    return found
