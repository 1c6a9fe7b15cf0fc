"""Records replay to the identical table, and whatever does not follow from the rules is named."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prefa_env import prefa
from prefa_env.prefa import Rules
from prefa_env.records import (
    DealRecord,
    MatchRecord,
    RecordError,
    Start,
    parse_record,
    read_records,
    replay,
    write_records,
)
from tests.helpers import bytes_of
from tests.records.played import NAMES, random_deal, random_deck, random_match

fixed = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@fixed
@given(st.randoms(use_true_random=False))
def test_deals_and_matches_replay_to_the_identical_table(rng: random.Random) -> None:
    for record, table in (random_deal(rng), random_match(rng)):
        read = parse_record(record.to_json())
        assert read == record
        assert bytes_of(replay(read)) == bytes_of(table)


def test_a_file_of_both(tmp_path: Path) -> None:
    rng = random.Random(1)
    records = [play(rng)[0] for play in (random_deal, random_match) * 20]
    for name in ("r.jsonl", "r.jsonl.gz"):
        assert write_records(tmp_path / name, iter(records)) == 40
        assert list(read_records(tmp_path / name)) == records


def test_matches_of_every_kind_are_drawn() -> None:
    rng = random.Random(2)
    matches = [random_match(rng)[0] for _ in range(200)]
    floored = [
        sum(d.kassa) != sum(d.kassa[seat] for seat in range(3) if d.kassa[seat] >= 0)
        and sum(change < 0 for change in d.kassa) > 1
        for m in matches
        for d in m.deals
    ]
    assert any(floored)
    assert any(m.max_deals is None and not any(m.kassa) for m in matches)
    assert any(m.max_deals and any(m.kassa) for m in matches)
    assert any(m.rules["first_bid"] != "dealer" and not m.start and not m.given for m in matches)


# -- single deals ---------------------------------------------------------------------------------

DECLINED = DealRecord(
    game="prefa",
    rules=dict(Rules().to_dict()),
    deal="0:T9.Q9.AJ87.A9 AKQ.J8.KT.KQT J87.KT7.Q.J87 .A.9.",
    actions=("write", "pass", "pass", "C8", "D9", "write"),
    agents=NAMES,
    kapikia=(2, -4, 2),
    kassa=(0, 2, 0),
    settled=(26 / 3, -52 / 3, 26 / 3),
    seed=1,
)

BAD_DEALS: dict[str, tuple[dict[str, Any], str]] = {
    "game": ({"game": "chess"}, "field 'game': no such game: 'chess'"),
    "option": ({"rules": {"hod": 1}}, "field 'rules': .*hod"),
    "value": ({"rules": {"hold": "x"}}, "field 'rules': .*hold must be one of"),
    "kassa": ({"rules": {"kassa": -1}}, "field 'rules': .*kassa must be an integer of 1 to"),
    "true kassa": ({"rules": {"kassa": True}}, "field 'rules': .*kassa must be an integer"),
    "deal": ({"deal": "3:"}, "field 'deal': a deal begins with"),
    "action": ({"actions": ("7X",)}, "field 'actions': no such action: '7X'"),
    "illegal": ({"actions": ("7S",)}, "'actions': number 1, 7S, is illegal; legal: .*6S"),
    "too many": (
        {"actions": (*DECLINED.actions, "pass")},
        "'actions': number 7, pass, is illegal; legal: none, the deal is over",
    ),
    "unfinished": ({"actions": ("pass",)}, "'actions': the deal is not over after 1"),
    "none": ({"actions": ()}, "'actions': the deal is not over after 0"),
    "agents": ({"agents": ("a",)}, "field 'agents' must have 3"),
    "kapikia": ({"kapikia": (2, -4, 3)}, r"field 'kapikia' is .* ends with \[2, -4, 2\] \(S1-S3"),
    "huge": ({"kapikia": (10**400, -4, 2)}, "field 'kapikia' is"),
    "short": ({"kassa": (0, 2)}, r"field 'kassa' is \[0, 2\], the replay ends with"),
    "settled": ({"settled": (8.667, -17.333, 8.667)}, "field 'settled' is"),
    "nan": ({"settled": (float("nan"), -52 / 3, 26 / 3)}, "field 'settled' is .*nan"),
}


@pytest.mark.parametrize("change", BAD_DEALS)
def test_what_a_deal_says_wrong_is_named(change: str) -> None:
    replay(replace(DECLINED, rules={"kassa": 1}))  # true may not pass for this 1 afterwards
    values, message = BAD_DEALS[change]
    with pytest.raises(RecordError, match=message):
        replay(replace(DECLINED, **values))


def test_other_writers_may_round_thirds() -> None:
    replay(replace(DECLINED, settled=tuple(round(value, 7) for value in DECLINED.settled)))


# -- matches --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def match() -> MatchRecord:
    """A match of default rules that ends with all kassas at 0, with the floor on the way."""
    rng = random.Random(5)
    while True:
        found, _ = random_match(rng, rules=Rules(kassa=4), max_deals=None, start=None, given=False)
        if len(found.deals) > 3 and any(sum(c < 0 for c in d.kassa) > 1 for d in found.deals):
            return found


Change = Callable[[dict[str, Any]], object]


def turn(deal: str) -> str:
    """The same cards, dealt by the player before."""
    return str((int(deal[0]) + 2) % 3) + deal[1:]


def second(match: dict[str, Any], **values: Any) -> None:
    match["deals"][1] |= values


BAD_MATCHES: dict[str, tuple[Change, str]] = {
    "dealer": (
        lambda m: second(m, deal=turn(m["deals"][1]["deal"])),
        r"deal 2: field 'deal': P4: player_\d deals next, not player_\d$",
    ),
    "illegal": (lambda m: second(m, actions=["10NT"]), "deal 2: field 'actions': number 1, 10NT"),
    "cards": (lambda m: second(m, deal="0: "), "deal 2: field 'deal': a deal has 4 parts"),
    "kassa": (lambda m: second(m, kassa=[-9, 0, 0]), r"deal 2: field 'kassa' .*\(S1-S4\)"),
    "kapikia": (lambda m: second(m, kapikia=[1, 0, -1]), r"deal 2: field 'kapikia' .*\(S1-S4\)"),
    "settled": (lambda m: second(m, settled=[0, 0, 1]), "deal 2: field 'settled' is"),
    "no deals": (lambda m: m.update(deals=[]), "field 'deals' holds no deal"),
    "too few": (lambda m: m["deals"].pop(), r"field 'deals': the match is not over .*\(S6\), no"),
    "too many": (
        lambda m: m["deals"].append(m["deals"][0]),
        r"deal \d+: field 'deal': the match was over before it \(S6",
    ),
    "left out": (lambda m: m["deals"].pop(1), "deal 2: field 'deal': P4: player"),
    "capped": (lambda m: m.update(max_deals=2), "deal 3: field 'deal': the match was over"),
    "end": (lambda m: m.update(kassa=[0, 0, 1]), r"field 'kassa' is \[0, 0, 1\].*\(S6\)"),
    "money": (lambda m: m.update(kapikia=[0, 0, 0]), "field 'kapikia' is"),
    "score": (lambda m: m.update(score=[0, 0, 0.1]), "field 'score' is"),
    "agents": (lambda m: m["agents"].pop(), "field 'agents' must have 3 entries"),
    "start": (
        lambda m: m.update(start={"kassa": [0, 0, 0], "kapikia": [0, 0, 0]}),
        "field 'start': kassas are all 0: such a match is over",
    ),
    "start sum": (
        lambda m: m.update(start={"kassa": [1, 0, 0], "kapikia": [0, 0, 5]}),
        "field 'start': kapikia must add up to 0, not 5",
    ),
    "start short": (
        lambda m: m.update(start={"kassa": [1, 0], "kapikia": [0, 0, 0]}),
        "field 'start': kassas must be 3 integers",
    ),
    "start usual": (
        lambda m: m.update(start={"kassa": [4, 4, 4], "kapikia": [0, 0, 0]}),
        "field 'start' is the usual start of these rules: leave it out",
    ),
    "start other": (
        lambda m: m.update(start={"kassa": [4, 4, 9], "kapikia": [0, 0, 0]}),
        r"deal \d+: field 'ka.* the replay ends with .*\(S1-S4\)",
    ),
    "low kassa": (
        lambda m: m.update(start={"kassa": [-1, 1, 0], "kapikia": [0, 0, 0]}),
        r"field 'start.kassa\[0\]': expected `int` >= 0",
    ),
    "high kassa": (
        lambda m: m.update(start={"kassa": [1, 16384, 0], "kapikia": [0, 0, 0]}),
        r"field 'start.kassa\[1\]': expected `int` <= 16383",
    ),
    "high kapikia": (
        lambda m: m.update(start={"kassa": [1, 0, 0], "kapikia": [-16384, 16384, 0]}),
        r"field 'start.kapikia\[0\]': expected `int` >= -16383",
    ),
    "no cap": (lambda m: m.update(max_deals=0), "field 'max_deals': expected `int` >= 1"),
    "below 0": (lambda m: m.update(max_deals=-3), "field 'max_deals': expected `int` >= 1"),
    "huge cap": (lambda m: m.update(max_deals=10**30), "field 'max_deals'"),
    "rules": (lambda m: m["rules"].update(kassa=0), "field 'rules': .*kassa must be an integer"),
    "nested": (lambda m: second(m, kassa=["x", 0, 0]), r"deal 2: field 'kassa\[0\]': expected"),
    "missing": (lambda m: m["deals"][1].pop("settled"), "deal 2: field 'settled' is missing"),
    "unknown": (lambda m: second(m, v=1), "deal 2: field 'v' is unknown"),
    "no deal": (lambda m: m["deals"].append(3), r"deal \d+: expected `object`, got `int`"),
}


@pytest.mark.parametrize("change", BAD_MATCHES)
def test_what_does_not_follow_in_a_match_is_named(change: str, match: MatchRecord) -> None:
    values = json.loads(match.to_json())
    edit, message = BAD_MATCHES[change]
    edit(values)
    with pytest.raises(RecordError, match=message):
        replay(parse_record(json.dumps(values)))


@pytest.mark.parametrize("field", MatchRecord.__struct_fields__[:-2])
def test_missing_fields_of_a_match(field: str, match: MatchRecord) -> None:
    values = json.loads(match.to_json())
    assert "start" not in values and "given" not in values
    del values[field]
    with pytest.raises(
        RecordError, match=f"field '{field}' is missing|field 'max_deals' is unknown"
    ):
        parse_record(json.dumps(values))


def test_the_seven_of_diamonds_makes_first_hand() -> None:
    rules = Rules(kassa=3, first_bid="seven_of_diamonds")
    rng = random.Random(8)
    match, table = random_match(rng, rules=rules, max_deals=1, start=None, given=False)
    assert table.shown_card and replay(match).shown_card == table.shown_card
    first = match.deals[0]
    changed = replace(first, deal=turn(first.deal))
    with pytest.raises(RecordError, match=r"deal 1: field 'deal': P4: player_\d deals first, not"):
        replay(replace(match, deals=(changed,)))


@pytest.mark.parametrize(
    "says", [{"given": True}, {"start": Start(kassa=(3, 3, 2), kapikia=(0,) * 3)}]
)
def test_a_given_first_deal_knows_no_option_first_bid(says: dict[str, Any]) -> None:
    rules, rng = Rules(kassa=3, first_bid="seven_of_diamonds"), random.Random(9)
    drawn = {"rules": rules, "max_deals": 1, "start": None, "given": False} | says
    for _ in range(20):
        match, table = random_match(rng, **drawn)
        assert table.shown_card == 0
        assert bytes_of(replay(match)) == bytes_of(table)


def test_a_first_deal_that_would_be_dealt_anew() -> None:
    rules = Rules(kassa=3, first_bid="seven_of_diamonds")
    low = [prefa.PACK.parse_card(card) for card in ("D7", "D8")]
    deck = random_deck(random.Random(1))
    text = prefa.deal_text(0, [*(c for c in deck.tolist() if c not in low), *low])
    match, _ = random_match(random.Random(8), rules=rules, max_deals=1, start=None, given=False)
    anew = replace(match, deals=(replace(match.deals[0], deal=text),))
    with pytest.raises(RecordError, match=r"deal 1: field 'deal': P4: .*\"given\": true"):
        replay(anew)


def test_any_other_bookings_are_refused() -> None:
    rng = random.Random(3)
    for _ in range(20):
        match, _ = random_match(rng)
        number = rng.randrange(len(match.deals))
        deal = match.deals[number]
        name = rng.choice(["kassa", "kapikia", "settled"])
        right, *rest = getattr(deal, name)
        deals = [*match.deals]
        deals[number] = replace(deal, **{name: (right + 1, *rest)})
        with pytest.raises(RecordError, match=f"deal {number + 1}: field '{name}'"):
            replay(replace(match, deals=tuple(deals)))
