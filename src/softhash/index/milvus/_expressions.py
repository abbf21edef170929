"""Filters as boolean expressions of Milvus."""

import json
from collections.abc import Iterable

from softhash.index.items import Filter


def quoted(text: str) -> str:
    r"""Write a string, whatever is in it, as a literal.

    Milvus unquotes as Go does: JSON's escapes are understood, but not its pairs of surrogates, so
    what is not ASCII stays as it is.

    >>> print(quoted('a "b" \\ ü'), quoted("two\nlines"))
    "a \"b\" \\ ü" "two\nlines"
    """
    return json.dumps(text, ensure_ascii=False)


def one_of(field: str, values: Iterable[str | int]) -> str:
    """Write the expression that a field has one of these values.

    >>> one_of("id", [3, 5]), one_of("file_name", ["a.jpg"])
    ('id in [3, 5]', 'file_name in ["a.jpg"]')
    """
    listed = (quoted(value) if isinstance(value, str) else str(int(value)) for value in values)
    return f"{field} in [{', '.join(listed)}]"


def labelled(where: Filter) -> str:
    """Write a filter by labels; "" keeps everything.

    >>> labelled(Filter(any_of=("sea", "sky"), none_of=("boat",)))
    'array_contains_any(labels, ["sea", "sky"]) and not array_contains_any(labels, ["boat"])'
    """
    return both(_any(where.any_of), f"not {_any(where.none_of)}" if where.none_of else "")


def both(*expressions: str) -> str:
    """Join expressions, leaving out empty ones.

    >>> both("id > 3", "", "id <= 5")
    'id > 3 and id <= 5'
    """
    return " and ".join(expression for expression in expressions if expression)


def _any(labels: tuple[str, ...]) -> str:
    listed = ", ".join(quoted(label) for label in labels)
    return f"array_contains_any(labels, [{listed}])" if labels else ""
