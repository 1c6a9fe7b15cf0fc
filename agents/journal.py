"""The folder of an evaluation: what has been played so far, so that it can go on later.

`setup.json` says what is played; `journal.jsonl` has an object a line, each a lot of finished
deals. A line that was cut off is dropped, and its deals are played again. Only one process at a
time may write.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from prefa_env.atomic import atomic_write

SETUP, JOURNAL = "setup.json", "journal.jsonl"


class JournalError(ValueError):
    """A folder of another evaluation, or a journal that cannot be used."""


class Journal:
    """An open journal; a context."""

    def __init__(self, folder: str | os.PathLike[str], setup: dict[str, Any]) -> None:
        """Begin a journal, or go on with one.

        Args:
            folder: is made if it is not there.
            setup: what is played, in plain values; that of an older journal must be the same.

        Raises:
            JournalError: names what differs, or the line that is broken.
            OSError: the folder cannot be written.
        """
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise JournalError(f"{self.folder} is a file, not the folder of an evaluation")
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / SETUP).exists() and any(map(_is_foreign, self.folder.iterdir())):
            raise JournalError(
                f"{self.folder} is not empty and holds no {SETUP}: choose another folder"
            )
        self._file: IO[bytes] = (self.folder / JOURNAL).open("ab+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise JournalError(f"another process is writing to {self.folder}") from None
        try:
            self._check(json.loads(json.dumps(setup)))
            self.entries = self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # a full disk was said when the entry was written
            self._file.close()

    def append(self, entry: dict[str, Any]) -> None:
        """Write one more entry. Raises OSError; what was there before stays readable."""
        try:
            self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            path = str(self.folder / JOURNAL)
            raise OSError(
                error.errno, f"{error.strerror}; what was played so far is kept", path
            ) from error

    def _check(self, setup: dict[str, Any]) -> None:
        path = self.folder / SETUP
        if not path.exists():
            with atomic_write(path) as file:
                json.dump(setup, file, indent=2, ensure_ascii=False)
                file.write("\n")
            return
        try:
            before = dict(json.loads(path.read_text(encoding="utf-8")))
        except (TypeError, ValueError) as error:
            raise JournalError(f"{path} is broken: {error}; choose another folder") from None
        for name in {**before, **setup}:
            if before.get(name) != setup.get(name):
                raise JournalError(
                    f"{self.folder} holds another evaluation: {name} was {before.get(name)!r} and "
                    f"is now {setup.get(name)!r}; choose another folder"
                )

    def _read(self) -> list[dict[str, Any]]:
        """All whole entries; whatever follows them is cut off."""
        self._file.seek(0)
        entries = []
        size = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                entries.append(json.loads(line))
            except ValueError as error:
                raise JournalError(
                    f"{self.folder / JOURNAL}:{number} is broken: {error}; cut the file off before "
                    "that line to play the rest again"
                ) from None
            size += len(line)
        self._file.truncate(size)
        return entries


def _is_foreign(path: Path) -> bool:
    """Whether a file is not what a run that was killed at its very start may have left."""
    return path.name != JOURNAL and not path.name.startswith(f".{SETUP}")
