"""What a finished deal booked, taken apart into payments between two players."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..prefa import State, payments
from ..prefa.kernel import left_of, right_of


class Payment(NamedTuple):
    """Kapikia that one seat pays another."""

    payer: int
    payee: int
    kapikia: int
    reason: str  # "" for tricks and for declining, else "four aces" or "floor"


def payments_of(table: State) -> list[Payment]:
    """The kapikia that a deal booked, payment by payment; the table must be over.

    First comes what the contract pays, or a writer who declines, then the aces bonus, then what the
    floor S4 takes. Of each, declarer's payments stand first, with the hand at his right before the
    one at his left.
    """
    if table.owner < 0:
        return []  # three passes move no kapikia, played or not
    seats = (int(table.owner), right_of(int(table.owner)), left_of(int(table.owner)))
    booked = [int(table.kapikia_change[seat]) for seat in seats]
    if table.bid < 0:
        return _between_two(seats, booked, "")
    declarer, right, left = (int(table.tricks[seat]) for seat in seats)
    plain, settled = (
        payments(table.options, table.bid, table.defence, declarer, right, left, aces)[1:]
        for aces in (0, table.has_aces)
    )
    return [
        *_between_two(seats, plain, ""),
        *_between_two(seats, _difference(settled, plain), "four aces"),
        *_between_two(seats, _difference(booked, settled), "floor"),
    ]


def _difference(after: Sequence[int], before: Sequence[int]) -> list[int]:
    return [a - b for a, b in zip(after, before, strict=True)]


def _between_two(seats: Sequence[int], kapikia: Sequence[int], reason: str) -> list[Payment]:
    """Payments that bring the seats these kapikia, which sum to 0."""
    # Of three numbers that sum to 0 the largest has one sign and the two others the other: its
    # seat alone pays, or alone is paid.
    one = max(range(3), key=lambda i: abs(kapikia[i]))
    return [
        Payment(seats[one], seats[other], amount, reason)
        if amount > 0
        else Payment(seats[other], seats[one], -amount, reason)
        for other, amount in enumerate(kapikia)
        if other != one and amount != 0
    ]
