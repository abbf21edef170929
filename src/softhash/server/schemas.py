"""The models of responses.

Responses are built as plain dictionaries, which is several times faster than through the models.
The models describe them in /openapi.json, and tests compare both.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from softhash.data.photo_facts import PhotoFacts
from softhash.index.items import NO_FACTS, NONE, Hit, Item, known_facts, rounded
from softhash.index.result import SearchResult

Probability = Annotated[float, Field(ge=0, le=1)]

OF_ITEM = (
    "Labels that the model finds likely and that are not given, and how probable; the most "
    "probable first. Left out where there are none."
)
LIKELY = "Of a picture: labels that the model finds likely, and how probable; else left out."


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
    labels: dict[str, int] = Field(description="Items of each given label.")
    likely: dict[str, int] = Field(
        description="Items for which a label is likely and not given, of each such label."
    )
    words: bool = Field(description="Whether it can be searched by words.")
    sure: bool = Field(description="Whether hits of an image or item have `sure`.")
    classes: list[str] = Field(description="Labels that the model was trained on.")
    encodes: bool = Field(description="Whether it can be searched by picture.")
    features: bool = Field(description="Whether searches can be rescored by features.")
    writable: bool
    originals: bool = Field(description="Whether the files of items are served.")
    limits: Bounds


class Facts(BaseModel):
    """What a photograph's file says of it; what is not known is left out."""

    taken: str | None = Field(None, description="Local time, as `2024-05-17T14:03:22`.")
    camera: str | None = None
    latitude: float | None = Field(None, ge=-90, le=90, description="In degrees.")
    longitude: float | None = Field(None, ge=-180, le=180, description="In degrees.")


class ItemView(Facts):
    """An item."""

    id: int
    file_name: str
    labels: list[str]
    code: str
    likely: dict[str, Probability] = Field({}, description=OF_ITEM)
    image: str | None = Field(description="Where its picture is; null in an index of codes only.")


class Page(BaseModel):
    """Some items, in the order of their ids."""

    items: list[ItemView]
    next: int | None = Field(description="`after` of the next page; null where this is the last.")
    total: int | None = Field(
        description="Items of all pages; null for labels within a folder, which are not counted."
    )


class Folder(BaseModel):
    """A folder of pictures."""

    name: str = Field(description="Relative to the folder of the index; empty for that itself.")
    items: int = Field(description="With those of the folders in it.")


class FolderList(BaseModel):
    """Folders by name."""

    folders: list[Folder]


class HitView(Facts):
    """One item that a search found."""

    id: int
    distance: int | None = Field(description="Null where words or labels alone were asked for.")
    file_name: str
    labels: list[str]
    shared: list[str] = Field(description="Labels that the query has too, or that were asked for.")
    code: str
    image: str | None
    rescored: float | None = Field(
        None, description="The distance that `rescore` ranked it by, otherwise left out."
    )
    likely: dict[str, Probability] = Field({}, description=OF_ITEM)
    score: float | None = Field(
        None, description="What it was ranked by where words were asked for, otherwise left out."
    )
    sure: Probability | None = Field(
        None,
        description="How probable it is that it shares a label with the query, 1 where it shares a "
        "given one; left out where that is not known.",
    )


class Query(BaseModel):
    """What was searched for."""

    code: str = Field(description="Empty where words or labels alone were asked for.")
    bits: int
    labels: list[str] = Field(description="Empty where they are not known.")
    likely: dict[str, Probability] = Field({}, description=LIKELY)
    where: str = Field("", description="The logic of all filters; else left out.")
    words: list[str] = Field([], description="The words of a search by words; else left out.")
    more: list[str] = Field([], description="Words that move items up; else left out.")
    less: list[str] = Field([], description="Words that move items down; else left out.")


class Answer(BaseModel):
    """The hits of a search."""

    query: Query
    hits: list[HitView]
    total: int | None = Field(
        None, description="Where filters alone were asked for: all items they keep. Else left out."
    )
    took_ms: float


class Word(BaseModel):
    """A word that can be searched for."""

    word: str
    given: int = Field(description="Items that have it as a label.")
    likely: int = Field(description="Items for which it is likely, and not given.")


class WordList(BaseModel):
    """Words that complete a beginning: those that begin with it, then those that contain it."""

    words: list[Word]


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


def item_view(
    item: Item,
    pictures: bool,
    likely: Mapping[str, float] = NONE,
    facts: PhotoFacts = NO_FACTS,
) -> dict[str, Any]:
    """Build what `ItemView` describes.

    Args:
        item: of the index.
        pictures: whether items have pictures.
        likely: labels of the item that are likely and not given, with probabilities.
        facts: what is known of the photograph.

    """
    view = {
        "id": item.id,
        "file_name": item.entry.file_name,
        "labels": list(item.entry.labels),
        "code": item.code.hex(),
        "image": _image(item.id) if pictures else None,
    }
    return view | ({"likely": rounded(likely)} if likely else {}) | known_facts(facts)


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
