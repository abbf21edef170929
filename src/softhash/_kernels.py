"""How kernels are compiled: once for a machine, kept on disk, announced when it takes a while."""

import logging
import os
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias, TypeVar

from numba import njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

Scalar: TypeAlias = Any  # a number inside a kernel: its type is the compiler's business
Width: TypeAlias = tuple[int, ...]  # a tuple as long as a row: its length is known to the compiler

Function = TypeVar("Function", bound=Callable[..., Any])

_log = logging.getLogger("softhash")

if hasattr(os, "register_at_fork"):  # a child could not compile what a thread was compiling
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def kernel(function: Function) -> Function:
    """Compile a function that releases the GIL; keep the result on disk where there is a place."""
    return _compiled(function)


def summing_kernel(function: Function) -> Function:
    """Compile as `kernel` does, with sums in whatever order is fastest on this processor."""
    return _compiled(function, fastmath={"reassoc", "contract"})


def _compiled(function: Function, **options: Any) -> Function:
    _announce_compilation()
    try:
        return njit(cache=True, nogil=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        return njit(nogil=True, **options)(function)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Compile a function into the kernels that call it.

    The compiler proper does the inlining: numba's own would count references to every array.
    """
    return njit(forceinline=True)(function)  # type: ignore[no-any-return]


class _Announcement(event.Listener):  # type: ignore[misc]
    """Logs once that kernels are being compiled, so that the wait does not look like a hang."""

    said = False

    def on_start(self, event: event.Event) -> None:
        name = getattr(event.data.get("dispatcher"), "__module__", "")
        if name.startswith("softhash") and not self.said:
            self.said = True
            _log.info("compiling kernels for this processor; once, about ten seconds")

    def on_end(self, event: event.Event) -> None:
        """Log nothing: what was asked for follows."""


@cache
def _announce_compilation() -> None:
    event.register("numba:compile", _Announcement())
