"""Prefa (πρέφα): three players, 32 cards, an auction, a talon, ten tricks, kapikia.

This module is a `prefa_env.game.Game`.
"""

from .kernel import beneficiary, deal, legal_actions, redeal_hidden, step
from .observation import observe, observe_all
from .rules import NUM_ACTIONS, NUM_CARDS, NUM_SEATS, PACK, Action, Defence, Phase, Rules
from .scoring import floor_kassa, payments
from .state import DTYPE, OBSERVATION, STATE, State
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

__all__ = [
    "DTYPE",
    "NAME",
    "NUM_ACTIONS",
    "NUM_CARDS",
    "NUM_SEATS",
    "OBSERVATION",
    "PACK",
    "STATE",
    "Action",
    "Defence",
    "Phase",
    "Rules",
    "State",
    "action_text",
    "beneficiary",
    "deal",
    "deal_text",
    "deck_of",
    "floor_kassa",
    "game_text",
    "legal_actions",
    "legal_text",
    "observe",
    "observe_all",
    "parse_action",
    "parse_deal",
    "parse_game",
    "payments",
    "redeal_hidden",
    "step",
]
