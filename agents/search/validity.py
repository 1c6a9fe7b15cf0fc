"""Whether an observation can have come from a game: it is replayed and looked at again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit, njit_called
from prefa_env.bits import popcount
from prefa_env.prefa.kernel import deal, legal_actions, step
from prefa_env.prefa.observation import observe
from prefa_env.prefa.rules import NUM_ACTIONS, NUM_CARDS, PACK, Phase
from prefa_env.prefa.state import DTYPE, State
from prefa_env.words import Words, int64

from ..agent import Observations
from .history import MAX_ACTIONS, initial_deck, past_actions
from .recall import recall_tables
from .sampling import NoWorldError
from .worlds import draw_worlds, enter_world, unseen_cards

_AUCTION, _PLAY = int(Phase.AUCTION), int(Phase.PLAY)
_HAND_SIZE, _TALON_SIZE = PACK.hand_size, PACK.talon_size


@njit
def _is_whole(s: State) -> bool:
    """Whether each card is in one place and hands have their sizes: what filling it relies on."""
    if s.seat != 0 or s.first < 0 or not _AUCTION <= s.phase <= _PLAY:
        return False
    known = s.hands[0] | s.discards
    count = popcount(s.hands[0]) + popcount(s.discards)
    for seat in range(3):
        known |= s.played[seat]
        count += popcount(s.played[seat])
    is_mine = s.owner == 0 and s.phase != _AUCTION
    size = _HAND_SIZE + (_TALON_SIZE if is_mine else 0)
    mine = popcount(s.hands[0]) + popcount(s.played[0]) + popcount(s.discards)
    others = 2 * _HAND_SIZE - popcount(s.played[1]) - popcount(s.played[2])
    hidden = others + (0 if is_mine else _TALON_SIZE)
    return popcount(known) == count and mine == size and popcount(unseen_cards(s)) == hidden


@njit_called
def is_possible(seen: State, row: Words, legal: int, tables: npt.NDArray[Any]) -> bool:
    """Whether some deal and some actions lead to just this observation and these legal actions.

    Args:
        seen: the table recalled from it.
        row: int64 [O / 8], its words.
        legal: the actions that the mask calls legal.
        tables: State records [2], scratch.
    """
    if not _is_whole(seen):
        return False
    worlds = np.empty((1, 4), np.int64)
    if not draw_worlds(seen, np.uint64(0), worlds):
        return False
    tables[0] = seen
    enter_world(tables[0], worlds[0])
    deck = np.empty(NUM_CARDS, np.int8)
    actions = np.full(MAX_ACTIONS, -1, np.int8)
    initial_deck(tables[0], deck)
    s = tables[1]
    for seat in range(3):
        s.kassa[seat] = seen.kassa[seat]
        s.kapikia[seat] = seen.kapikia[seat]
    s.deals_left = seen.deals_left
    deal(s, seen.options, deck, seen.dealer)
    s.shown_card = seen.shown_card
    for i in range(past_actions(tables[0], actions)):
        action = int64(actions[i])
        if action < 0 or action >= NUM_ACTIONS or legal_actions(s) >> action & 1 == 0:
            return False
        step(s, action)
    if s.seat != 0 or legal_actions(s) != legal:
        return False
    again = np.empty(row.shape[0], np.int64)
    observe(s, 0, again)
    return bool((again == row).all())


def recall_possible(
    observations: Observations, views: npt.NDArray[Any], flags: int
) -> npt.NDArray[Any]:
    """As `recall_tables`, with the views decoded from the same observations and masks.

    Raises NoWorldError for a row that cannot have come from a game of these rules.
    """
    seen = recall_tables(observations, flags)
    words = np.ascontiguousarray(observations, np.int8).view(np.int64)
    tables = np.zeros(2, DTYPE)
    for row, table in enumerate(seen):
        if not is_possible(table, words[row], views[row].legal, tables):
            raise NoWorldError(f"row {row}: no game leads to this observation and action mask")
    return seen
