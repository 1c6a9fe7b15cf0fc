"""Annotated classes as numpy records, and named spans of a flat vector.

Both are declared once, field by field; sizes, offsets, documentation and fingerprints follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args, get_type_hints

import numpy as np

from .words import Ints

if TYPE_CHECKING:

    class Record:
        """For type checkers a plain class: a misspelt field is an error they can see."""

        def copy(self) -> Self:
            """A table of its own."""

else:
    Record = np.record

Ints3 = Annotated[Ints, "i8", 3]


def record_dtype(cls: type) -> np.dtype[Any]:
    """The dtype of an annotated class: `int` is int64, `Annotated[array, code, n]` a row of n.

    Scalars of arrays with this dtype are instances of `cls`, for Python and for Numba alike.
    """
    fields: list[tuple[Any, ...]] = []
    for name, hint in get_type_hints(cls, include_extras=True).items():
        if hasattr(np.record, name):
            raise ValueError(f"field {name!r} would hide an attribute of numpy's records")
        if hint is int:
            fields.append((name, np.int64))
        else:
            _, code, size = get_args(hint)
            fields.append((name, np.dtype(code), (size,)))
    return np.dtype((cls, fields))


@dataclass(frozen=True)
class Field:
    """A named span of a vector: `size` values of 0..`high` (`low`..`high` where signed).

    Fields with `in_match` are about a match and all zero in a single deal.
    """

    name: str
    size: int
    high: int
    doc: str
    low: int = 0
    in_match: bool = False


class Layout:
    """A vector declared field by field.

    `layout["hand"]` is a slice; `layout.size` the length; `layout.fingerprint` changes with any
    name, size or range, and goes into checkpoints.
    """

    def __init__(self, *fields: Field) -> None:
        self.fields = fields
        self._slices: dict[str, slice] = {}
        start = 0
        for field in fields:
            if field.name in self._slices:
                raise ValueError(f"field {field.name!r} is declared twice")
            self._slices[field.name] = slice(start, start + field.size)
            start += field.size
        self.size = start

    def __getitem__(self, name: str) -> slice:
        return self._slices[name]

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def word(self, name: str) -> int:
        """Index of the 64-bit word at which a field begins; it must begin one."""
        start: int = self._slices[name].start
        word, rest = divmod(start, 8)
        if rest:
            raise ValueError(f"field {name!r} does not begin a 64-bit word")
        return word

    def description(self) -> list[list[str | int]]:
        """Rows `[name, size, low, high]`, as they stand in checkpoints."""
        return [[field.name, field.size, field.low, field.high] for field in self.fields]

    @property
    def fingerprint(self) -> str:
        """Hash of all names, sizes and ranges."""
        return hashlib.sha256(repr(self.description()).encode()).hexdigest()[:16]

    def table(self) -> str:
        """The layout as a Markdown table."""
        lines = ["| bytes | field | values | meaning |", "|---|---|---|---|"]
        for field in self.fields:
            span = self._slices[field.name]
            where = f"{span.start}" if field.size == 1 else f"{span.start}–{span.stop - 1}"
            lines.append(f"| {where} | `{field.name}` | {field.low}..{field.high} | {field.doc} |")
        return "\n".join(lines)
