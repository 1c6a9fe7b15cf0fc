"""Rows of a score sheet as text, Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

if TYPE_CHECKING:
    from .rows import Row

_GROUPS = ("Kassa", "Kapikia")
_TEMPLATE = "sheet.html.jinja"


def text(names: Sequence[str], rows: Sequence[Row], has_notes: bool) -> str:
    """A table of plain text; its head has a line for kassa and kapikia and one for the names."""
    heads = [
        f"{group if seat == 0 else ''}\n{name}"
        for group in _GROUPS
        for seat, name in enumerate(names)
    ]
    return _table("simple", heads, rows, has_notes)


def markdown(names: Sequence[str], rows: Sequence[Row], has_notes: bool) -> str:
    """A table of Markdown, whose head can have but one line."""
    heads = [f"{group} {_escape(name)}" for group in _GROUPS for name in names]
    return _table("pipe", heads, rows, has_notes, escape=True)


def html(names: Sequence[str], rows: Sequence[Row], has_notes: bool) -> str:
    """A page with style sheet; raises ModuleNotFoundError, naming the extra, without jinja2."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a score sheet in HTML needs jinja2: pip install 'prefa[report]'", name="jinja2"
        ) from error
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(_TEMPLATE).render(
        groups=_GROUPS,
        names=names,
        has_notes=has_notes,
        rows=[(row.note, _cells(row), _is_total(row)) for row in rows],
    )


def _table(
    style: str, heads: list[str], rows: Sequence[Row], has_notes: bool, escape: bool = False
) -> str:
    lines = [_cells(row) for row in rows]
    alignments = ["right"] * len(heads)
    if has_notes:
        heads = ["Deal", *heads]
        notes = [_escape(row.note) if escape else row.note for row in rows]
        lines = [[note, *line] for note, line in zip(notes, lines, strict=True)]
        alignments = ["left", *alignments]
    table: str = tabulate(lines, heads, tablefmt=style, colalign=alignments)
    return table


def _cells(row: Row) -> list[str]:
    """The texts of the six columns: kassas that stand have no sign, everything else has one."""
    kassas = zip(map(_plain, row.kassa), map(_signed, row.kassa_change), strict=True)
    kapikia = zip(map(_signed, row.kapikia), map(_signed, row.kapikia_change), strict=True)
    return [standing or change for standing, change in (*kassas, *kapikia)]


def _is_total(row: Row) -> bool:
    """Whether a row says how things stand, and nothing else."""
    stands = {*row.kassa, *row.kapikia} != {None}
    return stands and {*row.kassa_change, *row.kapikia_change} == {None}


def _plain(value: int | Fraction | None) -> str:
    return "" if value is None else str(value)


def _signed(value: int | Fraction | None) -> str:
    """`+4`, `−16⅔`, `0`, with the true minus sign and thirds as they are; nothing for None."""
    if value is None:
        return ""
    whole, thirds = divmod(abs(int(3 * value)), 3)
    number = f"{whole or ''}{('', '⅓', '⅔')[thirds]}" or "0"
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number}"


def _escape(name: str) -> str:
    """A name in Markdown: what could be read as markup, or as the next cell, is escaped."""
    return re.sub(r"([\\`*_<>\[\]|~&])", r"\\\1", name)
