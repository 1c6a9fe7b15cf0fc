"""The folder of an evaluation: what has been played so far, so that it can go on later.

`setup.json` says what is played; `journal.jsonl` has an object a line, each a lot of finished
deals. A line that was cut off is dropped, and its deals are played again. Only one process at a
time may write.
"""

from __future__ import annotations

import json
import os
from typing import Any

from .folder import Folder, FolderError

SETUP, JOURNAL = "setup.json", "journal.jsonl"


class Journal(Folder):
    """An open journal; a context."""

    def __init__(self, folder: str | os.PathLike[str], setup: dict[str, Any]) -> None:
        """Begin a journal, or go on with one.

        Args:
            folder: is made if it is not there.
            setup: what is played, in plain values; that of an older journal must be the same.

        Raises:
            FolderError: names what differs, or the line that is broken.
            OSError: the folder cannot be written.
        """
        super().__init__(folder, "evaluation", SETUP, JOURNAL, setup)
        try:
            self.entries = self._read()
        except BaseException:
            self.file.close()
            raise

    def append(self, entry: dict[str, Any]) -> None:
        """Write one more entry. Raises OSError; what was there before stays readable."""
        try:
            self.file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self.file.flush()
        except OSError as error:
            path = str(self.path / JOURNAL)
            raise OSError(
                error.errno, f"{error.strerror}; what was played so far is kept", path
            ) from error

    def _read(self) -> list[dict[str, Any]]:
        """All whole entries; whatever follows them is cut off."""
        self.file.seek(0)
        entries = []
        size = 0
        for number, line in enumerate(self.file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                entries.append(json.loads(line))
            except ValueError as error:
                raise FolderError(
                    f"{self.path / JOURNAL}:{number} is broken: {error}; cut the file off before "
                    "that line to play the rest again"
                ) from None
            size += len(line)
        self.file.truncate(size)
        return entries
