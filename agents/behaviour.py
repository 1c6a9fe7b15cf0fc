"""What players did in finished deals, counted from the end of the table's record; game by game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env import prefa
from prefa_env.prefa import Action, Defence
from prefa_env.prefa.state import SAID_DEFENCE_PASS

Counts = dict[str, int]
"""Counts that can be added up over deals."""

Shares = dict[str, float | None]
"""Shares and means; None where there was nothing to count."""

_PASS, _BID = int(Action.PASS), int(Action.BID)
_TOP_BID = _BID + prefa.rules.NUM_RUNGS - 1


def _count_prefa(
    tables: npt.NDArray[Any],
    actions: npt.NDArray[np.int8],
    seats: npt.NDArray[np.int8],
    is_counted: npt.NDArray[np.bool_],
) -> Counts:
    """Counts for the players marked in `is_counted` (see `count`)."""
    owner, bid = tables["owner"], tables["bid"]
    is_owner = (np.arange(prefa.NUM_SEATS) == owner[:, None]) & is_counted
    is_mine = is_owner.any(axis=1)
    is_declined = is_mine & (bid < 0)
    is_contract = is_mine & (bid >= 0)
    level = 6 + bid // 5
    taken = tables["tricks"][np.arange(len(tables)), np.maximum(owner, 0)]
    is_played = tables["defence"] != Defence.NOBODY
    short = np.where(is_played, np.maximum(level - taken, 0), 0)

    def said(column: int) -> int:
        return int((tables["said"] >> column & 1)[is_counted].sum())

    return {
        "deals": int(is_counted.sum()),
        "passed_out": int(is_counted[owner < 0].sum()),
        "declared": int(is_mine.sum()),
        "declined": int(is_declined.sum()),
        "made": int((is_contract & (short == 0)).sum()),
        "one_short": int((is_contract & (short == 1)).sum()),
        "two_short": int((is_contract & (short >= 2)).sum()),
        "levels": int(level[is_contract].sum()),
        "wrote": said(Action.WRITE - _PASS),
        "held": int((_holds(tables, actions, seats) & is_counted).sum()),
        "play": said(Action.PLAY - _PASS),
        "pass": said(SAID_DEFENCE_PASS),
        "alone": said(Action.ALONE - _PASS),
        "invite": said(Action.INVITE - _PASS),
    }


def _holds(
    tables: npt.NDArray[Any], actions: npt.NDArray[np.int8], seats: npt.NDArray[np.int8]
) -> npt.NDArray[np.bool_]:
    """Who repeated a standing bid at least once in the auction, bool [N, S]."""
    is_call = np.arange(actions.shape[1]) < tables["num_calls"][:, None]
    is_bid = is_call & (actions >= _BID) & (actions <= _TOP_BID)
    highest = np.maximum.accumulate(np.where(is_bid, actions, -1), axis=1)
    is_hold = is_bid.copy()
    is_hold[:, 0] = False
    is_hold[:, 1:] &= actions[:, 1:] == highest[:, :-1]
    return np.stack(
        [(is_hold & (seats == seat)).any(axis=1) for seat in range(prefa.NUM_SEATS)], axis=1
    )


def _share_prefa(counts: Counts) -> Shares:
    def share(name: str, *of: str) -> float | None:
        total = sum(counts[part] for part in of)
        return counts[name] / total if total else None

    contracts = ("made", "one_short", "two_short")
    return {
        "passed_out": share("passed_out", "deals"),
        "declared": share("declared", "deals"),
        "made": share("made", "declared"),
        "one_short": share("one_short", "declared"),
        "two_short": share("two_short", "declared"),
        "declined": share("declined", "declared"),
        "mean_level": share("levels", *contracts),
        "play": share("play", "play", "pass"),
        "pass": share("pass", "play", "pass"),
        "alone": share("alone", "alone", "invite"),
        "invite": share("invite", "alone", "invite"),
        "wrote": share("wrote", "deals"),
        "held": share("held", "deals"),
    }


_COUNTERS: dict[str, Callable[..., Counts]] = {prefa.NAME: _count_prefa}
_SHARERS: dict[str, Callable[[Counts], Shares]] = {prefa.NAME: _share_prefa}


def count(
    game: str,
    tables: npt.NDArray[Any],
    actions: npt.NDArray[np.int8],
    seats: npt.NDArray[np.int8],
    is_counted: npt.NDArray[np.bool_],
) -> Counts:
    """What some of the players did; empty for a game of which nothing is counted.

    Args:
        game: its name.
        tables: game records [N], all over.
        actions: int8 [N, L], what was done; -1 after the end.
        seats: int8 [N, L], who did it; -1 after the end.
        is_counted: bool [N, S], the players to look at.
    """
    return _COUNTERS[game](tables, actions, seats, is_counted) if game in _COUNTERS else {}


def shares(game: str, counts: Counts) -> Shares:
    """Counts as shares; empty for a game of which nothing is counted.

    Of Prefa: `passed_out`, `declared`, `wrote`, `held` (at least once) of the player's deals;
    `made`, `one_short`, `two_short` (or more), `declined` of those he declared; `mean_level` of his
    contracts; `play` and `pass` of his defences, `alone` and `invite` of those he played by
    himself.
    """
    return _SHARERS[game](counts) if game in _SHARERS and counts else {}
