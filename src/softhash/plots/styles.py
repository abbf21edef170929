"""Names, order and looks of methods: the same in every table and figure.

Eight colours that most people can tell apart, whatever their colour vision, times four kinds of
line; markers differ besides. IDHN and our own method alone are thick. A method that is not listed
here comes last.
"""

from collections.abc import Sequence
from dataclasses import dataclass

SHALLOW = {  # fitted to features
    "ksh": "KSH", "mlh": "MLH", "bre": "BRE", "ssh": "SSH", "itq": "ITQ", "sh": "SH",
    "mkm": "MKM", "lsh": "LSH",
}  # fmt: skip
# As papers spell them: our own, IDHN and its variants, what the paper compares, what it names,
# newer ones, shallow ones.
NAMES = {
    "softhash": "softhash",
    "idhn": "IDHN", "idhn-fine-ce": "IDHN-fine-ce", "idhn-fine-mse": "IDHN-fine-mse",
    "idhn-coarse-ce": "IDHN-coarse-ce", "idhn-coarse-mse": "IDHN-coarse-mse",
    "dqn": "DQN", "dhn": "DHN", "dmssph": "DMSSPH", "hashnet": "HashNet", "dlbhc": "DLBHC",
    "dpsh": "DPSH", "dsdh": "DSDH", "dsrh": "DSRH", "dtsh": "DTSH",
    "dsh": "DSH", "cnnh": "CNNH", "dnnh": "DNNH", "drsch": "DRSCH",
    "talr-ap": "TALR-AP", "talr-ndcg": "TALR-NDCG",
    "csq": "CSQ", "orthohash": "OrthoHash", "hyp2": "HyP²",
    **SHALLOW,
}  # fmt: skip
ACCENTS = {"softhash": "#000000", "idhn": "#d55e00"}  # the first of NAMES

_COLOURS = "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d3b", "#7a4b9d", "#8c8c8c"
_LINES = ("-", "--", ":", "-.")
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

    >>> display_name("hyp2"), display_name("something-new")
    ('HyP²', 'something-new')
    """
    return NAMES.get(method, method)


def plot_rank(method: str) -> tuple[int, str]:
    """Give a method its place in tables and legends, for `sorted`."""
    known = list(NAMES)
    return (known.index(method) if method in NAMES else len(known)), method


def assign_styles(methods: Sequence[str]) -> list[Style]:
    """Choose a look for each of several lines; a method's first line always has the same one.

    >>> assign_styles(["idhn", "dhn"])[1] == assign_styles(["dhn"])[0]
    True
    >>> len(set(assign_styles([*NAMES, "one", "more"])))
    34
    """
    taken = {_place(method) for method in methods}
    seen: set[str] = set()
    styles = []
    for method in methods:
        place = _place(method)
        if method in seen or (method not in NAMES and seen):
            place = next(i for i in range(len(ACCENTS), len(taken) + len(NAMES)) if i not in taken)
        seen.add(method)
        taken.add(place)
        styles.append(_style(place))
    return styles


def _place(method: str) -> int:
    return plot_rank(method)[0]


def _style(place: int) -> Style:
    accents = list(ACCENTS.values())
    if place < len(accents):
        return Style(accents[place], "-", "*s"[place], width=2.6, front=4)
    number = place - len(accents)
    return Style(
        _COLOURS[number % len(_COLOURS)],
        _LINES[number // len(_COLOURS) % len(_LINES)],
        _MARKERS[number % len(_MARKERS)],
    )
