"""Markdown that is made of rows."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Lay out rows as a Markdown table.

    >>> print(table(["key", "is"], [["bits", "48 | 64"]]))
    | key | is |
    |---|---|
    | bits | 48 \| 64 |
    """
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def code(value: object) -> str:
    """Set a value as code; nothing stays nothing."""
    return f"`{value}`" if str(value) else ""
