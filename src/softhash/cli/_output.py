"""What commands print: data to stdout, words for people to stderr."""

import json
import sys
from typing import Any, NoReturn

from rich.console import Console
from rich.markup import escape

stderr = Console(stderr=True, soft_wrap=True, highlight=False)


def say(text: str) -> None:
    """Print something that is not the result, on stderr."""
    stderr.print(escape(text))


def warn(text: str) -> None:
    """Print something to keep in mind about the result, on stderr."""
    stderr.print(f"[yellow]note:[/] {escape(text)}")


def fail(text: str, *, code: int) -> NoReturn:
    """Print what went wrong, on stderr, and exit."""
    stderr.print(f"[red]error:[/] {escape(text)}")
    sys.exit(code)


def print_json(data: Any) -> None:
    """Print the result as JSON, on stdout."""
    print(json.dumps(data, indent=2, ensure_ascii=False))  # noqa: T201
