"""Settled kapikia by the role that a player had in a deal.

Every player has just one role in every deal, so that what the roles contribute adds up to his mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env import prefa
from prefa_env.game import Game
from prefa_env.prefa import Defence

from ..played import Played
from .games import Counts, Means, games_of, is_analysed, mean

ROLES = (
    "declarer",  # named a contract
    "declined",  # wrote, and declined to play (T3)
    "bystander",  # another declined
    "both",  # defended, as did the other (D1)
    "alone",  # defended with the other hand laid aside (D3)
    "inviter",  # defended with an invited hand (D3)
    "invited",  # passed and was invited: plays, but is not paid for it (D3)
    "aside",  # passed while the other defends alone (D3)
    "conceded",  # passed, as did the other: no card is played (D2)
    "passed_out",  # all three passed, nobody is paid (A5)
    "misere",  # all three passed, and each plays for the fewest tricks (A5)
)

_ROLES_OF_DEFENCE = {
    Defence.NOBODY: ("declarer", "conceded", "conceded"),
    Defence.BOTH: ("declarer", "both", "both"),
    Defence.RIGHT_ALONE: ("declarer", "alone", "aside"),
    Defence.LEFT_ALONE: ("declarer", "aside", "alone"),
    Defence.RIGHT_INVITES: ("declarer", "inviter", "invited"),
    Defence.LEFT_INVITES: ("declarer", "invited", "inviter"),
}
"""Of the declarer, of the seat at his right, of that at his left."""

_CONTRACT_ROLES = np.array(
    [[ROLES.index(role) for role in _ROLES_OF_DEFENCE[defence]] for defence in Defence]
)


def roles_of(tables: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Who was what in finished deals: game records [N] to int64 [N, 3], indices of `ROLES`."""
    owner = tables["owner"][:, None]
    place = (np.arange(prefa.NUM_SEATS) - owner) % prefa.NUM_SEATS
    is_declined = tables["bid"][:, None] < 0
    is_misere = tables["playing"][:, None] != 0
    return np.select(
        [owner < 0, is_declined],
        [
            np.where(is_misere, ROLES.index("misere"), ROLES.index("passed_out")),
            np.where(place == 0, ROLES.index("declined"), ROLES.index("bystander")),
        ],
        _CONTRACT_ROLES[tables["defence"][:, None], place],
    )


def count(game: Game, played: Played, is_counted: npt.NDArray[np.bool_]) -> Counts:
    """Games and settled thirds of a kapiki in each role; arguments as in `games.games_of`.

    `invited_inviter_thirds` is what the inviters of the players' hands were paid.
    """
    if not is_analysed(game):
        return {}
    games = games_of(played, is_counted)
    roles = roles_of(games.tables)
    thirds = games.tables["settled_thirds"]
    is_role = {role: (roles == i) & games.is_counted for i, role in enumerate(ROLES)}
    counts: Counts = {}
    for role in ROLES:
        counts[f"{role}_games"] = int(is_role[role].sum())
        counts[f"{role}_thirds"] = int(thirds[is_role[role]].sum())
    inviters = np.where(roles == ROLES.index("inviter"), thirds, 0).sum(axis=1)
    counts["invited_inviter_thirds"] = int(inviters[is_role["invited"].any(axis=1)].sum())
    return counts


def shares(counts: Counts) -> dict[str, Means]:
    """Counts as numbers a role; empty if no game was counted.

    Of each role: `games`; `share` of all games; `mean` settled kapikia of a game in it; its
    `contribution`, kapikia per game of any role, which over all roles sum to the player's mean. Of
    an invited hand also `paid_inviter`, the mean settled kapikia of whom it played for.
    """
    total = sum(counts.get(f"{role}_games", 0) for role in ROLES)
    if not total:
        return {}
    result: dict[str, Means] = {}
    for role in ROLES:
        games, thirds = counts[f"{role}_games"], counts[f"{role}_thirds"]
        result[role] = {
            "games": games,
            "share": games / total,
            "mean": mean(thirds, 3 * games),
            "contribution": thirds / (3 * total),
        }
    result["invited"]["paid_inviter"] = mean(
        counts["invited_inviter_thirds"], 3 * counts["invited_games"]
    )
    return result
