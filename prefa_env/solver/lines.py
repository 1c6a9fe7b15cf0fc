"""Lines of best play: what a result comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..cards import SUITS
from ..tricks import beats
from ..words import int64
from .calls import Memory, card_values
from .positions import STRAINS

_RANKS = "23456789TJQKA"


class Trick(NamedTuple):
    """A trick: card numbers in the order played, from the leader on."""

    leader: int
    cards: tuple[int, ...]
    winner: int


def principal_line(
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
) -> list[Trick]:
    """The rest of the play when every seat plays best: `side` takes the tricks that `solve` says.

    Of cards equally good the lowest is played. The arguments are those of `solve`; cards on the
    table open the first trick.

    Raises:
        ValueError: for a position that cannot be.
    """
    hands, played = list(hands), list(trick)
    seats = len(hands)
    memory = memory or Memory()
    line: list[Trick] = []
    while True:
        values = card_values(
            hands,
            trump,
            side,
            leader,
            trick=played,
            fewest=fewest,
            must_trump=must_trump,
            width=width,
            memory=memory,
        )
        if not values:
            return line
        seat = (leader + len(played)) % seats
        best = max(values.values()) if (side >> seat & 1) != fewest else min(values.values())
        card = min((c for c in values if values[c] == best), key=lambda c: (c % width, c))
        hands[seat] ^= 1 << card
        played.append(card)
        if len(played) == seats:
            winner = _winner(played, leader, trump, width)
            line.append(Trick(leader, tuple(played), winner))
            leader, played = winner, []


def line_text(line: Sequence[Trick], width: int = 8) -> str:
    """A line as a table: a row a trick, `seat:card` in the order played, and the seat that wins."""
    head = "cards as played"
    rows = [
        "  ".join(
            f"{(trick.leader + place) % len(trick.cards)}:{_card_text(card, width)}"
            for place, card in enumerate(trick.cards)
        )
        for trick in line
    ]
    size = max(map(len, [head, *rows]))
    table = [f"trick  {head:{size}}  winner"]
    for number, (row, trick) in enumerate(zip(rows, line, strict=True), 1):
        table.append(f"{number:5}  {row:{size}}  {trick.winner:6}")
    return "\n".join(table)


def _winner(cards: Sequence[int], leader: int, trump: str, width: int) -> int:
    """The seat that takes a full trick."""
    suit = (1 << width) - 1
    led = int64(suit << cards[0] // width * width)
    trumps = int64(0 if trump == "NT" else suit << STRAINS.index(trump) * width)
    best, place = int64(1 << cards[0]), 0
    for i, card in enumerate(cards):
        if beats(int64(1 << card), best, led, trumps):
            best, place = int64(1 << card), i
    return (leader + place) % len(cards)


def _card_text(card: int, width: int) -> str:
    suit, rank = divmod(card, width)
    return SUITS[suit] + _RANKS[rank - width]
