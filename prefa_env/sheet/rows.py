"""The rows of a score sheet, as players write them while a match goes on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from .. import prefa
from ..doors import check_standings
from ..prefa import (
    DTYPE,
    MATCH,
    NUM_SEATS,
    Action,
    Rules,
    State,
    is_match_over,
    match_thirds,
)
from ..render import call_text
from . import formats
from .payments import Payment, payments_of

Cells = tuple[int | Fraction | None, ...]
"""An entry a seat; None is an empty cell."""

_BLANK: Cells = (None,) * NUM_SEATS


@dataclass(frozen=True)
class Row:
    """One line of the sheet: of kassa and of kapikia either the change or how it stands, or none.

    Changes and standings are not mixed within one of the two.
    """

    note: str = ""
    kassa: Cells = _BLANK
    kassa_change: Cells = _BLANK
    kapikia: Cells = _BLANK
    kapikia_change: Cells = _BLANK


def one_line(name: str) -> str:
    """A name without line ends and characters that cannot be seen."""
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


def column_names(agents: Sequence[str]) -> list[str]:
    """Names for a sheet from those of agents: one line each, and told apart by their seats."""
    names = [one_line(agent) for agent in agents]
    return [
        name if name and names.count(name) == 1 else f"{name} {seat}".lstrip()
        for seat, name in enumerate(names)
    ]


class ScoreSheet:
    """Kassa and kapikia of a match, line by line.

    A payment between two players is a row. What the deal does to the kassas stands beside its last
    payment, in a row of its own if there is none. A row of totals ends the deal, in which a group
    of columns that did not change stays empty. Deals that change nothing are not written.
    """

    def __init__(
        self,
        names: Sequence[str],
        kassas: Sequence[int] = (Rules().kassa,) * NUM_SEATS,
        kapikia: Sequence[int] = (0,) * NUM_SEATS,
    ) -> None:
        """An empty sheet.

        Args:
            names: of the players, by seat.
            kassas, kapikia: how the match stands before the first deal that is added.

        Raises:
            ValueError: not three of each; a name that is not one line; standings that no match
                has (`doors.check_standings`).
        """
        if isinstance(names, str) or len(names) != NUM_SEATS:
            raise ValueError(f"names must be {NUM_SEATS}, one a seat, not {names!r}")
        for name in names:
            if not name or name != one_line(name):
                raise ValueError(
                    f"names must be one line of text each, not {name!r}: `column_names` makes such"
                )
        standings = check_standings(prefa, kassas, kapikia)
        self.names = tuple(names)
        self._standing: State = np.zeros(1, DTYPE)[0]
        for field, values in standings.items():
            self._standing[field][:] = values
        self._start = Row("start", self.kassa, kapikia=self.kapikia if any(kapikia) else _BLANK)
        self._deals: list[list[Row]] = []

    @classmethod
    def of_tables(cls, names: Sequence[str], tables: Iterable[State]) -> Self:
        """The sheet of finished tables, one a deal, in order; it begins where the first one did.

        Raises ValueError as `ScoreSheet` and `add` do, and if there is no table.
        """
        sheet = None
        for table in tables:
            if sheet is None:
                before = (table.kassa - table.kassa_change, table.kapikia - table.kapikia_change)
                sheet = cls(names, *(numbers.tolist() for numbers in before))
            sheet.add(table)
        if sheet is None:
            raise ValueError("a sheet of no tables: it would not know its kassas; use ScoreSheet")
        return sheet

    @property
    def kassa(self) -> tuple[int, ...]:
        """Points of each seat."""
        return tuple(self._standing.kassa.tolist())

    @property
    def kapikia(self) -> tuple[int, ...]:
        """Kapikia of each seat."""
        return tuple(self._standing.kapikia.tolist())

    @property
    def worth(self) -> tuple[Fraction, ...]:
        """What the match has brought each seat: kapikia - 10 (kassa - mean), exact.

        When all kassas are 0 that is the kapikia (S6).
        """
        return tuple(Fraction(match_thirds(self._standing, seat), 3) for seat in range(NUM_SEATS))

    def add(self, table: State) -> None:
        """Write down a deal; the table may be dealt anew afterwards.

        Args:
            table: of the match, its deal over.

        Raises:
            ValueError: the deal is not over, belongs to no match, or does not begin where the sheet
                stands; or the match is over already. Nothing is written.
        """
        number = len(self._deals) + 1
        if table.seat >= 0:
            raise ValueError(f"deal {number} is not over: seat {table.seat} is to act")
        if table.options & MATCH == 0:
            raise ValueError(
                f"deal {number} is no deal of a match: deal it with `rules.flags | prefa.MATCH`"
            )
        if is_match_over(self._standing):
            raise ValueError(f"the match ended with deal {number - 1}: begin another sheet")
        for name in ("kassa", "kapikia"):
            change = getattr(table, f"{name}_change")
            before = tuple((getattr(table, name) - change).tolist())
            if before != getattr(self, name):
                raise ValueError(
                    f"deal {number} begins with {name} {before}, the sheet stands at "
                    f"{getattr(self, name)}: add every deal of the match, once and in order"
                )
        self._standing = table.copy()
        self._deals.append(self._rows_of_deal(f"{number}: {self._title(table)}"))

    @property
    def rows(self) -> list[Row]:
        """The sheet as it is written on paper.

        The kassas of the start stand beside the first payment, or in a row of their own where that
        row has other kassas or the match did not begin with kapikia of 0.
        """
        written = [row for deal in self._deals for row in deal if replace(row, note="") != Row()]
        if written and written[0].kassa_change == _BLANK and self._start.kapikia == _BLANK:
            return [replace(written[0], kassa=self._start.kassa), *written[1:]]
        return [self._start, *written]

    @property
    def annotated_rows(self) -> list[Row]:
        """The sheet for readers, whose notes say what was played; passed out deals have a row too.

        The start has a row of its own, and the last one is the result, or what an unfinished match
        is worth.
        """
        head = "worth so far" if any(self.kassa) else "result"
        deals = [row for deal in self._deals for row in deal]
        return [self._start, *deals, Row(head, kapikia=self.worth)]

    def text(self, *, annotated: bool = False) -> str:
        """The sheet as plain text; `annotated` takes `annotated_rows` and shows their notes."""
        return formats.text(self.names, self._chosen(annotated), annotated)

    def markdown(self, *, annotated: bool = False) -> str:
        """The sheet as a table of Markdown; `annotated` as in `text`."""
        return formats.markdown(self.names, self._chosen(annotated), annotated)

    def html(self, *, annotated: bool = False) -> str:
        """The sheet as a page of HTML that needs nothing else; `annotated` as in `text`.

        Raises ModuleNotFoundError, naming the extra, if jinja2 is missing.
        """
        return formats.html(self.names, self._chosen(annotated), annotated)

    def _chosen(self, annotated: bool) -> list[Row]:
        return self.annotated_rows if annotated else self.rows

    def _rows_of_deal(self, title: str) -> list[Row]:
        """The rows of the deal just added."""
        table = self._standing
        rows = [
            Row(payment.reason, kapikia_change=_both_sides(payment))
            for payment in payments_of(table)
        ]
        totals = Row("total")
        if any(table.kapikia_change):
            totals = replace(totals, kapikia=self.kapikia)
        if any(table.kassa_change):
            totals = replace(totals, kassa=self.kassa)
            last = rows.pop() if rows else Row()
            change = tuple(points or None for points in table.kassa_change.tolist())
            rows.append(replace(last, kassa_change=change))
        if not rows:
            return [Row(title)]
        first = rows[0]
        title = f"{title}, {first.note}" if first.note else title
        return [replace(first, note=title), *rows[1:], totals]

    def _title(self, table: State) -> str:
        """What was played: `Anna 7♥, 8 tricks`."""
        if table.owner < 0:
            return "all passed, played" if table.num_played else "all passed"
        declarer = self.names[table.owner]
        if table.bid < 0:
            return f"{declarer} declines"
        contract = f"{declarer} {call_text(Action.BID + int(table.bid))}"
        if not table.num_played:
            return f"{contract}, no defence"
        tricks = int(table.tricks[table.owner])
        return f"{contract}, {tricks} trick{'s' * (tricks != 1)}"


def _both_sides(payment: Payment) -> Cells:
    """A payment as the change of payer and payee."""
    change = {payment.payer: -payment.kapikia, payment.payee: payment.kapikia}
    return tuple(change.get(seat) for seat in range(NUM_SEATS))
