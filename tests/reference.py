"""A slow, obvious reference of the card game Prefa, for tests only.

Written straight from the rule book; the numbers in the comments (`A3`, `S3`) are the rule book's.
Standard library only. Nothing here is fast, and nothing here is shared with the code it checks.

Cards are integers, ``suit * 8 + rank``; actions are integers as in the public interface:

    0-31   play or discard that card
    32     pass (auction and defence)
    33     write; for a writer whose contract is due: decline to play
    34-58  a contract: bid it, hold it, or name it
    59     play, 60 alone, 61 invite
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

# ------------------------------------------------------------------------------------- options


@dataclass(frozen=True)
class Options:
    """The options table: names, values and defaults (the first value named in the rule book)."""

    kassa: int = 31  # P5, a match's
    ten_nt_value: Literal[11, 10] = 11  # L2
    hold: Literal["earlier_position", "any_after_first_round"] = "earlier_position"  # A3
    hold_excludes_raise: bool = False  # A3
    write_bid: bool = True  # A6
    all_pass: Literal["redeal", "misere"] = "redeal"  # A5
    partner_paid_single: bool = False  # S3
    invite_penalty: Literal["collective", "sum_of_individuals"] = "collective"  # S3
    half_rounding: Literal["right", "left"] = "right"  # S4: who gives the larger half
    first_bid: Literal["dealer", "seven_of_diamonds"] = "dealer"  # P4, a match's first deal only
    aces_bonus: bool = False


DEFAULT = Options()

SITE = Options(
    ten_nt_value=10,
    hold="any_after_first_round",
    partner_paid_single=True,
    invite_penalty="sum_of_individuals",
    aces_bonus=True,
)

# ------------------------------------------------------------------------------ cards, contracts

SUITS = ["S", "C", "D", "H"]  # P2, low to high
RANKS = ["7", "8", "9", "T", "J", "Q", "K", "A"]  # P2, low to high
STRAINS = ["S", "C", "D", "H", "NT"]  # L1, low to high


def suit_of(card: int) -> str:
    return SUITS[card // 8]


def rank_of(card: int) -> int:
    """0 for a seven up to 7 for an ace."""
    return card % 8


def card_name(card: int) -> str:
    return suit_of(card) + RANKS[rank_of(card)]


def card_number(name: str) -> int:
    """The card called, say, ``HT``."""
    return SUITS.index(name[0]) * 8 + RANKS.index(name[1])


class Contract(NamedTuple):
    level: int
    strain: str


# L1: the 25 contracts, from the lowest to the highest.
LADDER = [Contract(level, strain) for level in [6, 7, 8, 9, 10] for strain in STRAINS]

# L2: what a contract is worth.
VALUES = {
    6: {"S": 2, "C": 3, "D": 4, "H": 5, "NT": 6},
    7: {"S": 7, "C": 7, "D": 7, "H": 7, "NT": 8},
    8: {"S": 8, "C": 8, "D": 8, "H": 8, "NT": 9},
    9: {"S": 9, "C": 9, "D": 9, "H": 9, "NT": 10},
    10: {"S": 10, "C": 10, "D": 10, "H": 10, "NT": 11},
}


def value(contract: Contract, options: Options = DEFAULT) -> int:
    """L2, with the option `ten_nt_value`."""
    if contract == Contract(10, "NT"):
        return options.ten_nt_value
    return VALUES[contract.level][contract.strain]


# D4: tricks owed.
OWED_RIGHT = {6: 2, 7: 2, 8: 1, 9: 1, 10: 0}
OWED_LEFT = {6: 2, 7: 1, 8: 1, 9: 0, 10: 0}
OWED_TOGETHER = {6: 4, 7: 3, 8: 2, 9: 1, 10: 0}
OWED_ALONE = {6: 2, 7: 2, 8: 1, 9: 1, 10: 0}

# ------------------------------------------------------------------------------------- actions

PASS = 32
WRITE = 33
DECLINE = 33  # the same number, once the writer's contract is due
PLAY = 59
ALONE = 60
INVITE = 61


def contract_action(contract: Contract) -> int:
    return 34 + (contract.level - 6) * 5 + STRAINS.index(contract.strain)


def action_contract(action: int) -> Contract:
    return LADDER[action - 34]


def parse_contract(text: str) -> Contract:
    """``10NT`` is the contract of ten tricks without trump."""
    for contract in LADDER:
        if text == f"{contract.level}{contract.strain}":
            return contract
    raise ValueError(f"no contract is called {text!r}")


def parse_call(text: str) -> int:
    """The action number of a call: ``pass``, ``write``, ``6S`` ... ``10NT``, ``play``, ..."""
    words = {"pass": PASS, "write": WRITE, "play": PLAY, "alone": ALONE, "invite": INVITE}
    if text in words:
        return words[text]
    return contract_action(parse_contract(text))


# --------------------------------------------------------------------------------------- seats


def right_of(seat: int) -> int:
    """P1: the next in turn."""
    return (seat + 1) % 3


def left_of(seat: int) -> int:
    return (seat + 2) % 3


def first_hand_by_seven_of_diamonds(deck: Sequence[int]) -> int | None:
    """Option `first_bid="seven_of_diamonds"`: who is first hand; None when the deal is void.

    The deal then counts as dealt by the player to his left.
    """
    hands = [deck[0:10], deck[10:20], deck[20:30]]
    for name in ["D7", "D8"]:
        for seat in [0, 1, 2]:
            if card_number(name) in hands[seat]:
                return seat
    return None


# ------------------------------------------------------------------------------------- payment

Defence = Literal["none", "both", "invite", "alone"]


def payments(
    contract: Contract,
    declarer: int,
    defence: Defence,
    player: int | None,
    tricks: Sequence[int],
    options: Options = DEFAULT,
    four_aces: bool = False,
) -> tuple[list[int], list[int]]:
    """S1, S2, S3 and the aces bonus, without S4: changes of (kapikia, kassa) for each seat.

    `player` is the one defender who said *play* when the defence is "invite" or "alone".
    `tricks` are those each seat took itself. `four_aces`: the declarer's twelve cards hold all
    four aces (looked at only where the option `aces_bonus` is on).
    """
    kapikia = [0, 0, 0]
    kassa = [0, 0, 0]

    def pay(payer: int, receiver: int, amount: int) -> None:
        kapikia[payer] -= amount
        kapikia[receiver] += amount

    v = value(contract, options)
    n = contract.level
    right = right_of(declarer)
    left = left_of(declarer)
    fell_short = False

    if defence == "none":
        # D2, S1: the contract counts as made, no payment for tricks.
        kassa[declarer] -= v
    else:
        d = tricks[declarer]

        # Whose tricks are whose, and what the playing side owes (D3, D4).
        counted: dict[int, int]
        if defence == "both":
            counted = {right: tricks[right], left: tricks[left]}
            owed = OWED_TOGETHER[n]
        elif defence == "invite":
            assert player is not None
            counted = {player: tricks[right] + tricks[left]}
            owed = OWED_TOGETHER[n]
        else:
            assert player is not None
            counted = {player: tricks[player]}
            owed = OWED_ALONE[n]
        side_shortfall = owed - sum(counted.values())
        side_failed = side_shortfall > 0  # D5

        if d < n:
            # S2: declarer short.
            fell_short = True
            factor = 1 if n - d == 1 else 2
            kassa[declarer] += factor * v
            for defender, taken in counted.items():
                pay(declarer, defender, factor * v * taken)
        elif d == n or not side_failed:
            # S1: made.
            kassa[declarer] -= v
            for defender, taken in counted.items():
                pay(declarer, defender, v * taken)
        elif defence == "both":
            # S3: defence short, both play.
            both_play_penalties(kapikia, declarer, v, n, tricks, options)
        elif defence == "invite" and options.invite_penalty == "sum_of_individuals":
            # S3: what the two seats together would have paid declarer under "both play".
            assert player is not None
            as_if = [0, 0, 0]
            both_play_penalties(as_if, declarer, v, n, tricks, options)
            pay(player, declarer, as_if[declarer])
        else:
            # S3: invite or alone.
            assert player is not None
            factor = 2 if side_shortfall >= 2 else 1
            pay(player, declarer, factor * v * d)

    # Option `aces_bonus`: from passers too, never doubled.
    if options.aces_bonus and four_aces:
        bonus = 25 if n == 6 else 50
        for opponent in [right, left]:
            if fell_short:
                pay(declarer, opponent, bonus)
            else:
                pay(opponent, declarer, bonus)

    return kapikia, kassa


def both_play_penalties(
    kapikia: list[int], declarer: int, v: int, n: int, tricks: Sequence[int], options: Options
) -> None:
    """S3, both play and the two together missed their number: books it in `kapikia`."""
    right = right_of(declarer)
    left = left_of(declarer)
    d = tricks[declarer]
    own_shortfall = {
        right: OWED_RIGHT[n] - tricks[right],
        left: OWED_LEFT[n] - tricks[left],
    }
    together = OWED_TOGETHER[n] - tricks[right] - tricks[left]
    missed = [seat for seat in [right, left] if own_shortfall[seat] > 0]

    def pay(payer: int, receiver: int, amount: int) -> None:
        kapikia[payer] -= amount
        kapikia[receiver] += amount

    if len(missed) == 1:
        # Exactly one missed: he pays for the shortfall of the two together.
        payer = missed[0]
        other = left if payer == right else right
        factor = 2 if together >= 2 else 1
        pay(payer, declarer, factor * v * d)
        partner_factor = 1 if options.partner_paid_single else factor
        pay(payer, other, partner_factor * v * tricks[other])
    else:
        # Both missed: each for his own shortfall; nothing between them.
        for payer in missed:
            factor = 2 if own_shortfall[payer] >= 2 else 1
            pay(payer, declarer, factor * v * d)


def misere_payments(tricks: Sequence[int]) -> tuple[list[int], list[int]]:
    """A5, option `all_pass="misere"`: one kassa point for every trick above the fewest taken."""
    return [0, 0, 0], [taken - min(tricks) for taken in tricks]


def decline_payments(declarer: int) -> tuple[list[int], list[int]]:
    """T3: the writer declines to play."""
    kapikia = [2, 2, 2]
    kapikia[declarer] = -4
    kassa = [0, 0, 0]
    kassa[declarer] = 2
    return kapikia, kassa


def floor(
    kapikia: Sequence[int],
    kassa: Sequence[int],
    kassas: Sequence[int],
    declarer: int | None,
    options: Options = DEFAULT,
) -> tuple[list[int], list[int]]:
    """S4: turns the changes of a deal without S4 into those that are booked.

    `kassas` are the kassas before the deal. Only a declarer's kassa is ever lowered by S1-S3.
    """
    booked = list(kapikia)
    after = [kassas[seat] + kassa[seat] for seat in [0, 1, 2]]
    if declarer is None or after[declarer] >= 0:
        return booked, list(kassa)

    missing = -after[declarer]
    after[declarer] = 0
    right = right_of(declarer)
    left = left_of(declarer)

    def take(giver: int, points: int) -> int:
        """Takes up to so many points from the giver's kassa; returns how many were taken."""
        taken = min(points, after[giver])
        after[giver] -= taken
        booked[giver] -= 10 * taken  # he pays the declarer 10 kapikia per point
        booked[declarer] += 10 * taken
        return taken

    if after[right] == after[left]:
        # Half from each; of an odd number one gives the larger half.
        smaller_half = missing // 2
        larger_half = missing - smaller_half
        if options.half_rounding == "right":
            missing -= take(right, larger_half) + take(left, smaller_half)
        else:
            missing -= take(left, larger_half) + take(right, smaller_half)
    else:
        # From the opponent with the larger kassa, then from the third.
        larger = right if after[right] > after[left] else left
        third = left if larger == right else right
        missing -= take(larger, missing)
        missing -= take(third, missing)

    # What is left when both are empty: a third of its worth from each, rounded to the nearest.
    third_of_its_worth = round(Fraction(10 * missing, 3))
    for opponent in [right, left]:
        booked[opponent] -= third_of_its_worth
        booked[declarer] += third_of_its_worth

    return booked, [after[seat] - kassas[seat] for seat in [0, 1, 2]]


def settled(kapikia: Sequence[int], kassa: Sequence[int]) -> list[Fraction]:
    """What one deal is worth to each seat, in kapikia."""
    mean = Fraction(sum(kassa), 3)
    return [kapikia[seat] - 10 * (kassa[seat] - mean) for seat in [0, 1, 2]]


# ---------------------------------------------------------------------------------------- deal


class Deal:
    """One deal, from the auction to the payment."""

    def __init__(
        self,
        deck: Sequence[int],
        dealer: int,
        options: Options = DEFAULT,
        kassas: tuple[int, int, int] | None = None,
    ) -> None:
        """`deck`: ten cards each of seats 0, 1, 2, then the talon. `kassas`: None for a single
        deal, where S4 does not apply."""
        deck = [int(card) for card in deck]
        if sorted(deck) != list(range(32)):
            raise ValueError("a deck is each of the 32 cards once")
        if dealer not in [0, 1, 2]:
            raise ValueError("the dealer is seat 0, 1 or 2")
        self.dealer = dealer
        self.options = options
        self.kassas = kassas

        # P3
        self.hands: list[set[int]] = [set(deck[0:10]), set(deck[10:20]), set(deck[20:30])]
        self.talon: list[int] = deck[30:32]
        self.first_hand = right_of(dealer)  # P4

        self.phase = "auction"
        self.seat: int | None = self.first_hand  # A1
        self.history: list[tuple[int, int]] = []  # (seat, action), everything done so far

        # Auction
        self.calls: list[tuple[int, int]] = []  # (seat, action)
        self.passed: set[int] = set()
        self.writer: int | None = None
        self.bid: Contract | None = None  # the standing bid
        self.bid_owner: int | None = None  # who made it, or held it last
        self.bid_is_a_hold = False
        self.declarer: int | None = None  # None too while, and after, all three passed

        # Talon, discard, contract
        self.twelve: set[int] = set()  # the declarer's hand with the talon
        self.discards: list[int] = []
        self.contract: Contract | None = None
        self.declined = False

        # Defence
        self.plays: list[int] = []  # defenders who said play
        self.defence: Defence | None = None
        self.inviter: int | None = None

        # Play
        self.misere = False
        self.trump: str | None = None  # None in NT and misère
        self.taking_part: list[int] = []
        self.trick: list[tuple[int, int]] = []  # (seat, card) of the trick on the table
        self.tricks: list[int] = [0, 0, 0]  # taken by each seat itself

        # Result
        self.kapikia: list[int] = [0, 0, 0]
        self.kassa: list[int] = [0, 0, 0]
        self.settled: list[Fraction] = [Fraction(0), Fraction(0), Fraction(0)]

    @property
    def over(self) -> bool:
        return self.phase == "over"

    def legal(self) -> list[int]:
        """Sorted numbers of what the seat to act may do; empty when the deal is over."""
        if self.phase == "auction":
            return sorted(self._legal_calls())
        if self.phase == "discard":
            return sorted(self.hands[self._acting()])  # T1: any
        if self.phase == "contract":
            return sorted(self._legal_contracts())
        if self.phase == "defence":
            return [PASS, PLAY]  # D1
        if self.phase == "invite":
            return [ALONE, INVITE]  # D3
        if self.phase == "play":
            return sorted(self._legal_cards())
        return []

    def play(self, action: int) -> None:
        """Does `action` for the seat to act. Raises ValueError if that is not legal."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal; legal are {self.legal()}")
        seat = self._acting()
        self.history.append((seat, action))
        if self.phase == "auction":
            self._call(seat, action)
        elif self.phase == "discard":
            self._discard(seat, action)
        elif self.phase == "contract":
            self._name_contract(seat, action)
        elif self.phase == "defence":
            self._defend(seat, action)
        elif self.phase == "invite":
            self._invite(seat, action)
        else:
            self._play_card(seat, action)

    def _acting(self) -> int:
        assert self.seat is not None
        return self.seat

    # ---- auction

    def _position(self, seat: int) -> int:
        """0 for first hand, 1 and 2 for the players after him."""
        return (seat - self.first_hand) % 3

    def _legal_calls(self) -> list[int]:
        seat = self._acting()

        # A2: nobody has bid yet.
        if self.bid is None:
            calls = [PASS, contract_action(Contract(6, "S"))]
            if self.writer is None and self.options.write_bid:  # A6
                calls.append(WRITE)
            return calls

        # A2: after a bid.
        assert self.bid_owner is not None
        hold = contract_action(self.bid)
        raises: list[int] = []
        if self.bid != Contract(10, "NT"):  # over 10NT there is no raise
            raises = [hold + 1]  # exactly the next rung

        # A3
        if self.options.hold == "earlier_position":
            may_hold = self._position(seat) < self._position(self.bid_owner)
            if may_hold and self.options.hold_excludes_raise:
                return [PASS, hold]
            if may_hold:
                return [PASS, hold, *raises]
            return [PASS, *raises]

        # A3, option hold="any_after_first_round"
        if len(self.calls) < 3:
            return [PASS, *raises]
        if self.bid_is_a_hold:
            return [PASS, *raises]
        return [PASS, hold]

    def _still_in(self) -> list[int]:
        """A1: a pass is final. A4: a writer is out as soon as anyone bids."""
        seats = [seat for seat in [0, 1, 2] if seat not in self.passed]
        if self.bid is not None and self.writer in seats:
            seats.remove(self.writer)
        return seats

    def _call(self, seat: int, action: int) -> None:
        self.calls.append((seat, action))
        if action == PASS:
            self.passed.add(seat)
        elif action == WRITE:
            self.writer = seat
        else:
            contract = action_contract(action)
            self.bid_is_a_hold = contract == self.bid
            self.bid = contract
            self.bid_owner = seat

        # A5
        still_in = self._still_in()
        if not still_in:
            self._all_passed()
        elif still_in in ([self.bid_owner], [self.writer]):
            self._take_talon(still_in[0])
        else:
            # A1: the next who is still in.
            following = right_of(seat)
            while following not in still_in:
                following = right_of(following)
            self.seat = following

    def _all_passed(self) -> None:
        # A5: void, nobody pays; or misère.
        if self.options.all_pass == "redeal":
            self._finish([0, 0, 0], [0, 0, 0])
        else:
            self.misere = True
            self.taking_part = [0, 1, 2]
            self.phase = "play"
            self.seat = self.first_hand

    # ---- talon, discard, contract

    def _take_talon(self, declarer: int) -> None:
        # A5, T1
        self.declarer = declarer
        self.hands[declarer] = self.hands[declarer] | set(self.talon)
        self.twelve = set(self.hands[declarer])
        self.phase = "discard"
        self.seat = declarer

    def _discard(self, seat: int, card: int) -> None:
        # T1: two cards, one after the other.
        self.hands[seat].remove(card)
        self.discards.append(card)
        if len(self.discards) == 2:
            self.phase = "contract"

    def _legal_contracts(self) -> list[int]:
        if self.declarer == self.writer:
            # T2: a writer names anything from 6 spades. T3: or he declines.
            return [DECLINE, *[contract_action(contract) for contract in LADDER]]
        # T2: the winning bid or anything higher.
        assert self.bid is not None
        lowest = LADDER.index(self.bid)
        return [contract_action(contract) for contract in LADDER[lowest:]]

    def _name_contract(self, seat: int, action: int) -> None:
        if action == DECLINE:
            # T3: the deal ends.
            self.declined = True
            kapikia, kassa = decline_payments(seat)
            self._finish(kapikia, kassa)
        else:
            self.contract = action_contract(action)
            self.phase = "defence"
            self.seat = right_of(seat)  # D1

    # ---- defence

    def _defend(self, seat: int, action: int) -> None:
        assert self.declarer is not None
        if action == PLAY:
            self.plays.append(seat)
        if seat == right_of(self.declarer):
            self.seat = left_of(self.declarer)  # D1: each of the two is asked
        elif len(self.plays) == 0:
            # D2
            self.defence = "none"
            self._finish_contract()
        elif len(self.plays) == 1:
            # D3
            self.phase = "invite"
            self.seat = self.plays[0]
        else:
            self.defence = "both"
            self._start_play([0, 1, 2])

    def _invite(self, seat: int, action: int) -> None:
        # D3
        assert self.declarer is not None
        if action == INVITE:
            self.defence = "invite"
            self.inviter = seat
            self._start_play([0, 1, 2])
        else:
            self.defence = "alone"
            self._start_play([self.declarer, seat])

    # ---- play

    def _start_play(self, taking_part: list[int]) -> None:
        assert self.contract is not None
        self.taking_part = taking_part
        self.trump = None if self.contract.strain == "NT" else self.contract.strain
        self.phase = "play"
        # C1: first hand leads; if he takes no part, the next taking part to his right.
        leader = self.first_hand
        while leader not in taking_part:
            leader = right_of(leader)
        self.seat = leader

    def _legal_cards(self) -> list[int]:
        hand = self.hands[self._acting()]
        if not self.trick:
            return list(hand)
        # C2
        led = suit_of(self.trick[0][1])
        same_suit = [card for card in hand if suit_of(card) == led]
        if same_suit:
            return same_suit
        trumps = [card for card in hand if suit_of(card) == self.trump]
        if trumps:
            return trumps
        return list(hand)

    def _play_card(self, seat: int, card: int) -> None:
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if len(self.trick) < len(self.taking_part):
            following = right_of(seat)
            while following not in self.taking_part:
                following = right_of(following)
            self.seat = following
            return

        # C1: the winner leads to the next trick. Ten tricks.
        winner = self._winner()
        self.tricks[winner] += 1
        self.trick = []
        self.seat = winner
        if sum(self.tricks) == 10:
            if self.misere:
                kapikia, kassa = misere_payments(self.tricks)
                self._finish(kapikia, kassa)
            else:
                self._finish_contract()

    def _winner(self) -> int:
        # C3: highest trump, else the highest card of the suit led.
        led = suit_of(self.trick[0][1])
        candidates = [(seat, card) for seat, card in self.trick if suit_of(card) == self.trump]
        if not candidates:
            candidates = [(seat, card) for seat, card in self.trick if suit_of(card) == led]
        best_seat, best_card = candidates[0]
        for seat, card in candidates:
            if rank_of(card) > rank_of(best_card):
                best_seat, best_card = seat, card
        return best_seat

    # ---- payment

    def _finish_contract(self) -> None:
        assert self.contract is not None
        assert self.declarer is not None
        assert self.defence is not None
        player = self.plays[0] if len(self.plays) == 1 else None
        aces = {card_number(suit + "A") for suit in SUITS}
        kapikia, kassa = payments(
            self.contract,
            self.declarer,
            self.defence,
            player,
            self.tricks,
            self.options,
            four_aces=aces <= self.twelve,
        )
        self._finish(kapikia, kassa)

    def _finish(self, kapikia: list[int], kassa: list[int]) -> None:
        self.settled = settled(kapikia, kassa)  # without S4
        if self.kassas is not None:
            kapikia, kassa = floor(kapikia, kassa, self.kassas, self.declarer, self.options)
        self.kapikia = kapikia
        self.kassa = kassa
        self.phase = "over"
        self.seat = None
