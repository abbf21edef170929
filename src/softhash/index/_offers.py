"""What a store may offer beside the protocol that every store has."""

from typing import Any

_found: dict[tuple[type, type], bool] = {}


def offers(store: object, protocol: Any) -> bool:
    """Return what `isinstance` does of a runtime-checkable protocol, asked once per class.

    It calls every property that the protocol names, in Python 3.11 at least, and a search asks for
    several protocols, several times each.
    """
    asked = type(store), protocol
    if asked not in _found:
        _found[asked] = isinstance(store, protocol)
    return _found[asked]
