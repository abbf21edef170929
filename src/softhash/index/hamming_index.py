"""Codes and items on disk, or in Milvus: add, remove, update, search.

`HammingIndex` combines a `Store` of codes and entries (see `local`, `milvus`, `registry`), the
model that made the codes, and the folder of the pictures.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

import numpy.typing as npt

from softhash.codes import Codes
from softhash.data.loading import Broken
from softhash.errors import UsageError
from softhash.index import changes
from softhash.index._model_check import load_model, match_model
from softhash.index.criteria import PhotoOptions, photo_criteria
from softhash.index.device import search_on
from softhash.index.expressions import build_where
from softhash.index.items import Entry, Hit, Item
from softhash.index.kept_model import with_kept_classifier
from softhash.index.pictures import find_labels
from softhash.index.query import Window
from softhash.index.registry import choose_store
from softhash.index.result import SearchResult
from softhash.index.root import find_path, set_root
from softhash.index.search import Filter, run_search
from softhash.index.stages import kept_lengths
from softhash.index.store import Meta, Store
from softhash.index.target import Target, Words
from softhash.index.update import UpdateSummary, add_images, apply_plan, check_plan
from softhash.index.where import LIKELY, Where

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.index.encoding import KnownFeatures
    from softhash.model.encoding import EncodeOptions
    from softhash.model.hasher import Hasher
    from softhash.model.inputs import Item as Picture

__all__ = ["HammingIndex"]


class HammingIndex:
    """A collection that can be searched, on disk or in Milvus.

    Args:
        store: where codes and items are.
        hasher: the model that made the codes, which gets the engine that they were made with; the
            one kept with the store by default.
        device: where codes are compared, see `softhash.index.device`.

    """

    def __init__(
        self, store: Store, hasher: "Hasher | None" = None, *, device: str = "cpu"
    ) -> None:
        search_on(store, device)
        self.store = store
        self._hasher = None if hasher is None else match_model(store, hasher)

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
            hasher: what will encode its pictures, and the index keeps for searches by picture.
            bits: length of the codes, for an index of codes from elsewhere, without a hasher.
            keep_model: whether to keep the hasher with the index.

        """
        if (hasher is None) == (bits is None):
            raise UsageError("an index needs a hasher, or else the number of bits of its codes")
        create = choose_store(location).create
        if hasher is None:
            return cls(create(os.fspath(location), Meta(bits or 0)))
        hasher.check_hamming()
        index = cls(create(os.fspath(location), Meta(hasher.bits, hasher.identity)), hasher)
        if keep_model:
            index.keep_model(hasher)
        return index

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str],
        hasher: "Hasher | None" = None,
        *,
        writable: bool = False,
        device: str = "cpu",
    ) -> Self:
        """Open an index.

        Args:
            location: its folder, or `milvus://host:port/collection`.
            hasher: the model that made its codes, where the index was made without keeping it.
            writable: whether to open it for writing, which one process at a time may do.
            device: where codes are compared, see `softhash.index.device`.

        """
        store = choose_store(location).open(os.fspath(location), writable=writable)
        try:
            return cls(store, hasher, device=device)
        except BaseException:
            store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close files, locks and connections."""
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
            self._hasher = with_kept_classifier(load_model(self.store), self.store)
        return self._hasher

    @property
    def lengths(self) -> tuple[int, ...]:
        """The numbers of first bits that the model was trained for, see `Hasher.lengths`."""
        return self._hasher.lengths if self._hasher else kept_lengths(self.store)

    def keep_model(self, hasher: "Hasher") -> None:
        """Keep the model that makes the codes with the index, where it is not kept yet."""
        self._hasher = hasher = match_model(self.store, hasher)
        if not self.store.model_folder.exists():
            hasher.save(self.store.model_folder, card=hasher.config["card"])

    def add(self, images: "ImageSet", **options: Unpack["EncodeOptions"]) -> tuple[Broken, ...]:
        """Encode and add pictures that are not in the index yet; return those that are broken.

        A batch is safe on disk when the next one begins. `options` are those of `Hasher.encode`.
        """
        return add_images(self, images, replace=False, **options)

    def upsert(self, images: "ImageSet", **options: Unpack["EncodeOptions"]) -> tuple[Broken, ...]:
        """Encode and add pictures, or replace them where their file names are in the index.

        An uploaded item that is replaced gets the labels of the collection.
        """
        return add_images(self, images, replace=True, **options)

    def update(
        self,
        images: "ImageSet",
        *,
        plan: changes.Plan | None = None,
        force: bool = False,
        keep_missing: bool = False,
        drop_uploads: bool = False,
        features: "KnownFeatures | None" = None,
        **options: Unpack["EncodeOptions"],
    ) -> UpdateSummary:
        """Make the index hold a collection as it is now, and encode only what is new or changed.

        Every batch is safe before the next begins. After an interruption, another update goes on.

        Args:
            images: the whole collection.
            plan: what to do, of `softhash.index.changes.plan`; computed by default.
            force: continue even if not one picture of the index is left in the collection.
            keep_missing: do not remove items whose files are gone.
            drop_uploads: let uploads go: labels become the collection's, and items that it does
                not list are removed; files stay. Nothing for a `plan` that is given.
            features: of pictures, by position, that are known; see `softhash.index.first_look`.
            options: those of `Hasher.encode`.

        """
        plan = plan or changes.plan(self.store.scan(), images, drop_uploads=drop_uploads)
        check_plan(self, images, plan, force=force, keep_missing=keep_missing)
        return apply_plan(self, plan, keep_missing=keep_missing, features=features or {}, **options)

    def set_root(self, root: Path) -> None:
        """Set the folder of the pictures, or check that it is the one that the index has."""
        set_root(self.store, root)

    def add_codes(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add codes that exist already, with what is to be kept of them; return their ids."""
        return self.store.add(codes, entries)

    def upsert_codes(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add codes, or replace them where their file names are in the index."""
        return self.store.upsert(codes, entries)

    def remove(self, *ids: int) -> int:
        """Remove items, and return how many were there."""
        return self.store.remove(ids)

    def get(self, id: int) -> Item:
        """Fetch an item."""
        return self.store.get([id])[0]

    def path(self, item: Item | Hit) -> Path:
        """Return where an item's picture is; never outside the index's root."""
        return find_path(self.store, item)

    def search(
        self,
        picture: "Picture | Sequence[Picture] | None" = None,
        *,
        id: int | None = None,
        code: bytes | str | Codes | None = None,
        outputs: npt.ArrayLike | None = None,
        features: npt.ArrayLike | None = None,
        words: Words = (),
        more: Words = (),
        less: Words = (),
        query_labels: Sequence[str] | None = None,
        k: int = 10,
        offset: int = 0,
        max_distance: int | None = None,
        labels: Sequence[str] = (),
        not_labels: Sequence[str] = (),
        where: str | Where | None = None,
        given_only: bool = False,
        likely_from: float = LIKELY,
        at_least: float | None = None,
        rescore: bool | str = False,
        exact: bool = False,
        **photo: Unpack[PhotoOptions],
    ) -> SearchResult:
        """Find the items nearest to a picture, an item, a code or outputs, or items by words.

        Filters alone list all items that they keep, in id order, without distances.

        Args:
            picture: a path, the bytes of a file, a PIL image, a uint8 array (h, w, 3), or a list of
                these, whose outputs are averaged and rescored by bits.
            id: an item, which is then not among the hits.
            code: packed bytes, or the same in hexadecimal.
            outputs: the real-valued u (bits,) of a picture, as `Hasher.outputs` returns them.
            features: of the same picture, to rescore `outputs` by.
            words: what should be in the hits, such as "dogs on the beach"; see
                `softhash.index.vocabulary`.
            more: words that move items up, beside a picture, an item or a code.
            less: words that move items down.
            query_labels: the query's; by default of its item, or of a file with its content.
            k: how many hits.
            offset: hits to skip, for the next page.
            max_distance: leave out what is further away, by Hamming distance.
            labels: leave out items that have none of these.
            not_labels: leave out items that have any of these.
            where: label logic that items must meet, such as `dog & (beach | lake) & !person`.
            given_only: whether filters use given labels alone, and not likely ones too.
            likely_from: the probability from which on a likely label counts.
            at_least: leave out what is less sure, of the first 1,000; there may be no hits left.
            rescore: rank the nearest again, by "bits" (or True), how sure each bit of the query is,
                or by "features" of a picture or an item, where the index keeps them.
            exact: compare all bits of all codes; see `softhash.index.stages`.
            photo: `after`, `before`, `folder` and `camera`; see `softhash.index.criteria`.

        """
        target = Target(picture, id, code, outputs, features, words, more, less)
        logic = build_where(labels, not_labels, where, photo_criteria(**photo))
        kept = Filter(logic, given_only, likely_from, at_least)
        asked = target, Window(k, offset, max_distance), kept
        return run_search(self, *asked, labels=query_labels, rescore=rescore, exact=exact)

    def find_labels(self, picture: "Picture") -> tuple[str, ...]:
        """Return the labels of a picture whose file is in the index, nothing for any other."""
        return find_labels(self.store, picture)
