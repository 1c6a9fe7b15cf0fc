"""Records as data frames of pandas or polars, and back: a row a deal, plain values in every column.

A frame holds deals or matches. Needs the extra `frames`; polars if its frames are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Literal

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
    return nw.from_dict(columns, schema=schema, backend=backend).to_native()


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
            yield DealRecord(**_common(row), **_deal_fields(row), agents=_seats(row, "agent", str))
        return
    rows = table.sort("match", "number").iter_rows(named=True)
    for number, deals in groupby(rows, key=lambda row: int(row["match"])):
        yield _match_of(number, list(deals))


def _schema(is_match: bool, seats: int) -> dict[str, Any]:
    single = _MATCH | _DEAL if is_match else _DEAL
    each = _SEATS | _MATCH_SEATS if is_match else _SEATS
    return single | {f"{n}_{seat}": kind for n, kind in each.items() for seat in range(seats)}


def _num_seats(row: Mapping[str, Any]) -> int:
    return max(1, sum(re.fullmatch(r"agent_\d+", name) is not None for name in row))


def _row(record: DealRecord) -> dict[str, Any]:
    return {
        **_shared(record),
        **_deal_columns(record),
        **_spread(agent=record.agents),
    }


def _match_rows(record: MatchRecord, number: int) -> Iterator[dict[str, Any]]:
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
        if int(row["number"]) != expected:
            raise RecordError(f"match {number}: deal {expected} is missing, or stands twice")
    first = rows[0]
    record = MatchRecord(
        **_common(first),
        agents=_seats(first, "agent", str),
        max_deals=int(first["max_deals"]) or None,
        deals=tuple(MatchDeal(**_deal_fields(row)) for row in rows),
        kapikia=_seats(first, "kapikia_end", int),
        kassa=_seats(first, "kassa_end", int),
        score=_seats(first, "score", float),
        given=bool(first["given"]),
    )
    start = Start(
        kassa=_seats(first, "kassa_before", int), kapikia=_seats(first, "kapikia_before", int)
    )
    is_usual = not any(start.kapikia) and set(start.kassa) == {rules_of(record).kassa}
    return record if is_usual else msgspec.structs.replace(record, start=start)


def _common(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "game": str(row["game"]),
        "rules": msgspec.json.decode(row["rules"], type=dict[str, bool | int | str]),
        "seed": _parse_seed(str(row["seed"])),
    }


def _deal_fields(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "deal": str(row["deal"]),
        "actions": tuple(str(row["actions"]).split()),
        "kapikia": _seats(row, "kapikia", int),
        "kassa": _seats(row, "kassa", int),
        "settled": _seats(row, "settled", float),
    }


def _seats(row: dict[str, Any], name: str, kind: Any) -> tuple[Any, ...]:
    columns = [f"{name}_{seat}" for seat in range(_num_seats(row))]
    try:
        return tuple(kind(row[column]) for column in columns)
    except (TypeError, ValueError) as error:
        raise RecordError(f"columns {', '.join(columns)}: {error}") from None


_NUMBER = re.compile(r"-?\d+", re.ASCII)


def _seed_text(seed: str | int) -> str:
    is_plain = isinstance(seed, int) or not (seed.startswith('"') or _NUMBER.fullmatch(seed))
    return str(seed) if is_plain else msgspec.json.encode(seed).decode()


def _parse_seed(text: str) -> str | int:
    if _NUMBER.fullmatch(text):
        return int(text)
    return msgspec.json.decode(text, type=str) if text.startswith('"') else text
