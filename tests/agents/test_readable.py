"""What a seat sees in plain values is what happened, and all of it is in the text."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.readable import SEATS, describe, describe_text, read_fields
from prefa_env import prefa
from prefa_env.prefa import OBSERVATION, Phase, Rules
from prefa_env.prefa.rules import Flag
from tests.helpers import (
    deal_table,
    do,
    legal_of,
    new_table,
    observation_of,
    random_game,
    random_rules,
    replayed,
)
from tests.reference import Deal

DOC = (Path(__file__).parents[2] / "docs" / "bots.md").read_text("utf-8")


def decisions(count: int) -> Iterator[tuple[Deal, Any, Rules, dict[str, list[Any]]]]:
    """Reference, table and rules before each action of random deals, and the history by phase."""
    rng = random.Random("readable")
    for _ in range(count):
        game = random_game(rng, random_rules(rng))
        table = deal_table(game.dealer, game.deck, game.rules)
        history: dict[str, list[Any]] = {phase.name.lower(): [] for phase in Phase}
        for action, deal in zip(game.actions, replayed(game), strict=False):
            yield deal, table, game.rules, history
            history[deal.phase].append((deal.seat, int(action)))
            prefa.step(table, action)


def relative(said: list[tuple[int, int]], me: int) -> list[list[str]]:
    return [[SEATS[(seat - me) % 3], prefa.action_text(action)] for seat, action in said]


def test_it_says_what_happened() -> None:
    roles = set()
    for deal, table, rules, history in decisions(60):
        me = int(table.seat)
        seen = describe(read_fields(observation_of(table, me)), rules.flags)
        assert seen["phase"] == deal.phase
        assert seen["hand"] == [prefa.action_text(card) for card in sorted(deal.hands[me])]
        assert seen["auction"] == relative(history["auction"], me)
        assert seen["defence"] == relative(history["defence"] + history["invite"], me)
        assert seen["cards"] == relative(history["play"], me)
        assert seen["first_hand"] == SEATS[(deal.first_hand - me) % 3]
        assert seen["tricks"] == {SEATS[(s - me) % 3]: n for s, n in enumerate(deal.tricks)}
        contract = relative(history["contract"], me)
        assert seen["contract"] == (contract[0][1] if contract else None)
        assert seen["is_misere"] == deal.misere
        is_declarer = deal.phase != "auction" and deal.declarer == me
        assert (seen["role"] == "declarer") == is_declarer
        discards = [text for _, text in relative(history["discard"], me)]
        assert seen["discards"] == (sorted(discards, key=prefa.parse_action) if is_declarer else [])
        assert len(seen["talon"]) == 2 * is_declarer
        size = len(seen["playing"])
        assert seen["trick"] == seen["cards"][len(seen["cards"]) // (size or 3) * (size or 3) :]
        roles.add(seen["role"])
    assert roles == {"bidder", "declarer", "defender", "invited", "misere"}


def test_all_fields_are_there_as_they_are() -> None:
    for _, table, _, _ in decisions(3):
        row = observation_of(table, int(table.seat))
        fields = read_fields(row)
        assert list(fields) == [field.name for field in OBSERVATION]
        assert np.concatenate([*fields.values()]).tolist() == row.tolist()
        assert json.loads(json.dumps(fields)) == fields


def test_text_says_all_that_is_seen() -> None:
    for _, table, rules, _ in decisions(20):
        seen = describe(read_fields(observation_of(table, int(table.seat))), rules.flags)
        legal = [prefa.action_text(action) for action in legal_of(table)]
        lines = dict(line.split(maxsplit=1) for line in describe_text(seen, legal).splitlines())
        assert lines["hand"].split() == seen["hand"]
        assert lines.get("unseen", "").split() == seen["unseen"]
        assert lines["legal"].split() == legal
        calls = [call.split() for call in lines.get("auction", "").split(", ") if call]
        assert calls == seen["auction"]
        text = describe_text(seen, legal)
        tricks = re.findall(r"^(?:trick \d+|on table) +(.*?)(?:;.*)?$", text, re.M)
        assert [play.split() for trick in tricks for play in trick.split(", ")] == seen["cards"]


def test_text() -> None:
    table = deal_table(dealer=2)
    do(table, "write pass pass S7 S8 7S pass play invite S9")
    seen = describe(read_fields(observation_of(table, 1)), Rules().flags)
    assert describe_text(seen, ["D7", "D8"]).splitlines()[1:] == [
        "phase     play, after is first hand",
        "role      invited",
        "hand      C9 CT CJ CQ CK CA D7 D8 D9 DT",
        "auction   after write, me pass, next pass",
        "contract  7S by after, value 7",
        "defence   me pass, next play, next invite",
        "plays     me next after",
        "on table  after S9; after is winning",
        "tricks    me 0, next 0, after 0",
        "owed      me 0, next 0, after 7, the defence together 3",
        "unseen    S7 S8 ST SJ SQ SK SA C7 C8 DJ DQ DK DA H7 H8 H9 HT HJ HQ HK HA",
        "legal     D7 D8",
    ]


def test_match() -> None:
    table = new_table()
    prefa.deal(table, Rules().flags | Flag.MATCH, np.arange(32, dtype=np.int8), 0)
    table.kassa[:], table.kapikia[:], table.deals_left = (31, 7, 300), (-200, 77, 123), 9
    table.shown_card = 17
    seen = describe(read_fields(observation_of(table, 1)), Rules().flags)
    assert seen["match"] == {
        "kassa": {"me": 7, "next": 300, "after": 31},
        "kapikia": {"me": 77, "next": 123, "after": -200},
        "deals_left": 9,
        "shown_card": "D7",
    }
    assert (
        "kassa me 7, next 300, after 31; kapikia me 77, next 123, after -200; "
        "deals left 9; first hand showed D7"
    ) in describe_text(seen, [])


def test_keys_are_documented() -> None:
    seen = describe(read_fields(observation_of(deal_table(), 0)), 0)
    table = DOC[DOC.index("### The observation") :]
    rows = re.findall(r"^\| (`.+?`) \| ", table, re.M)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(seen)


def test_other_layouts_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"an observation is int8 \[\d+\], not \[3\]"):
        read_fields(np.zeros(3, np.int8))
