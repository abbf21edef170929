"""The models of requests: what a client may send; unknown fields are errors."""

from typing import Annotated, Literal

from fastapi import UploadFile
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from softhash.codes import MAX_BITS
from softhash.errors import UsageError
from softhash.hamming import asymmetric, cosine
from softhash.index.criteria import Leaf, photo_criteria
from softhash.index.expressions import build_where, parse_where
from softhash.index.search import Filter
from softhash.index.store import Store
from softhash.index.where import Where, literals
from softhash.server.limits import (
    MAX_ADDED,
    MAX_COMPLETIONS,
    MAX_ID,
    MAX_K,
    MAX_LABELS,
    MAX_OFFSET,
    MAX_PAGE,
    MAX_PATH,
    MAX_TEXT,
    MAX_WHERE,
    MAX_WORDS,
)


def plain_text(text: str) -> str:
    """Return a text that can be stored and shown, else raise ValueError.

    >>> plain_text("sea and sky")
    'sea and sky'
    """
    if not text.isprintable() or text != text.strip():
        raise ValueError("must be printable characters, with no space at either end")
    return text


Id = Annotated[int, Field(ge=0, le=MAX_ID)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
Labels = Annotated[list[Label], Field(max_length=MAX_LABELS)]
Texts = Annotated[list[Label], Field(max_length=MAX_ADDED)]
NewLabels = Annotated[
    list[Annotated[Label, AfterValidator(plain_text)]], Field(max_length=MAX_LABELS)
]

LOGIC = 'Only items that this label logic keeps: `dog & (beach | "old town") & !person`.'
AFTER = "Only photographs taken then or later: `2024`, `2024-05` or `2024-05-17`."
BEFORE = "Only photographs taken earlier: `2024-05` is before May 1st."
BELOW = "Only items in this folder, and below it: a path, or the name of any folder of one."
GIVEN_ONLY = "Filter by given labels alone; likely ones count too otherwise."
BY_BITS = f"rank the {asymmetric.POOL:,} nearest again, bits weighed by how sure the model is."
BY_FEATURES = f"rank the {cosine.POOL} nearest again by features, where the index keeps them."


class _Given(BaseModel):
    """What a client sends: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class _Wanted(_Given):
    label: Labels = Field([], description="Only items that have any of these labels.")
    not_label: Labels = Field([], description="Only items that have none of these labels.")
    where: str | None = Field(None, max_length=MAX_WHERE, description=LOGIC)
    given_only: bool = Field(False, description=GIVEN_ONLY)
    taken_after: str | None = Field(None, max_length=MAX_TEXT, description=AFTER)
    taken_before: str | None = Field(None, max_length=MAX_TEXT, description=BEFORE)
    camera: str | None = Field(
        None, max_length=MAX_TEXT, description="Only photographs of cameras with this in the name."
    )

    @property
    def expression(self) -> Where | None:
        """What `where` means; None where it is not sent."""
        tree = None if self.where is None else parse_where(self.where)
        count = 0 if tree is None else sum(1 for _ in literals(tree))
        if count > MAX_LABELS:
            raise UsageError(f"where has {count} labels", f"ask for {MAX_LABELS} at most")
        return tree

    @property
    def kept(self) -> Where:
        """The lists, the expression and what else is asked for, as one filter."""
        return build_where(self.label, self.not_label, self.expression, self.criteria)

    @property
    def criteria(self) -> list[Leaf]:
        """What items are asked for beside labels."""
        after, before = self.taken_after, self.taken_before
        return photo_criteria(after=after, before=before, camera=self.camera)

    def expand(self, store: Store) -> Where:
        """Return the filter as a store takes it, with likely labels unless given ones count."""
        return Filter(self.kept, self.given_only).expand(store)


class Browse(_Wanted):
    """Which items to list."""

    after: int = Field(-1, ge=-1, le=MAX_ID, description="The last id of the page before.")
    limit: int = Field(100, ge=1, le=MAX_PAGE)
    folder: str | None = Field(
        None, max_length=MAX_PATH, description="Only items in this folder, and below it."
    )
    sha256: str | None = Field(
        None, pattern="^[0-9a-f]{64}$", description="Only the item whose file has this content."
    )


class Ranking(_Wanted):
    """Which part of a ranking is wanted."""

    k: int = Field(10, ge=1, le=MAX_K, description="How many hits.")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="Hits to skip.")
    max_distance: int | None = Field(None, ge=0, le=MAX_BITS)
    more: Texts = Field([], description="Words that move items up.")
    less: Texts = Field([], description="Words that move items down.")
    at_least: float | None = Field(
        None, ge=0, le=1, description="Only hits that are at least so sure, of an image or id."
    )
    exact: bool = Field(
        False, description="Compare all bits of all codes, where first bits choose candidates."
    )
    folder: str | None = Field(None, max_length=MAX_PATH, description=BELOW)

    @property
    def criteria(self) -> list[Leaf]:
        """What items are asked for beside labels."""
        return [*super().criteria, *photo_criteria(folder=self.folder)]


class Similar(Ranking):
    """Which part of the ranking of an item is wanted, and in which order."""

    rescore: Literal["features"] | None = Field(None, description=f"`features`: {BY_FEATURES}")


class SearchForm(Ranking):
    """A query, and which part of its ranking is wanted.

    A query is exactly one of image, id, code and words. Filters alone list the items they keep.
    """

    image: UploadFile | None = Field(None, description="A picture.")
    id: Id | None = Field(None, description="An item, which is then not among the hits.")
    code: str | None = Field(None, max_length=MAX_BITS, description="A code in hexadecimal.")
    words: str = Field(
        "",
        max_length=MAX_WORDS,
        description="What should be in the hits: `dogs on the beach`. These are ranked by how many "
        "of the words one expects in each.",
    )
    model: str | None = Field(
        None, max_length=64, description="SHA-256 of the model that made the code."
    )
    rescore: bool | Literal["bits", "features"] = Field(
        False,
        description=f"Of an image, `bits` or `true`: {BY_BITS} Of an image or id, `features`: "
        f"{BY_FEATURES}",
    )


class Beginning(_Given):
    """Which words to complete."""

    prefix: str = Field(
        "", max_length=MAX_TEXT, description="What words begin with, or else contain."
    )
    limit: int = Field(10, ge=1, le=MAX_COMPLETIONS)


class ItemForm(_Given):
    """A picture to be added."""

    image: UploadFile
    file_name: str | None = Field(
        None, max_length=MAX_TEXT, description="A plain name; the file's own by default."
    )
    label: NewLabels = []
