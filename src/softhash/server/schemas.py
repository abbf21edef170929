"""The models of requests and responses.

Responses are built as plain dictionaries, which is several times faster than through the models.
The models describe them in /openapi.json, and tests compare both.
"""

from typing import Annotated, Any, Literal

from fastapi import UploadFile
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from softhash.codes import MAX_BITS
from softhash.hamming import asymmetric, cosine
from softhash.index.items import Filter, Hit, Item
from softhash.index.search import SearchResult
from softhash.server.limits import MAX_ID, MAX_K, MAX_LABELS, MAX_OFFSET, MAX_PAGE, MAX_TEXT


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
Probability = Annotated[float, Field(ge=0, le=1)]

LIKELY = "Of a picture: labels that the model finds likely, and how probable; else left out."
BY_BITS = f"rank the {asymmetric.POOL:,} nearest again, bits weighed by how sure the model is."
BY_FEATURES = f"rank the {cosine.POOL} nearest again by features, where the index keeps them."


class _Given(BaseModel):
    """What a client sends: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class _Wanted(_Given):
    label: Labels = Field([], description="Only items that have any of these labels.")
    not_label: Labels = Field([], description="Only items that have none of these labels.")

    @property
    def where(self) -> Filter:
        """The two lists as a filter."""
        return Filter(tuple(self.label), tuple(self.not_label))


class Browse(_Wanted):
    """Which items to list."""

    after: int = Field(-1, ge=-1, le=MAX_ID, description="The last id of the page before.")
    limit: int = Field(100, ge=1, le=MAX_PAGE)


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
    """A query, exactly one of image, id and code, and which part of its ranking is wanted."""

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


class Problem(BaseModel):
    """An error, as problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    hint: str = Field(description="The way out.")
    errors: list[dict[str, str]] = Field([], description="The fields that are wrong.")


class Health(BaseModel):
    """That the server and its index answer."""

    status: str
    items: int


class Bounds(BaseModel):
    """How much may be asked for."""

    max_k: int
    max_offset: int
    max_page: int
    max_bytes: int
    max_pixels: int
    widths: list[int]


class About(BaseModel):
    """What the index is."""

    items: int
    bits: int
    model: str = Field(description="SHA-256 of the weights; empty where that is not known.")
    root: str = Field(description="Name of the folder of the pictures.")
    labels: dict[str, int] = Field(description="Items of each label.")
    classes: list[str] = Field(description="Labels that the model was trained on.")
    encodes: bool = Field(description="Whether it can be searched by picture.")
    features: bool = Field(description="Whether searches can be rescored by features.")
    writable: bool
    limits: Bounds


class ItemView(BaseModel):
    """An item."""

    id: int
    file_name: str
    labels: list[str]
    code: str
    image: str | None = Field(description="Where its picture is; null in an index of codes only.")


class Page(BaseModel):
    """Some items, in the order of their ids."""

    items: list[ItemView]
    next: int | None = Field(description="`after` of the next page; null where this is the last.")


class HitView(BaseModel):
    """One item that a search found."""

    id: int
    distance: int
    file_name: str
    labels: list[str]
    shared: list[str] = Field(description="Labels that the query has too, or that were asked for.")
    code: str
    image: str | None
    rescored: float | None = Field(
        None, description="The distance that `rescore` ranked it by, otherwise left out."
    )


class Query(BaseModel):
    """What was searched for."""

    code: str
    bits: int
    labels: list[str] = Field(description="Empty where they are not known.")
    likely: dict[str, Probability] = Field({}, description=LIKELY)


class Answer(BaseModel):
    """The hits of a search."""

    query: Query
    hits: list[HitView]
    took_ms: float


class Encoding(BaseModel):
    """A picture's code."""

    code: str
    bits: int
    model: str
    likely: dict[str, Probability] = Field({}, description=LIKELY)


class JudgedQuery(BaseModel):
    """An item that was searched for, and how good what it found is."""

    item: ItemView
    average_precision: float
    hits: list[HitView]


class Quality(BaseModel):
    """How well the index finds what shares labels."""

    metrics: dict[str, float]
    standard_errors: dict[str, float] = Field(
        {}, description="How far other queries would move each metric; empty for one query."
    )
    curves: dict[str, list[float]]
    contract: dict[str, Any]
    best: list[JudgedQuery]
    worst: list[JudgedQuery]


def item_view(item: Item, pictures: bool) -> dict[str, Any]:
    """Build what `ItemView` describes; `pictures` is whether items have pictures."""
    return {
        "id": item.id,
        "file_name": item.entry.file_name,
        "labels": list(item.entry.labels),
        "code": item.code.hex(),
        "image": _image(item.id) if pictures else None,
    }


def hit_view(hit: Hit, pictures: bool) -> dict[str, Any]:
    """Build what `HitView` describes; `pictures` is whether items have pictures."""
    return {**hit.as_dict(), "image": _image(hit.id) if pictures else None}


def search_view(result: SearchResult, bits: int, pictures: bool) -> dict[str, Any]:
    """Build what `Answer` describes, without the time.

    Args:
        result: of the search.
        bits: length of the codes.
        pictures: whether items have pictures.

    """
    view = result.as_dict()
    view["query"]["bits"] = bits
    for hit in view["hits"]:
        hit["image"] = _image(hit["id"]) if pictures else None
    return view


def _image(id: int) -> str:
    return f"/api/v1/items/{id}/image"
