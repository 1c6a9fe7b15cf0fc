"""Suits renamed where the rules do not tell them apart: the same position, the same row.

Once a contract is named only trumps differ from other suits, and in a misère none does. What is
left of the names is the value of a contract, which has a field of its own.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt

from .._jit import njit
from .rules import NUM_ACTIONS, NUM_CARDS, NUM_RUNGS, Action, Phase
from .state import MAX_CALLS, OBSERVATION, STATE

_NUM_SUITS, _NUM_STRAINS = 4, 5
_NUM_RANKS = NUM_CARDS // _NUM_SUITS
_FIRST_CALL = int(Action.BID) - int(Action.PASS)
"""Column of the lowest bid in `said_...`, and one less than its byte in `calls`."""

_ORDERS = np.array(list(permutations(range(_NUM_SUITS))), np.int64)
"""[24, 4]: for each order the suit that gets the name 0, 1, 2 and 3."""

_HAND, _PLAYED = OBSERVATION["hand"].start, OBSERVATION["played_me"].start
_STRAIN, _CALLS = OBSERVATION["strain"].start, OBSERVATION["calls"].start
_FIRST_PHASE, _LAST_PHASE = (OBSERVATION["phase"].start + p for p in (Phase.DEFENCE, Phase.PLAY))


def _field_sources(name: str, size: int, order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each byte of a field where it comes from within the field."""
    source = np.arange(size)
    if name.startswith("said"):
        rungs = source[_FIRST_CALL:][:NUM_RUNGS].reshape(-1, _NUM_STRAINS)
        rungs[:, :_NUM_SUITS] = rungs[:, order]
    elif size == NUM_CARDS:
        source = source.reshape(_NUM_SUITS, _NUM_RANKS)[order].ravel()
    elif name in ("strain", "led") or name.startswith("voids"):
        source[:_NUM_SUITS] = order
    return source


def _sources(order: npt.NDArray[np.int64]) -> npt.NDArray[np.int16]:
    """For each byte of a state the byte of it that it is taken from."""
    parts = [STATE[f.name].start + _field_sources(f.name, f.size, order) for f in STATE]
    return np.concatenate(parts).astype(np.int16)


def _calls(order: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """For each byte of `calls` what it becomes."""
    calls = np.arange(1 + _FIRST_CALL + NUM_RUNGS)
    rungs = calls[1 + _FIRST_CALL :].reshape(-1, _NUM_STRAINS)
    rungs[:, order] = rungs[:, :_NUM_SUITS].copy()
    return calls.astype(np.int8)


_STATE_SOURCES = np.stack([_sources(order) for order in _ORDERS])
_NEW_CALLS = np.stack([_calls(order) for order in _ORDERS])
_ACTIONS = np.stack(
    [
        np.concatenate([_field_sources("hand", NUM_CARDS, order), range(NUM_CARDS, NUM_ACTIONS)])
        for order in _ORDERS
    ]
).astype(np.int8)
_ORDER_INDEX = np.zeros(_NUM_SUITS**_NUM_SUITS, np.int64)
_ORDER_INDEX[_ORDERS @ _NUM_SUITS ** np.arange(_NUM_SUITS)] = np.arange(len(_ORDERS))


@njit
def _order_of(row: npt.NDArray[np.int8]) -> int:
    """Number of the order in which the suits of a row are named anew; 0 leaves them as they are.

    Trumps are last; before them the suits in which the seat began with most cards, of equally long
    ones that with the higher cards, so that names last as long as the contract.
    """
    if row[_FIRST_PHASE : _LAST_PHASE + 1].max() == 0:
        return 0
    worths = np.empty(_NUM_SUITS, np.int64)
    for suit in range(_NUM_SUITS):
        count = bits = np.int64(0)
        for rank in range(_NUM_RANKS):
            card = suit * _NUM_RANKS + rank
            is_mine = np.int64(row[_HAND + card] | row[_PLAYED + card])
            count += is_mine
            bits |= is_mine << rank
        worths[suit] = -1 if row[_STRAIN + suit] != 0 else count << _NUM_RANKS | bits
    index = np.int64(0)
    for place in range(_NUM_SUITS):
        best = worths.argmax()
        worths[best] = -2
        index += best * _NUM_SUITS**place
    return int(_ORDER_INDEX[index])


@njit
def _relabel(
    rows: npt.NDArray[np.int8],
    masks: npt.NDArray[np.int8],
    new_rows: npt.NDArray[np.int8],
    new_masks: npt.NDArray[np.int8],
    actions: npt.NDArray[np.int8],
) -> None:
    for i in range(rows.shape[0]):
        order = _order_of(rows[i])
        for j in range(rows.shape[1]):
            new_rows[i, j] = rows[i, _STATE_SOURCES[order, j]]
        for j in range(_CALLS, _CALLS + MAX_CALLS):
            if new_rows[i, j] == 0:
                break
            new_rows[i, j] = _NEW_CALLS[order, new_rows[i, j]]
        for j in range(NUM_ACTIONS):
            actions[i, j] = _ACTIONS[order, j]
            new_masks[i, j] = masks[i, actions[i, j]]


def relabel(
    rows: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Observations or states with their suits named anew wherever a contract or misère is played.

    Trumps become the last suit, the others follow their length in the hand that the seat to act
    began with. Positions that differ by the names of suits alone become the same row, unless two
    suits of that hand are the same.

    Args:
        rows: int8 [B, O] or [B, P].
        masks: int8 [B, A].

    Returns:
        New rows and masks, and int8 [B, A]: the action that each of the new ones stands for.
    """
    new_rows = np.empty(rows.shape, np.int8)
    new_masks = np.empty(masks.shape, np.int8)
    actions = np.empty(masks.shape, np.int8)
    _relabel(rows, masks.view(np.int8), new_rows, new_masks, actions)
    return new_rows, new_masks, actions
