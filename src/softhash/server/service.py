"""What the routes share: the index, the threads that work on it, and what is kept in memory."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from fastapi import Request

from softhash.codes import code_bytes, pack, row_bytes
from softhash.data.decoding import open_image
from softhash.devices import usable_cores
from softhash.index import HammingIndex
from softhash.index.items import Hit
from softhash.model.engines import Floats
from softhash.server.limits import Limits
from softhash.server.measures import Measures
from softhash.server.pool import Pool
from softhash.server.problems import Problem
from softhash.server.schemas import Ranking, SearchForm, hit_view
from softhash.server.thumbnails import Thumbnails

Value = TypeVar("Value")

SEARCHES_WAITING = 1000


class VersionedCache(Generic[Value]):
    """A value that holds as long as the index does not change."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._version: int | None = None
        self._value: Value | None = None

    async def get(self, version: int, pool: Pool, compute: Callable[[], Value]) -> Value:
        """Return the value, computed once however many ask for it."""
        async with self._lock:
            if self._value is None or self._version != version:
                self._value = await pool.run(compute)
                self._version = version
            return self._value


@dataclass
class Service:
    """One index, served.

    Attributes:
        pictures: threads that decode and encode, which takes long.
        searches: threads for what is short.
        writing: held by whoever changes the index.

    """

    index: HammingIndex
    limits: Limits
    writable: bool
    token: str | None
    measures: Measures = field(default_factory=Measures)
    about: VersionedCache[dict[str, Any]] = field(default_factory=VersionedCache)
    report: VersionedCache[dict[str, Any]] = field(default_factory=VersionedCache)
    writing: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.bits, self.model = self.index.bits, self.index.store.meta.model
        limits, cores = self.limits, usable_cores()
        workers = limits.workers or max(2, cores)
        self.pictures = Pool("encoding", workers, limits.waiting, limits.work_seconds)
        self.searches = Pool("searching", max(2, cores), SEARCHES_WAITING, limits.work_seconds)
        self.thumbnails = Thumbnails(limits.kept_bytes)

    def close(self) -> None:
        """Let the threads go; the index stays open."""
        self.pictures.close()
        self.searches.close()

    def warm_up(self) -> None:
        """Load the model and compile the kernels, so that the first client does not wait."""
        if self.encodes:
            self.index.hasher.encode(np.zeros((8, 8, 3), np.uint8), device="cpu")
        if len(self.index):
            code = bytes(row_bytes(self.index.bits))
            self.index.search(code=code, k=1)
            self.index.search(code=code, k=1, not_labels=["no such label"])

    @property
    def shows(self) -> bool:
        """Whether the items have pictures."""
        return self.index.root is not None

    @property
    def encodes(self) -> bool:
        """Whether there is a model that takes pictures."""
        return self.index.has_model and self.index.hasher.backbone is not None

    async def version(self) -> int:
        """Ask the store for its version."""
        return await self.searches.run(lambda: self.index.store.version)

    def check_model(self, given: str | None) -> None:
        """Refuse codes of another model: their distances would mean nothing."""
        ours = self.model
        if given and ours and given.lower() != ours:
            detail = f"the code was made with model {given[:12]}…, the index with {ours[:12]}…"
            hint = "encode with the index's model: POST the picture to /api/v1/encode"
            raise Problem(409, "other-model", detail, hint)

    def encode(self, data: bytes) -> tuple[bytes, dict[str, float]]:
        """Decode and encode a picture; with the code come the labels that are likely for it."""
        u, likely = self.outputs(data)
        return _code(u), likely

    def outputs(self, data: bytes) -> tuple[Floats, dict[str, float]]:
        """Decode a picture; return the u (bits,) whose signs are its code, and likely labels."""
        if not self.encodes:
            detail = "the index has no model that takes pictures"
            raise Problem(409, "no-model", detail, "search by id or by code")
        started = time.perf_counter()
        hasher = self.index.hasher
        picture = open_image(data, size=hasher.size, max_pixels=self.limits.pixels)
        u, (likely,) = hasher.outputs_and_labels(picture, device="cpu")
        self.measures.encode_seconds.observe(time.perf_counter() - started)
        return u[0], likely

    def near_item(self, id: int, ranking: Ranking) -> dict[str, Any]:
        """Find what is near an item."""
        item = self.index.get(id)
        hits = self._search(ranking, id=id)
        return self._answer(item.code, item.entry.labels, hits)

    def near_code(self, code: bytes | str, ranking: Ranking) -> dict[str, Any]:
        """Find what is near a code."""
        code = code_bytes(code, self.bits)
        return self._answer(code, (), self._search(ranking, code=code))

    def near_picture(self, data: bytes, form: SearchForm) -> dict[str, Any]:
        """Find what is near a picture, which may be one whose labels are known."""
        u, likely = self.outputs(data)
        code = _code(u)
        hits = self._search(form, outputs=u, rescore=form.rescore)
        known = self.index.find_labels(data)
        if known:
            hits = [hit._replace(shared=tuple(x for x in hit.labels if x in known)) for hit in hits]
        answer = self._answer(code, known, hits)
        answer["query"] |= {"likely": likely} if likely else {}
        return answer

    def _search(self, ranking: Ranking, **query: Any) -> list[Hit]:
        return self.index.search(
            **query,
            k=ranking.k,
            offset=ranking.offset,
            max_distance=ranking.max_distance,
            labels=ranking.label,
            not_labels=ranking.not_label,
        )

    def _answer(self, code: bytes, labels: Sequence[str], hits: Sequence[Hit]) -> dict[str, Any]:
        query = {"code": code.hex(), "bits": self.bits, "labels": list(labels)}
        shows = self.shows
        return {"query": query, "hits": [hit_view(hit, shows) for hit in hits]}


def _code(u: Floats) -> bytes:
    code: bytes = pack(u[np.newaxis])[0].tobytes()
    return code


def get_service(request: Request) -> Service:
    """Find the service of the application that a request came to."""
    service: Service = request.app.state.service
    return service
