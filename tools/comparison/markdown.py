"""Tables and wrapped prose in Markdown."""

import textwrap
from collections.abc import Sequence

WIDTH = 100


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table."""
    lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]]) + "\n"


def wrap(markdown: str) -> str:
    """Break long lines of prose; tables and headings stay as they are."""
    lines = (
        line if line.startswith(("|", "#")) else textwrap.fill(line, WIDTH)
        for line in markdown.splitlines()
    )
    return "\n".join(lines) + "\n"
