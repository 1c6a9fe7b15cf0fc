"""Payments of Prefa (S1-S4, D4-D5): pure functions, in kapikia and kassa points."""

from __future__ import annotations

from .._jit import njit
from .rules import (
    NUM_RUNGS,
    OWED_ALONE,
    OWED_LEFT,
    OWED_RIGHT,
    OWED_TOGETHER,
    VALUES,
    Defence,
    Flag,
)

_NOBODY = int(Defence.NOBODY)
_BOTH = int(Defence.BOTH)
_RIGHT_ALONE = int(Defence.RIGHT_ALONE)
_LEFT_ALONE = int(Defence.LEFT_ALONE)
_RIGHT_INVITES = int(Defence.RIGHT_INVITES)
_TEN_NT_IS_10 = int(Flag.TEN_NT_IS_10)
_PARTNER_PAID_SINGLE = int(Flag.PARTNER_PAID_SINGLE)
_INVITE_SUM = int(Flag.INVITE_SUM)
_HALF_LEFT = int(Flag.HALF_LEFT)
_TOP_RUNG = NUM_RUNGS - 1

DECLINE_KASSA = 2
DECLINE_KAPIKIA = 2
"""T3: what a writer who declines adds to his kassa, and pays each opponent."""

ACES_PLAIN = 25
ACES_ABOVE = 50
"""Option `aces_bonus`: kapikia from each opponent at level 6, and above."""


@njit
def value(flags: int, contract: int) -> int:
    """Value of a rung (L2)."""
    return VALUES[contract] - (contract == _TOP_RUNG and flags & _TEN_NT_IS_10 != 0)


@njit
def _factor(short: int) -> int:
    """Payment is double when two or more tricks are missing."""
    return 2 if short >= 2 else 1


@njit
def _pay_both_short(
    flags: int, contract: int, declarer: int, right: int, left: int
) -> tuple[int, int, int]:
    """S3 with both defending and their side short: kapikia of declarer, right, left."""
    level = contract // 5
    v = value(flags, contract)
    short_right = OWED_RIGHT[level] - right
    short_left = OWED_LEFT[level] - left
    if short_right > 0 and short_left > 0:
        pay_right = v * declarer * _factor(short_right)
        pay_left = v * declarer * _factor(short_left)
        return pay_right + pay_left, -pay_right, -pay_left
    factor = _factor(OWED_TOGETHER[level] - right - left)
    partner_factor = 1 if flags & _PARTNER_PAID_SINGLE != 0 else factor
    to_declarer = v * declarer * factor
    if short_right > 0:
        to_left = v * left * partner_factor
        return to_declarer, -to_declarer - to_left, to_left
    to_right = v * right * partner_factor
    return to_declarer, to_right, -to_declarer - to_right


@njit
def payments(
    flags: int, contract: int, defence: int, declarer: int, right: int, left: int, aces: int
) -> tuple[int, int, int, int]:
    """What a played or conceded contract pays (S1-S3 and the aces bonus), without the floor S4.

    Args:
        flags: `Rules.options`.
        contract: rung 0..24.
        defence: `rules.Defence`; NOBODY counts as made without tricks (D2).
        declarer, right, left: tricks of the declarer and of the hands at his right and left.
        aces: 1 if the declarer's twelve cards held all four aces.

    Returns:
        Change of the declarer's kassa; kapikia of declarer, right, left (sum 0).
    """
    level = contract // 5
    v = value(flags, contract)
    short = 6 + level - declarer
    together = right + left
    by_right = defence == _RIGHT_ALONE or defence == _RIGHT_INVITES
    is_alone = defence == _RIGHT_ALONE or defence == _LEFT_ALONE
    owed = OWED_ALONE[level] if is_alone else OWED_TOGETHER[level]
    kassa = 0
    to_right = 0
    to_left = 0
    if defence == _NOBODY:
        kassa = -v
    elif short > 0 or together >= owed:  # S2, S1
        factor = _factor(short)
        kassa = v * factor if short > 0 else -v
        if defence == _BOTH:
            to_right = v * factor * right
            to_left = v * factor * left
        elif by_right:
            to_right = v * factor * together
        else:
            to_left = v * factor * together
    elif defence == _BOTH:  # S3
        _, to_right, to_left = _pay_both_short(flags, contract, declarer, right, left)
    else:
        if not is_alone and flags & _INVITE_SUM != 0:
            fine, _, _ = _pay_both_short(flags, contract, declarer, right, left)
        else:
            fine = v * declarer * _factor(owed - together)
        if by_right:
            to_right = -fine
        else:
            to_left = -fine
    if aces != 0:
        bonus = ACES_PLAIN if level == 0 else ACES_ABOVE
        if defence != _NOBODY and short > 0:
            bonus = -bonus
        to_right -= bonus
        to_left -= bonus
    return kassa, -to_right - to_left, to_right, to_left


@njit
def floor_kassa(flags: int, declarer: int, right: int, left: int) -> tuple[int, int, int, int, int]:
    """S4: what happens when a declarer's kassa would stand at `declarer`, below 0.

    Args:
        flags: `Rules.options` (the option `half_rounding`).
        declarer: his kassa with the payment taken off; nothing happens unless it is negative.
        right, left: kassas of the hands at his right and left.

    Returns:
        Kassas of declarer, right, left; kapikia that right and left pay to the declarer.
    """
    missing = max(0, -declarer)
    from_right = 0
    from_left = 0
    if right == left:
        half = missing // 2
        larger = missing - half
        from_right = min(right, half if flags & _HALF_LEFT != 0 else larger)
        from_left = min(left, larger if flags & _HALF_LEFT != 0 else half)
    elif right > left:
        from_right = min(right, missing)
        from_left = min(left, missing - from_right)
    else:
        from_left = min(left, missing)
        from_right = min(right, missing - from_left)
    third = (10 * (missing - from_right - from_left) + 1) // 3  # a third, to the nearest
    return (
        max(0, declarer),
        right - from_right,
        left - from_left,
        10 * from_right + third,
        10 * from_left + third,
    )
