"""Work outside the event loop: bounded threads, and a bounded queue."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from softhash.server.problems import RETRY, Problem

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Pool:
    """Threads with a bounded queue: work that does not fit is refused at once.

    Args:
        name: of the work, for threads and messages.
        workers: how many threads.
        waiting: how many calls may wait for one.
        seconds: how long a call may take, waiting included.

    """

    def __init__(self, name: str, workers: int, waiting: int, seconds: float) -> None:
        self._name, self._seconds = name, seconds
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix=f"softhash-{name}")
        self._room = threading.Semaphore(workers + waiting)
        self._running = 0
        self._counting = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether a thread is working."""
        return self._running > 0

    async def run(
        self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> Result:
        """Call `work` in a thread and wait for it.

        A thread cannot be stopped: after the time limit a problem is raised, and the thread stays
        occupied until its work ends.
        """
        if not self._room.acquire(blocking=False):
            hint = "try again in a moment"
            raise Problem(503, "busy", f"too much {self._name} is waiting", hint, RETRY)
        future = self._executor.submit(self._call, partial(work, *args, **kwargs))
        future.add_done_callback(lambda _: self._room.release())
        deadline = asyncio.timeout(self._seconds)
        try:
            async with deadline:
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if not deadline.expired():
                raise
            detail = f"{self._name} took longer than {self._seconds:g} s"
            hint = "try again later, or with a smaller picture"
            raise Problem(503, "slow", detail, hint, RETRY) from None

    def _call(self, work: Callable[[], Result]) -> Result:
        with self._counting:
            self._running += 1
        try:
            return work()
        finally:
            with self._counting:
                self._running -= 1

    def close(self) -> None:
        """Cancel calls that wait; those that run end by themselves."""
        self._executor.shutdown(wait=False, cancel_futures=True)
