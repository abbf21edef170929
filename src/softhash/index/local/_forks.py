"""Connections across a fork: none is in use while a process forks, and none is used by the child.

SQLite must not be inside a call at a fork, for its mutexes would stay locked in the child. Nor may
a child use a connection of its parent, for locks on files belong to one process.
"""

import os
import threading
from weakref import WeakSet


class ForkAware:
    """What holds a connection, and uses it under its lock alone.

    A fork waits for all these locks. In the child `_after_fork` is called, which closes the
    connection; the child opens one of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        with _gate:
            _known.add(self)

    def _after_fork(self) -> None:
        """Let go what belongs to the parent."""
        raise NotImplementedError


_gate = threading.RLock()  # held while one is made known, and around a fork
_known: WeakSet[ForkAware] = WeakSet()
_held: list[ForkAware] = []


def _before() -> None:
    _gate.acquire()
    for one in list(_known):
        one._lock.acquire()
        _held.append(one)


def _in_parent() -> None:
    while _held:
        _held.pop()._lock.release()
    _gate.release()


def _in_child() -> None:
    try:
        for one in _held:  # all of them: SQLite counts the locks of a process once
            one._after_fork()
    finally:
        _in_parent()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
