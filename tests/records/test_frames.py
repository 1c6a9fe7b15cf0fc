"""Records as data frames of pandas and polars, and back without loss."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from msgspec.structs import replace

from prefa_env.prefa import Rules
from prefa_env.records import DealRecord, MatchRecord, RecordError, Start, replay
from prefa_env.records.frames import Backend, from_frame, to_frame
from tests.records.played import random_deal, random_match

RNG = random.Random(7)
SEEDS: list[str | int] = ["set:3", 3, "3", "-3", -3, '"3"', "", 10**25, "٣", "null", 'a "b", c\n']
DEALS = [replace(random_deal(RNG)[0], seed=seed) for seed in SEEDS]
MATCHES = [random_match(RNG)[0] for _ in range(20)]
BACKENDS: list[Backend] = ["pandas", "polars"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("records", [DEALS, MATCHES], ids=["deals", "matches"])
def test_round_trip(records: list[DealRecord] | list[MatchRecord], backend: Backend) -> None:
    assert any(isinstance(r, DealRecord) or r.start for r in records)
    frame = to_frame(records, backend)
    assert isinstance(frame, pd.DataFrame if backend == "pandas" else pl.DataFrame)
    assert list(from_frame(frame)) == records


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_records(backend: Backend) -> None:
    assert list(from_frame(to_frame([], backend))) == []


def test_files_of_both_libraries(tmp_path: Path) -> None:
    for records in (DEALS[:1] * 3, MATCHES):
        to_frame(records, "polars").write_parquet(tmp_path / "p")
        assert list(from_frame(pl.read_parquet(tmp_path / "p"))) == records
        to_frame(records, "polars").write_csv(tmp_path / "c")
        assert list(from_frame(pl.read_csv(tmp_path / "c"))) == records
        to_frame(records, "pandas").to_csv(tmp_path / "c", index=False)
        assert list(from_frame(pd.read_csv(tmp_path / "c"))) == records


def test_a_row_a_deal_with_the_standings_before_it() -> None:
    match = next(m for m in MATCHES if len(m.deals) > 2)
    table = replay(match)
    frame: Any = to_frame([MATCHES[0], match], "pandas")
    rows = frame[frame.match == 2]
    assert list(rows.number) == list(range(1, len(match.deals) + 1))
    for seat in range(3):
        kassas = rows[f"kassa_before_{seat}"] + rows[f"kassa_{seat}"]
        assert list(kassas[:-1]) == list(rows[f"kassa_before_{seat}"][1:])
        assert kassas.iloc[-1] == table.kassa[seat] == rows[f"kassa_end_{seat}"].iloc[0]


def test_rows_in_any_order() -> None:
    frame = to_frame(MATCHES, "pandas").sample(frac=1, random_state=1)
    assert list(from_frame(frame)) == MATCHES


def test_what_is_no_frame_of_records() -> None:
    with pytest.raises(RecordError, match="deals or matches, not both"):
        to_frame([DEALS[0], MATCHES[0]])
    with pytest.raises(RecordError, match="not an entry for each seat"):
        to_frame([replace(DEALS[0], kassa=(1, 2))])
    frame = to_frame(MATCHES, "pandas")
    with pytest.raises(RecordError, match="the frame has no column actions, kassa_1"):
        list(from_frame(frame.drop(columns=["kassa_1", "actions"])))
    long = next(number for number, match in enumerate(MATCHES, 1) if len(match.deals) > 2)
    holed = frame[(frame.match != long) | (frame.number != 2)]
    with pytest.raises(RecordError, match=f"match {long}: deal 2 is missing"):
        list(from_frame(holed))
    deals = to_frame(DEALS, "pandas").astype({"kassa_0": object})
    deals.loc[1, "kassa_0"] = "many"
    with pytest.raises(RecordError, match=r"column 'kassa_0': must be an integer, not 'many'"):
        list(from_frame(deals))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("rules", "{", "column 'rules': "),
        ("seed", '"', "column 'seed': "),
        ("deal", None, "column 'deal': must be text"),
        ("agent_0", None, "column 'agent_0': must be text, not None"),
        ("kapikia_0", 1.7, "column 'kapikia_0': must be an integer, not 1.7"),
        ("kassa_2", float("nan"), "column 'kassa_2': must be an integer, not nan"),
        ("settled_1", "x", "column 'settled_1': must be a number, not 'x'"),
        ("max_deals", float("nan"), "column 'max_deals': must be an integer, not nan"),
        ("match", float("nan"), "column 'match': must be an integer, not nan"),
        ("given", "yes", "column 'given': must be true or false, not 'yes'"),
    ],
)
def test_bad_cells_are_named(column: str, value: Any, message: str) -> None:
    records = MATCHES if column in {"max_deals", "match", "given"} else DEALS
    frame = to_frame(records, "pandas").astype({column: object})
    frame.loc[0, column] = value
    with pytest.raises(RecordError, match=message):
        list(from_frame(frame))


def test_seats_and_rows_that_lack() -> None:
    frame = to_frame(DEALS, "pandas")
    with pytest.raises(RecordError, match="the frame has no column agent_2"):
        list(from_frame(frame.drop(columns=["agent_2"])))
    matches = to_frame(MATCHES, "pandas")
    last = matches.groupby("match").number.transform("max")
    long = next(number for number, match in enumerate(MATCHES, 1) if len(match.deals) > 2)
    cut = matches[(matches.match != long) | (matches.number != last)]
    with pytest.raises(RecordError, match=f"match {long}: .* does not end with its last row"):
        list(from_frame(cut))
    with pytest.raises(RecordError, match="without deals"):
        to_frame([replace(MATCHES[0], deals=())])
    with pytest.raises(RecordError, match="too large"):
        to_frame([replace(DEALS[0], kapikia=(10**30, 0, 0))])


def test_a_match_from_other_standings() -> None:
    start = Start(kassa=(2, 2, 2), kapikia=(5, 0, -5))
    match, _ = random_match(random.Random(3), rules=Rules(kassa=2), start=start, max_deals=1)
    assert list(from_frame(to_frame([match]))) == [match]
