"""``softhash list``: the names that exist."""

from collections.abc import Callable
from typing import Annotated

import typer

from softhash.cli._output import print_json
from softhash.errors import unknown_name


def _formats() -> dict[str, str]:
    from softhash.data.formats import describe

    return describe()


def _protocols() -> dict[str, str]:
    from softhash.data.splits import describe

    return describe()


def _methods() -> dict[str, str]:
    from softhash.training.methods import describe

    return describe()


def _backbones() -> dict[str, str]:
    from softhash.model.backbones import describe

    return describe()


KINDS: dict[str, Callable[[], dict[str, str]]] = {
    "backbones": _backbones,
    "formats": _formats,
    "methods": _methods,
    "protocols": _protocols,
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

    table = Table.grid(padding=(0, 2))
    for name, line in described.items():
        table.add_row(f"[bold]{name}[/]", line)
    Console(highlight=False).print(table)
