"""Processes that do parts of one job, and end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

P = ParamSpec("P")
Part = TypeVar("Part")


class Workers(Generic[P, Part]):
    """Does parts of a job in processes of their own; a context.

    On leaving it by an exception the processes end at once.
    """

    def __init__(self, count: int, job: Callable[P, Part]) -> None:
        """Take note of the job; processes start when they are first needed.

        Args:
            count: how many processes.
            job: can be pickled; each process gets a copy of its own and keeps it.
        """
        self._count = count
        self._job = job
        self._pool: ProcessPoolExecutor | None = None
        self._others: list[Any] = []
        self._files = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is None:
            return
        if error is not None:  # do not wait for parts that nobody wants any more
            for process in multiprocessing.active_children():
                if process not in self._others:
                    process.terminate()
        self._pool.shutdown(cancel_futures=True)
        self._files.close()

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Future[Part]:
        """Have a part done when a process is free.

        The future raises what the job raises; BrokenProcessPool if a process was killed.
        """
        pool = self._pool or self._start()
        with _interrupts_held():  # a process that it starts inherits that
            return pool.submit(_do_part, *args, **kwargs)

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")  # a fork may copy a lock that is held
        self._others = multiprocessing.active_children()
        # Not through the pipe of a new process: it is small, and if the process is killed before
        # it has read all, this one would wait for it for ever.
        path = Path(self._files.enter_context(TemporaryDirectory(prefix="prefa-"))) / "job"
        path.write_bytes(pickle.dumps(self._job))
        self._pool = ProcessPoolExecutor(self._count, context, _start_worker, (path,))
        return self._pool


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch, if an agent brought it, compute in one thread.

    Threads would fight over the cores with the other processes, and another number of them may add
    up a network's sums in another order.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let signals wait; new processes hold them from their first thread on.

    Ctrl-C for good, since this process answers it for all; SIGTERM as `_do_part` says.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in a process ---------------------------------------------------------------------------------

_jobs: list[Callable[..., Any]] = []
"""What this process was started for."""


def _start_worker(path: Path) -> None:
    threading.Thread(target=_follow_parent, daemon=True).start()
    _jobs.append(pickle.loads(path.read_bytes()))  # written by the parent just before


def _follow_parent() -> None:
    """End this process when the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do_part(*args: Any, **kwargs: Any) -> Any:
    # A process may be ended while it works, but not while it sends what it has done: the parent
    # would wait for the rest for ever.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        return _jobs[0](*args, **kwargs)
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
