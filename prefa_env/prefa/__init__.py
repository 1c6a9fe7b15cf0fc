"""Prefa (πρέφα): three players, 32 cards, an auction, a talon, ten tricks, kapikia.

This module is a `prefa_env.game.Game`.
"""

from .kernel import (
    beneficiary,
    deal,
    deal_first,
    deal_next,
    is_match_over,
    legal_actions,
    match_thirds,
    redeal_hidden,
    start_match,
    step,
)
from .observation import observe, observe_all
from .rules import NUM_ACTIONS, NUM_CARDS, NUM_SEATS, PACK, Action, Defence, Flag, Phase, Rules
from .scoring import floor_kassa, payments
from .state import DTYPE, IN_PLAY, OBSERVATION, STATE, State
from .symmetry import relabel
from .text import (
    action_text,
    deal_text,
    deck_of,
    game_text,
    legal_text,
    parse_action,
    parse_deal,
    parse_game,
)

NAME = "prefa"
MATCH = int(Flag.MATCH)

__all__ = [
    "DTYPE",
    "IN_PLAY",
    "MATCH",
    "NAME",
    "NUM_ACTIONS",
    "NUM_CARDS",
    "NUM_SEATS",
    "OBSERVATION",
    "PACK",
    "STATE",
    "Action",
    "Defence",
    "Flag",
    "Phase",
    "Rules",
    "State",
    "action_text",
    "beneficiary",
    "deal",
    "deal_first",
    "deal_next",
    "deal_text",
    "deck_of",
    "floor_kassa",
    "game_text",
    "is_match_over",
    "legal_actions",
    "legal_text",
    "match_thirds",
    "observe",
    "observe_all",
    "parse_action",
    "parse_deal",
    "parse_game",
    "payments",
    "redeal_hidden",
    "relabel",
    "start_match",
    "step",
]
