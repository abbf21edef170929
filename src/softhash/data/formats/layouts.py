"""Readers of labelled collections: one layout, one file.

Each module has `matches(path)`, a few looks at the disk, and `read(path, **options)`, which returns
an ImageSet. The first line of its docstring describes the layout. `FORMATS` is in the order of
detection.
"""

import inspect
from pathlib import Path
from types import ModuleType

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
    """One line about each format.

    >>> describe()["folder"]
    'Pictures without labels, in a folder and the folders within.'
    """
    return {name: (module.__doc__ or "").partition("\n")[0] for name, module in FORMATS.items()}


def detect(path: Path) -> str:
    """Name the first format that the folder or file matches."""
    if not path.exists():
        raise InputError(f"{path} does not exist")
    try:
        for name, module in FORMATS.items():
            if module.matches(path):
                return name
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    looked_for = "; ".join(f"{name}: {line}" for name, line in describe().items())
    raise InputError(f"{path} is in no layout that softhash knows. Looked for {looked_for}")


def list_options(format: str) -> tuple[str, ...]:
    """Name the options that a format's reader takes.

    >>> list_options("mirflickr")
    ('concepts',)
    """
    return tuple(inspect.signature(_module(format).read).parameters)[1:]


def read(path: Path, format: str | None = None, **options: object) -> ImageSet:
    """Read a collection; without `format`, find out which it is."""
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
        images: ImageSet = _module(format).read(path, **options)
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    return images


def _module(format: str) -> ModuleType:
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    return FORMATS[format]
