"""Tricks that a player's cards gave away, by the measure of open cards.

With all cards seen, a position is worth a number of tricks to the declarer against the two others
together. The regret of a card is what it takes off that number, or adds to it if a defender played
it. It also counts what nobody could know: a yardstick to compare players with, whose zero is out
of their reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env import prefa
from prefa_env._jit import njit, njit_called
from prefa_env.game import Game
from prefa_env.prefa import DTYPE, Phase
from prefa_env.prefa.kernel import deal, legal_actions, step
from prefa_env.prefa.state import State
from prefa_env.solver import Memory
from prefa_env.solver.payment import tricks_to_come
from prefa_env.words import Ints

from ..played import Played
from .games import Counts, Games, Means, games_of, is_analysed, mean

SIDES = ("declarer", "defender")

_PLAY = int(Phase.PLAY)
_UNKNOWN = -1


@njit
def _open_tricks(table: Ints, scratch: Ints, s: State) -> int:
    """Tricks that the declarer has and will have with open cards."""
    to_come = tricks_to_come(table, scratch, s, s.owner) if s.seat >= 0 else 0
    return s.tricks[s.owner] + to_come


@njit_called
def _fill_regrets(
    table: Ints,
    scratch: Ints,
    tables: npt.NDArray[Any],
    options: npt.NDArray[np.int64],
    decks: npt.NDArray[np.int8],
    dealers: npt.NDArray[np.int8],
    actions: npt.NDArray[np.int8],
    is_counted: npt.NDArray[np.bool_],
    regrets: npt.NDArray[np.int8],
) -> None:
    """Write the regrets of cards that were a choice; all else stays as it is.

    Args:
        table, scratch: of a solver's `Memory`.
        tables: State records [1], scratch.
        options: int64 [N], of the rules.
        decks, dealers, actions, is_counted: as in `games.Games`.
        regrets: int8 [N, L].
    """
    s = tables[0]
    for n in range(actions.shape[0]):
        deal(s, options[n], decks[n], dealers[n])
        tricks = _UNKNOWN
        for i in range(actions.shape[1]):
            if s.seat < 0:
                break
            legal = legal_actions(s)
            seat = s.seat
            is_choice = s.phase == _PLAY and s.owner >= 0 and legal & (legal - 1) != 0
            is_wanted = is_choice and is_counted[n, seat]
            if is_wanted and tricks == _UNKNOWN:
                tricks = _open_tricks(table, scratch, s)
            step(s, actions[n, i])
            if is_wanted:
                after = _open_tricks(table, scratch, s)
                regrets[n, i] = tricks - after if seat == s.owner else after - tricks
                tricks = after
            elif is_choice:  # a card without choice changes nothing
                tricks = _UNKNOWN


def regrets_of(games: Games) -> npt.NDArray[np.int8]:
    """Regret of each card that a counted player chose among two or more: int8 [N, L], in tricks.

    -1 stands at all other actions, and everywhere in a misère, which has no declarer.
    """
    memory = Memory()
    regrets = np.full(games.actions.shape, -1, np.int8)
    _fill_regrets(
        memory.table,
        memory.scratch,
        np.zeros(1, DTYPE),
        np.ascontiguousarray(games.tables["options"]),
        games.decks,
        games.dealers,
        np.ascontiguousarray(games.actions),
        games.is_counted,
        regrets,
    )
    return regrets


def count(game: Game, played: Played, is_counted: npt.NDArray[np.bool_]) -> Counts:
    """Chosen cards and their regrets, of each side; arguments as in `games.games_of`.

    Of each side: deals in which a player was on it and cards were played, a deal for each player;
    cards chosen; those without regret; tricks given away. An invited hand is a defender.
    """
    if not is_analysed(game):
        return {}
    games = games_of(played, is_counted)
    regrets = regrets_of(games)
    owner = games.tables["owner"][:, None]
    seats = np.arange(prefa.NUM_SEATS)
    is_player = (games.tables["playing"][:, None] >> seats & 1 == 1) & games.is_counted
    counts: Counts = {}
    for side, is_mine in zip(SIDES, (np.equal, np.not_equal), strict=True):
        found = regrets[(regrets >= 0) & is_mine(games.seats, owner)]
        counts[f"{side}_deals"] = int((is_player & is_mine(seats, owner) & (owner >= 0)).sum())
        counts[f"{side}_cards"] = found.size
        counts[f"{side}_perfect"] = int((found == 0).sum())
        counts[f"{side}_tricks"] = int(found.sum())
    return counts


def sides(counts: Counts) -> dict[str, Means]:
    """Counts as means of `declarer` and `defender`; empty if nothing was counted.

    `cards` that were a choice and `deals` played; mean regret `per_card` and `per_deal`, in tricks
    of the side; the share of `perfect` cards, those without regret.
    """
    return {side: _side(counts, side) for side in SIDES} if counts else {}


def _side(counts: Counts, side: str) -> Means:
    cards, deals = counts[f"{side}_cards"], counts[f"{side}_deals"]
    return {
        "cards": cards,
        "deals": deals,
        "per_card": mean(counts[f"{side}_tricks"], cards),
        "per_deal": mean(counts[f"{side}_tricks"], deals),
        "perfect": mean(counts[f"{side}_perfect"], cards),
    }
