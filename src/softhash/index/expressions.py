"""From text to a tree of labels: `dog & (beach | lake) & !person`.

::

    any  = all ("|" all)*
    all  = one ("&" one)*
    one  = "!" one | "(" any ")" | name | "a name in quotes"

`and`, `or` and `not` are accepted too, as are `&&` and `||`. Quotes are single or double; within
them a backslash takes the next character as it is.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from softhash.errors import ExpressionError
from softhash.index.criteria import NAME, OPERATORS
from softhash.index.where import And, Label, Not, Or, Where

MAX_LENGTH = 10_000  # characters
MAX_DEPTH = 32  # parentheses and nots within each other

_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_OPERATOR = re.compile(r"&&?|\|\|?|[!()]")
_LABEL, _END = "label", "end"

USAGE = 'write labels, !, &, | and parentheses, as in: dog & (beach | "old town") & !person'
QUOTE = 'names with spaces or signs go in quotes, as in: "old town"'


@lru_cache(maxsize=64)
def parse_where(text: str) -> Where:
    """Read an expression over labels.

    >>> print(repr(parse_where("dog and not 'old town'")))
    And(terms=(Label(name='dog'), Not(term=Label(name='old town'))))

    Raises:
        ExpressionError: it cannot be read; the error has the place.

    """
    if len(text) > MAX_LENGTH:
        problem = f"more than {MAX_LENGTH:,} characters"
        raise ExpressionError(problem, "ask for fewer labels", text, MAX_LENGTH)
    return _Parser(text).parse()


def build_where(
    any_of: Sequence[str] = (),
    none_of: Sequence[str] = (),
    where: str | Where | None = None,
    others: Sequence[Where] = (),
) -> Where:
    """Build one tree of all that items are filtered by.

    >>> print(build_where(["sea", "sky"], ["boat"], "sun | moon"))
    (sun | moon) & (sea | sky) & !boat

    Args:
        any_of: labels of which items have at least one; none for any item.
        none_of: labels that items do not have.
        where: an expression, as text or as a tree.
        others: what items are asked for beside labels.

    """
    terms = [] if where is None else [parse_where(where) if isinstance(where, str) else where]
    if any_of:
        terms.append(Or(tuple(map(Label, any_of))) if len(any_of) > 1 else Label(any_of[0]))
    terms += [*(Not(Label(name)) for name in none_of), *others]
    return terms[0] if len(terms) == 1 else And(tuple(terms))


class _Token(NamedTuple):
    """A label or a sign, and its place in the text."""

    kind: str
    text: str
    place: int


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        token, place = _token(text, place)
        yield token
    yield _Token(_END, "", len(text))


def _token(text: str, place: int) -> tuple[_Token, int]:
    """Read the token at a place, and return it with the place after it."""
    if found := _OPERATOR.match(text, place):
        return _Token(found[0][0], found[0], place), found.end()
    if found := NAME.match(text, place):
        kind = OPERATORS.get(found[0].casefold(), _LABEL)
        return _Token(kind, found[0], place), found.end()
    if found := _QUOTED.match(text, place):
        name = re.sub(r"\\(.)", r"\1", found[0][1:-1], flags=re.DOTALL)
        return _Token(_LABEL, name, place), found.end()
    if text[place] in "\"'":
        raise ExpressionError("a quote that is not closed", QUOTE, text, place)
    raise ExpressionError(f"'{text[place]}' is not expected", QUOTE, text, place)


class _Parser:
    """One function for each line of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    def parse(self) -> Where:
        found = self._any()
        token = self._tokens[self._next]
        if token.kind == ")":
            raise self._error("a ) without a (", token)
        if token.kind != _END:
            raise self._error(f"& or | is missing before '{token.text[:40]}'", token, QUOTE)
        return found

    def _any(self) -> Where:
        return self._chain("|", Or, self._all)

    def _all(self) -> Where:
        return self._chain("&", And, self._one)

    def _chain(self, sign: str, kind: type[And | Or], part: Callable[[], Where]) -> Where:
        terms = [part()]
        while self._tokens[self._next].kind == sign:
            self._next += 1
            terms.append(part())
        return terms[0] if len(terms) == 1 else kind(tuple(terms))

    def _one(self) -> Where:
        token = self._tokens[self._next]
        if token.kind == _END and self._next == 0:
            raise self._error("the expression is empty", token)
        if token.kind not in (_LABEL, "!", "("):
            before = f" before '{token.text}'" if token.text else ""
            raise self._error(f"a label is missing{before}", token)
        self._next += 1
        if token.kind == _LABEL:
            return Label(token.text)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} levels", token, "write it flatter")
        found = Not(self._one()) if token.kind == "!" else self._group(token)
        self._depth -= 1
        return found

    def _group(self, opened: _Token) -> Where:
        found = self._any()
        closed = self._tokens[self._next]
        if closed.kind == _END:
            raise self._error("a ( that is not closed", opened)
        if closed.kind != ")":
            raise self._error(f"& or | is missing before '{closed.text[:40]}'", closed, QUOTE)
        self._next += 1
        return found

    def _error(self, problem: str, token: _Token, hint: str = USAGE) -> ExpressionError:
        return ExpressionError(problem, hint, self._text, token.place)
