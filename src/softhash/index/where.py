"""Which items count, by their labels: a tree of labels, not, and, or.

`softhash.index.expressions` reads such a tree from text, as in `dog & (beach | lake) & !person`,
and `str` writes it back. Each node has `keeps`, which a store of any kind may use.

>>> where = And((Label("dog"), Not(Label("traffic light"))))
>>> print(where)
dog & !"traffic light"
>>> where.keeps(["dog", "beach"])
True
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

# A name without quotes; other characters than operators are kept back for what may come.
NAME = re.compile(r"""[^\s"'!&|()<>=:;,~^*?\\\[\]{}]+""")
OPERATORS = {"and": "&", "or": "|", "not": "!"}  # as words, in any case


@dataclass(frozen=True)
class Label:
    """Items that have a label."""

    name: str

    def keeps(self, labels: Collection[str]) -> bool:
        """Return whether an item with these labels is kept."""
        return self.name in labels

    def __str__(self) -> str:
        if NAME.fullmatch(self.name) and self.name.casefold() not in OPERATORS:
            return self.name
        escaped = self.name.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'


@dataclass(frozen=True)
class Not:
    """Items that a term does not keep."""

    term: "Where"

    def keeps(self, labels: Collection[str]) -> bool:
        """Return whether an item with these labels is kept."""
        return not self.term.keeps(labels)

    def __str__(self) -> str:
        return f"!{_grouped(self.term)}"


@dataclass(frozen=True)
class And:
    """Items that all terms keep: every item, where there are no terms."""

    terms: tuple["Where", ...] = ()

    def keeps(self, labels: Collection[str]) -> bool:
        """Return whether an item with these labels is kept."""
        return all(term.keeps(labels) for term in self.terms)

    def __str__(self) -> str:
        return " & ".join(map(_grouped, self.terms))


@dataclass(frozen=True)
class Or:
    """Items that any of the terms keeps: no item, where there are no terms."""

    terms: tuple["Where", ...] = ()

    def keeps(self, labels: Collection[str]) -> bool:
        """Return whether an item with these labels is kept."""
        return any(term.keeps(labels) for term in self.terms)

    def __str__(self) -> str:
        return " | ".join(
            str(term) if isinstance(term, And) else _grouped(term) for term in self.terms
        )


Where = Label | Not | And | Or
EVERYTHING, NOTHING = And(), Or()


def _grouped(term: Where) -> str:
    return f"({term})" if isinstance(term, And | Or) else str(term)


def literals(where: Where, *, wanted: bool = True) -> Iterator[tuple[str, bool]]:
    """Iterate over the labels of a tree, each with whether it is wanted: not under a `Not`.

    >>> list(literals(Not(Or((Label("sea"), Not(Label("sky")))))))
    [('sea', False), ('sky', True)]
    """
    match where:
        case Label(name):
            yield name, wanted
        case Not(term):
            yield from literals(term, wanted=not wanted)
        case And(terms) | Or(terms):
            for term in terms:
                yield from literals(term, wanted=wanted)


@lru_cache(maxsize=1024)
def canonical(where: Where, *, negated: bool = False) -> Where:
    """Return the tree, or its negation, in one form for the many ways of writing it.

    Only labels are negated. No term is of its parent's kind, occurs twice, or keeps everything or
    nothing, and terms are sorted.

    >>> print(canonical(Not(Or((Label("sea"), Not(And((Label("sky"), Label("boat")))))))))
    !sea & boat & sky
    """
    match where:
        case Label():
            return Not(where) if negated else where
        case Not(term):
            return canonical(term, negated=not negated)
        case And(terms) | Or(terms):
            same, other = (And, Or) if isinstance(where, And) is not negated else (Or, And)
            found: set[Where] = set()
            for term in terms:
                one = canonical(term, negated=negated)
                found.update(one.terms if isinstance(one, same) else [one])
            if other() in found:
                return other()
            ordered = tuple(sorted(found, key=str))
            return ordered[0] if len(ordered) == 1 else same(ordered)
