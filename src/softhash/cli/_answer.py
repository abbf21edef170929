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


def build_answer(
    index: "HammingIndex", result: "SearchResult", picture: Path | None = None
) -> Answer:
    """Collect what is shown with a result while its index is open.

    Args:
        index: what was searched.
        result: of the search.
        picture: the file that was searched for, where it was one.

    """
    paths = tuple(find_path(index, hit) for hit in result)
    item = result.itself
    if item is not None:
        return Answer(f"item {item.id}", result, paths, find_path(index, item))
    if result.total is not None:
        return Answer(result.where, result, paths)
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


def print_table(result: "SearchResult") -> None:
    """Print the hits on stdout; labels that the query has too are marked with a star.

    The line above them has the query's likely labels, where there are any.
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
    marked = "shared" if result.total is None else "asked for"
    table.add_column(f"labels (* {marked})", overflow="fold", ratio=3)
    for *cells, hit in zip(*numbers.values(), result, strict=True):
        table.add_row(*cells, Text(printable(hit.file_name)), _labels(hit))
    nothing = "nothing is that near" if result.total is None else "no item has these labels"
    console.print(table if result else "no more items" if result.total else nothing)


def _numbers(result: "SearchResult") -> dict[str, list[str]]:
    """Return the columns of numbers that there are, by name."""
    columns = {"rank": [str(rank) for rank, _ in enumerate(result, result.first)]}
    if result.total is None:
        columns["distance"] = [str(hit.distance) for hit in result]
    if any(hit.rescored is not None for hit in result):
        columns["rescored"] = [
            "" if hit.rescored is None else f"{hit.rescored:.3f}" for hit in result
        ]
    return {**columns, "id": [str(hit.id) for hit in result]}


def _labels(hit: "Hit") -> "Text":
    """Put the shared labels first, marked."""
    from rich.text import Text

    text = Text()
    for label in sorted(hit.labels, key=lambda one: (one not in hit.shared, one)):
        text.append(" " if text else "")
        shared = label in hit.shared
        text.append(("*" if shared else "") + printable(label), "bold green" if shared else "dim")
    return text
