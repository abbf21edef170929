"""An extension of griffe: examples in docstrings become blocks of code.

Docstrings have `>>>` lines as they are, which Markdown would take for quotations.
"""

from typing import Any

import griffe


class DoctestBlocks(griffe.Extension):
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring before it is parsed."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    """Put a fence around each run of lines that starts with `>>>` and ends at an empty line."""
    lines: list[str] = []
    indent: str | None = None
    for line in [*docstring.splitlines(), ""]:
        if indent is None and line.lstrip().startswith(">>>"):
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f"{indent}```python")
        elif indent is not None and not line.strip():
            lines.append(f"{indent}```")
            indent = None
        lines.append(line)
    return "\n".join(lines).rstrip()
