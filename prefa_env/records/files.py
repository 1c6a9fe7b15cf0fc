"""Files of records, a line at a time: any number of them in constant memory.

A path that ends in `.gz` is compressed; `-` is the standard input.
"""

from __future__ import annotations

import codecs
import gzip
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

from ..atomic import atomic_write
from .formats import MalformedError, Record, RecordError, parse_record

FilePath = str | os.PathLike[str]


class TruncatedError(RecordError):
    """The last line of a file breaks off, as after a crash of its writer."""


def scan_records(path: FilePath) -> Iterator[tuple[int, Record | RecordError]]:
    """The number of each line, from 1, and its record, or the error that it is.

    Errors name file, line and field; the lines after one are read all the same.

    Raises OSError if the file cannot be read.
    """
    name, number = os.fspath(path), 0
    with open_lines(path) as file:
        try:
            for number, line in enumerate(file, 1):
                text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                yield number, _parse(text, f"{name}:{number}")
        except (EOFError, zlib.error) as error:
            number += 1
            yield number, RecordError(f"{name}:{number}: the compressed file breaks off: {error}")


def read_records(
    path: FilePath, on_error: Callable[[RecordError], object] | None = None
) -> Iterator[Record]:
    """The records of a file, one after the other, as they stand there (`check_records` replays).

    Args:
        path: the file.
        on_error: called with the error of each line that cannot be read, also of one that breaks
            off at the end; reading goes on. Without it the first such line is raised, but one that
            breaks off is left out.

    Raises:
        RecordError: names file, line and field.
        OSError: the file cannot be read.
    """
    for _, result in scan_records(path):
        if not isinstance(result, RecordError):
            yield result
        elif on_error is not None:
            on_error(result)
        elif not isinstance(result, TruncatedError):
            raise result


def write_records(path: FilePath, records: Iterable[Record]) -> int:
    """Write records to a file, which takes its name when all are written; how many they were.

    Raises OSError if the file cannot be written.
    """
    count = 0
    with atomic_write(path, "wb") as file, _compressed(path, file) as lines:
        for record in records:
            lines.write(record.to_json().encode() + b"\n")
            count += 1
    return count


def _parse(line: bytes, place: str) -> Record | RecordError:
    try:
        return parse_record(line)
    except MalformedError as error:
        if line.startswith(b"{") and not line.endswith(b"\n"):
            return TruncatedError(f"{place}: the last line breaks off and is left out")
        return RecordError(f"{place}: {error}")
    except RecordError as error:
        return RecordError(f"{place}: {error}")


def open_lines(path: FilePath) -> AbstractContextManager[Iterable[bytes]]:
    """The lines of a file, of a compressed one, or of the standard input. Raises OSError."""
    if os.fspath(path) == "-":
        return nullcontext(sys.stdin.buffer)
    return gzip.open(path, "rb") if _is_compressed(path) else Path(path).open("rb")


def _compressed(path: FilePath, file: IO[Any]) -> AbstractContextManager[Any]:
    if not _is_compressed(path):
        return nullcontext(file)
    # Neither name nor time go in: the same records give the same bytes.
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


def _is_compressed(path: FilePath) -> bool:
    return os.fspath(path).endswith(".gz")
