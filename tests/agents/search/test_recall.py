"""An observation decodes back to the table, and a table to its history."""

from __future__ import annotations

import numpy as np
import pytest

from agents.search.history import MAX_ACTIONS, initial_deck, past_actions
from agents.search.recall import recall_tables
from agents.search.worlds import enter_world
from prefa_env import prefa
from prefa_env.prefa.rules import Flag, Phase
from tests.agents.search.positions import holding, positions, turned
from tests.helpers import bytes_of, new_table, observation_of


@pytest.mark.parametrize("flag", [0, int(Flag.MATCH)])
def test_nothing_but_hidden_cards_is_lost(flag: int) -> None:
    seen_phases = set()
    for table, rules in positions("recall", 60, flag=flag):
        me = int(table.seat)
        recalled = recall_tables(observation_of(table, me)[None], rules.flags)[0]
        expected = turned(table, me)
        is_declarer = table.phase != Phase.AUCTION and table.owner == me
        for seat in (1, 2):
            assert recalled.hands[seat] == 0
        assert recalled.talon == (expected.talon if is_declarer else 0)
        assert recalled.discards == (expected.discards if is_declarer else 0)
        enter_world(recalled, np.array(holding(table, me)))
        if flag == 0:  # a single deal shows no kassas
            for name in ("kassa", "kapikia"):
                expected[name] = 0  # type: ignore[index]
        assert bytes_of(recalled) == bytes_of(expected), prefa.action_text(0)
        seen_phases.add(int(table.phase))
    assert seen_phases == {int(p) for p in Phase} - {int(Phase.OVER)}


def test_history_replays_to_the_same_table() -> None:
    actions = np.zeros(MAX_ACTIONS, np.int8)
    deck = np.zeros(32, np.int8)
    for table, rules in positions("history", 60):
        count = past_actions(table, actions)
        initial_deck(table, deck)
        again = new_table()
        again.kassa[:] = table.kassa
        again.kapikia[:] = table.kapikia
        prefa.deal(again, rules.flags, deck, int(table.dealer))
        for action in actions[:count]:
            assert prefa.legal_actions(again) >> int(action) & 1
            prefa.step(again, int(action))
        assert bytes_of(again) == bytes_of(table)


def test_other_layouts_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"must be int8 \[B, \d+\], not \[1, 3\]"):
        recall_tables(np.zeros((1, 3), np.int8), 0)
