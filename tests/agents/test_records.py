"""Records: written, read, replayed to the same end; everything broken is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from agents import make_agent
from agents.arena import play
from agents.benchmarks import SeedSet
from agents.designs import rotations
from agents.records import open_records
from prefa_env import prefa
from prefa_env.doors import find_game
from prefa_env.prefa import Rules
from prefa_env.records import DealRecord, RecordError, parse_record, read_records, replay

GAME = find_game("prefa")
SEEDS = SeedSet("test")
SITE = Rules.site()


def write(path: Path, deals: int = 20, batch_size: int = 8, rules: Rules = SITE) -> None:
    agents = [make_agent("pass-always"), make_agent("uniform")]
    with open_records(path, GAME, rules) as writer:
        for played in play(GAME, rules, agents, rotations(3), SEEDS, deals, batch_size):
            writer.write(played, SEEDS, [agent.name for agent in agents])


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "deals.jsonl"
    write(path)
    return path


@pytest.fixture(scope="module")
def played_out(path: Path) -> DealRecord:
    """A deal in which kapikia and kassa have changed."""
    return next(r for r in read_records(path) if any(r.kapikia) and any(r.kassa))


def test_every_deal_and_rotation_is_there(path: Path) -> None:
    records = list(read_records(path))
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
    for record in read_records(path):
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


# -- reading --------------------------------------------------------------------------------------

CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "newer": ({"v": 2}, "field 'v': version 2 cannot be read, only 1"),
    "text version": ({"v": "1"}, "field 'v': version '1'"),
    "true version": ({"v": True}, "field 'v': version True"),
    "game": ({"game": 3}, "field 'game' must be text, not 3"),
    "rules": ({"rules": []}, "field 'rules' must be object"),
    "deal": ({"deal": None}, "field 'deal' must be text, not None"),
    "actions": ({"actions": "pass"}, "field 'actions' must be list, not 'pass'"),
    "action": ({"actions": ["pass", 3]}, "field 'actions' must hold text, not 3"),
    "kapikia": ({"kapikia": [1.5, 0, 0]}, "field 'kapikia' must hold integer, not 1.5"),
    "kassa": ({"kassa": [True, 0, 0]}, "field 'kassa' must hold integer, not True"),
    "settled": ({"settled": ["1", 0, 0]}, "field 'settled' must hold integer or number, not '1'"),
    "agents": ({"agents": [1, 2, 3]}, "field 'agents' must hold text, not 1"),
    "seed": ({"seed": None}, "field 'seed' must be text or integer, not None"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_broken_lines_are_named(change: str, path: Path, tmp_path: Path) -> None:
    values, message = CHANGES[change]
    lines = path.read_text("utf-8").splitlines()
    lines[4] = json.dumps({**json.loads(lines[4]), **values})
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join(lines), "utf-8")
    records = read_records(broken)
    assert [next(records) for _ in range(4)]
    with pytest.raises(RecordError) as error:
        next(records)
    assert str(error.value).startswith(f"{broken}:5: {message}")


@pytest.mark.parametrize("field", [f for f in CHANGES if f in DealRecord.__struct_fields__] + ["v"])
def test_missing_fields_are_named(field: str, path: Path) -> None:
    values = json.loads(path.read_text("utf-8").splitlines()[0])
    del values[field]
    with pytest.raises(RecordError, match=rf"field '{field}'"):
        parse_record(json.dumps(values))


@pytest.mark.parametrize(
    ("line", "message"),
    [("{", "is no JSON"), ("", "is no JSON"), ("[1]", "must be a JSON object, not list")],
)
def test_lines_that_are_no_objects(line: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse_record(line)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_records(tmp_path / "none"))


# -- replaying ------------------------------------------------------------------------------------


def _changed(record: DealRecord, values: dict[str, Any]) -> DealRecord:
    return replace(record, **values)


def test_replay_refuses_another_end(played_out: DealRecord) -> None:
    for name in ("kapikia", "kassa", "settled"):
        first, *rest = getattr(played_out, name)
        for values in ((first + 1, *rest), (first,), (*rest, first)):
            if values == getattr(played_out, name):
                continue
            with pytest.raises(RecordError, match=f"field '{name}' is .* the replay ends with"):
                replay(_changed(played_out, {name: values}))


def test_replay_refuses_too_few_numbers(path: Path) -> None:
    passed_out = next(record for record in read_records(path) if not any(record.settled))
    for values in ((0,), (0, 0), ()):
        with pytest.raises(RecordError, match="field 'kapikia' is"):
            replay(replace(passed_out, kapikia=values))


def test_replay_allows_rounded_thirds(played_out: DealRecord) -> None:
    replay(replace(played_out, settled=tuple(round(x, 7) for x in played_out.settled)))
    with pytest.raises(RecordError, match="settled"):
        replay(replace(played_out, settled=tuple(x + 1e-3 for x in played_out.settled)))


BAD_REPLAYS: dict[str, tuple[dict[str, Any], str]] = {
    "game": ({"game": "chess"}, "field 'game': no such game: 'chess'"),
    "option": ({"rules": {"hod": 1}}, "field 'rules': .*hod"),
    "value": ({"rules": {"hold": "x"}}, "field 'rules': .*hold must be one of"),
    "deal": ({"deal": "3:"}, "field 'deal': a deal begins with"),
    "action": ({"actions": ("7X",)}, "field 'actions': no such action: '7X'"),
    "illegal": ({"actions": ("7S",)}, "'actions': number 1, 7S, is illegal; legal: .*6S"),
    "unfinished": ({"actions": ("pass",)}, "'actions': the deal is not over after 1"),
    "agents": ({"agents": ("a",)}, "field 'agents' must have 3"),
}


@pytest.mark.parametrize("change", BAD_REPLAYS)
def test_replay_names_what_cannot_be_played(change: str, played_out: DealRecord) -> None:
    values, message = BAD_REPLAYS[change]
    with pytest.raises(RecordError, match=message):
        replay(_changed(played_out, values))


def test_replay_refuses_actions_after_the_end(played_out: DealRecord) -> None:
    actions = (*played_out.actions, "pass")
    with pytest.raises(RecordError, match="is illegal; legal: none, the deal is over"):
        replay(replace(played_out, actions=actions))


def test_replay_under_other_rules_ends_otherwise(tmp_path: Path) -> None:
    write(tmp_path / "x", deals=200)
    ends = 0
    for record in read_records(tmp_path / "x"):
        try:
            replay(replace(record, rules=Rules().to_dict()))
        except RecordError:
            ends += 1
    assert ends > 0


def test_a_file_that_is_no_text_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_bytes(b"\xff\xfe\n")
    with pytest.raises(RecordError, match=r"broken\.jsonl:1: .*utf-8"):
        list(read_records(file))


def test_numbers_of_any_size(played_out: DealRecord) -> None:
    with pytest.raises(RecordError, match="field 'kapikia' is"):
        replay(replace(played_out, kapikia=(10**400, 0, 0)))
