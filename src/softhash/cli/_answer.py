"""A search result as commands show it: named, with paths, as a table or as plain values."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softhash.cli._output import printable
from softhash.errors import InputError
from softhash.plots.contact_sheet import frame_colour

if TYPE_CHECKING:
    from rich.text import Text

    from softhash.index import HammingIndex, Hit, Item, SearchResult

UNKNOWN = "#8a8a8a"  # the frame of a hit where the query's labels are not known
SURE = 0.99  # above it a rounded percentage would read as certainty
MIN_LIKELY = 0.3  # likely labels of a hit that are less probable are not shown,
MAX_LIKELY = 3  # nor are more than so many
PIPE_WIDTH = 1000  # a table that is read by a program is not wrapped


@dataclass(frozen=True)
class Answer:
    """A search result, and what is shown with it.

    Attributes:
        name: what the query is called.
        result: the query's code and labels, and the hits.
        paths: of the hits' pictures; None for an index that holds codes only.
        picture: the query's file, where there is one.

    """

    name: str
    result: "SearchResult"
    paths: tuple[Path | None, ...]
    picture: Path | None = None

    @property
    def title(self) -> str:
        """The name, without the folder of a file."""
        return Path(self.name).name if self.picture else self.name

    def frame(self, hit: "Hit") -> str:
        """Choose a hit's colour: all labels shared, some, none, or not known."""
        labels = self.result.labels
        return frame_colour(len(hit.shared), len(labels)) if labels else UNKNOWN

    def first_hits(self, count: int) -> "Answer":
        """Return the answer with so many hits at most."""
        result = replace(self.result, hits=self.result.hits[:count])
        return replace(self, result=result, paths=self.paths[:count])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        found = self.result.as_dict()
        query = {"name": self.name, **found.pop("query")}
        ranked = enumerate(zip(found.pop("hits"), self.paths, strict=True), self.result.first)
        hits = [
            {"rank": rank, **hit, "path": None if path is None else str(path)}
            for rank, (hit, path) in ranked
        ]
        return {"query": query, "hits": hits, **found}


def build_answer(index: "HammingIndex", result: "SearchResult", *pictures: Path) -> Answer:
    """Collect what is shown with a result while its index is open.

    Args:
        index: what was searched.
        result: of the search.
        pictures: the files that were searched for, where there were any.

    """
    paths = tuple(find_path(index, hit) for hit in result)
    item = result.itself
    if item is not None:
        return Answer(f"item {item.id}", result, paths, find_path(index, item))
    if result.total is not None:
        return Answer(result.where, result, paths)
    if result.words:
        return Answer(", ".join(result.words), result, paths)
    if len(pictures) > 1:
        return Answer(" and ".join(map(str, pictures)), result, paths)
    picture = next(iter(pictures), None)
    return Answer(str(picture or f"code {result.code.hex()}"), result, paths, picture)


def find_path(index: "HammingIndex", item: "Item | Hit") -> Path | None:
    """Return where a picture is; None where the index holds codes only."""
    try:
        return index.path(item)
    except InputError:  # no folder, or a name that leads out of it
        return None


def looks_like(result: "SearchResult") -> str:
    """Return the likely labels in words; empty where there are none.

    >>> from softhash.index import SearchResult
    >>> looks_like(SearchResult(b"", likely={"sky": 0.998, "dog": 0.414}))
    'looks like: sky > 99 %, dog 41 %'
    """
    named = ", ".join(f"{label} {percent(value)}" for label, value in result.likely.items())
    return f"looks like: {named}" if named else ""


def percent(probability: float) -> str:
    """Round a probability for people.

    >>> percent(0.414), percent(0.9951)
    ('41 %', '> 99 %')
    """
    sure = probability > SURE
    return f"{'> ' if sure else ''}{100 * min(probability, SURE):.0f} %"


def likely_shown(hit: "Hit", result: "SearchResult") -> list[tuple[str, str]]:
    """Return the likely labels of a hit that are worth showing, with percentages.

    Those that were asked for come first.

    >>> from softhash.index import Hit, SearchResult
    >>> hit = Hit(1, None, "a.jpg", (), (), likely={"sky": 0.9, "sun": 0.6, "dog": 0.4, "cat": 0.1})
    >>> likely_shown(hit, SearchResult(b"", words=("dog",)))
    [('dog', '40 %'), ('sky', '90 %'), ('sun', '60 %')]
    """
    asked = {*result.words, *result.more}
    known = [(name, p) for name, p in hit.likely.items() if p >= MIN_LIKELY]
    first = sorted(known, key=lambda one: one[0] not in asked)[:MAX_LIKELY]
    return [(name, percent(p)) for name, p in first]


def how_sure(hit: "Hit") -> str:
    """Return how sure a hit is as a percentage; empty where that is not known."""
    if hit.sure is None:
        return ""
    return "100 %" if hit.sure == 1 else percent(hit.sure)


def print_table(result: "SearchResult") -> None:
    """Print the hits on stdout; given labels that the query has too are marked with a star.

    Likely labels come after given ones, with a question mark and a percentage. The line above the
    table has the query's likely labels, where there are any.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    if result.likely:
        console.print(Text(printable(looks_like(result))))
    numbers = _numbers(result)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("file", overflow="fold", ratio=2)
    table.add_column(_labels_header(result), overflow="fold", ratio=3)
    for *cells, hit in zip(*numbers.values(), result, strict=True):
        table.add_row(*cells, Text(printable(hit.file_name)), _labels(hit, result))
    console.print(table if result else _nothing(result))


def _labels_header(result: "SearchResult") -> str:
    starred = "shared" if result.code else "asked for"
    likely = ", ? likely" if any(likely_shown(hit, result) for hit in result) else ""
    return f"labels (* {starred}{likely})"


def _nothing(result: "SearchResult") -> str:
    if result.total is not None:
        return "no more items" if result.total else "no item matches"
    return "nothing is that near" if result.code else "no item has these words"


def _numbers(result: "SearchResult") -> dict[str, list[str]]:
    """Return the columns of numbers that there are, by name."""
    columns = {
        "rank": [str(rank) for rank, _ in enumerate(result, result.first)],
        "distance": [_shown(hit.distance) for hit in result],
        "rescored": [_shown(hit.rescored, ".3f") for hit in result],
        "score": [_shown(hit.score, ".2f") for hit in result],
        "sure": [how_sure(hit) for hit in result],
        "id": [str(hit.id) for hit in result],
    }
    return {name: cells for name, cells in columns.items() if any(cells)}


def _shown(value: float | None, digits: str = "") -> str:
    return "" if value is None else format(value, digits)


def _labels(hit: "Hit", result: "SearchResult") -> "Text":
    """Put the shared labels first, marked, then the other given ones, then likely ones."""
    from rich.text import Text

    text = Text()
    for label in sorted(hit.labels, key=lambda one: (one not in hit.shared, one)):
        text.append(" " if text else "")
        shared = label in hit.shared
        text.append(("*" if shared else "") + printable(label), "bold green" if shared else "dim")
    for label, probability in likely_shown(hit, result):
        text.append(" " if text else "")
        text.append(f"{printable(label)}? {probability}", "italic cyan")
    return text
