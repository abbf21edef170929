"""What commands print: data to stdout, words for people to stderr."""

import json
import re
import sys
from typing import Any, NoReturn

from rich.console import Console
from rich.markup import escape

stderr = Console(stderr=True, soft_wrap=True, highlight=False)

# What json.dumps leaves as it is, and a terminal may obey: C1 controls, line ends, directions.
_STEERING = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Show characters that would steer a terminal as what they are.

    Names of files and labels are anybody's: whatever is printed for people goes through here.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return "".join(shown)


def as_markup(text: object) -> str:
    r"""Return text that rich prints as it is, within other markup.

    >>> as_markup("[red]\n")
    '\\[red]\\n'
    """
    return escape(printable(str(text)))


def say(text: str) -> None:
    """Print something that is not the result, on stderr."""
    stderr.print(as_markup(text))


def warn(text: str) -> None:
    """Print something to keep in mind about the result, on stderr."""
    stderr.print(f"[yellow]note:[/] {as_markup(text)}")


def fail(text: str, *, code: int) -> NoReturn:
    """Print what went wrong, on stderr, and exit."""
    stderr.print(f"[red]error:[/] {as_markup(text)}")
    sys.exit(code)


def print_json(data: Any) -> None:
    """Print the result as JSON, on stdout."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    print(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text))  # noqa: T201
