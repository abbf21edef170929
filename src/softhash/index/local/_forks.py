"""Connections across a fork: none is in use while a process forks, and none is used by the child.

SQLite must not be inside a call at a fork, for its mutexes would stay locked in the child. Nor may
a child use a connection of its parent, for locks on files belong to one process. No other lock may
be held at a fork either; `computed_once` therefore has none.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Value = TypeVar("Value")


class computed_once(Generic[Value]):  # noqa: N801, it is used as a decorator
    """A property that is computed when it is first asked for.

    Up to Python 3.11, `functools.cached_property` computes under a lock that all instances share: a
    child that is forked meanwhile would wait for it forever.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute, self._name, self.__doc__ = compute, compute.__name__, compute.__doc__

    def __get__(self, instance: object, owner: type) -> Value:
        """Compute the value, and keep it where the next look finds it first."""
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


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
