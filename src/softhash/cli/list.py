"""``softhash list``: the names that exist."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._output import print_json, printable, warn
from softhash.errors import SofthashError, unknown_name

if TYPE_CHECKING:
    from pathlib import Path

    from softhash.cli._indexes import KeptIndex
    from softhash.model.config import ModelConfig

PIPE_WIDTH = 1000  # lines that are read by a program are not wrapped


def _formats() -> dict[str, str]:
    from softhash.data.formats import describe

    return describe()


def _protocols() -> dict[str, str]:
    from softhash.data.splits import describe

    return describe()


def _methods() -> dict[str, dict[str, Any]]:
    """Describe the methods, and whether each needs labels."""
    from softhash.training.methods import describe, find_method

    return {
        name: {"about": line, "unsupervised": getattr(find_method(name), "unsupervised", False)}
        for name, line in describe().items()
    }


def _method_line(method: dict[str, Any]) -> str:
    return f"{method['about']}{' Needs no labels.' if method['unsupervised'] else ''}"


def _backbones() -> dict[str, str]:
    from softhash.model.backbones import describe

    return describe()


def _models() -> dict[str, dict[str, Any]]:
    """Describe the model that comes with softhash, made or not, and those in the cache."""
    from softhash.files import cache_folder
    from softhash.model.default_model import MODELS, default_folder, packed_config
    from softhash.model.folder import CONFIG, read_config

    own = default_folder()
    found = {"default": _model(packed_config(), own, ready=(own / CONFIG).is_file())}
    for folder in sorted((cache_folder() / MODELS).glob("[!.]*")):
        if folder != own:
            try:
                found[folder.name] = _model(read_config(folder), folder, ready=True)
            except SofthashError as error:
                warn(str(error))
    return found


def _model(config: "ModelConfig", folder: "Path", *, ready: bool) -> dict[str, Any]:
    return {
        "bits": config.bits,
        "backbone": config.backbone,
        "classes": list(config.classes),
        "folder": str(folder),
        "ready": ready,
    }


def _model_line(model: dict[str, Any]) -> str:
    source = model["backbone"] or "embeddings"
    later = "" if model["ready"] else " (made when it is first used)"
    return (
        f"{model['bits']} bits, {len(model['classes'])} classes, {source}: {model['folder']}{later}"
    )


def _indexes() -> "dict[str, KeptIndex]":
    from softhash.cli._indexes import kept_indexes

    return kept_indexes()


def _index_line(index: "KeptIndex") -> str:
    return (
        f"{index['items']:,} items, {index['bits']} bits, of {index['pictures'] or 'codes'}: "
        f"{index['index']}"
    )


KINDS: dict[str, Callable[[], Mapping[str, Any]]] = {
    "backbones": _backbones,
    "formats": _formats,
    "indexes": _indexes,
    "methods": _methods,
    "models": _models,
    "protocols": _protocols,
}
LINES: dict[str, Callable[[Any], str]] = {
    "indexes": _index_line,
    "methods": _method_line,
    "models": _model_line,
}


def list_names(
    kind: Annotated[str, typer.Argument(help=" or ".join(KINDS) + ".")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List what there is of a kind, with a line about each."""
    if kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    described = KINDS[kind]()
    if as_json:
        print_json(described)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, about in described.items():
        line = LINES[kind](about) if kind in LINES else about
        name, line = printable(name), printable(line)  # names of indexes are anybody's
        table.add_row(Text(name, "bold"), Text(line, overflow="fold"))  # brackets are not markup
    width = None if Console().is_terminal else PIPE_WIDTH
    Console(highlight=False, width=width).print(table)
