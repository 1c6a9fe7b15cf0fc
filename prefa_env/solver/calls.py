"""The questions about positions: tricks of a side, whether they are so many, after each card.

Each checks its position and hands it to the compiled search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..words import Ints
from . import search
from .positions import STRAINS, check_integer, check_many_hands, check_width, position_arguments


@dataclass(frozen=True)
class Memory:
    """What the search writes: allocate once, use for any number of calls, in one thread at a time.

    Positions found stay valid whatever is asked next: their entries name the rules too.
    """

    table: Ints = field(
        init=False, default_factory=lambda: cast("Ints", np.zeros(search.TABLE_WORDS, np.int64))
    )
    scratch: Ints = field(
        init=False, default_factory=lambda: cast("Ints", np.zeros(search.SCRATCH_WORDS, np.int64))
    )

    @property
    def nodes(self) -> int:
        """Positions between tricks that were looked at, all calls together."""
        return int(self.scratch[search.NODES])


def solve(
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    *,
    trick: Sequence[int] = (),
    fewest: bool = False,
    must_trump: bool = True,
    width: int = 8,
    memory: Memory | None = None,
) -> int:
    """Tricks that `side` takes from here on, the running trick included.

    Args:
        hands: one bit set a seat, without the cards on the table.
        trump: S, C, D, H or NT.
        side: seats whose tricks are counted, as bits.
        leader: who led, or is to lead, the running trick.
        trick: card numbers on the table in the order played.
        fewest: the side takes as few as it can, and the others give it as many as they can.
        must_trump: whoever cannot follow must trump if he can.
        width: cards a suit, 13 at most.
        memory: kept between calls it saves work; without one each call allocates its own.

    Raises:
        ValueError: for a position that cannot be.
    """
    call = _call(hands, trump, side, leader, trick, fewest, must_trump, width, memory)
    return int(search.value(*call))


def at_least(
    tricks: int,
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    *,
    trick: Sequence[int] = (),
    fewest: bool = False,
    must_trump: bool = True,
    width: int = 8,
    memory: Memory | None = None,
) -> bool:
    """Whether `solve` of the same position is `tricks` or more; faster than the number itself."""
    call = _call(hands, trump, side, leader, trick, fewest, must_trump, width, memory)
    return bool(search.is_at_least(*(*call, check_integer("tricks", tricks))))


def card_values(
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    *,
    trick: Sequence[int] = (),
    fewest: bool = False,
    must_trump: bool = True,
    width: int = 8,
    memory: Memory | None = None,
) -> dict[int, int]:
    """`solve` after each card that the seat to play may play: card number to tricks of `side`."""
    call = _call(hands, trump, side, leader, trick, fewest, must_trump, width, memory)
    out = cast("Ints", np.empty(4 * width, np.int64))
    search.card_values(*(*call, out))
    return {card: int(tricks) for card, tricks in enumerate(out) if tricks >= 0}


def solve_many(
    hands: npt.ArrayLike,
    trumps: npt.ArrayLike,
    sides: npt.ArrayLike,
    leaders: npt.ArrayLike,
    *,
    fewest: npt.ArrayLike = False,
    must_trump: bool = True,
    width: int = 8,
    memory: Memory | None = None,
) -> npt.NDArray[np.int64]:
    """`solve` for many positions between tricks, in one compiled loop without the GIL: int64 [B].

    Args:
        hands: int [B, n].
        trumps: int [B] or one for all: index into `STRAINS`, 4 for none.
        sides, leaders, fewest: [B] or one for all.

    Raises:
        ValueError: for wrong shapes and for positions that cannot be.
    """
    table = np.ascontiguousarray(hands, np.int64)
    if table.ndim != 2 or not 2 <= table.shape[1] <= search.MAX_SEATS:
        raise ValueError(f"hands must be [B, 2 to 4], not {list(table.shape)}")
    check_width(width)
    size, seats = table.shape
    rows = {
        "trumps": (trumps, len(STRAINS)),
        "sides": (sides, 1 << seats),
        "leaders": (leaders, seats),
        "fewest": (fewest, 2),
    }
    columns = []
    for name, (given, limit) in rows.items():
        column = np.asarray(given)
        if column.shape not in {(), (size,)}:
            raise ValueError(f"{name} must be one number or [{size}], not {list(column.shape)}")
        wrong = (column < 0) | (column >= limit)
        if wrong.any():
            raise ValueError(
                f"{name} must be 0 to {limit - 1}, not {np.atleast_1d(column[wrong])[0]}"
            )
        columns.append(np.ascontiguousarray(np.broadcast_to(column, (size,)), np.int64))
    check_many_hands(table, width)
    memory = memory or Memory()
    out = np.empty(size, np.int64)
    trump, side, lead, few = (cast("Ints", column) for column in columns)
    search.values(
        memory.table,
        memory.scratch,
        table,
        lead,
        trump,
        side,
        cast("Ints", 1 - few),
        width,
        int(must_trump),
        cast("Ints", out),
    )
    return out


def _call(
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    trick: Sequence[int],
    fewest: bool,
    must_trump: bool,
    width: int,
    memory: Memory | None,
) -> Any:
    """Check a position; return the arguments of the compiled functions."""
    position = position_arguments(hands, trump, side, leader, trick, fewest, must_trump, width)
    memory = memory or Memory()
    return (memory.table, memory.scratch, *position)
