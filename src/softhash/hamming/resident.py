"""Codes kept on a device between searches, and concurrent searches answered together.

A copy of code records that grow: what is new is copied when it is first searched, and everything
where records were changed in place. Of several threads that search at once, one compares the codes
with the queries of all that wait for the same records and the same mask.

>>> codes = np.arange(6, dtype=np.uint64)[:, None]
>>> resident = ResidentCodes("cpu")
>>> resident.nearest(codes[:1], codes, 2, None)
(array([[0, 1]]), array([[0, 1]]))
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from softhash.devices import require_torch
from softhash.hamming.search import nearest
from softhash.hamming.words import Words, count_live

Ranking = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

COPIED_AT_ONCE = 1 << 24  # words that go to the device together
KEPT_MASKS = 16  # on the device, one bit per code each
MOST_QUERIES = 512  # that are answered together


@dataclass(eq=False)
class _Waiting:
    """A search that a thread waits for."""

    queries: Words
    codes: Words
    k: int
    live: Words | None
    edits: int
    key: Hashable
    answer: "Future[Ranking]" = field(default_factory=Future)

    def may_join(self, other: "_Waiting") -> bool:
        """Return whether both are of the same records and the same mask."""
        return self.records == other.records and self.key == other.key

    @property
    def records(self) -> tuple[int, int]:
        """How many records there are, and what their earlier versions are told apart by."""
        return len(self.codes), self.edits


class ResidentCodes:
    """Code records on a device.

    Args:
        device: "cuda", "cuda:1", …; on "cpu" the processor searches, and nothing is copied.

    """

    def __init__(self, device: str) -> None:
        if device != "cpu":
            require_torch()
        self.device = device
        self.batches = 0  # searches of the device so far
        self._changed = threading.Condition()
        self._queue: list[_Waiting] = []
        self._busy = False
        self._edits = -1
        self._rows = 0
        self._copy: Any = None  # (capacity, words) int64 on the device
        self._masks: OrderedDict[Hashable, Any] = OrderedDict()

    def nearest(
        self,
        queries: Words,
        codes: Words,
        k: int,
        live: Words | None,
        *,
        edits: int = 0,
        key: Hashable = None,
    ) -> Ranking:
        """Find the ``k`` nearest of some records; fewer where fewer count.

        Args:
            queries: records (q, words).
            codes: records (n, words), those of earlier calls and perhaps more.
            k: how many for each.
            live: a packed mask of the records that count; None for all.
            edits: a number that grows whenever earlier records were changed in place.
            key: identifies the mask among all that belong to these records.

        """
        mine = _Waiting(queries, codes, k, live, edits, key)
        with self._changed:
            self._queue.append(mine)
            while not mine.answer.done():
                if self._busy:
                    self._changed.wait()
                else:
                    self._answer(self._take())
        return mine.answer.result()

    def _answer(self, batch: list[_Waiting]) -> None:
        """Answer some searches, while other threads may put theirs into the queue."""
        self._busy = True
        self._changed.release()
        try:
            self._compare(batch)
        except BaseException as error:
            for one in batch:
                one.answer.set_exception(error)
        finally:
            self._changed.acquire()
            self._busy = False
            self._changed.notify_all()

    def _take(self) -> list[_Waiting]:
        """Take the search that has waited longest, and what can be answered with it."""
        first = self._queue[0]
        batch = [one for one in self._queue if one.may_join(first)][:MOST_QUERIES]
        self._queue = [one for one in self._queue if one not in batch]
        return batch

    def _compare(self, batch: list[_Waiting]) -> None:
        """Search for all of a batch at once, and hand out the rows."""
        first, k = batch[0], max(one.k for one in batch)
        self.batches += 1
        queries = np.concatenate([one.queries for one in batch])
        most = len(first.codes) if first.live is None else int(count_live(first.live))
        distances, places = self._search(queries, first, min(k, most))
        start = 0
        for one in batch:
            rows = slice(start, start + len(one.queries))
            one.answer.set_result((distances[rows, : one.k], places[rows, : one.k]))
            start = rows.stop

    def _search(self, queries: Words, one: _Waiting, k: int) -> Ranking:
        if not k:
            return np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.int64)
        if self.device == "cpu":
            codes = one.codes.view(np.uint8)
            return nearest(queries.view(np.uint8), codes, k, mask=one.live)
        import torch

        from softhash.hamming import _cuda_search

        self._follow(one.codes, one.edits)
        codes = self._copy[: len(one.codes)].view(torch.uint8)
        live = None if one.live is None else self._mask(one.live, (one.key, one.records))
        asked = torch.from_numpy(queries.view(np.uint8)).to(self.device)
        found = _cuda_search.search(asked, _cuda_search.Database(codes, live), k)
        distances, places = (part.cpu().numpy() for part in found)
        return distances, places

    def _follow(self, codes: Words, edits: int) -> None:
        """Copy the records that the device does not have as they are."""
        import torch

        if edits > self._edits:
            self._edits, self._rows = edits, 0
            self._masks.clear()
        if self._rows >= len(codes):
            return
        if self._copy is None or len(self._copy) < len(codes):
            capacity = len(codes) + len(codes) // 16
            grown = torch.empty((capacity, codes.shape[1]), dtype=torch.int64, device=self.device)
            if self._rows:
                grown[: self._rows] = self._copy[: self._rows]
            self._copy = grown
        step = max(1, COPIED_AT_ONCE // codes.shape[1])
        for start in range(self._rows, len(codes), step):
            part = np.ascontiguousarray(codes[start : start + step]).view(np.int64)
            self._copy[start : start + len(part)] = torch.from_numpy(part)
        self._rows = len(codes)

    def _mask(self, live: Words, key: Hashable) -> Any:
        """Return a mask on the device; those used last are kept."""
        import torch

        found = self._masks.pop(key, None)
        if found is None:
            found = torch.from_numpy(live.view(np.int64).copy()).to(self.device)
        self._masks[key] = found
        while len(self._masks) > KEPT_MASKS:
            self._masks.popitem(last=False)
        return found
