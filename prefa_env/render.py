"""A table of Prefa as readable text, all cards open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .cards import SUITS, cards_of
from .prefa import DTYPE, NUM_CARDS, NUM_SEATS, PACK, Action, Phase, State, kernel
from .prefa.state import SAID_DEFENCE_PASS
from .prefa.text import action_text, deck_of
from .tricks import beats

SYMBOLS = dict(zip(SUITS, "♠♣♦♥", strict=True))

Play = tuple[int, int]
"""A seat and the card it played."""


def table_text(table: State) -> str:
    """Dealer, hands, auction, contract, defence, tricks and, at the end, what was paid."""
    s = table
    lines = [
        ("deal", f"{_name(s.dealer)} dealt, {_name(s.first)} is first hand"),
        ("turn", _turn(s)),
        *((_name(seat), _hand(s, seat)) for seat in range(NUM_SEATS)),
        ("talon", _cards(s.talon)),
        ("discards", _cards(s.discards) if s.discards else ""),
        ("auction", ", ".join(_auction(s))),
        ("contract", _contract(s)),
        ("defence", ", ".join(_defence(s))),
        *_tricks(s),
        *_payments(s),
    ]
    return "\n".join(f"{head:9} {text}".rstrip() for head, text in lines if text)


def _name(seat: int) -> str:
    return f"player_{int(seat)}"


def _turn(s: State) -> str:
    phase = Phase(int(s.phase)).name.lower()
    return "the deal is over" if s.seat < 0 else f"{_name(s.seat)} is to act ({phase})"


def _card(card: int) -> str:
    text = PACK.card_text(card)
    return SYMBOLS[text[0]] + text[1:]


def _cards(cards: int) -> str:
    """Suits in order, high card first: `♠AKQ ♣J98 ♥A9`; a dash for none."""
    suits = PACK.hand_text(cards_of(cards)).split(".")
    held = [SYMBOLS[suit] + ranks for suit, ranks in zip(SUITS, suits, strict=True) if ranks]
    return " ".join(held) or "-"


def call_text(action: int) -> str:
    """A call with a symbol for its suit: `6♠`, `10NT`, `pass`."""
    text = action_text(action)
    is_suit_bid = Action.BID <= action < Action.PLAY and not text.endswith("NT")
    return text[:-1] + SYMBOLS[text[-1]] if is_suit_bid else text


def _hand(s: State, seat: int) -> str:
    tricks = int(s.tricks[seat])
    taken = f"   {tricks} trick{'s' * (tricks != 1)}" if s.num_played else ""
    return _cards(s.hands[seat]) + taken


def _auction(s: State) -> Iterator[str]:
    """The calls in order; `=` marks a hold."""
    replay: State = np.zeros(1, DTYPE)[0]
    kernel.deal(replay, s.options, np.array(deck_of(s), np.int8), s.dealer)
    for byte in s.calls.view(np.uint8)[: s.num_calls]:
        action = int(byte) + Action.PASS - 1
        is_hold = replay.bid >= 0 and action == Action.BID + replay.bid
        yield f"{_name(replay.seat)} {'=' if is_hold else ''}{call_text(action)}"
        kernel.step(replay, action)


def _contract(s: State) -> str:
    if s.phase == Phase.AUCTION:
        return ""
    if s.owner < 0:
        return "all passed, fewest tricks win" if s.num_played else "all passed"
    declarer = _name(s.owner)
    if s.bid < 0:
        return f"{declarer} declines to play" if s.seat < 0 else f"{declarer} wrote"
    bid = call_text(Action.BID + int(s.bid))
    if s.phase < Phase.DEFENCE:
        return f"{declarer}, {bid} or more"
    return f"{bid} by {declarer}"


def _defence(s: State) -> Iterator[str]:
    """What the defenders said, right of the declarer first."""
    words = {
        SAID_DEFENCE_PASS: "pass",
        Action.PLAY - Action.PASS: "play",
        Action.ALONE - Action.PASS: "alone",
        Action.INVITE - Action.PASS: "invite",
    }
    for seat in (kernel.right_of(s.owner), kernel.left_of(s.owner)):
        said = [word for column, word in words.items() if s.said[seat] >> column & 1]
        if said:
            yield f"{_name(seat)} {' '.join(said)}"


def _tricks(s: State) -> Iterator[tuple[str, str]]:
    """The last finished trick and the unfinished one."""
    order = s.order.view(np.uint8)
    cards = sorted((card for card in range(NUM_CARDS) if order[card]), key=lambda c: order[c])
    size = int(s.playing).bit_count() or NUM_SEATS
    finished = len(cards) // size
    if finished:
        plays = list(_plays(s, cards[(finished - 1) * size : finished * size]))
        yield "last", f"{_text(plays)}: {_name(_winner(plays, s.trump))} takes trick {finished}"
    if s.in_trick:
        yield "trick", _text(_plays(s, cards[finished * size :]))


def _plays(s: State, cards: Iterable[int]) -> Iterator[Play]:
    for card in cards:
        yield next(seat for seat in range(NUM_SEATS) if s.played[seat] >> card & 1), card


def _text(plays: Iterable[Play]) -> str:
    return ", ".join(f"{_name(seat)} {_card(card)}" for seat, card in plays)


def _winner(plays: list[Play], trump: int) -> int:
    """The seat that takes a finished trick (C3)."""
    winner, best = plays[0]
    led = 0xFF << (best & ~7)
    for seat, card in plays[1:]:
        if beats(1 << card, 1 << best, led, trump):
            winner, best = seat, card
    return winner


def _payments(s: State) -> Iterator[tuple[str, str]]:
    if s.seat >= 0:
        return
    kapikia = [f"{int(change):+d}" for change in s.kapikia_change]
    kassa = [f"{int(change):+d}" for change in s.kassa_change]
    settled = [f"{int(thirds) / 3:+.2f}" for thirds in s.settled_thirds]
    for head, row in (("kapikia", kapikia), ("kassa", kassa), ("settled", settled)):
        yield head, ", ".join(f"{_name(seat)} {change}" for seat, change in enumerate(row))
