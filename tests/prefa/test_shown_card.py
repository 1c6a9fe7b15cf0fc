"""The card that first hand shows (P4, option `first_bid`) stays where everybody saw it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from agents.search.recall import recall_tables
from agents.search.worlds import draw_worlds, enter_world
from prefa_env import prefa
from prefa_env.prefa import Rules, State, start_match
from prefa_env.prefa.kernel import is_as_shown
from tests.helpers import bytes_of, members, new_table, observation_of, shuffled

RULES = Rules(first_bid="seven_of_diamonds", aces_bonus=True)
FLAGS = RULES.flags | prefa.MATCH
SEVEN, EIGHT = 16, 17


def first_deals(seed: int, count: int) -> Iterator[State]:
    """Tables of first deals at every decision; half of them with the seven in the talon."""
    rng = random.Random(seed)
    table = new_table()
    for number in range(count):
        deck = shuffled(rng)
        if number % 2:
            deck.remove(SEVEN)
            deck.append(SEVEN)
        start_match(table, 31, 0)
        if not prefa.deal_first(table, FLAGS, np.array(deck, np.int8), 0):
            continue
        while table.seat >= 0:
            yield table
            legal = members(prefa.legal_actions(table))
            calls = [a for a in legal if a not in (33, 59)] if rng.random() < 0.5 else legal
            prefa.step(table, rng.choice(calls or legal))


def check(table: State) -> None:
    """The deal that the table now holds would have shown the same card."""
    again = new_table()
    deck = np.array(prefa.deck_of(table), np.int8)
    assert prefa.deal_first(again, FLAGS, deck, 0)
    assert again.shown_card == table.shown_card
    assert again.first == table.first


def test_what_is_dealt_anew() -> None:
    rng = np.random.default_rng(0)
    dealt, refused, shown = 0, 0, set()
    for table in first_deals(1, 60):
        assert is_as_shown(table, table.hands[table.first], table.talon, table.discards)
        for seat in range(3):
            world = table.copy()
            before = bytes_of(world)
            decks = [rng.permutation(32).astype(np.int8) for _ in range(2)]
            if prefa.redeal_hidden(world, seat, *decks):
                check(world)
                dealt += 1
                shown.add(int(world.shown_card))
            else:
                assert bytes_of(world) == before
                refused += 1
    assert dealt > 300 and refused > 300
    assert shown == {SEVEN + 1, EIGHT + 1}


def test_worlds_of_search_players() -> None:
    worlds = np.zeros((4, 4), np.int64)
    shown, distinct, drawn = set(), 0, 0
    for number, table in enumerate(first_deals(2, 40)):
        if number % 3:
            continue
        seen: State = recall_tables(observation_of(table, int(table.seat))[None], RULES.flags)[0]
        assert draw_worlds(seen, np.uint64(number), worlds)
        for world in worlds:
            enter_world(seen, world)
            check(seen)
        distinct += len({world.tobytes() for world in worlds})
        drawn += len(worlds)
        shown.add(int(seen.shown_card))
    assert distinct > 0.9 * drawn
    assert shown == {SEVEN + 1, EIGHT + 1}


@pytest.mark.parametrize("card", [SEVEN, EIGHT])
def test_no_world_if_the_card_lies_elsewhere(card: int) -> None:
    """First hand holds only cards that were seen, and not the one it has shown."""
    table = next(t for t in first_deals(3, 10) if t.shown_card == card + 1)
    seen: State = recall_tables(observation_of(table, int(table.first))[None], RULES.flags)[0]
    seen.hands[0] ^= 1 << card
    other = next(c for c in range(32) if not int(seen.hands[0]) >> c & 1 and c != card)
    seen.hands[0] |= 1 << other
    assert not draw_worlds(seen, np.uint64(0), np.zeros((1, 4), np.int64))
