"""A program that answers a line on its stdin with a line on its stdout, within a time limit."""

from __future__ import annotations

import os
import select
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress

MAX_LINE = 1 << 16
"""Bytes of the longest answer."""

_TAIL_BYTES, _TAIL_LINES = 4096, 5
"""How much of stderr is kept and shown."""

_GRACE = 1.0
"""Seconds a program has to end by itself after the end of its stdin."""


class BotError(RuntimeError):
    """An outside program failed: it is missing, ended, or broke the protocol."""


class LineProcess:
    """A running program.

    It ends with this object and with this process: its stdin ends, and if it does not follow soon
    it is killed with whatever else is in its process group.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        """Start it, without a shell.

        Args:
            name: what errors call it.
            command: the program and its arguments.

        Raises:
            BotError: it cannot be started.
        """
        self.name = name
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for us; and all of it can be killed at once
            )
        except OSError as error:
            raise BotError(f"{name} cannot be started: {error}") from None
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._stderr = self._process.stderr
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._unsent = b""
        self._received = b""
        self._tail = b""
        self._end = weakref.finalize(self, _end, self._process, self._selector)

    def ask(self, line: bytes, seconds: float, purpose: str) -> bytes:
        """Send a line, without its end, and return the next line that comes back.

        Args:
            line: what is asked.
            seconds: how long the answer may take.
            purpose: what the time was for, to end the message of a TimeoutError.

        Raises:
            TimeoutError: no answer in time.
            BotError: the program ended, closed its pipes, or wrote a line without end.
        """
        deadline = time.monotonic() + seconds
        self._unsent = line + b"\n"
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        while self._unsent or b"\n" not in self._received:
            left = deadline - time.monotonic()
            self._transfer(max(left, 0))  # once more when time is up: it may have been us who slept
            if left <= 0 and (self._unsent or b"\n" not in self._received):
                message = f"{self.name} took longer than {seconds:g} s {purpose}"
                raise TimeoutError(message + self._last_words())
        answer, _, self._received = self._received.partition(b"\n")
        return answer

    def failure(self, what: str) -> BotError:
        """End the program; the error that says what it did and what it last wrote to stderr."""
        return BotError(f"{self.name} {what}{self._last_words()}")

    def kill(self) -> None:
        """End the program at once."""
        if self._end.alive:
            _kill(self._process)
            self._end()

    def _transfer(self, seconds: float) -> None:
        """Wait until a pipe is ready; write and read what is possible without waiting again."""
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._stdin:
                self._send()
            elif key.fileobj is self._stderr:
                self._note_errors()
            else:
                self._receive()

    def _send(self) -> None:
        try:
            # So much never blocks where a pipe is ready.
            sent = os.write(self._stdin.fileno(), self._unsent[: select.PIPE_BUF])
        except BrokenPipeError:
            raise self._ended("closed its input") from None
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._selector.unregister(self._stdin)

    def _receive(self) -> None:
        received = os.read(self._stdout.fileno(), MAX_LINE)
        if not received:
            raise self._ended("closed its output")
        self._received += received
        if len(self._received) > MAX_LINE:
            raise self.failure(f"wrote more than {MAX_LINE} bytes where one line was asked for")

    def _note_errors(self) -> None:
        written = os.read(self._stderr.fileno(), MAX_LINE)
        if not written:
            self._selector.unregister(self._stderr)
        self._tail = (self._tail + written)[-_TAIL_BYTES:]

    def _ended(self, otherwise: str) -> BotError:
        """The failure of a pipe that has no other end: with how the program ended, if it did."""
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return self.failure(otherwise)
        if code < 0:
            return self.failure(f"was ended by signal {-code} ({signal.strsignal(-code)})")
        return self.failure(f"ended with exit code {code}")

    def _last_words(self) -> str:
        """End the program; the last lines it wrote to stderr, to be added to a message."""
        _kill(self._process)
        for key in list(self._selector.get_map().values()):
            if key.fileobj is not self._stderr:
                self._selector.unregister(key.fileobj)
        deadline = time.monotonic() + _GRACE  # others may hold the pipe open
        while self._selector.get_map() and time.monotonic() < deadline:
            self._transfer(_GRACE)
        self._end()
        lines = self._tail.decode("utf-8", "backslashreplace").strip().splitlines()
        if not lines:
            return ""
        return "\n  ".join(["; it last wrote to stderr:", *lines[-_TAIL_LINES:]])


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes], selector: selectors.BaseSelector) -> None:
    """Close all pipes and wait; no process and no zombie is left."""
    selector.close()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        _kill(process)
        process.wait()
