"""Codes and items on disk, or in Milvus: add, remove, search.

`HammingIndex` puts three things together: a `Store` that keeps codes and entries (a folder, see
`local`, or a collection, see `milvus`), the model that made the codes, and the pictures' folder.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes, check_packed
from softhash.data.loading import Broken
from softhash.errors import InputError, ModelMismatchError, NoModelError, UsageError
from softhash.index.changes import entry_at
from softhash.index.items import Entry, Filter, Hit, Item
from softhash.index.search import Window, build_query, find_hits
from softhash.index.store import Meta, Store

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.model.encoding import Options
    from softhash.model.hasher import Hasher
    from softhash.model.inputs import Item as Picture

__all__ = ["Entry", "Filter", "HammingIndex", "Hit", "Item"]


class HammingIndex:
    """A collection that can be searched, on disk or in Milvus.

    Args:
        store: where codes and items are.
        hasher: the model that made the codes; the one kept with the store by default.

    """

    def __init__(self, store: Store, hasher: "Hasher | None" = None) -> None:
        self.store = store
        self._hasher = hasher
        if hasher is not None:
            self._check_model(hasher)

    @classmethod
    def create(
        cls,
        location: str | os.PathLike[str],
        hasher: "Hasher | None" = None,
        *,
        bits: int | None = None,
        keep_model: bool = True,
    ) -> Self:
        """Make an empty index, open for writing.

        Args:
            location: a folder that is not there yet, or `milvus://host:port/collection`.
            hasher: what will encode its pictures; it is kept with the index, so that a search by
                picture needs nothing else.
            bits: length of the codes, for an index of codes from elsewhere, without a hasher.
            keep_model: whether to keep the hasher with the index.

        """
        if (hasher is None) == (bits is None):
            raise UsageError("an index needs a hasher, or else the number of bits of its codes")
        if hasher is None:
            return cls(_kind(location).create(os.fspath(location), Meta(bits or 0)))
        hasher.check_hamming()
        meta = Meta(hasher.bits, hasher.identity)
        index = cls(_kind(location).create(os.fspath(location), meta), hasher)
        if keep_model and not index.store.model_folder.exists():
            hasher.save(index.store.model_folder, card=hasher.config["card"])
        return index

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str],
        hasher: "Hasher | None" = None,
        *,
        writable: bool = False,
    ) -> Self:
        """Open an index; `hasher` is needed only where the index was made without keeping it."""
        store = _kind(location).open(os.fspath(location), writable=writable)
        try:
            return cls(store, hasher)
        except BaseException:
            store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files, locks and connections."""
        self.store.close()

    def __len__(self) -> int:
        return len(self.store)

    def __repr__(self) -> str:
        return f"HammingIndex({len(self):,} items, {self.bits} bits, in {self.store.location})"

    @property
    def bits(self) -> int:
        """Length of the codes."""
        return self.store.meta.bits

    @property
    def root(self) -> Path | None:
        """The folder of the pictures; None for an index that only holds codes."""
        return Path(self.store.meta.root) if self.store.meta.root else None

    @property
    def has_model(self) -> bool:
        """Whether there is a model, loaded or not."""
        return self._hasher is not None or self.store.model_folder.exists()

    @property
    def hasher(self) -> "Hasher":
        """The model, loaded when it is first needed."""
        if self._hasher is None:
            from softhash.model.hasher import Hasher

            folder = self.store.model_folder
            if not folder.exists():
                raise NoModelError(
                    f"{self.store.location} has no model to encode pictures with",
                    "open it with the hasher that made its codes, or search by id or code",
                )
            hasher = Hasher.load(folder)
            self._check_model(hasher)
            self._hasher = hasher
        return self._hasher

    def _check_model(self, hasher: "Hasher") -> None:
        made_by = self.store.meta.model
        if hasher.bits != self.bits or (made_by and hasher.identity != made_by):
            raise ModelMismatchError(
                f"{self.store.location} was made with another model ({self.bits} bits, weights "
                f"{made_by[:12] or 'unknown'}…) than this one ({hasher.bits} bits, weights "
                f"{hasher.identity[:12]}…)",
                "use that model, or make a new index",
            )

    def add(self, images: "ImageSet", **options: Unpack["Options"]) -> tuple[Broken, ...]:
        """Encode and add pictures that are not in the index yet; name those that are broken.

        A batch is safe on disk when the next one begins. `options` are those of `Hasher.encode`.
        """
        return self._put(images, replace=False, **options)

    def upsert(self, images: "ImageSet", **options: Unpack["Options"]) -> tuple[Broken, ...]:
        """Encode and add pictures, or replace them where their file names are in the index."""
        return self._put(images, replace=True, **options)

    def _put(
        self, images: "ImageSet", *, replace: bool, **options: Unpack["Options"]
    ) -> tuple[Broken, ...]:
        self.set_root(images.root)
        if not replace:
            self._check_new(images.file_names)
        write = self.store.upsert if replace else self.store.add
        broken: list[Broken] = []
        for part in self.hasher.stream(images, **options):
            write(part.values, [entry_at(images, int(i)) for i in part.positions])
            broken += part.broken
        return tuple(broken)

    def set_root(self, root: Path) -> None:
        """Fix the folder of the pictures, or make sure that it is the one the index has."""
        given = str(root.resolve())
        if not self.store.meta.root:
            self.store.set_root(given)
        elif self.store.meta.root != given:
            raise InputError(
                f"{self.store.location} holds pictures of {self.store.meta.root}, not of {given}",
                "make an index for each folder, or index a folder above both",
            )

    def _check_new(self, file_names: Sequence[str]) -> None:
        known = self.store.find_names(file_names)
        if known:
            first = next(iter(known))
            raise InputError(
                f"{len(known):,} of these pictures are in the index, such as {first}",
                "use upsert to replace them",
            )

    def add_codes(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add codes that exist already, with what is to be kept of them; return their ids."""
        return self.store.add(self._checked(codes, len(entries)), entries)

    def upsert_codes(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add codes, or replace them where their file names are in the index."""
        return self.store.upsert(self._checked(codes, len(entries)), entries)

    def _checked(self, codes: Codes, rows: int) -> Codes:
        codes = check_packed(np.asarray(codes), self.bits)
        if len(codes) != rows:
            raise InputError(f"{len(codes):,} codes came with {rows:,} entries", "give one each")
        return codes

    def remove(self, *ids: int) -> int:
        """Remove items, and return how many were there."""
        return self.store.remove(ids)

    def get(self, id: int) -> Item:
        """Fetch an item."""
        return self.store.get([id])[0]

    def path(self, item: Item | Hit) -> Path:
        """Where an item's picture lies; never outside the index's root."""
        name = item.file_name if isinstance(item, Hit) else item.entry.file_name
        if self.root is None:
            raise InputError(f"{self.store.location} holds codes only, no pictures")
        found = (self.root / name).resolve()
        if not found.is_relative_to(self.root.resolve()):
            raise InputError(f"{name} leads out of {self.root}")
        return found

    def search(
        self,
        picture: "Picture | None" = None,
        *,
        id: int | None = None,
        code: bytes | str | Codes | None = None,
        outputs: npt.ArrayLike | None = None,
        k: int = 10,
        max_distance: int | None = None,
        labels: Sequence[str] = (),
        not_labels: Sequence[str] = (),
        offset: int = 0,
        rescore: bool = False,
    ) -> list[Hit]:
        """Find the items nearest to a picture, to an item, or to a code.

        Args:
            picture: a path, the bytes of a file, a PIL image or a uint8 array (h, w, 3).
            id: an item, which is then not among the hits.
            code: packed bytes, or the same in hexadecimal.
            outputs: the real-valued u (bits,) of a picture, as `Hasher.outputs` gives them.
            k: how many hits.
            max_distance: leave out what is further away, by Hamming distance.
            labels: leave out items that have none of these.
            not_labels: leave out items that have any of these.
            offset: hits to skip, for the next page.
            rescore: rank the nearest again by how sure each bit of the query is, which takes a
                picture or its outputs; see `softhash.hamming.asymmetric`.

        """
        if k < 1 or offset < 0:
            raise UsageError(f"k is {k} and offset {offset}", "give at least 1 and 0")
        query = build_query(self, picture, id, code, outputs)
        query = query._replace(known=query.known or tuple(labels)) if id is None else query
        where, window = Filter(tuple(labels), tuple(not_labels)), Window(k, offset, max_distance)
        return find_hits(self.store, query, window, where, rescore=rescore)

    def find_labels(self, picture: "Picture") -> tuple[str, ...]:
        """Return the labels of a picture whose file is in the index, nothing for any other."""
        if isinstance(picture, str | os.PathLike):
            if not Path(picture).is_file():
                return ()
            picture = Path(picture).read_bytes()
        if not isinstance(picture, bytes):
            return ()
        found = self.store.find_content(hashlib.sha256(picture).hexdigest())
        return () if found is None else self.get(found).entry.labels


def _kind(location: str | os.PathLike[str]) -> type[Store]:
    """Choose the kind of store by how the location is written."""
    if os.fspath(location).startswith(("milvus://", "milvus+tls://")):
        from softhash.index.milvus import MilvusStore

        return MilvusStore
    from softhash.index.local import LocalStore

    return LocalStore
