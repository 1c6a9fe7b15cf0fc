"""Everything printed can be parsed back; a bad text is a ValueError that says what and where."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from prefa_env import prefa
from prefa_env.prefa import NUM_ACTIONS, Phase, Rules
from prefa_env.prefa.text import ACTION_TEXTS
from tests import reference
from tests.helpers import MAX_ACTIONS, Replay, bytes_of, deal_table, random_game, random_rules

DATA = Path(__file__).parents[1] / "data"
GAMES: dict[str, Any] = json.loads((DATA / "prefa_games.json").read_text(encoding="utf-8"))
DEAL = "2:AKQJT987.87.. .AKQJT9.T987. ..AKQJ.QJT987 ...AK"


def test_actions_have_texts() -> None:
    assert len(set(ACTION_TEXTS)) == NUM_ACTIONS
    for action in range(NUM_ACTIONS):
        assert prefa.parse_action(prefa.action_text(action)) == action
    for action in range(32):
        assert prefa.action_text(action) == reference.card_name(action)
    for action in range(32, NUM_ACTIONS):
        assert reference.parse_call(prefa.action_text(action)) == action
    assert (prefa.action_text(34), prefa.action_text(58)) == ("6S", "10NT")


@pytest.mark.parametrize("text", ["", "PASS", "5S", "11S", "6N", "6s", "10 NT", "SA ", "S6", "bid"])
def test_unknown_actions(text: str) -> None:
    with pytest.raises(ValueError, match="no such action: ") as error:
        prefa.parse_action(text)
    assert repr(text) in str(error.value)
    assert "pass, write, 6S ... 10NT, play, alone, invite" in str(error.value)


@pytest.mark.parametrize("action", [-1, 62, 100])
def test_numbers_that_are_no_actions(action: int) -> None:
    with pytest.raises(ValueError, match=f"no such action: {action} "):
        prefa.action_text(action)


def test_legal_text() -> None:
    assert prefa.legal_text(prefa.legal_actions(deal_table())) == "pass write 6S"
    assert prefa.legal_text(0) == "none, the deal is over"


def test_games_round_trip() -> None:
    rng = random.Random("text")
    kernel = Replay(MAX_ACTIONS + 1)
    for _ in range(150):
        game = random_game(rng, random_rules(rng))
        end = kernel.play(game)
        deck, actions = game.deck.tolist(), game.actions.tolist()
        text = prefa.game_text(game.dealer, deck, actions)
        table, parsed = prefa.parse_game(text, game.rules)
        assert parsed == actions
        assert bytes_of(table) == bytes_of(end)
        # at every step the deck can be told from the table
        deal = prefa.deal_text(game.dealer, deck)
        for number in range(0, len(actions) + 1, 5):
            state = kernel.tables[number]
            assert prefa.deal_text(state.dealer, prefa.deck_of(state)) == deal
        assert prefa.game_text(table.dealer, prefa.deck_of(table), parsed) == text


def test_a_game_cut_short() -> None:
    table, actions = prefa.parse_game(f"{DEAL} | 6S pass")
    assert actions == [34, 32]
    assert (table.phase, table.seat) == (Phase.AUCTION, 2)
    table, actions = prefa.parse_game(f"{DEAL}|")
    assert (actions, table.seat) == ([], 0)


def test_rules_of_a_game() -> None:
    prefa.parse_game(f"{DEAL} | write")
    with pytest.raises(ValueError, match="action 1, write, is illegal; legal: pass 6S"):
        prefa.parse_game(f"{DEAL} | write", Rules(write_bid=False))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DEAL, "a game is a deal, a bar '|' and its actions"),
        ("", "a game is a deal, a bar"),
        ("| pass", "a deal begins with its dealer, 0 to 2, and a colon"),
        (f"{DEAL[:-2]}KK | pass", "card HK stands twice: talon and talon"),
        (f"{DEAL} | 6S pas", "action 2: no such action: 'pas'"),
        (f"{DEAL} | 6S 6S", "action 2, 6S, is illegal; legal: pass 6C"),
        (f"{DEAL} | 6S pass pass HA D7", "action 5, D7, is illegal; legal: S7 S8 .* HK"),
        (f"{DEAL} | pass pass pass pass", "action 4, pass, is illegal; legal: none, the deal is"),
        (f"{DEAL} | 6S | 6C", "action 2: no such action: '|'"),
    ],
)
def test_bad_games(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        prefa.parse_game(text)


@pytest.mark.parametrize("number", range(16))
def test_games_of_the_worked_examples_round_trip(number: int) -> None:
    text = GAMES["examples"][number]
    table, actions = prefa.parse_game(text)
    assert prefa.game_text(table.dealer, prefa.deck_of(table), actions) == text
