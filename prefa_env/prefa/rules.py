"""The game of Prefa as numbers: cards, ladder, values, tricks owed, actions, and the options.

Rule numbers (P2, L2, A3, D4 ...) are those of `docs/rules.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cached_property
from typing import Literal, Self, get_args, get_type_hints

from ..cards import Pack
from ..words import ints

NUM_SEATS = 3
PACK = Pack(ranks="789TJQKA", seats=NUM_SEATS, hand_size=10)
NUM_CARDS = PACK.num_cards
ALL_CARDS = (1 << NUM_CARDS) - 1
SUIT = 0xFF
"""The cards of spades; the suit `s` is `SUIT << 8 * s`."""

STRAINS = ("S", "C", "D", "H", "NT")
NUM_RUNGS = 25
"""Contracts of the ladder (L1): rung = (level - 6) * 5 + strain."""

VALUES = ints([2, 3, 4, 5, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 11])
"""L2: kapikia a trick, and points of the kassa, of each rung."""

OWED_RIGHT = ints([2, 2, 1, 1, 0])
OWED_LEFT = ints([2, 1, 1, 0, 0])
OWED_TOGETHER = ints([4, 3, 2, 1, 0])
OWED_ALONE = ints([2, 2, 1, 1, 0])
"""D4: tricks owed by the defence at levels 6 to 10."""


class Action(IntEnum):
    """The actions that are not cards (0..31); bids are `BID + rung`."""

    PASS = 32  # πάσο · пас
    WRITE = 33  # τα γράφω; for a writer at the contract: decline to play
    BID = 34  # bid, hold (ναι στα) or name a contract: 34..58
    PLAY = 59  # παίζω · играю
    ALONE = 60  # μόνος · играю один
    INVITE = 61  # μαζί · приглашаю


NUM_ACTIONS = 62

MOST_SHOWN = 16_383
"""Largest number of a match (kassa, kapikia, deals left) that an observation has room for."""


class Phase(IntEnum):
    """Phases of a deal, in order."""

    AUCTION = 0  # αγορά · торговля
    DISCARD = 1  # снос
    CONTRACT = 2
    DEFENCE = 3
    INVITE = 4
    PLAY = 5
    OVER = 6


class Defence(IntEnum):
    """Who defends, seen from the declarer (D1-D3)."""

    NOBODY = 0
    BOTH = 1
    RIGHT_ALONE = 2
    LEFT_ALONE = 3
    RIGHT_INVITES = 4
    LEFT_INVITES = 5


class Flag(IntEnum):
    """Options as bits of one number, as the kernel reads them."""

    TEN_NT_IS_10 = 1
    HOLD_AFTER_FIRST_ROUND = 2
    HOLD_EXCLUDES_RAISE = 4
    NO_WRITE = 8
    MISERE = 16
    PARTNER_PAID_SINGLE = 32
    INVITE_SUM = 64
    HALF_LEFT = 128
    SEVEN_OF_DIAMONDS = 256
    ACES_BONUS = 512
    MATCH = 1024


@dataclass(frozen=True)
class Rules:
    """A variant of Prefa: the options of the rule book, immutable; defaults first.

    Raises ValueError for a value that is not among those listed.
    """

    kassa: int = 31
    """Points of the kassa at the start of a match; positive (P5)."""
    ten_nt_value: Literal[11, 10] = 11
    """Value of 10NT (L2)."""
    hold: Literal["earlier_position", "any_after_first_round"] = "earlier_position"
    """Who may hold a bid (A3)."""
    hold_excludes_raise: bool = False
    """Whoever may hold may not raise (A3)."""
    write_bid: bool = True
    """Whether *write* is in the game (A6)."""
    all_pass: Literal["redeal", "misere"] = "redeal"
    """After three passes: void, or played for fewest tricks (A5)."""
    partner_paid_single: bool = False
    """A failing defender never pays the other one double (S3)."""
    invite_penalty: Literal["collective", "sum_of_individuals"] = "collective"
    """What an inviter pays when his side fails (S3)."""
    half_rounding: Literal["right", "left"] = "right"
    """Who gives the larger half of an odd number of points (S4)."""
    first_bid: Literal["dealer", "seven_of_diamonds"] = "dealer"
    """Who speaks first in the first deal of a match (P4)."""
    aces_bonus: bool = False
    """Declarer is paid for four aces in his twelve cards."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            value = getattr(self, field.name)
            allowed = get_args(hints[field.name]) or (
                (False, True) if hints[field.name] is bool else ()
            )
            if allowed and not any(value == a and type(value) is type(a) for a in allowed):
                choices = ", ".join(map(repr, allowed))
                raise ValueError(f"rules: {field.name} must be one of {choices}, not {value!r}")
        if type(self.kassa) is not int or not 1 <= self.kassa <= MOST_SHOWN:
            raise ValueError(
                f"rules: kassa must be an integer of 1 to {MOST_SHOWN}, not {self.kassa!r}"
            )

    @classmethod
    def site(cls) -> Self:
        """The preset of the public Greek site."""
        return cls(
            ten_nt_value=10,
            hold="any_after_first_round",
            partner_paid_single=True,
            invite_penalty="sum_of_individuals",
            aces_bonus=True,
        )

    @cached_property
    def flags(self) -> int:
        """The options as the kernel reads them (see `Flag`)."""
        chosen = {
            Flag.TEN_NT_IS_10: self.ten_nt_value == 10,
            Flag.HOLD_AFTER_FIRST_ROUND: self.hold == "any_after_first_round",
            Flag.HOLD_EXCLUDES_RAISE: self.hold_excludes_raise,
            Flag.NO_WRITE: not self.write_bid,
            Flag.MISERE: self.all_pass == "misere",
            Flag.PARTNER_PAID_SINGLE: self.partner_paid_single,
            Flag.INVITE_SUM: self.invite_penalty == "sum_of_individuals",
            Flag.HALF_LEFT: self.half_rounding == "left",
            Flag.SEVEN_OF_DIAMONDS: self.first_bid == "seven_of_diamonds",
            Flag.ACES_BONUS: self.aces_bonus,
        }
        return sum(int(flag) for flag, is_set in chosen.items() if is_set)

    def to_dict(self) -> dict[str, int | str | bool]:
        """Field names and values, as they stand in results and checkpoints."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
