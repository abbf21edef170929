"""Titles, order and looks of methods, as their classes state them: the same in every figure.

Spare looks, for methods that state none and for further lines of a method, are eight colours that
most people can tell apart, whatever their colour vision, times four kinds of line; markers differ
as well. A method that is not installed comes last, under its name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from softhash.experiments.references import REFERENCES
from softhash.training.methods import Line, find_method
from softhash.training.methods.method import LAST

PLAIN = "#9db4c8"  # bars of methods that are not bold
REFERENCE_DASHES = dict(zip(REFERENCES, ("--", ":", "-.", "-"), strict=True))  # they are no methods

_COLOURS = "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d3b", "#7a4b9d", "#8c8c8c"
_DASHES = ("-", "--", ":", "-.")
_MARKERS = "osD^v<>pPXhdH"  # thirteen beside eight colours: no pair comes again soon


@dataclass(frozen=True)
class Style:
    """How a line looks."""

    colour: str
    line: str
    marker: str
    width: float = 1.1
    front: int = 2  # what is drawn later lies in front


def display_name(method: str) -> str:
    """Spell a method as its paper does.

    >>> display_name("hyp2"), display_name("float"), display_name("something-new")
    ('HyP²', 'float features', 'something-new')
    """
    if method in REFERENCES:
        return REFERENCES[method].title
    kind = find_method(method)
    return kind.title if kind else method


def plot_rank(method: str) -> tuple[int, str]:
    """Return the place of a method in tables and legends, for `sorted`.

    >>> sorted(["something-new", "lsh", "idhn", "softhash"], key=plot_rank)
    ['softhash', 'idhn', 'lsh', 'something-new']
    """
    kind = find_method(method)
    return (kind.order if kind else LAST), method


def bar_colour(method: str) -> str:
    """Choose the colour of a method's bar."""
    line = _line(method)
    return line.colour if line and line.bold else PLAIN


def assign_styles(methods: Sequence[str]) -> list[Style]:
    """Choose a look for each of several lines; a method's first line has the method's own.

    >>> assign_styles(["idhn", "dhn"])[1] == assign_styles(["dhn"])[0]
    True
    >>> len(set(assign_styles(["idhn", "idhn", "dhn", "new", "newer"])))
    5
    """
    own = {line for method in methods if (line := _line(method))}
    spare = (line for line in map(_spare, count()) if line not in own)
    drawn: set[Line] = set()
    styles = []
    for method in methods:
        line = _line(method)
        if line is None or line in drawn:
            line = next(spare)
        drawn.add(line)
        styles.append(_style(line))
    return styles


def _line(method: str) -> Line | None:
    if method in REFERENCES:
        return Line("#555555", REFERENCE_DASHES[method], "")
    kind = find_method(method)
    return kind.line if kind else None


def _spare(number: int) -> Line:
    """Return a look out of an endless row, in which colours change first."""
    return Line(
        _COLOURS[number % len(_COLOURS)],
        _DASHES[number // len(_COLOURS) % len(_DASHES)],
        _MARKERS[number % len(_MARKERS)],
    )


def _style(line: Line) -> Style:
    width, front = (2.6, 4) if line.bold else (Style.width, Style.front)
    return Style(line.colour, line.dashes, line.marker, width, front)
