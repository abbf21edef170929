"""Exact search on a GPU: one pass over the codes, keeping a short list for each query.

The database is taken in pieces, in position order, each many times longer than all before it
together. The bound of a query is the k-th smallest distance so far, and since positions only grow,
an item at that very distance can no longer enter: ties fall to the lower position by themselves.
The first bounds come from a sample of the codes, wherever they lie. Where a piece has more codes
below a query's bound than a list holds, as where codes are sorted by what they show, it is taken
in smaller pieces for that query alone.

A candidate is one integer, ``distance << 48 | position``, as on the processor. Codes are read where
they are: beside them there are lists, and a copy of one piece where rows are not whole words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
import triton
from torch import Tensor

from softhash.hamming._scan import POSITION_BITS
from softhash.hamming._triton_scan import LANES, list_nearer

LIST = 1 << 14  # candidates of one query and one piece: 128 KB
LISTS_AT_ONCE = 512  # queries that are searched for together
PER_NEIGHBOUR = 16  # a list is at least so many times k
SPLIT = 8  # smaller pieces of one that had too much
TILE_WORDS = 32  # words that a lane holds: more do not fit into its registers
FEW = 8  # queries, for which a program takes several tiles
COPIED_AT_ONCE = 1 << 24  # rows that are padded to whole words together

Ranking = tuple[Tensor, Tensor]
_FARTHEST = torch.iinfo(torch.int64).max


class _Found(NamedTuple):
    """Candidates of some queries in one piece: lists (q, most), and how many there were (q,)."""

    keys: Tensor
    counts: Tensor


@dataclass(frozen=True, eq=False)
class Database:
    """Packed codes on a GPU, of which pieces are compared.

    Attributes:
        codes: (n, bytes) uint8.
        live: words with one bit for each code, 1 where it counts; None for all.

    """

    codes: Tensor
    live: Tensor | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def find(self, queries: Tensor, bounds: Tensor, start: int, stop: int, room: int) -> _Found:
        """List what is nearer than the bounds in a piece.

        Args:
            queries: words (q, w).
            bounds: distances (q,).
            start: first position of the piece.
            stop: position after its last.
            room: candidates that each list holds.

        """
        count, width = queries.shape
        keys = torch.full((count, room), _FARTHEST, device=queries.device)
        counts = torch.zeros(count, dtype=torch.int64, device=queries.device)
        each = max(1, TILE_WORDS // triton.next_power_of_2(min(width, 4)))
        tiles = FEW if count < FEW else 1
        for first, words in self._words(start, stop):
            live = words if self.live is None else self.live
            list_nearer[(triton.cdiv(len(words), LANES * each * tiles),)](
                queries, bounds, words, live, keys, counts, first, len(words), count, room,
                WORDS=width, EACH=each, TILES=tiles, MASKED=self.live is not None, num_warps=1,
            )  # fmt: skip
        most = min(int(counts.max()), room)
        return _Found(keys[:, :most], counts)

    def _words(self, start: int, stop: int) -> Iterator[tuple[int, Tensor]]:
        """Yield positions and words (n, w) of a piece, copied where rows are not whole words."""
        if self.codes.shape[1] % 8 == 0 and self.codes.is_contiguous():
            words = self.codes.view(-1)
            if words.data_ptr() % 8 == 0:
                yield start, words.view(torch.int64).view(len(self.codes), -1)[start:stop]
                return
        for first in range(start, stop, COPIED_AT_ONCE):
            yield first, as_words(self.codes[first : min(first + COPIED_AT_ONCE, stop)])


def as_words(rows: Tensor) -> Tensor:
    """Lay out packed rows (n, bytes) as 64-bit words (n, ⌈bytes/8⌉), in a copy."""
    padded = torch.nn.functional.pad(rows, (0, -rows.shape[1] % 8))
    return padded.contiguous().view(torch.int64)


def pack_mask(mask: Tensor) -> Tensor:
    """Pack a mask (n,) into words (⌈n/64⌉,), one bit per code, the lowest place first."""
    parts = []
    for part in torch.split(mask, COPIED_AT_ONCE):
        padded = torch.nn.functional.pad(part.to(torch.uint8), (0, -len(part) % 64))
        places = torch.arange(8, dtype=torch.uint8, device=mask.device)
        parts.append((padded.view(-1, 8) << places).sum(dim=1, dtype=torch.uint8))
    return torch.cat(parts).view(torch.int64)


def nearest(queries: Tensor, codes: Tensor, k: int, mask: Tensor | None) -> Ranking:
    """Find the ``k`` nearest codes of each query.

    Args:
        queries: packed codes (q, bytes).
        codes: packed codes (n, bytes).
        k: how many.
        mask: (n,) bool, True for the codes that count; None for all.

    Returns:
        Distances and positions (q, k), or fewer columns where fewer codes count.

    """
    if mask is None:
        return search(queries, Database(codes), min(k, len(codes)))
    return search(queries, Database(codes, pack_mask(mask)), min(k, count_true(mask)))


def count_true(mask: Tensor) -> int:
    """Count a mask (n,) piece by piece: a sum at once makes an integer of every place."""
    parts = [part.sum() for part in torch.split(mask, COPIED_AT_ONCE)]
    return int(torch.stack(parts).sum())


def search(queries: Tensor, database: Database, k: int) -> Ranking:
    """Find the ``k`` nearest codes of each query; at least so many must count."""
    words = as_words(queries)
    if not k:
        return _rank(torch.empty((len(words), 0), dtype=torch.int64, device=words.device))
    group = max(1, LISTS_AT_ONCE * LIST // _room(k))
    found = [_Search(some, database, k).run() for some in torch.split(words, group)]
    return _rank(torch.cat(found))


def within(
    queries: Tensor, codes: Tensor, radius: int, mask: Tensor | None
) -> list[tuple[Tensor, Tensor]]:
    """Find all codes at ``radius`` or less of each query.

    Args:
        queries: packed codes (q, bytes).
        codes: packed codes (n, bytes).
        radius: the largest distance.
        mask: (n,) bool, True for the codes that count; None for all.

    """
    database = Database(codes, None if mask is None else pack_mask(mask))
    radius = min(radius, 8 * codes.shape[1])
    found = []
    for words in torch.split(as_words(queries), LISTS_AT_ONCE):
        bounds = torch.full((len(words),), radius + 1, dtype=torch.int32, device=words.device)
        keys, counts = database.find(words, bounds, 0, len(codes), LIST)
        for i, count in enumerate(counts.tolist()):
            row = keys[i, :count]
            if count > LIST:  # counted, and now listed
                one = slice(i, i + 1)
                row = database.find(words[one], bounds[one], 0, len(codes), count).keys[0]
            found.append(_rank(row.sort().values))
    return found


class _Search:
    """The nearest codes of some queries, while pieces of the database pass by."""

    def __init__(self, queries: Tensor, database: Database, k: int) -> None:
        self.queries, self.database, self.k, self.room = queries, database, k, _room(k)
        shape, device = (len(queries), k), queries.device
        self.best = torch.full(shape, _FARTHEST, dtype=torch.int64, device=device)
        self.bounds = self._sampled_bounds()

    def run(self) -> Tensor:
        """Return the sorted candidates (q, k)."""
        everyone = torch.arange(len(self.queries), device=self.queries.device)
        start, stop, growth = 0, self.room, max(2, self.room // (4 * self.k))
        while start < len(self.database):
            self._take(everyone, start, min(stop, len(self.database)))
            start, stop = stop, stop * growth
        return self.best

    def _sampled_bounds(self) -> Tensor:
        """Return one more than the k-th smallest distance among some codes that count."""
        step = max(1, len(self.database) // self.room)
        places = torch.arange(0, len(self.database), step, device=self.queries.device)
        live = self.database.live
        if live is not None:
            places = places[(live[places >> 6] >> (places & 63)) & 1 != 0]
        kept = self.database.codes[places]
        farthest = 8 * self.database.codes.shape[1] + 1
        bounds = torch.full_like(self.best[:, 0], farthest, dtype=torch.int32)
        if len(kept) < self.k:
            return bounds
        sample = Database(kept)
        keys = sample.find(self.queries, bounds, 0, len(kept), len(kept)).keys
        near = keys.topk(self.k, largest=False, sorted=False).values.amax(dim=1)
        return ((near >> POSITION_BITS) + 1).to(torch.int32)

    def _take(self, chosen: Tensor, start: int, stop: int) -> None:
        """Compare a piece with the chosen queries; piece by piece where it has too much."""
        found = self.database.find(
            self.queries[chosen], self.bounds[chosen], start, stop, self.room
        )
        full = found.counts > self.room
        overflows = bool(full.any())
        whole = chosen[~full] if overflows else chosen
        self._merge(whole, found.keys[~full] if overflows else found.keys)
        if overflows:
            length = max(self.room, -(-(stop - start) // SPLIT))
            for first in range(start, stop, length):
                self._take(chosen[full], first, min(first + length, stop))

    def _merge(self, chosen: Tensor, keys: Tensor) -> None:
        """Keep the best, and tighten the bounds."""
        if not keys.shape[1] or not len(chosen):
            return
        pool = torch.cat([self.best[chosen], keys], dim=1)
        best = pool.topk(self.k, largest=False).values
        self.best[chosen] = best
        kth = (best[:, -1] >> POSITION_BITS).clamp(max=torch.iinfo(torch.int32).max)
        self.bounds[chosen] = torch.minimum(self.bounds[chosen], kth.to(torch.int32))


def _room(k: int) -> int:
    return max(LIST, PER_NEIGHBOUR * int(triton.next_power_of_2(k)))


def _rank(keys: Tensor) -> Ranking:
    return keys >> POSITION_BITS, keys & ((1 << POSITION_BITS) - 1)
