"""The folder that the file names of an index are relative to."""

from pathlib import Path

from softhash.errors import InputError
from softhash.index.items import Hit, Item
from softhash.index.store import Store


def set_root(store: Store, root: Path) -> None:
    """Set the folder of the pictures, or check that it is the one that the index has."""
    given = str(root.resolve())
    if not store.meta.root:
        store.set_root(given)
    elif store.meta.root != given:
        raise InputError(
            f"{store.location} holds pictures of {store.meta.root}, not of {given}",
            "make an index for each folder, or index a folder above both",
        )


def find_path(store: Store, item: Item | Hit) -> Path:
    """Return where an item's picture is; never outside the index's root."""
    if not store.meta.root:
        raise InputError(f"{store.location} holds codes only, no pictures")
    root = Path(store.meta.root)
    found = (root / item.file_name).resolve()
    if not found.is_relative_to(root.resolve()):
        raise InputError(f"{item.file_name} leads out of {root}")
    return found
