"""A deal of Prefa with all cards seen: one declarer against the two others together.

Players must follow and must trump, but need not beat.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..prefa.kernel import right_of
from ..prefa.rules import PACK, Phase
from ..prefa.state import DTYPE, State
from . import payment
from .calls import Memory, solve, solve_many
from .positions import STRAINS, check_hands, check_seat

_NO_TRUMP = STRAINS.index("NT")


def deal_hands(deal: str) -> list[int]:
    """The hands of a deal text as bit sets, in seat order.

    The talon field of the text holds the two cards out of play.

    Raises:
        ValueError: for a bad deal.
    """
    _, deck = PACK.parse_deal(deal)
    size = PACK.hand_size
    starts = range(0, PACK.seats * size, size)
    return [sum(1 << int(card) for card in deck[i : i + size]) for i in starts]


def declarer_tricks(deal: str, trump: str, declarer: int, leader: int, fewest: bool = False) -> int:
    """Tricks of the declarer in a Prefa deal, against the two others together.

    With `fewest` the declarer avoids tricks.

    Raises:
        ValueError: for a bad deal, trump or seat.
    """
    declarer = check_seat("declarer", declarer, PACK.seats)
    return solve(deal_hands(deal), trump, 1 << declarer, leader, fewest=fewest)


def deal_table(
    deal: str, *, fewest: bool = False, memory: Memory | None = None
) -> npt.NDArray[np.int64]:
    """`declarer_tricks` of a deal for all: int64 [5 strains, 3 declarers, 3 leaders]."""
    strains = np.arange(len(STRAINS))
    return _tricks(deal, strains, fewest, memory)


def settled(table: State, *, memory: Memory | None = None) -> npt.NDArray[np.float64]:
    """Settled kapikia of the three seats if a table in play is played out with all cards seen.

    The defenders join forces against the declarer, whose payment is exact. Where both of them are
    paid, their shares are those of one line of best play: a defender takes a trick himself
    whenever that costs the two nothing, with the lowest card that does. In a misère each seat's
    payment is that of playing against the two others.

    Args:
        table: a record of Prefa with all hands in it, as environments and `parse_game` have it.
        memory: kept between calls it saves work.

    Returns:
        float64 [3]; it sums to 0, but for a misère.

    Raises:
        ValueError: no cards are being played, or hands do not fit together.
    """
    if table.phase != Phase.PLAY:
        raise ValueError(f"the table must be in play, not in the phase {Phase(table.phase).name}")
    playing = [seat for seat in range(PACK.seats) if table.playing >> seat & 1]
    before = [int(table.hands[s]) | int(table.played[s]) & int(table.trick) for s in playing]
    check_hands(before, PACK.num_cards // 4)
    memory = memory or Memory()
    tables = np.zeros(2, DTYPE)
    thirds = np.zeros(PACK.seats)
    viewers = range(PACK.seats) if table.owner < 0 else [int(right_of(table.owner))]
    for viewer in viewers:
        tables[0] = table
        payment.settle(memory.table, memory.scratch, tables, viewer)
        seats = [viewer] if table.owner < 0 else [*range(PACK.seats)]
        thirds[seats] = tables[0]["settled_thirds"][seats]
    return thirds / 3


def table_text(deal: str) -> str:
    """The tricks of each declarer by who leads (rows) and strain (columns), as a table.

    The last column is no trump with a declarer who avoids tricks.
    """
    memory = Memory()
    most = deal_table(deal, memory=memory)
    fewest = _tricks(deal, np.array([_NO_TRUMP]), True, memory)
    columns = np.concatenate([most, fewest])
    lines = ["declarer  leader" + "".join(f"{strain:>4}" for strain in STRAINS) + "  misère"]
    for declarer, leader in np.ndindex(PACK.seats, PACK.seats):
        *tricks, avoided = columns[:, declarer, leader]
        cells = "".join(f"{n:4}" for n in tricks)
        lines.append(f"{declarer:8}  {leader:6}{cells}  {avoided:6}")
    return "\n".join(lines)


def _tricks(
    deal: str, strains: npt.NDArray[np.int64], fewest: bool, memory: Memory | None
) -> npt.NDArray[np.int64]:
    """int64 [strains, declarers, leaders]."""
    shape = (len(strains), PACK.seats, PACK.seats)
    columns, declarers, leaders = (axis.ravel() for axis in np.indices(shape))
    hands = np.tile(np.array(deal_hands(deal), np.int64), (columns.size, 1))
    sides = 1 << declarers
    found = solve_many(hands, strains[columns], sides, leaders, fewest=fewest, memory=memory)
    return found.reshape(shape)
