"""The rules of Prefa, compiled once: a pair of functions per phase, over one record per table.

Everything else (environments, batches, search) asks these functions. Nothing here allocates, draws
or raises: chance is an argument, and doors check actions before they call `step`.
Rule numbers are those of `docs/rules.md`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._jit import njit
from ..bits import popcount
from ..tricks import beats, playable, shown_void
from ..words import int64, ints, put_byte
from .rules import (
    ALL_CARDS,
    NUM_RUNGS,
    PACK,
    SUIT,
    Action,
    Defence,
    Flag,
    Phase,
)
from .scoring import DECLINE_KAPIKIA, DECLINE_KASSA, floor_kassa, payments
from .state import SAID_DEFENCE_PASS, State

# Numba freezes plain integers into the machine code; enum members would be looked up.
_AUCTION, _DISCARD, _CONTRACT = int(Phase.AUCTION), int(Phase.DISCARD), int(Phase.CONTRACT)
_DEFENCE, _INVITE, _PLAY = int(Phase.DEFENCE), int(Phase.INVITE), int(Phase.PLAY)
_OVER = int(Phase.OVER)
_PASS, _WRITE, _BID = int(Action.PASS), int(Action.WRITE), int(Action.BID)
_SAY_PLAY, _SAY_ALONE, _SAY_INVITE = int(Action.PLAY), int(Action.ALONE), int(Action.INVITE)
_HOLD_AFTER_FIRST_ROUND = int(Flag.HOLD_AFTER_FIRST_ROUND)
_HOLD_EXCLUDES_RAISE = int(Flag.HOLD_EXCLUDES_RAISE)
_NO_WRITE = int(Flag.NO_WRITE)
_MISERE = int(Flag.MISERE)
_ACES_BONUS = int(Flag.ACES_BONUS)
_MATCH = int(Flag.MATCH)
_SEVEN_FIRST = int(Flag.SEVEN_OF_DIAMONDS)
_DIAMOND_SEVEN = PACK.parse_card("D7")
_NOBODY, _BOTH = int(Defence.NOBODY), int(Defence.BOTH)
_RIGHT_ALONE, _LEFT_ALONE = int(Defence.RIGHT_ALONE), int(Defence.LEFT_ALONE)
_RIGHT_INVITES, _LEFT_INVITES = int(Defence.RIGHT_INVITES), int(Defence.LEFT_INVITES)
_TOP_RUNG = NUM_RUNGS - 1
_HAND_SIZE = PACK.hand_size
_ALL_SEATS = 0b111
_FOUR_ACES = 0x80808080
_BIDS = ((1 << NUM_RUNGS) - 1) << _BID


@njit
def right_of(seat: int) -> int:
    """The next seat in turn order (P1)."""
    return seat + 1 - 3 * (seat == 2)


@njit
def left_of(seat: int) -> int:
    """The seat before, who acts last of the others."""
    return seat - 1 + 3 * (seat == 0)


_NEXT_IN = ints(
    [
        next((seat + i) % 3 for i in (1, 2, 3) if seats >> (seat + i) % 3 & 1 or i == 3)
        for seats in range(8)
        for seat in range(3)
    ]
)


@njit
def _next_in(seat: int, seats: int) -> int:
    """The next seat in turn order among `seats` (bits); `seat` itself if there is no other."""
    return _NEXT_IN[3 * seats + seat]


# -- the start ------------------------------------------------------------------------------------


@njit
def start_match(s: State, kassa: int, max_deals: int) -> None:
    """Begin a match: all kassas at `kassa` points, kapikia at 0 (P5); then comes `deal_first`.

    Args:
        max_deals: deals after which the match ends unfinished; 0: as many as it takes.
    """
    for seat in range(3):
        s.kassa[seat] = kassa
        s.kapikia[seat] = 0
    s.deals_left = max_deals


@njit
def deal(s: State, flags: int, deck: npt.NDArray[np.int8], dealer: int) -> None:
    """Begin a deal: clears the last one, keeps kassas and kapikia of the match (P3, P4).

    It does not count the deals of a match; `deal_next` does.

    Args:
        flags: `Rules.options`, with `Flag.MATCH` where the floor S4 applies.
        deck: int8 [32], each card once: the hands in seat order, then the talon.
        dealer: 0..2.
    """
    s.options = flags
    s.dealer = dealer
    s.first = right_of(dealer)
    s.phase = _AUCTION
    s.seat = s.first
    s.talon = int64(1) << deck[30] | int64(1) << deck[31]
    s.discards = 0
    s.trick = 0
    for seat in range(3):
        hand = int64(0)
        for i in range(_HAND_SIZE):
            hand |= int64(1) << deck[seat * _HAND_SIZE + i]
        s.hands[seat] = hand
        s.played[seat] = 0
        s.said[seat] = 0
        s.voids[seat] = 0
        s.tricks[seat] = 0
        s.kassa_change[seat] = 0
        s.kapikia_change[seat] = 0
        s.settled_thirds[seat] = 0
    s.active = _ALL_SEATS
    s.bid = -1
    s.owner = -1
    s.is_held = 0
    s.is_written = 0
    s.num_calls = 0
    s.has_aces = 0
    s.defence = _NOBODY
    s.playing = 0
    s.trump = 0
    s.led = 0
    s.best = 0
    s.winner = -1
    s.in_trick = 0
    s.num_played = 0
    s.shown_card = 0
    s.order[:] = 0
    s.calls[:] = 0


@njit
def deal_first(s: State, flags: int, deck: npt.NDArray[np.int8], dealer: int) -> bool:
    """Begin a deal that was drawn: a single one, or the first of a match.

    As `deal`, but with the option `first_bid` whoever holds the seven of diamonds is first hand of
    a match, whoever the dealer would be (P4). False, and no deal, if it and the eight lie in the
    talon: draw another deck.
    """
    shown = 0
    if flags & _SEVEN_FIRST != 0 and flags & _MATCH != 0:
        for card in range(_DIAMOND_SEVEN + 1, _DIAMOND_SEVEN - 1, -1):
            for place in range(3 * _HAND_SIZE):
                if deck[place] == card:
                    shown = card + 1
                    dealer = left_of(place // _HAND_SIZE)
        if shown == 0:
            return False
    deal(s, flags, deck, dealer)
    s.shown_card = shown
    return True


@njit
def deal_next(s: State, deck: npt.NDArray[np.int8]) -> None:
    """Begin the next deal of a match that is not over, dealt by the next player (P4)."""
    if s.deals_left > 1:
        s.deals_left -= 1
    deal(s, s.options, deck, right_of(s.dealer))


@njit
def is_match_over(s: State) -> bool:
    """Whether no deal follows one that is over: S6, or the last one agreed on.

    A single deal is a match of its own.
    """
    is_last = s.options & _MATCH == 0 or s.deals_left == 1
    return s.seat < 0 and (is_last or s.kassa[0] | s.kassa[1] | s.kassa[2] == 0)


@njit
def match_thirds(s: State, seat: int) -> int:
    """Three times what the match has brought a seat: kapikia - 10 (kassa - mean), exact.

    When all kassas are 0 that is three times its kapikia (S6).
    """
    total = s.kassa[0] + s.kassa[1] + s.kassa[2]
    return 3 * s.kapikia[seat] - 30 * s.kassa[seat] + 10 * total


# -- auction --------------------------------------------------------------------------------------


@njit
def _may_hold(s: State) -> bool:
    """A3: whether the seat to act may take over the standing bid."""
    if s.options & _HOLD_AFTER_FIRST_ROUND != 0:
        return s.num_calls >= 3 and s.is_held == 0
    position = s.seat - s.first if s.seat >= s.first else s.seat - s.first + 3
    owner = s.owner - s.first if s.owner >= s.first else s.owner - s.first + 3
    return position < owner


@njit
def _auction_actions(s: State) -> int:
    """A2, A3, A6."""
    legal = int64(1) << _PASS
    if s.bid < 0:
        legal |= int64(1) << _BID
        if s.owner < 0 and s.options & _NO_WRITE == 0:
            legal |= int64(1) << _WRITE
        return legal
    may_raise = s.bid < _TOP_RUNG
    if _may_hold(s):
        legal |= int64(1) << (_BID + s.bid)
        if s.options & (_HOLD_EXCLUDES_RAISE | _HOLD_AFTER_FIRST_ROUND) != 0:
            may_raise = False
    if may_raise:
        legal |= int64(1) << (_BID + s.bid + 1)
    return legal


@njit
def _call(s: State, action: int) -> None:
    seat = s.seat
    s.said[seat] |= int64(1) << (action - _PASS)
    put_byte(s.calls, s.num_calls, action - _PASS + 1)
    s.num_calls += 1
    if action == _PASS:
        s.active &= ~(int64(1) << seat)
    elif action == _WRITE:
        s.owner = seat
    else:
        if s.bid < 0 and s.owner >= 0:
            s.active &= ~(int64(1) << s.owner)  # A4: the writer is out
        s.is_held = 1 if action - _BID == s.bid else 0
        s.bid = action - _BID
        s.owner = seat
    if s.active == 0:  # A5
        if s.options & _MISERE != 0:
            _start_play(s, _ALL_SEATS, 0)
        else:
            _finish(s)
    elif s.owner >= 0 and s.active == int64(1) << s.owner:
        _take_talon(s)
    else:
        s.seat = _next_in(seat, s.active)


# -- talon, discards, contract --------------------------------------------------------------------


@njit
def _take_talon(s: State) -> None:
    """T1."""
    s.phase = _DISCARD
    s.seat = s.owner
    s.is_written = 1 if s.bid < 0 else 0
    s.hands[s.owner] |= s.talon
    note_aces(s)


@njit
def note_aces(s: State) -> None:
    """Set `has_aces` from the declarer's twelve cards, where aces count at all."""
    if s.options & _ACES_BONUS != 0:
        twelve = s.hands[s.owner] | s.played[s.owner] | s.discards
        s.has_aces = 1 if twelve & _FOUR_ACES == _FOUR_ACES else 0


@njit
def _discard(s: State, card: int) -> None:
    bit = int64(1) << card
    s.hands[s.seat] ^= bit
    if s.discards != 0:
        s.phase = _CONTRACT
    s.discards |= bit


@njit
def _contract_actions(s: State) -> int:
    """T2, T3."""
    if s.is_written != 0:
        return int64(_BIDS) | int64(1) << _WRITE
    return int64(_BIDS) >> (_BID + s.bid) << (_BID + s.bid)


@njit
def _name_contract(s: State, action: int) -> None:
    if action == _WRITE:  # T3: declines to play
        _book(s, DECLINE_KASSA, -2 * DECLINE_KAPIKIA, DECLINE_KAPIKIA, DECLINE_KAPIKIA)
        _finish(s)
        return
    s.bid = action - _BID
    s.phase = _DEFENCE
    s.seat = right_of(s.owner)


# -- defence --------------------------------------------------------------------------------------


@njit
def _defend(s: State, action: int) -> None:
    """D1, D2."""
    seat = s.seat
    right = right_of(s.owner)
    if action == _SAY_PLAY:
        s.said[seat] |= int64(1) << (_SAY_PLAY - _PASS)
        s.playing |= int64(1) << seat
    else:
        s.said[seat] |= int64(1) << SAID_DEFENCE_PASS
    if seat == right:
        s.seat = left_of(s.owner)
    elif s.playing == 0:
        pay(s)
    elif s.playing == int64(1) << right | int64(1) << left_of(s.owner):
        s.defence = _BOTH
        _start_contract(s, _ALL_SEATS)
    else:
        s.phase = _INVITE
        s.seat = right if s.playing == int64(1) << right else left_of(s.owner)


@njit
def _choose_company(s: State, action: int) -> None:
    """D3."""
    s.said[s.seat] |= int64(1) << (action - _PASS)
    is_right = s.seat == right_of(s.owner)
    if action == _SAY_ALONE:
        s.defence = _RIGHT_ALONE if is_right else _LEFT_ALONE
        _start_contract(s, int64(1) << s.seat | int64(1) << s.owner)
    else:
        s.defence = _RIGHT_INVITES if is_right else _LEFT_INVITES
        _start_contract(s, _ALL_SEATS)


@njit
def inviter(s: State) -> int:
    """The seat that plays for itself and for an invited hand; -1 if nobody does."""
    if s.defence == _RIGHT_INVITES:
        return right_of(s.owner)
    if s.defence == _LEFT_INVITES:
        return left_of(s.owner)
    return -1


@njit
def beneficiary(s: State) -> int:
    """The seat whose payment the seat to act plays for: the inviter's for an invited hand (D3)."""
    by = inviter(s)
    if by >= 0 and s.seat != s.owner:
        return by
    return s.seat


# -- play -----------------------------------------------------------------------------------------


@njit
def _start_contract(s: State, playing: int) -> None:
    strain = s.bid % 5
    _start_play(s, playing, int64(SUIT) << 8 * strain & ALL_CARDS)  # NT lies above all cards


@njit
def _start_play(s: State, playing: int, trump: int) -> None:
    """C1."""
    s.phase = _PLAY
    s.playing = playing
    s.trump = trump
    s.seat = s.first if playing >> s.first & 1 != 0 else _next_in(s.first, playing)


@njit
def _play_card(s: State, card: int) -> None:
    """C1, C3. Written without branches: tables of a batch are at different points of a trick."""
    seat = s.seat
    bit = int64(1) << card
    takes = beats(bit, s.best, s.led, s.trump)
    best = bit if takes else s.best
    winner = seat if takes else s.winner
    led = int64(SUIT) << (card & ~7) if s.led == 0 else s.led
    s.voids[seat] |= shown_void(bit, s.led, s.trump)
    s.hands[seat] ^= bit
    s.played[seat] |= bit
    s.num_played += 1
    put_byte(s.order, card, s.num_played)
    in_trick = s.in_trick + 1
    is_end = in_trick == (3 if s.playing == _ALL_SEATS else 2)
    s.tricks[winner] += is_end
    s.trick = 0 if is_end else s.trick | bit
    s.led = 0 if is_end else led
    s.best = 0 if is_end else best
    s.in_trick = 0 if is_end else in_trick
    s.winner = -1 if is_end else winner
    s.seat = winner if is_end else _next_in(seat, s.playing)
    if is_end and s.hands[winner] == 0:
        pay(s)


# -- the end --------------------------------------------------------------------------------------


@njit
def pay(s: State) -> None:
    """End the deal with the tricks taken so far: S1-S3, and the misère of A5."""
    if s.owner < 0:
        fewest = min(s.tricks[0], s.tricks[1], s.tricks[2])
        for seat in range(3):
            s.kassa_change[seat] = s.tricks[seat] - fewest
            s.kassa[seat] += s.kassa_change[seat] if s.options & _MATCH != 0 else 0
        _settle(s)
    else:
        declarer, right, left = s.owner, right_of(s.owner), left_of(s.owner)
        kassa, to_declarer, to_right, to_left = payments(
            s.options,
            s.bid,
            s.defence,
            s.tricks[declarer],
            s.tricks[right],
            s.tricks[left],
            s.has_aces,
        )
        _book(s, kassa, to_declarer, to_right, to_left)
    _finish(s)


@njit
def _book(s: State, kassa: int, to_declarer: int, to_right: int, to_left: int) -> None:
    """Book a declarer's payment: settled before, kassas and kapikia after the floor S4."""
    declarer, right, left = s.owner, right_of(s.owner), left_of(s.owner)
    s.kassa_change[declarer] = kassa
    s.kapikia_change[declarer] = to_declarer
    s.kapikia_change[right] = to_right
    s.kapikia_change[left] = to_left
    _settle(s)
    if s.options & _MATCH == 0:
        return
    at_declarer, at_right, at_left, from_right, from_left = floor_kassa(
        s.options, s.kassa[declarer] + kassa, s.kassa[right], s.kassa[left]
    )
    s.kassa_change[declarer] = at_declarer - s.kassa[declarer]
    s.kassa_change[right] = at_right - s.kassa[right]
    s.kassa_change[left] = at_left - s.kassa[left]
    s.kapikia_change[declarer] += from_right + from_left
    s.kapikia_change[right] -= from_right
    s.kapikia_change[left] -= from_left
    for seat in range(3):
        s.kassa[seat] += s.kassa_change[seat]
        s.kapikia[seat] += s.kapikia_change[seat]


@njit
def _settle(s: State) -> None:
    """Three times the settled kapikia, exact (docs/rules.md, "What one deal is worth")."""
    total = s.kassa_change[0] + s.kassa_change[1] + s.kassa_change[2]
    for seat in range(3):
        s.settled_thirds[seat] = 3 * s.kapikia_change[seat] - 30 * s.kassa_change[seat] + 10 * total


@njit
def _finish(s: State) -> None:
    s.phase = _OVER
    s.seat = -1


# -- what everybody calls -------------------------------------------------------------------------


@njit
def legal_actions(s: State) -> int:
    """Legal actions of the seat to act as an int64 bit set of 62 bits; 0 when the deal is over."""
    if s.phase == _PLAY:
        return playable(s.hands[s.seat], s.led, s.trump)
    if s.phase == _AUCTION:
        return _auction_actions(s)
    if s.phase == _DISCARD:
        return s.hands[s.seat]
    if s.phase == _CONTRACT:
        return _contract_actions(s)
    if s.phase == _DEFENCE:
        return int64(1) << _PASS | int64(1) << _SAY_PLAY
    if s.phase == _INVITE:
        return int64(1) << _SAY_ALONE | int64(1) << _SAY_INVITE
    return int64(0)


@njit
def step(s: State, action: int) -> None:
    """Let the seat to act do `action`, which must be legal; the record changes in place."""
    if s.phase == _PLAY:
        _play_card(s, action)
    elif s.phase == _AUCTION:
        _call(s, action)
    elif s.phase == _DISCARD:
        _discard(s, action)
    elif s.phase == _CONTRACT:
        _name_contract(s, action)
    elif s.phase == _DEFENCE:
        _defend(s, action)
    else:
        _choose_company(s, action)


@njit
def redeal_hidden(
    s: State, seat: int, deck: npt.NDArray[np.int8], talon_deck: npt.NDArray[np.int8]
) -> bool:
    """Deal the cards that `seat` cannot see anew, in place.

    Cards that do not fit (a suit shown void, a card shown) make it return False with the record
    unchanged: try another deck. Uniform decks give uniform hidden cards under all hard facts.

    Args:
        seat: the seat whose knowledge stays as it is.
        deck: int8 [32], each card once; the hidden cards are dealt in this order.
        talon_deck: int8 [32], each card once; of the declarer's twelve cards the first two in this
            order were the talon.
    """
    is_taken = s.phase != _AUCTION and s.owner >= 0
    knows_discards = is_taken and seat == s.owner
    unseen = ALL_CARDS & ~(s.hands[seat] | s.played[0] | s.played[1] | s.played[2])
    if knows_discards:
        unseen &= ~s.discards
    right, left = right_of(seat), left_of(seat)
    hand_right, position = _take(unseen, deck, 0, popcount(s.hands[right]))
    hand_left, position = _take(unseen, deck, position, popcount(s.hands[left]))
    if hand_right & s.voids[right] != 0 or hand_left & s.voids[left] != 0:
        return False
    rest = unseen & ~(hand_right | hand_left)
    talon, discards = s.talon, s.discards
    if not is_taken:
        talon = rest
    elif not knows_discards:
        discards = rest
        hand = hand_right if s.owner == right else hand_left
        talon, position = _take(hand | s.played[s.owner] | discards, talon_deck, 0, 2)
    hand = s.hands[seat]
    if s.first != seat:
        hand = hand_right if s.first == right else hand_left
    if not is_as_shown(s, hand, talon, discards):
        return False
    s.hands[right] = hand_right
    s.hands[left] = hand_left
    s.talon = talon
    s.discards = discards
    if is_taken and not knows_discards:
        note_aces(s)
    return True


@njit
def is_as_shown(s: State, hand: int, talon: int, discards: int) -> bool:
    """Whether cards may lie so, given the card that first hand has shown (P4, `first_bid`).

    Args:
        hand: the cards that first hand holds now.
        talon, discards: the talon as dealt; the declarer's discards.
    """
    if s.shown_card == 0:
        return True
    shown = int64(1) << (s.shown_card - 1)
    if s.owner == s.first:
        hand |= discards
    is_with_first = (hand | s.played[s.first]) & shown != 0 and talon & shown == 0
    seven = int64(1) << _DIAMOND_SEVEN
    return is_with_first and (shown == seven or talon & seven != 0)


@njit
def _take(cards: int, deck: npt.NDArray[np.int8], position: int, count: int) -> tuple[int, int]:
    """The next `count` of `cards` in the order of `deck`, and the position after them."""
    taken = int64(0)
    while count > 0:
        bit = int64(1) << deck[position]
        position += 1
        if cards & bit != 0:
            taken |= bit
            count -= 1
    return taken, position
