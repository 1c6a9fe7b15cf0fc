"""A table of Prefa as text."""

from __future__ import annotations

import pytest

from prefa_env import prefa
from prefa_env.prefa import Rules
from prefa_env.render import table_text
from tests.helpers import deal_table, do

DEAL = "2:AKQJ.98.T7.A9 T98.AKQ.AK.KQ 7.JT7.QJ98.J8 ...T7"
CONTRACT = "6S pass 6C 6C pass D7 H9 6C "  # player_0, by holding 6C


def text_after(actions: str, rules: Rules | None = None) -> str:
    dealer, deck = prefa.parse_deal(DEAL)
    table = deal_table(dealer, deck, rules)
    do(table, actions)
    return table_text(table)


def line_after(head: str, actions: str, rules: Rules | None = None) -> str:
    """What stands behind a heading; empty if it is not there."""
    lines = text_after(actions, rules).splitlines()
    return "".join(line[10:] for line in lines if line.split()[0] == head)


def test_a_deal_just_dealt() -> None:
    assert text_after("") == "\n".join(
        [
            "deal      player_2 dealt, player_0 is first hand",
            "turn      player_0 is to act (auction)",
            "player_0  ♠AKQJ ♣98 ♦T7 ♥A9",
            "player_1  ♠T98 ♣AKQ ♦AK ♥KQ",
            "player_2  ♠7 ♣JT7 ♦QJ98 ♥J8",
            "talon     ♥T7",
        ]
    )


def test_a_trick_under_way() -> None:
    assert text_after(CONTRACT + "play pass invite C8 CQ CT HK") == "\n".join(
        [
            "deal      player_2 dealt, player_0 is first hand",
            "turn      player_2 is to act (play)",
            "player_0  ♠AKQJ ♣9 ♦T ♥AT7   0 tricks",
            "player_1  ♠T98 ♣AK ♦AK ♥Q   1 trick",
            "player_2  ♠7 ♣J7 ♦QJ98 ♥J8   0 tricks",
            "talon     ♥T7",
            "discards  ♦7 ♥9",
            "auction   player_0 6♠, player_1 pass, player_2 6♣, player_0 =6♣, player_2 pass",
            "contract  6♣ by player_0",
            "defence   player_1 play invite, player_2 pass",
            "last      player_0 ♣8, player_1 ♣Q, player_2 ♣T: player_1 takes trick 1",
            "trick     player_1 ♥K",
        ]
    )


def test_the_end() -> None:
    assert text_after("pass write pass HK HQ write") == "\n".join(
        [
            "deal      player_2 dealt, player_0 is first hand",
            "turn      the deal is over",
            "player_0  ♠AKQJ ♣98 ♦T7 ♥A9",
            "player_1  ♠T98 ♣AKQ ♦AK ♥T7",
            "player_2  ♠7 ♣JT7 ♦QJ98 ♥J8",
            "talon     ♥T7",
            "discards  ♥KQ",
            "auction   player_0 pass, player_1 write, player_2 pass",
            "contract  player_1 declines to play",
            "kapikia   player_0 +2, player_1 -4, player_2 +2",
            "kassa     player_0 +0, player_1 +2, player_2 +0",
            "settled   player_0 +8.67, player_1 -17.33, player_2 +8.67",
        ]
    )


@pytest.mark.parametrize(
    ("actions", "contract"),
    [
        ("6S pass", ""),
        ("6S pass 6C 6C pass", "player_0, 6♣ or more"),
        (CONTRACT[:-3] + "7H", "7♥ by player_0"),
        (CONTRACT[:-3] + "10NT", "10NT by player_0"),
        ("pass write pass", "player_1 wrote"),
        ("pass write pass HK HQ 6NT", "6NT by player_1"),
        ("pass pass pass", "all passed"),
    ],
)
def test_contract(actions: str, contract: str) -> None:
    assert line_after("contract", actions) == contract


@pytest.mark.parametrize(
    ("actions", "defence"),
    [
        ("", ""),
        ("pass", "player_1 pass"),
        ("pass pass", "player_1 pass, player_2 pass"),
        ("play play", "player_1 play, player_2 play"),
        ("pass play alone", "player_1 pass, player_2 play alone"),
    ],
)
def test_defence(actions: str, defence: str) -> None:
    assert line_after("defence", CONTRACT + actions) == defence


@pytest.mark.parametrize(
    ("actions", "last", "trick"),
    [
        ("C8", "", "player_0 ♣8"),
        ("C8 CT", "player_0 ♣8, player_2 ♣T: player_2 takes trick 1", ""),  # two cards: alone
        ("SQ S7 SA CT", "player_0 ♠A, player_2 ♣T: player_2 takes trick 2", ""),  # a trump
        ("SQ S7 C9", "player_0 ♠Q, player_2 ♠7: player_0 takes trick 1", "player_0 ♣9"),
        ("C8 CJ D8 DT", "player_2 ♦8, player_0 ♦T: player_0 takes trick 2", ""),
    ],
)
def test_tricks(actions: str, last: str, trick: str) -> None:
    played = CONTRACT + "pass play alone " + actions
    assert line_after("last", played) == last
    assert line_after("trick", played) == trick


def test_a_card_of_another_suit_takes_no_trick() -> None:
    played = CONTRACT[:-3] + "6NT pass play alone SQ S7 SA DQ"
    assert line_after("last", played) == "player_0 ♠A, player_2 ♦Q: player_0 takes trick 2"


def test_a_deal_that_everybody_passed_and_plays() -> None:
    text = "pass pass pass SQ ST S7 SA"
    misere = Rules(all_pass="misere")
    assert line_after("contract", text, misere) == "all passed, fewest tricks win"
    assert line_after("last", text, misere).endswith("player_0 takes trick 1")
    assert line_after("trick", text, misere) == "player_0 ♠A"
