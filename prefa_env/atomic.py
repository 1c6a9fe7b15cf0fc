"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Literal, overload


@overload
def atomic_write(
    path: str | os.PathLike[str], mode: Literal["w"] = "w"
) -> AbstractContextManager[IO[str]]: ...


@overload
def atomic_write(
    path: str | os.PathLike[str], mode: Literal["wb"]
) -> AbstractContextManager[IO[bytes]]: ...


def atomic_write(path: str | os.PathLike[str], mode: str = "w") -> Any:
    """Open a file for writing that takes its name only when the `with` block ends without error.

    Until then what is written stands under a temporary name in the same folder; after an error or
    an interruption nothing is left of it, and a file that was there before is unchanged. A path
    that is no regular file (`/dev/stdout`, a pipe) is written directly.

    Args:
        path: the file; its folder must exist.
        mode: `"w"` for text in UTF-8, `"wb"` for bytes.

    Raises:
        OSError: the folder does not exist or cannot be written to, or the path is a folder.
    """
    if mode not in {"w", "wb"}:
        raise ValueError(f"mode must be 'w' or 'wb', not {mode!r}")
    return _atomic_write(Path(path), mode)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError, naming the path, if `atomic_write` could not write there."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {str(path)!r}: it is a folder")
    if _is_special(target):
        return
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {str(path)!r}: there is no folder {str(target.parent)!r}"
        )
    probe = _temporary(target)
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OSError(f"cannot write {str(path)!r}: {error.strerror}") from None


@contextmanager
def _atomic_write(path: Path, mode: str) -> Iterator[IO[Any]]:
    encoding = None if "b" in mode else "utf-8"
    if _is_special(path):
        with _naming(path), path.open(mode, encoding=encoding) as file:
            yield file
        return
    path = Path(os.path.realpath(path))  # a link stays a link
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {str(path)!r}: it is a folder")
    temporary = _temporary(path)
    try:
        with _naming(path, temporary):
            with temporary.open(mode, encoding=encoding) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _naming(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Let errors of a file that do not name it, or by its temporary name, name the path."""
    try:
        yield
    except OSError as error:
        is_ours = error.filename is None or error.filename == str(temporary)
        if not is_ours or error.errno is None or isinstance(error, BrokenPipeError):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")
