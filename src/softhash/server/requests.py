"""The models of requests: what a client may send; unknown fields are errors."""

from typing import Annotated, Literal

from fastapi import UploadFile
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from softhash.codes import MAX_BITS
from softhash.errors import UsageError
from softhash.hamming import asymmetric, cosine
from softhash.index.expressions import build_where, parse_where
from softhash.index.where import Where, literals
from softhash.server.limits import (
    MAX_ID,
    MAX_K,
    MAX_LABELS,
    MAX_OFFSET,
    MAX_PAGE,
    MAX_PATH,
    MAX_TEXT,
    MAX_WHERE,
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
NewLabels = Annotated[
    list[Annotated[Label, AfterValidator(plain_text)]], Field(max_length=MAX_LABELS)
]

LOGIC = 'Only items that this label logic keeps: `dog & (beach | "old town") & !person`.'
BY_BITS = f"rank the {asymmetric.POOL:,} nearest again, bits weighed by how sure the model is."
BY_FEATURES = f"rank the {cosine.POOL} nearest again by features, where the index keeps them."


class _Given(BaseModel):
    """What a client sends: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class _Wanted(_Given):
    label: Labels = Field([], description="Only items that have any of these labels.")
    not_label: Labels = Field([], description="Only items that have none of these labels.")
    where: str | None = Field(None, max_length=MAX_WHERE, description=LOGIC)

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
        """The lists and the expression as one filter."""
        return build_where(self.label, self.not_label, self.expression)


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
    exact: bool = Field(
        False, description="Compare all bits of all codes, where first bits choose candidates."
    )


class Similar(Ranking):
    """Which part of the ranking of an item is wanted, and in which order."""

    rescore: Literal["features"] | None = Field(None, description=f"`features`: {BY_FEATURES}")


class SearchForm(Ranking):
    """A query, and which part of its ranking is wanted.

    A query is exactly one of image, id and code. Labels alone list the items that have them.
    """

    image: UploadFile | None = Field(None, description="A picture.")
    id: Id | None = Field(None, description="An item, which is then not among the hits.")
    code: str | None = Field(None, max_length=MAX_BITS, description="A code in hexadecimal.")
    model: str | None = Field(
        None, max_length=64, description="SHA-256 of the model that made the code."
    )
    rescore: bool | Literal["bits", "features"] = Field(
        False,
        description=f"Of an image, `bits` or `true`: {BY_BITS} Of an image or id, `features`: "
        f"{BY_FEATURES}",
    )


class ItemForm(_Given):
    """A picture to be added."""

    image: UploadFile
    file_name: str | None = Field(
        None, max_length=MAX_TEXT, description="A plain name; the file's own by default."
    )
    label: NewLabels = []
