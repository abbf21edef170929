"""Filters as boolean expressions of Milvus."""

import json
from collections.abc import Collection, Iterable, Sequence

from softhash.index.milvus._rows import is_unicode
from softhash.index.where import And, Folder, Label, Not, Or, Where, canonical, without_derived

NOTHING = "(id < 0)"  # ids are 0 or more


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


def labelled(where: Where, paths: Collection[str] = ()) -> str:
    """Write a filter; "" keeps everything. Likely labels and facts are not kept: none counts.

    Servers before 2.4 match texts by how they begin alone: the `paths` of all folders that items
    are directly in say which a name is part of.

    >>> labelled(And((Label("sea"), Not(Label("boat")))))
    'array_contains_any(labels, ["sea"]) and not array_contains_any(labels, ["boat"])'
    """
    return _written(canonical(without_derived(where)), paths)


def _written(where: Where, paths: Collection[str]) -> str:
    """Write a canonical tree; its labels by one call for those wanted, one for those unwanted."""
    terms = where.terms if isinstance(where, And | Or) else (where,)
    denied = [term.term for term in terms if isinstance(term, Not)]
    wanted = [term.name for term in terms if isinstance(term, Label)]
    unwanted = [term.name for term in denied if isinstance(term, Label)]
    groups = [_in_folder(term, paths) for term in terms if isinstance(term, Folder)]
    groups += [_not(_in_folder(term, paths)) for term in denied if isinstance(term, Folder)]
    groups += [_written(term, paths) for term in terms if isinstance(term, And | Or)]
    if isinstance(where, Or):
        parts = [_contains("any", wanted), _not(_contains("all", unwanted)), *groups]
        return f"({' or '.join(part for part in parts if part)})" if terms else NOTHING
    return both(_contains("all", wanted), _not(_contains("any", unwanted)), *groups)


def _contains(how: str, labels: Sequence[str]) -> str:
    """Write that an item has any or all of some labels; "" where there are none."""
    if not labels:
        return ""
    known = [label for label in labels if is_unicode(label)]  # no item has others
    if len(known) < len(labels) and (how == "all" or not known):
        return NOTHING
    listed = ", ".join(quoted(label) for label in known)
    return f"array_contains_{how if len(known) > 1 else 'any'}(labels, [{listed}])"


def _in_folder(folder: Folder, paths: Iterable[str]) -> str:
    """Write that a file is in a folder, or below it, as ranges of names; "0" follows "/".

    >>> _in_folder(Folder("Italy"), ["2023", "2024/Italy/Rome", "2024/Italy/Siena"])
    '((file_name >= "2024/Italy/" and file_name < "2024/Italy0"))'
    """
    tops = sorted({_top(folder, path) for path in paths if folder.holds(path)})
    ranges = [
        f"(file_name >= {quoted(f'{top}/')} and file_name < {quoted(f'{top}0')})" for top in tops
    ]
    return f"({' or '.join(ranges)})" if ranges else NOTHING


def _top(folder: Folder, path: str) -> str:
    """Return the first folder of a path that is, as all below it, in a folder asked for."""
    while folder.holds(above := path.rpartition("/")[0]):
        path = above
    return path


def _not(expression: str) -> str:
    return f"not {expression}" if expression else ""


def both(*expressions: str) -> str:
    """Join expressions, leaving out empty ones.

    >>> both("id > 3", "", "id <= 5")
    'id > 3 and id <= 5'
    """
    return " and ".join(expression for expression in expressions if expression)
