"""The evaluator's records: every deal and seating is written, replays to its end, can be shown."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from msgspec.structs import replace

from agents import make_agent
from agents.arena import play
from agents.benchmarks import SeedSet
from agents.designs import rotations
from agents.records import open_records, show
from prefa_env import prefa
from prefa_env.doors import find_game
from prefa_env.prefa import Rules
from prefa_env.records import (
    DealRecord,
    MatchRecord,
    RecordError,
    parse_record,
    read_records,
    replay,
    replay_deals,
    write_records,
)
from prefa_env.sheet import ScoreSheet
from tests.records.played import random_match

GAME = find_game("prefa")
SEEDS = SeedSet("test")
SITE = Rules.site()


def write(path: Path, deals: int = 20, batch_size: int = 8, rules: Rules = SITE) -> None:
    agents = [make_agent("pass-always"), make_agent("uniform")]
    with open_records(path, GAME, rules) as writer:
        for played in play(GAME, rules, agents, rotations(3), SEEDS, deals, batch_size):
            writer.write(played, SEEDS, [agent.name for agent in agents])


def read_deals(path: Path) -> list[DealRecord]:
    return [record for record in read_records(path) if isinstance(record, DealRecord)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "deals.jsonl"
    write(path)
    return path


@pytest.fixture(scope="module")
def played_out(path: Path) -> DealRecord:
    """A deal in which kapikia and kassa have changed."""
    return next(r for r in read_deals(path) if any(r.kapikia) and any(r.kassa))


def test_every_deal_and_rotation_is_there(path: Path) -> None:
    records = read_deals(path)
    assert len(records) == 60
    assert [record.seed for record in records[::3]] == [f"test:{d}" for d in range(20)]
    decks, dealers = SEEDS.deals(GAME, np.arange(20))
    for d in range(20):
        three = records[3 * d : 3 * d + 3]
        text = prefa.deal_text(dealers[d], decks[d].tolist())
        assert {record.deal for record in three} == {text}
        assert [record.agents.index("pass-always") for record in three] == [0, 1, 2]
        assert all(record.agents.count("uniform") == 2 for record in three)


def test_the_fields_of_a_line(path: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        values = json.loads(line)
        assert list(values) == [
            "v", "game", "rules", "deal", "actions", "agents",
            "kapikia", "kassa", "settled", "seed",
        ]  # fmt: skip
        assert (values["v"], values["game"]) == (1, "prefa")
        assert Rules(**values["rules"]) == SITE
        assert sum(values["kapikia"]) == 0
        assert abs(sum(values["settled"])) < 1e-9


def test_replay_ends_the_same(path: Path) -> None:
    for record in read_deals(path):
        table = replay(record)
        assert tuple(table.kapikia_change) == record.kapikia
        assert tuple(table.kassa_change) == record.kassa
        assert tuple(table.settled_thirds / 3) == record.settled


def test_line_round_trip(path: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        assert parse_record(line).to_json() == line


def test_batch_size_changes_nothing(path: Path, tmp_path: Path) -> None:
    write(tmp_path / "other", batch_size=1)
    assert (tmp_path / "other").read_bytes() == path.read_bytes()


def test_nothing_is_left_of_an_interrupted_file(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), open_records(tmp_path / "x", GAME, SITE):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


# -- replaying ------------------------------------------------------------------------------------


def test_replay_refuses_another_end(played_out: DealRecord) -> None:
    for name in ("kapikia", "kassa", "settled"):
        first, *rest = getattr(played_out, name)
        for values in ((first + 1, *rest), (first,), (*rest, first)):
            if values == getattr(played_out, name):
                continue
            with pytest.raises(RecordError, match=f"field '{name}' is .* the replay ends with"):
                replay(replace(played_out, **{name: values}))


def test_replay_refuses_too_few_numbers(path: Path) -> None:
    passed_out = next(record for record in read_deals(path) if not any(record.settled))
    for values in ((0,), (0, 0), ()):
        with pytest.raises(RecordError, match="field 'kapikia' is"):
            replay(replace(passed_out, kapikia=values))


def test_replay_allows_rounded_thirds(played_out: DealRecord) -> None:
    replay(replace(played_out, settled=tuple(round(x, 7) for x in played_out.settled)))
    with pytest.raises(RecordError, match="settled"):
        replay(replace(played_out, settled=tuple(x + 1e-3 for x in played_out.settled)))


def test_replay_under_other_rules_ends_otherwise(tmp_path: Path) -> None:
    write(tmp_path / "x", deals=200)
    ends = 0
    for record in read_deals(tmp_path / "x"):
        try:
            replay(replace(record, rules=Rules().to_dict()))
        except RecordError:
            ends += 1
    assert ends > 0


def test_a_line_is_shown(path: Path) -> None:
    assert "the replay agrees" in show(f"{path}:60")
    with pytest.raises(RecordError, match="has no line 61"):
        show(f"{path}:61")


def test_a_match_is_shown(tmp_path: Path) -> None:
    match, _ = random_match(random.Random(1))
    write_records(tmp_path / "m", [match])
    text = show(str(tmp_path / "m"))
    assert f"match {match.seed}: {len(match.deals)} deals\n" in text
    sheet = ScoreSheet.of_tables(["player_0", "player_1", "player_2"], replay_deals(match))
    assert sheet.text(annotated=True) in text
    assert "score " in text and "the replay agrees" in text


def test_a_broken_line_is_not_shown(path: Path, tmp_path: Path) -> None:
    first, second, *_ = path.read_text("utf-8").splitlines()
    (tmp_path / "x").write_text(f"[]\n{first}\n{second[:-9]}0]}}\n", "utf-8")
    assert "the replay agrees" in show(f"{tmp_path / 'x'}:2")
    for line in (1, 3):
        with pytest.raises(RecordError, match=f"x:{line}: "):
            show(f"{tmp_path / 'x'}:{line}")


@pytest.mark.parametrize("rules", [Rules(kassa=3), Rules(kassa=6, aces_bonus=True)])
def test_matches_are_written(tmp_path: Path, rules: Rules) -> None:
    agents = [make_agent("uniform", "prefa", rules), make_agent("heuristic", "prefa", rules)]
    lots = list(play(GAME, rules, agents, rotations(3), SEEDS, 5, 2, episode="match", max_deals=9))
    with open_records(tmp_path / "m", GAME, rules, None, "match", 9) as writer:
        for lot in lots:
            writer.write(lot, SEEDS, [agent.name for agent in agents])
    records = [cast(MatchRecord, record) for record in read_records(tmp_path / "m")]
    assert [record.seed for record in records] == [f"test:{n}" for n in range(5) for _ in "abc"]
    ends = np.concatenate([lot.settled_thirds.reshape(-1, 3) for lot in lots]) / 3
    lengths = np.concatenate([lot.lengths.reshape(-1) for lot in lots])
    for number, record in enumerate(records):
        replay(record)
        assert record.score == pytest.approx(ends[number].tolist())
        assert len(record.deals) == lengths[number]
        assert record.agents.index("uniform") == number % 3
