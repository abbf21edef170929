"""The page of the public Python names, one directive for each; mkdocstrings fills them in."""

import inspect

from docstrings import undocumented

import softhash

TITLES = {
    "codes": "Codes",
    "data": "Collections",
    "model": "Models",
    "training": "Training",
    "hamming": "Search of codes",
    "index": "Indexes",
    "evaluation": "Evaluation",
    "errors": "Errors",
}
INTRODUCTION = """# Python API

For those who call softhash from Python: every public name, `from softhash import NAME`.

Names that are not on this page may change without notice. Heavy packages are imported when a name
that needs them is first used.
"""


def api_page() -> str:
    """Write the page; a public name without a docstring stops the build."""
    missing = undocumented()
    if missing:
        raise ValueError(f"public names without a docstring: {', '.join(missing)}")
    rooms: dict[str, list[str]] = {room: [] for room in TITLES}
    for name in softhash.__all__:
        rooms.setdefault(_room(name), []).append(name)
    parts = [INTRODUCTION]
    for room, names in rooms.items():
        if names:
            parts.append(f"## {TITLES.get(room, room.capitalize())}")
            parts += [f"::: softhash.{name}" for name in names]
    return "\n\n".join(parts) + "\n"


def _room(name: str) -> str:
    """Return the part of the package that a name lives in."""
    module = inspect.getmodule(getattr(softhash, name))
    return (module.__name__ if module else "softhash.codes").split(".")[1]
