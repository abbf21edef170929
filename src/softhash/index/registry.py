"""Which kind of store a location belongs to: a folder, or a store by the scheme of its URL.

Other packages add stores through entry points of the group `softhash.stores`. The name of an entry
point is a scheme, its value a class that satisfies `softhash.index.store.Store`:

::

    [project.entry-points."softhash.stores"]
    nas = "softhash_nas:NasStore"

Then every command and `HammingIndex` take `nas://…` where they take a folder: the class gets the
whole location, scheme included. Built-in schemes cannot be replaced.
"""

import os

from softhash import plugins
from softhash.errors import unknown_name
from softhash.index.store import Store

MILVUS = ("milvus", "milvus+tls")


def choose_store(location: str | os.PathLike[str]) -> type[Store]:
    """Return the class of the store that keeps the index at a location.

    Raises:
        UsageError: there is no store for the location's scheme.
        InputError: the store's package cannot be imported.

    """
    scheme, separator, _ = os.fspath(location).partition("://")
    if not separator:
        from softhash.index.local import LocalStore

        return LocalStore
    if scheme.lower() in MILVUS:
        from softhash.index.milvus import MilvusStore

        return MilvusStore
    found: type[Store] | None = plugins.load_plugin(plugins.STORES, scheme.lower())
    if found is None:
        known = [*MILVUS, *plugins.plugin_names(plugins.STORES)]
        raise unknown_name("scheme of an index", scheme, known)
    return found
