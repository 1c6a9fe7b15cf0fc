"""Prefa as text: calls, contracts, deals and whole games; everything printed can be parsed back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..cards import cards_of
from . import kernel
from .rules import NUM_ACTIONS, NUM_CARDS, NUM_RUNGS, PACK, STRAINS, Rules
from .state import DTYPE, State

RUNG_TEXTS = tuple(f"{6 + rung // 5}{STRAINS[rung % 5]}" for rung in range(NUM_RUNGS))
ACTION_TEXTS = (
    *map(PACK.card_text, range(NUM_CARDS)),
    "pass",
    "write",
    *RUNG_TEXTS,
    "play",
    "alone",
    "invite",
)
"""By action: `S7` .. `HA`, `pass`, `write`, `6S` .. `10NT`, `play`, `alone`, `invite`."""

_ACTION_OF = {text: action for action, text in enumerate(ACTION_TEXTS)}


def action_text(action: int) -> str:
    """`SA`, `pass`, `6NT` ... Raises ValueError outside 0..61."""
    if not 0 <= action < NUM_ACTIONS:
        raise ValueError(f"no such action: {action} (0 to {NUM_ACTIONS - 1})")
    return ACTION_TEXTS[action]


def parse_action(text: str) -> int:
    """The action of a text. Raises ValueError."""
    if text not in _ACTION_OF:
        raise ValueError(f"no such action: {text!r} (a card such as SA, or one of {_CALLS})")
    return _ACTION_OF[text]


_CALLS = f"pass, write, {RUNG_TEXTS[0]} ... {RUNG_TEXTS[-1]}, play, alone, invite"

deal_text = PACK.deal_text
parse_deal = PACK.parse_deal


def deck_of(s: State) -> list[int]:
    """The cards as they were dealt: hands in seat order, each ascending, then the talon."""
    talon = int(s.talon)
    dealt = (s.hands | s.played).tolist()
    if s.owner >= 0 and s.phase != kernel._AUCTION:
        dealt[s.owner] = (dealt[s.owner] | int(s.discards)) & ~talon
    return [card for cards in (*dealt, talon) for card in cards_of(cards)]


def game_text(dealer: int, deck: Sequence[int], actions: Sequence[int]) -> str:
    """A whole game in one line: the deal, a bar, the actions in order."""
    return " ".join([deal_text(dealer, deck), "|", *map(action_text, actions)])


def parse_game(text: str, rules: Rules | None = None) -> tuple[State, list[int]]:
    """Replay a game text: the table after its last action, and the actions.

    Raises ValueError that names the part, or the action and what was legal instead.
    """
    deal_part, bar, played = text.partition("|")
    if not bar:
        raise ValueError(f"a game is a deal, a bar '|' and its actions: {text!r}")
    dealer, deck = parse_deal(deal_part)
    table: State = np.zeros(1, DTYPE)[0]
    kernel.deal(table, (rules or Rules()).flags, deck, dealer)
    actions: list[int] = []
    for number, word in enumerate(played.split(), 1):
        try:
            action = parse_action(word)
        except ValueError as error:
            raise ValueError(f"action {number}: {error}") from None
        legal = int(kernel.legal_actions(table))
        if not legal >> action & 1:
            raise ValueError(f"action {number}, {word}, is illegal; legal: {legal_text(legal)}")
        kernel.step(table, action)
        actions.append(action)
    return table, actions


def legal_text(legal: int) -> str:
    """A bit set of legal actions as text."""
    return " ".join(map(action_text, cards_of(legal))) or "none, the deal is over"
