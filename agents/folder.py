"""A folder of results that are made bit by bit: what made them, and one process at a time.

A file of JSON says all that the results depend on, so that only the same work goes on in it.
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


class FolderError(ValueError):
    """A folder of other work, or one with a file that cannot be used."""


class Folder:
    """A folder that this process alone may write to; a context."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        what: str,
        setup_file: str,
        lock_file: str,
        setup: dict[str, Any],
    ) -> None:
        """Begin a folder, or go on with one.

        Args:
            path: is made if it is not there.
            what: it holds, for errors: "evaluation".
            setup_file: name of the file that says what the results depend on.
            lock_file: name of the file that is locked; its bytes are the caller's.
            setup: in plain values; that of an older folder must be the same.

        Raises:
            FolderError: names what differs, or is in the way.
            OSError: the folder cannot be written.
        """
        self.path = Path(path)
        self._what = what
        self._setup_path = self.path / setup_file
        if self.path.exists() and not self.path.is_dir():
            raise FolderError(f"{self.path} is a file, not the folder of {_one(what)}")
        self.path.mkdir(parents=True, exist_ok=True)
        # A run that was killed at its very start may have left its lock and an unfinished setup.
        is_foreign = any(
            entry.name != lock_file and not entry.name.startswith(f".{setup_file}")
            for entry in self.path.iterdir()
        )
        if not self._setup_path.exists() and is_foreign:
            raise FolderError(
                f"{self.path} is not empty and holds no {setup_file}: choose another folder"
            )
        self.file: IO[bytes] = (self.path / lock_file).open("ab+")
        try:
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise FolderError(f"another process is writing to {self.path}") from None
            self._check(json.loads(json.dumps(setup)))
        except BaseException:
            self.file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # a full disk was said when it was written to
            self.file.close()

    def _check(self, setup: dict[str, Any]) -> None:
        if not self._setup_path.exists():
            with atomic_write(self._setup_path) as file:
                json.dump(setup, file, indent=2, ensure_ascii=False)
                file.write("\n")
            return
        before = read_setup(self._setup_path)
        for name in {**before, **setup}:
            if before.get(name) != setup.get(name):
                raise FolderError(
                    f"{self.path} holds another {self._what}: {name} was {before.get(name)!r} and "
                    f"is now {setup.get(name)!r}; choose another folder"
                )


def read_setup(path: Path) -> dict[str, Any]:
    """What the file of a setup says. Raises FolderError if it is broken, or OSError."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise FolderError(f"{path} is broken: {error}; choose another folder") from None


def _one(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
