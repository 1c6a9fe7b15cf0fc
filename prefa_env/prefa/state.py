"""One table of Prefa as one flat record, and the declared layout of what a seat sees of it."""

from __future__ import annotations

from typing import Annotated

from ..layout import Field, Ints3, Layout, Record, record_dtype
from ..words import Words
from .rules import Phase

MAX_CALLS = 56
"""Room for the longest auction, in whole words (51; a test walks all auctions)."""


class State(Record):
    """A table: everything that has happened in the deal, and the match's kassas.

    Cards are bit sets, seats 0..2, -1 stands for "nobody" and "nothing yet".
    """

    phase: int
    seat: int  # to act; -1 when the deal is over
    dealer: int
    first: int  # first hand
    options: int  # rules.Flag bits
    hands: Ints3  # cards held now
    talon: int
    discards: int
    played: Ints3  # cards each seat has played
    trick: int  # cards of the unfinished trick
    said: Ints3  # what each seat has said: SAID_* and call bits
    voids: Ints3  # suits each seat has shown to be void in, as sets of cards
    active: int  # seats still in the auction, as bits
    bid: int  # rung of the standing bid; from the contract phase on, of the contract
    owner: int  # seat that wrote, bid or held last; from the discards on, the declarer
    is_held: int  # the standing bid is a hold
    is_written: int  # the declarer took the talon on a *write*
    num_calls: int
    has_aces: int  # the declarer's twelve cards hold all four aces
    defence: int  # rules.Defence
    playing: int  # seats that take part in the tricks, as bits
    trump: int  # the trump suit as a set of cards; 0: none
    led: int  # the suit led as a set of cards; 0: nothing led
    best: int  # winning card of the unfinished trick
    winner: int  # its seat
    in_trick: int  # cards in the unfinished trick
    num_played: int
    tricks: Ints3
    kassa_change: Ints3  # of this deal, as booked
    kapikia_change: Ints3
    settled_thirds: Ints3  # settled kapikia of this deal, times three
    kassa: Ints3  # of the match
    kapikia: Ints3
    deals_left: int  # of a match with a cap, this one among them; 0: no cap
    shown_card: int  # the card that made first hand (option first_bid), plus one; 0: none
    order: Annotated[Words, "i8", 4]  # a byte a card: when it was played, from 1
    calls: Annotated[Words, "i8", MAX_CALLS // 8]  # a byte a call: its action, less 31


DTYPE = record_dtype(State)

SAID_DEFENCE_PASS = 30
"""Column of `said` for a pass in the defence; all other columns are `action - 32`."""

_SEATS = ("me", "next", "after")


def _three(name: str, size: int, high: int, doc: str) -> list[Field]:
    return [Field(f"{name}_{seat}", size, high, f"{doc} ({seat})") for seat in _SEATS]


def _match_number(name: str, doc: str, low: int = 0) -> list[Field]:
    return [
        Field(f"{name}_high", 1, 127, f"{doc}: high byte (times 128)", low, in_match=True),
        Field(f"{name}_low", 1, 127, f"{doc}: low byte", in_match=True),
    ]


OBSERVATION = Layout(
    Field("hand", 32, 1, "my cards now"),
    Field("talon", 32, 1, "the talon I took"),
    Field("discards", 32, 1, "my discards"),
    *_three("played", 32, 1, "cards played"),
    *_three("trick", 32, 1, "card in the unfinished trick"),
    Field("unseen", 32, 1, "cards I have not seen"),
    *_three("said", 32, 1, "calls, column = action - 32; play, alone, invite; 30: defence pass"),
    Field("order", 32, 30, "by card: when it was played, from 1; 0: not played"),
    Field("calls", MAX_CALLS, 27, "the auction in order, action - 31; 0: none"),
    Field("phase", 7, 1, "auction, discard, contract, defence, invite, play, over"),
    Field("is_misere", 1, 1, "everyone passed and the deal is played for fewest tricks"),
    Field("level", 5, 1, "level 6..10 of the standing bid, then of the contract"),
    Field("owner", 3, 1, "whose it is (also a write): me, next, after"),
    Field("strain", 5, 1, "its strain S C D H NT"),
    Field("first_hand", 3, 1, "me, next, after"),
    Field("turn", 3, 1, "who is to act: me, next, after"),
    Field("playing", 3, 1, "who takes part in the tricks: me, next, after"),
    Field("is_held", 1, 1, "the standing bid is a hold"),
    Field("is_written", 1, 1, "the declarer took the talon on a write"),
    *_three("voids", 4, 1, "suits S C D H shown void"),
    Field("led", 4, 1, "suit led to the unfinished trick"),
    Field("tricks", 3, 10, "tricks taken: me, next, after"),
    Field("owed", 3, 10, "tricks still owed by each: declarer's contract, defenders' own numbers"),
    Field("owed_together", 1, 4, "tricks still owed by the defence together"),
    Field("num_tricks", 1, 10, "tricks finished"),
    *_match_number("kassa_me", "kassa of me (match)"),
    *_match_number("kassa_next", "kassa of next (match)"),
    *_match_number("kassa_after", "kassa of after (match)"),
    *_match_number("deals_left", "deals left (match with a cap)"),
    *_match_number("kapikia_me", "kapikia of me (match)", -128),
    *_match_number("kapikia_next", "kapikia of next (match)", -128),
    *_match_number("kapikia_after", "kapikia of after (match)", -128),
    Field(
        "shown_card",
        1,
        32,
        "card shown by first hand, plus one (match, option first_bid)",
        in_match=True,
    ),
    Field("is_match", 1, 1, "the deal is part of a match", in_match=True),
    Field("inviter", 3, 1, "who plays for himself and an invited hand: me, next, after"),
    Field("winning", 3, 1, "who wins the unfinished trick so far: me, next, after"),
    Field("value", 1, 11, "value of the standing bid, then of the contract"),
    Field("in_trick", 1, 2, "cards in the unfinished trick"),
)
"""Observation, version 0: int8 [O], relative to the seat that looks."""

IN_PLAY = OBSERVATION["phase"].start + Phase.PLAY
"""Column of an observation that is 1 when cards are played."""

STATE = Layout(
    *OBSERVATION,
    Field("hand_next", 32, 1, "hidden: cards of next"),
    Field("hand_after", 32, 1, "hidden: cards of after"),
    Field("hidden_talon", 32, 1, "hidden: the talon, as dealt"),
    Field("hidden_discards", 32, 1, "hidden: the declarer's discards"),
)
"""The whole table, version 0: int8 [P], relative to the seat to act; for critics."""
