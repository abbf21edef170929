"""What the routes share: the index, the threads that work on it, and caches."""

import asyncio
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from fastapi import Request

from softhash.codes import row_bytes
from softhash.data.decoding import open_image
from softhash.devices import usable_cores
from softhash.errors import ModelMismatchError, NoModelError
from softhash.index import HammingIndex, Item, SearchResult
from softhash.index.facts import item_facts
from softhash.index.pictures import EncodedPicture, encode_picture
from softhash.index.retrieval import likely_labels
from softhash.index.where import EVERYTHING, Label, Likely, Not
from softhash.index.words import WordStore
from softhash.server.duplicates import DuplicateFinder
from softhash.server.folders import Folders
from softhash.server.limits import Limits
from softhash.server.pool import Pool
from softhash.server.prometheus import ServerMetrics
from softhash.server.requests import Ranking, SearchForm, Similar
from softhash.server.schemas import item_view, search_view
from softhash.server.thumbnails import Thumbnails
from softhash.server.tokens import TokenCheck
from softhash.server.word_counts import WordCounts

Value = TypeVar("Value")

SEARCHES_WAITING = 1000
COUNTED_SECONDS = 10


class VersionedCache(Generic[Value]):
    """A cached value that is valid as long as the index does not change."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._version: Hashable = None
        self._value: Value | None = None

    async def get(self, version: Hashable, pool: Pool, compute: Callable[[], Value]) -> Value:
        """Return the value; requests at the same time wait for one computation.

        Args:
            version: of the index, now.
            pool: the threads to compute in.
            compute: returns the value for this version.

        """
        async with self._lock:
            if self._value is None or self._version != version:
                self._value = await pool.run(compute)
                self._version = version
            return self._value


@dataclass
class Service:
    """One index, served.

    Attributes:
        index: what is searched.
        limits: how much a client may ask for.
        token: checks what writers send; None where nothing may be added or removed.
        originals: whether clients may fetch the files themselves.
        measures: counters and histograms for Prometheus.
        about: the cached description of the index.
        report: the cached quality report.
        browsed: the cached folders of the pictures.
        counted: the cached numbers of items of each word.
        writing: held while the index is changed.
        pictures: threads that decode and encode, which takes long.
        searches: threads for what is short.

    """

    index: HammingIndex
    limits: Limits
    token: TokenCheck | None
    originals: bool = True
    measures: ServerMetrics = field(default_factory=ServerMetrics)
    about: VersionedCache[dict[str, Any]] = field(default_factory=VersionedCache)
    report: VersionedCache[dict[str, Any]] = field(default_factory=VersionedCache)
    browsed: VersionedCache[Folders] = field(default_factory=VersionedCache)
    counted: VersionedCache[WordCounts] = field(default_factory=VersionedCache)
    writing: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.bits, self.model = self.index.bits, self.index.store.meta.model
        limits, cores = self.limits, usable_cores()
        workers = limits.workers or max(2, cores)
        self.pictures = Pool("encoding", workers, limits.waiting, limits.work_seconds)
        self.searches = Pool("searching", max(2, cores), SEARCHES_WAITING, limits.work_seconds)
        self.thumbnails = Thumbnails(limits.kept_bytes)
        self.duplicates = DuplicateFinder(self.index)

    def close(self) -> None:
        """Stop the threads; the index stays open."""
        self.pictures.close()
        self.searches.close()
        self.duplicates.close(self.limits.stop_seconds)

    @property
    def busy(self) -> bool:
        """Whether a thread is working."""
        return self.pictures.busy or self.searches.busy or self.duplicates.busy

    def warm_up(self) -> None:
        """Load the model and compile the kernels, so that the first client does not wait."""
        if self.encodes:
            self.index.hasher.encode(np.zeros((8, 8, 3), np.uint8), device="cpu")
        if len(self.index):
            code = np.zeros((1, row_bytes(self.index.bits)), np.uint8)
            for where in (EVERYTHING, Not(Label("no such label")), Not(Likely("no such label"))):
                self.index.store.search(code, 1, where=where)
            if isinstance(self.index.store, WordStore):
                self.index.store.rank_by_words({"no such label": 1.0}, 1)

    @property
    def folders(self) -> dict[str, str]:
        """Places on this machine that clients are not shown, and what they are shown instead."""
        places = {str(self.index.store.location): "the index"}
        return places | ({str(self.index.root): "the folder"} if self.index.root else {})

    @property
    def writable(self) -> bool:
        """Whether items may be added and removed."""
        return self.token is not None

    @property
    def shows(self) -> bool:
        """Whether the items have pictures."""
        return self.index.root is not None

    @property
    def encodes(self) -> bool:
        """Whether there is a model that takes pictures."""
        return self.index.has_model and self.index.hasher.backbone is not None

    async def version(self) -> int:
        """Return the store's version."""
        return await self.searches.run(lambda: self.index.store.version)

    async def read_folders(self) -> Folders:
        """Return the folders of the pictures, as the index has them now."""
        store, version = self.index.store, await self.version()
        return await self.browsed.get(version, self.searches, lambda: Folders.read(store))

    async def count_words(self) -> WordCounts:
        """Return the numbers of items of each word.

        Likely labels are filled in without a new version of the index: they are counted anew every
        few seconds.
        """
        store = self.index.store
        version = await self.version(), time.monotonic() // COUNTED_SECONDS
        return await self.counted.get(version, self.searches, lambda: WordCounts.read(store))

    def check_model(self, given: str | None) -> None:
        """Raise ModelMismatchError for codes of another model."""
        ours = self.model
        if given and ours and given.lower() != ours:
            detail = f"the code was made with model {given[:12]}…, the index with {ours[:12]}…"
            hint = "encode with the index's model: POST the picture to /api/v1/encode"
            raise ModelMismatchError(detail, hint)

    def encode(self, data: bytes) -> EncodedPicture:
        """Decode and encode a picture."""
        if not self.encodes:
            detail = "the index has no model that takes pictures"
            raise NoModelError(detail, "search by id or by code")
        started = time.perf_counter()
        hasher = self.index.hasher
        picture = open_image(data, size=hasher.size, max_pixels=self.limits.pixels)
        encoded = encode_picture(hasher, np.asarray(picture)[np.newaxis])
        self.measures.encode_seconds.observe(time.perf_counter() - started)
        return encoded

    def find_similar(self, id: int, ranking: Similar) -> dict[str, Any]:
        """Find the items nearest to one of them."""
        return self._view(self._search(ranking, id=id, rescore=ranking.rescore or False))

    def search(self, form: SearchForm, image: bytes | None = None) -> dict[str, Any]:
        """Search for what a form contains; an image is decoded within the server's limits."""
        query = {"id": form.id, "code": form.code, "words": form.words, "rescore": form.rescore}
        if image is None:
            return self._view(self._search(form, **query))
        u, features, likely = self.encode(image)
        labels = self.index.find_labels(image)
        result = self._search(form, **query, outputs=u, features=features, query_labels=labels)
        return self._view(replace(result, likely=likely))

    def _search(self, ranking: Ranking, **query: Any) -> SearchResult:
        return self.index.search(
            **query,
            k=ranking.k,
            offset=ranking.offset,
            max_distance=ranking.max_distance,
            exact=ranking.exact,
            where=ranking.kept,
            more=ranking.more,
            less=ranking.less,
            given_only=ranking.given_only,
            at_least=ranking.at_least,
        )

    def view_items(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """Build the views of items, with their likely labels and facts."""
        store = self.index.store
        each = zip(items, likely_labels(store, items), item_facts(store, items), strict=True)
        return [item_view(item, self.shows, likely, facts) for item, likely, facts in each]

    def _view(self, result: SearchResult) -> dict[str, Any]:
        return search_view(result, self.bits, self.shows)


def get_service(request: Request) -> Service:
    """Return the service of the application that got a request."""
    service: Service = request.app.state.service
    return service
