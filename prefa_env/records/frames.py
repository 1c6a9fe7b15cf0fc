"""Records as data frames of pandas or polars, and back: a row a deal, plain values in every column.

A frame holds deals or matches. Needs the extra `frames`; polars if its frames are asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from numbers import Integral
from typing import Any, Literal, TypeVar

import msgspec
import narwhals as nw

from .formats import DealRecord, MatchDeal, MatchRecord, Record, RecordError, Start
from .replay import rules_of

Backend = Literal["pandas", "polars"]

_TEXT, _WHOLE, _FLOAT, _BOOL = nw.String(), nw.Int64(), nw.Float64(), nw.Boolean()
_DEAL = {"game": _TEXT, "rules": _TEXT, "seed": _TEXT, "deal": _TEXT, "actions": _TEXT}
_MATCH = {"match": _WHOLE, "number": _WHOLE, "max_deals": _WHOLE, "given": _BOOL}
_SEATS = {"agent": _TEXT, "kapikia": _WHOLE, "kassa": _WHOLE, "settled": _FLOAT}
_MATCH_SEATS = {
    "kapikia_before": _WHOLE,
    "kassa_before": _WHOLE,
    "kapikia_end": _WHOLE,
    "kassa_end": _WHOLE,
    "score": _FLOAT,
}


_SEAT_COLUMN = f"(?:{'|'.join(_SEATS | _MATCH_SEATS)})_([0-9]{{1,2}})"

T = TypeVar("T")


def to_frame(records: Iterable[Record], backend: Backend = "pandas") -> Any:
    """A data frame of deals, or of the deals of matches, in order.

    | column | what |
    |---|---|
    | `game`, `deal` | text |
    | `rules` | JSON text |
    | `actions` | one text, separated by spaces |
    | `seed` | text; whole numbers as digits, a text that looks like one in quotes |
    | `agent_0`, ... | a column a seat; likewise `kapikia`, `kassa`, `settled` of the deal |
    | `match`, `number` | of a match: its number in the frame and the deal's in it, from 1 |
    | `max_deals`, `given` | of a match: 0 if none was agreed; whether the first deal was given |
    | `kapikia_before_0`, ... | of a match: before the deal; likewise `kassa_before` |
    | `kapikia_end_0`, ... | of a match, at its end; likewise `kassa_end`, `score` |

    Raises:
        RecordError: deals and matches together, or an entry a seat too few.
        ModuleNotFoundError: the backend is not installed.
    """
    rows: list[dict[str, Any]] = []
    is_match = None
    for number, record in enumerate(records, 1):
        if is_match is None:
            is_match = isinstance(record, MatchRecord)
        if isinstance(record, MatchRecord) != is_match:
            raise RecordError("a frame holds deals or matches, not both: make one of each kind")
        rows += _match_rows(record, number) if isinstance(record, MatchRecord) else [_row(record)]
    schema = _schema(bool(is_match), _num_seats(rows[0]) if rows else 3)
    short = next((row for row in rows if row.keys() != schema.keys()), None)
    if short is not None:
        raise RecordError(f"not an entry for each seat: {short}")
    columns = {name: [row[name] for row in rows] for name in schema}
    try:
        return nw.from_dict(columns, schema=schema, backend=backend).to_native()
    except OverflowError as error:
        raise RecordError(f"a number is too large for a frame: {error}") from None


def from_frame(frame: Any) -> Iterator[Record]:
    """The records of a frame as `to_frame` makes it: deals in order, matches by number.

    Other columns are left alone.

    Raises:
        RecordError: a column that is missing, a match that lacks a deal, or a value that is none.
    """
    table = nw.from_native(frame, eager_only=True)
    is_match = "match" in table.columns
    schema = _schema(is_match, _num_seats(dict.fromkeys(table.columns)))
    missing = [name for name in schema if name not in table.columns]
    if missing:
        raise RecordError(f"the frame has no column {', '.join(missing)}")
    if not is_match:
        for row in table.iter_rows(named=True):
            yield DealRecord(
                **_common(row), **_deal_fields(row), agents=_seats(row, "agent", _text)
            )
        return
    rows = table.sort("match", "number").iter_rows(named=True)
    for number, deals in groupby(rows, key=lambda row: _cell(row, "match", _whole)):
        yield _match_of(number, list(deals))


def _schema(is_match: bool, seats: int) -> dict[str, Any]:
    single = _MATCH | _DEAL if is_match else _DEAL
    each = _SEATS | _MATCH_SEATS if is_match else _SEATS
    return single | {f"{n}_{seat}": kind for n, kind in each.items() for seat in range(seats)}


def _num_seats(row: Mapping[str, Any]) -> int:
    """Seats that have a column of whatever kind: where one lacks another, that is an error."""
    found = (re.fullmatch(_SEAT_COLUMN, name) for name in row)
    return max((int(match[1]) + 1 for match in found if match), default=1)


def _row(record: DealRecord) -> dict[str, Any]:
    return {
        **_shared(record),
        **_deal_columns(record),
        **_spread(agent=record.agents),
    }


def _match_rows(record: MatchRecord, number: int) -> Iterator[dict[str, Any]]:
    if not record.deals:
        raise RecordError("a match without deals has no rows in a frame")
    if record.start is not None:
        kapikia, kassa = list(record.start.kapikia), list(record.start.kassa)
    else:
        seats = len(record.agents)
        kapikia, kassa = [0] * seats, [rules_of(record).kassa] * seats
    shared = {
        **_shared(record),
        "match": number,
        "max_deals": record.max_deals or 0,
        "given": record.given,
        **_spread(
            agent=record.agents,
            kapikia_end=record.kapikia,
            kassa_end=record.kassa,
            score=record.score,
        ),
    }
    for deal_number, deal in enumerate(record.deals, 1):
        before = _spread(kapikia_before=kapikia, kassa_before=kassa)
        yield {**shared, "number": deal_number, **_deal_columns(deal), **before}
        if not len(kapikia) == len(kassa) == len(deal.kapikia) == len(deal.kassa):
            raise RecordError(f"not an entry for each seat: {deal}")
        kapikia = [a + b for a, b in zip(kapikia, deal.kapikia, strict=True)]
        kassa = [a + b for a, b in zip(kassa, deal.kassa, strict=True)]


def _shared(record: Record) -> dict[str, Any]:
    return {
        "game": record.game,
        "rules": msgspec.json.encode(record.rules).decode(),
        "seed": _seed_text(record.seed),
    }


def _deal_columns(deal: DealRecord | MatchDeal) -> dict[str, Any]:
    return {
        "deal": deal.deal,
        "actions": " ".join(deal.actions),
        **_spread(kapikia=deal.kapikia, kassa=deal.kassa, settled=deal.settled),
    }


def _spread(**values: Iterable[Any]) -> dict[str, Any]:
    """A column a seat."""
    return {f"{name}_{seat}": v for name, row in values.items() for seat, v in enumerate(row)}


def _match_of(number: int, rows: list[dict[str, Any]]) -> MatchRecord:
    for expected, row in enumerate(rows, 1):
        if _cell(row, "number", _whole) != expected:
            raise RecordError(f"match {number}: deal {expected} is missing, or stands twice")
    first = rows[0]
    record = MatchRecord(
        **_common(first),
        agents=_seats(first, "agent", _text),
        max_deals=_cell(first, "max_deals", _whole) or None,
        deals=tuple(MatchDeal(**_deal_fields(row)) for row in rows),
        kapikia=_seats(first, "kapikia_end", _whole),
        kassa=_seats(first, "kassa_end", _whole),
        score=_seats(first, "score", _number),
        given=_cell(first, "given", _truth),
    )
    for name in ("kapikia", "kassa"):
        before, change, end = (
            _seats(rows[-1], column, _whole) for column in (f"{name}_before", name, f"{name}_end")
        )
        if tuple(a + b for a, b in zip(before, change, strict=True)) != end:
            raise RecordError(f"match {number}: {name} does not end with its last row: deals lack")
    start = Start(
        kassa=_seats(first, "kassa_before", _whole), kapikia=_seats(first, "kapikia_before", _whole)
    )
    is_usual = not any(start.kapikia) and set(start.kassa) == {rules_of(record).kassa}
    return record if is_usual else msgspec.structs.replace(record, start=start)


def _common(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "game": _cell(row, "game", _text),
        "rules": _cell(row, "rules", msgspec.json.Decoder(dict[str, bool | int | str]).decode),
        "seed": _cell(row, "seed", _parse_seed),
    }


def _deal_fields(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "deal": _cell(row, "deal", _text),
        "actions": tuple(_cell(row, "actions", _text).split()),
        "kapikia": _seats(row, "kapikia", _whole),
        "kassa": _seats(row, "kassa", _whole),
        "settled": _seats(row, "settled", _number),
    }


def _seats(row: dict[str, Any], name: str, read: Callable[[Any], T]) -> tuple[T, ...]:
    return tuple(_cell(row, f"{name}_{seat}", read) for seat in range(_num_seats(row)))


def _cell(row: dict[str, Any], column: str, read: Callable[[Any], T]) -> T:
    """A value of a row; RecordError, naming the column, if it is none."""
    try:
        return read(row[column])
    except (TypeError, ValueError) as error:  # msgspec's errors too
        raise RecordError(f"column {column!r}: {error}") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"must be text, not {value!r}")
    return value


def _whole(value: Any) -> int:
    # A column with gaps holds whole numbers as floats.
    is_number = isinstance(value, Integral | float) and math.isfinite(value)
    if not is_number or int(value) != value:
        raise ValueError(f"must be an integer, not {value!r}")
    return int(value)


def _number(value: Any) -> float:
    if value is None or isinstance(value, str):
        raise TypeError(f"must be a number, not {value!r}")
    return float(value)


def _truth(value: Any) -> bool:
    if value not in (True, False):
        raise ValueError(f"must be true or false, not {value!r}")
    return bool(value)


_NUMBER = re.compile(r"-?\d+", re.ASCII)


def _seed_text(seed: str | int) -> str:
    is_plain = isinstance(seed, int) or not (seed.startswith('"') or _NUMBER.fullmatch(seed))
    return str(seed) if is_plain else msgspec.json.encode(seed).decode()


def _parse_seed(value: Any) -> str | int:
    text = str(value) if isinstance(value, int) else _text(value)  # CSV may have made it a number
    if _NUMBER.fullmatch(text):
        return int(text)
    return msgspec.json.decode(text, type=str) if text.startswith('"') else text
