"""Which items count, by labels, folders, dates and cameras: a tree of leaves, not, and, or.

`softhash.index.expressions` reads such a tree of labels from text, as in
`dog & (beach | lake) & !person`, and `str` writes it back. Each node has `keeps`, which a store of
any kind may use.

>>> where = And((Label("dog"), Not(Label("traffic light"))))
>>> print(where)
dog & !"traffic light"
>>> where.keeps(Described(["dog", "beach"]))
True
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from softhash.index.criteria import (
    LIKELY,
    Camera,
    Described,
    Folder,
    Label,
    Leaf,
    Likely,
    Taken,
)

__all__ = [
    "EVERYTHING",
    "LIKELY",
    "NOTHING",
    "And",
    "Camera",
    "Described",
    "Folder",
    "Label",
    "Leaf",
    "Likely",
    "Not",
    "Or",
    "Taken",
    "Where",
    "canonical",
    "leaves",
    "literals",
    "with_likely",
    "without_derived",
]


@dataclass(frozen=True)
class Not:
    """Items that a term does not keep."""

    term: "Where"

    def keeps(self, item: Described) -> bool:
        """Return whether an item is kept."""
        return not self.term.keeps(item)

    def __str__(self) -> str:
        return f"!{_grouped(self.term)}"


@dataclass(frozen=True)
class And:
    """Items that all terms keep: every item, where there are no terms."""

    terms: tuple["Where", ...] = ()

    def keeps(self, item: Described) -> bool:
        """Return whether an item is kept."""
        return all(term.keeps(item) for term in self.terms)

    def __str__(self) -> str:
        return " & ".join(map(_grouped, self.terms))


@dataclass(frozen=True)
class Or:
    """Items that any of the terms keeps: no item, where there are no terms."""

    terms: tuple["Where", ...] = ()

    def keeps(self, item: Described) -> bool:
        """Return whether an item is kept."""
        return any(term.keeps(item) for term in self.terms)

    def __str__(self) -> str:
        return " | ".join(
            str(term) if isinstance(term, And) else _grouped(term) for term in self.terms
        )


Where = Leaf | Not | And | Or
EVERYTHING, NOTHING = And(), Or()


def _grouped(term: Where) -> str:
    return f"({term})" if isinstance(term, And | Or) else str(term)


def leaves(where: Where, *, wanted: bool = True) -> Iterator[tuple[Leaf, bool]]:
    """Iterate over the leaves of a tree, each with whether it is wanted: not under a `Not`."""
    match where:
        case Not(term):
            yield from leaves(term, wanted=not wanted)
        case And(terms) | Or(terms):
            for term in terms:
                yield from leaves(term, wanted=wanted)
        case leaf:
            yield leaf, wanted


def literals(where: Where) -> Iterator[tuple[str, bool]]:
    """Iterate over the labels of a tree, given or likely, each with whether it is wanted.

    >>> list(literals(Not(Or((Label("sea"), Not(Label("sky")))))))
    [('sea', False), ('sky', True)]
    """
    each = leaves(where)
    return ((leaf.name, wanted) for leaf, wanted in each if isinstance(leaf, Label | Likely))


def with_likely(where: Where, at_least: float = LIKELY) -> Where:
    """Return the tree that takes likely labels for given ones.

    >>> print(with_likely(Not(Label("sea"))))
    !(sea | ~sea)
    """

    def either(leaf: Leaf) -> Where:
        return Or((leaf, Likely(leaf.name, at_least))) if isinstance(leaf, Label) else leaf

    return _replaced(where, either)


def without_derived(where: Where) -> Where:
    """Return what the tree means in a store that keeps neither likely labels nor facts.

    >>> print(canonical(without_derived(with_likely(Not(Label("sea"))))))
    !sea
    """
    return _replaced(where, lambda leaf: leaf if isinstance(leaf, Label | Folder) else NOTHING)


def _replaced(where: Where, replace: Callable[[Leaf], Where]) -> Where:
    match where:
        case Not(term):
            return Not(_replaced(term, replace))
        case And(terms) | Or(terms):
            return type(where)(tuple(_replaced(term, replace) for term in terms))
        case leaf:
            return replace(leaf)


@lru_cache(maxsize=1024)
def canonical(where: Where, *, negated: bool = False) -> Where:
    """Return the tree, or its negation, in one form for the many ways of writing it.

    Only leaves are negated. No term is of its parent's kind, occurs twice, or keeps everything or
    nothing, and terms are sorted.

    >>> print(canonical(Not(Or((Label("sea"), Not(And((Label("sky"), Label("boat")))))))))
    !sea & boat & sky
    """
    match where:
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
        case leaf:
            return Not(leaf) if negated else leaf
