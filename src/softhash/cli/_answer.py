"""What was searched for and what was found, as a table or as plain values."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from softhash.codes import code_bytes, pack
from softhash.errors import InputError
from softhash.index import HammingIndex, Hit
from softhash.plots.contact_sheet import frame_colour

UNKNOWN = "#8a8a8a"  # the frame of a hit where nobody knows the query's labels
SURE = 0.99  # above it a rounded percentage would read as certainty
PIPE_WIDTH = 1000  # a table that is read by a program is not wrapped


@dataclass(frozen=True)
class Answer:
    """A query and its hits.

    Attributes:
        name: what the query is called.
        code: the query's.
        labels: the query's; empty where they are not known.
        hits: in (distance, id) order, or in the order they were rescored to.
        paths: of the hits' pictures; None for an index that holds codes only.
        picture: the query's file, where there is one.
        first: rank of the first hit.
        likely: labels that the model finds likely for the query's picture, with probabilities, the
            most probable first.

    """

    name: str
    code: bytes
    labels: tuple[str, ...]
    hits: tuple[Hit, ...]
    paths: tuple[Path | None, ...]
    picture: Path | None = None
    first: int = 1
    likely: dict[str, float] = field(default_factory=dict)

    def frame(self, hit: Hit) -> str:
        """Choose a hit's colour: all labels shared, some, none, or not known."""
        return frame_colour(len(hit.shared), len(self.labels)) if self.labels else UNKNOWN

    def first_hits(self, count: int) -> "Answer":
        """Return the answer with so many hits at most."""
        return replace(self, hits=self.hits[:count], paths=self.paths[:count])

    @property
    def rescored(self) -> bool:
        """Whether any hit has an asymmetric distance."""
        return any(hit.rescored is not None for hit in self.hits)

    @property
    def looks_like(self) -> str:
        """The likely labels in words; empty where there are none.

        >>> Answer("a.jpg", b"", (), (), (), likely={"sky": 0.998, "dog": 0.414}).looks_like
        'looks like: sky > 99 %, dog 41 %'
        """
        named = ", ".join(f"{label} {percent(value)}" for label, value in self.likely.items())
        return f"looks like: {named}" if named else ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        query = {
            "name": self.name,
            "code": self.code.hex(),
            "labels": list(self.labels),
            **({"likely": self.likely} if self.likely else {}),
        }
        hits = [
            {
                "rank": rank,
                "distance": hit.distance,
                **({} if hit.rescored is None else {"rescored": hit.rescored}),
                "id": hit.id,
                "file_name": hit.file_name,
                "path": None if path is None else str(path),
                "labels": list(hit.labels),
                "shared": list(hit.shared),
            }
            for rank, (hit, path) in enumerate(zip(self.hits, self.paths, strict=True), self.first)
        ]
        return {"query": query, "hits": hits}


def ask(
    index: HammingIndex,
    picture: Path | None = None,
    *,
    id: int | None = None,
    code: str | None = None,
    labels_known: tuple[str, ...] | None = None,
    **options: Any,
) -> Answer:
    """Search, and collect what is to be shown; `options` are those of `HammingIndex.search`.

    `labels_known` are the query's labels, where the index need not be asked for them.
    """
    known, path = labels_known or (), picture
    likely: dict[str, float] = {}
    if picture is not None:
        u, (likely,) = index.hasher.outputs_and_labels(picture, device="cpu")
        found = pack(u)[0].tobytes()
        hits = index.search(outputs=u[0], **options)
        known = known or index.find_labels(picture)
        hits = _compared(hits, known) if known else hits
    elif id is not None:
        item = index.get(id)
        found, known, path = item.code, item.entry.labels, find_path(index, item.entry.file_name)
        hits = index.search(id=id, **options)
    else:
        found = code_bytes(code, index.bits)
        hits = index.search(code=found, **options)
    name = str(picture) if picture else f"item {id}" if id is not None else f"code {found.hex()}"
    paths = tuple(find_path(index, hit.file_name) for hit in hits)
    first = int(options.get("offset", 0)) + 1
    return Answer(name, found, tuple(known), tuple(hits), paths, path, first, likely)


def percent(probability: float) -> str:
    """Round a probability for people.

    >>> percent(0.414), percent(0.9951)
    ('41 %', '> 99 %')
    """
    sure = probability > SURE
    return f"{'> ' if sure else ''}{100 * min(probability, SURE):.0f} %"


def _compared(hits: list[Hit], known: tuple[str, ...]) -> list[Hit]:
    return [hit._replace(shared=tuple(x for x in hit.labels if x in known)) for hit in hits]


def find_path(index: HammingIndex, file_name: str) -> Path | None:
    """Where a picture lies; None where the index holds codes only."""
    if index.root is None:
        return None
    try:
        return index.path(Hit(0, 0, file_name, (), ()))
    except InputError:  # a name, or a link, that leads out of the folder
        return None


def print_table(answer: Answer) -> None:
    """Print the hits on stdout; labels that the query has too are marked with a star.

    Above them stands what the query looks like, where the model has an opinion.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    if answer.likely:
        console.print(Text(printable(answer.looks_like)))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("rank", "distance", *(["rescored"] if answer.rescored else []), "id"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("file", overflow="fold", ratio=2)
    table.add_column("labels (* shared)", overflow="fold", ratio=3)
    for rank, hit in enumerate(answer.hits, answer.first):
        weighed = "" if hit.rescored is None else f"{hit.rescored:.3f}"
        distances = [str(hit.distance), *([weighed] if answer.rescored else [])]
        cells = (str(rank), *distances, str(hit.id))
        table.add_row(*cells, Text(printable(hit.file_name)), _labels(hit))
    console.print(table if answer.hits else "nothing is that near")


def _labels(hit: Hit) -> Any:
    """Put the shared labels first, marked."""
    from rich.text import Text

    text = Text()
    for label in sorted(hit.labels, key=lambda one: (one not in hit.shared, one)):
        text.append(" " if text else "")
        shared = label in hit.shared
        text.append(("*" if shared else "") + printable(label), "bold green" if shared else "dim")
    return text


def printable(text: str) -> str:
    r"""Show characters that would steer a terminal as what they are.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return "".join(shown)
