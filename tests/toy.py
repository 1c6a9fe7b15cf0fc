"""A tiny game with a known best value, to keep batch, environment, evaluator and trainer honest.

Four seats hold four of sixteen cards each. In turn each may *take* or *leave*; the first to take
ends the deal: he is paid 3 by each other seat if he holds the best card, and pays 1 to each if he
does not. If nobody takes, nobody pays. Best play: take just when holding the best card, which is
worth +9 to that seat and -3 to the others. A match is an agreed number of deals.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.cards import Pack, cards_of
from prefa_env.layout import Field, Layout, Record, record_dtype
from prefa_env.prefa import Rules
from prefa_env.words import Words

NAME = "toy"
MATCH = 1024
NUM_SEATS = 4
PACK = Pack(ranks="JQKA", seats=4, hand_size=4)
NUM_CARDS = 16
NUM_ACTIONS = 2
LEAVE, TAKE = 0, 1
BEST = 1 << 15
TEXTS = ("leave", "take")

__all__ = ["Rules"]  # configs hold rules of Prefa; this game has none and ignores them

Ints4 = Annotated[npt.NDArray[np.int64], "i8", 4]


class Table(Record):
    seat: int
    dealer: int
    asked: int
    hands: Ints4
    kassa_change: Ints4
    kapikia_change: Ints4
    settled_thirds: Ints4
    kapikia: Ints4  # of the match
    deals_left: int
    is_match: int


DTYPE = record_dtype(Table)
OBSERVATION = Layout(
    Field("hand", 16, 1, "my cards"), Field("phase", 1, 1, "over"), Field("turn", 7, 1, "my turn")
)
IN_PLAY = OBSERVATION["turn"].start
STATE = Layout(*OBSERVATION, Field("hidden", 48, 1, "the other hands in turn order"))


@njit
def deal(s: Table, flags: int, deck: npt.NDArray[np.int8], dealer: int) -> None:
    s.is_match = flags & MATCH
    s.dealer = dealer
    s.asked = 0
    s.seat = (dealer + 1) % 4
    for seat in range(4):
        hand = np.int64(0)
        for i in range(4):
            hand |= np.int64(1) << deck[4 * seat + i]
        s.hands[seat] = hand
        s.kassa_change[seat] = 0
        s.kapikia_change[seat] = 0
        s.settled_thirds[seat] = 0


@njit
def start_match(s: Table, kassa: int, max_deals: int) -> None:
    s.kapikia[:] = 0
    s.deals_left = max_deals


@njit
def deal_first(s: Table, flags: int, deck: npt.NDArray[np.int8], dealer: int) -> bool:
    deal(s, flags, deck, dealer)
    return True


@njit
def deal_next(s: Table, deck: npt.NDArray[np.int8]) -> None:
    s.deals_left -= 1
    deal(s, s.is_match, deck, (s.dealer + 1) % 4)


@njit
def is_match_over(s: Table) -> bool:
    return bool(s.seat < 0 and (s.is_match == 0 or s.deals_left == 1))


@njit
def match_thirds(s: Table, seat: int) -> int:
    return int(3 * s.kapikia[seat])


@njit
def _end(s: Table) -> None:
    s.seat = -1
    for seat in range(4):
        s.kapikia[seat] += s.kapikia_change[seat]


@njit
def legal_actions(s: Table) -> int:
    return 3 if s.seat >= 0 else 0


@njit
def step(s: Table, action: int) -> None:
    if action == TAKE:
        pay = 3 if s.hands[s.seat] & BEST != 0 else -1
        for seat in range(4):
            s.kapikia_change[seat] = 3 * pay if seat == s.seat else -pay
            s.settled_thirds[seat] = 3 * s.kapikia_change[seat]
        _end(s)
        return
    s.asked += 1
    s.seat = (s.seat + 1) % 4
    if s.asked == 4:
        _end(s)


@njit
def observe(s: Table, seat: int, out: Words) -> None:
    bytes_ = out.view(np.int8)
    bytes_[:24] = 0
    for card in range(16):
        bytes_[card] = s.hands[seat] >> card & 1
    bytes_[16] = s.seat < 0
    bytes_[17] = s.seat == seat


@njit
def observe_all(s: Table, out: Words) -> None:
    seat = max(s.seat, 0)
    observe(s, seat, out)
    bytes_ = out.view(np.int8)
    for other in range(1, 4):
        for card in range(16):
            bytes_[8 + 16 * other + card] = s.hands[(seat + other) % 4] >> card & 1


@njit
def beneficiary(s: Table) -> int:
    return s.seat


def relabel(
    rows: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    return rows, masks, np.tile(np.arange(NUM_ACTIONS, dtype=np.int8), (len(rows), 1))


@njit
def redeal_hidden(
    s: Table, seat: int, deck: npt.NDArray[np.int8], talon_deck: npt.NDArray[np.int8]
) -> bool:
    return False


def action_text(action: int) -> str:
    return TEXTS[action]


def parse_action(text: str) -> int:
    return TEXTS.index(text)


deal_text = PACK.deal_text
parse_deal = PACK.parse_deal


def legal_text(legal: int) -> str:
    return " ".join(TEXTS[action] for action in cards_of(legal))


def deck_of(s: Table) -> list[int]:
    return [card for hand in s.hands for card in cards_of(hand)]
