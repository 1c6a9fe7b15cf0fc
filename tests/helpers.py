"""What several tests share: variants, random deals that reach every rule, and traces of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env import prefa
from prefa_env._jit import njit
from prefa_env.prefa import Rules, State
from prefa_env.prefa.state import DTYPE, OBSERVATION, STATE
from tests import reference
from tests.reference import Deal, Options

Deck = npt.NDArray[np.int8]

MAX_ACTIONS = 96
"""More than a deal can have: 51 calls, 3 of the declarer, 3 of the defence, 30 cards."""

RULES: dict[str, Rules] = {
    "default": Rules(),
    "site": Rules.site(),
    "ten_nt_value": Rules(ten_nt_value=10),
    "hold": Rules(hold="any_after_first_round"),
    "hold_excludes_raise": Rules(hold_excludes_raise=True),
    "write_bid": Rules(write_bid=False),
    "misere": Rules(all_pass="misere"),
    "partner_paid_single": Rules(partner_paid_single=True),
    "invite_penalty": Rules(invite_penalty="sum_of_individuals"),
    "half_rounding": Rules(half_rounding="left"),
    "first_bid": Rules(first_bid="seven_of_diamonds"),
    "aces_bonus": Rules(aces_bonus=True),
}
"""The default, the preset, and each option by itself."""


def random_rules(rng: random.Random) -> Rules:
    """Any combination of the options."""
    return Rules(
        ten_nt_value=rng.choice([11, 10]),
        hold=rng.choice(["earlier_position", "any_after_first_round"]),
        hold_excludes_raise=rng.random() < 0.5,
        write_bid=rng.random() < 0.5,
        all_pass=rng.choice(["redeal", "misere"]),
        partner_paid_single=rng.random() < 0.5,
        invite_penalty=rng.choice(["collective", "sum_of_individuals"]),
        half_rounding=rng.choice(["right", "left"]),
        aces_bonus=rng.random() < 0.5,
    )


def options_of(rules: Rules) -> Options:
    """The same variant for the reference."""
    values: dict[str, Any] = rules.to_dict()
    return Options(**values)


def bit_set(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def members(bits: int) -> list[int]:
    return [number for number in range(64) if int(bits) >> number & 1]


# ------------------------------------------------------------------------------- random deals


@dataclass(frozen=True)
class Style:
    """How one random deal is played, so that many of them reach everything."""

    calls: dict[str, float]  # weights of pass, write, raise, hold
    favourite: int | None  # a seat with strong cards, for whom the others mostly pass
    keeps_bid: float  # chance that the declarer names the lowest contract he may
    taste: tuple[str, str, str]  # of each seat in the play: "high", "low", "any"


CALLS = [
    {"pass": 1.0, "write": 1.0, "raise": 1.0, "hold": 1.0},
    {"pass": 0.02, "write": 0.1, "raise": 1.0, "hold": 1.0},
    {"pass": 0.1, "write": 0.3, "raise": 0.3, "hold": 1.0},
    {"pass": 1.0, "write": 0.1, "raise": 0.15, "hold": 0.1},
    {"pass": 1.0, "write": 2.0, "raise": 0.1, "hold": 0.1},
]


def random_style(rng: random.Random) -> Style:
    return Style(
        calls=rng.choice(CALLS),
        favourite=rng.choice([None, 0, 1, 2]),
        keeps_bid=rng.choice([0.0, 0.5, 0.9]),
        taste=(taste(rng), taste(rng), taste(rng)),
    )


def taste(rng: random.Random) -> str:
    return rng.choice(["high", "low", "any"])


def shuffled(rng: random.Random) -> list[int]:
    deck = list(range(32))
    rng.shuffle(deck)
    return deck


def deck_for(rng: random.Random, style: Style) -> list[int]:
    """A random deck; the favourite's hand leans to high cards and to one suit."""
    deck = shuffled(rng)
    if style.favourite is None:
        return deck
    suit, noise = rng.randrange(4), rng.choice([2.0, 6.0])
    liking = {c: c % 8 + 4 * (c // 8 == suit) + noise * rng.random() for c in deck}
    hand = sorted(deck, key=liking.__getitem__)[-10:]
    rest = [card for card in deck if card not in hand]
    start = 10 * style.favourite
    return rest[:start] + hand + rest[start:]


def kind_of_call(deal: Deal, action: int) -> str:
    if action == reference.PASS:
        return "pass"
    if action == reference.WRITE:
        return "write"
    return "hold" if reference.action_contract(action) == deal.bid else "raise"


def choose(rng: random.Random, deal: Deal, legal: list[int], style: Style) -> int:
    """A legal action, at random in this style."""
    seat = deal.seat
    assert seat is not None
    if deal.phase == "auction":
        if style.favourite not in (None, seat) and rng.random() < 0.8:
            return reference.PASS
        weights = [style.calls[kind_of_call(deal, action)] for action in legal]
        if seat == style.favourite:
            weights[0] *= 0.1
        return rng.choices(legal, weights)[0]
    if deal.phase == "discard" and rng.random() < 0.7:
        return min(legal, key=lambda card: card % 8)
    if deal.phase == "contract" and rng.random() < style.keeps_bid:
        return min(action for action in legal if action != reference.DECLINE)
    if deal.phase == "play" and style.taste[seat] != "any" and rng.random() < 0.8:
        best = max if style.taste[seat] == "high" else min
        return best(legal, key=lambda card: card % 8)
    return rng.choice(legal)


@dataclass(frozen=True)
class Game:
    """A finished random deal: what was dealt and done, and what the reference says of it."""

    rules: Rules
    dealer: int
    deck: Deck
    actions: npt.NDArray[np.int64]
    legal: list[int]  # bit set before each action, and 0
    seats: list[int]  # to act before each action, and -1
    deal: Deal


def random_game(
    rng: random.Random, rules: Rules, kassas: tuple[int, int, int] | None = None, dealer: int = -1
) -> Game:
    """Play one deal of the reference with random legal actions."""
    style = random_style(rng)
    deck = deck_for(rng, style)
    dealer = rng.randrange(3) if dealer < 0 else dealer
    deal = Deal(deck, dealer, options_of(rules), kassas)
    legal_sets, seats, actions = [], [], []
    while not deal.over:
        assert deal.seat is not None
        legal = deal.legal()
        action = choose(rng, deal, legal, style)
        legal_sets.append(bit_set(legal))
        seats.append(deal.seat)
        actions.append(action)
        deal.play(action)
    return Game(
        rules,
        dealer,
        np.array(deck, np.int8),
        np.array(actions, np.int64),
        [*legal_sets, 0],
        [*seats, -1],
        deal,
    )


def replayed(game: Game, kassas: tuple[int, int, int] | None = None) -> Iterator[Deal]:
    """The reference before each action of a game, and at its end; always the same object."""
    deal = Deal([*game.deck], game.dealer, options_of(game.rules), kassas)
    yield deal
    for action in game.actions:
        deal.play(int(action))
        yield deal


def floor_event(deal: Deal, kassas: Sequence[int]) -> str:
    """Which case of S4 a deal has come to, by the kassas before it."""
    declarer = deal.declarer
    if declarer is None or not any(deal.kassa[seat] < 0 for seat in range(3)):
        return "nothing taken off"
    right, left = reference.right_of(declarer), reference.left_of(declarer)
    booked = sum(deal.kassa)
    raw = -reference.value(deal.contract, deal.options) if deal.contract else 0
    if deal.kassa[right] == deal.kassa[left] == 0 and booked == raw:
        return "own kassa"
    rest = "all" if booked == raw else "rest in kapikia"
    if kassas[right] == kassas[left]:
        odd = "odd" if (kassas[declarer] + raw) % 2 else "even"
        return f"equal, {odd}, {rest}"
    return f"{'right' if kassas[right] > kassas[left] else 'left'} larger, {rest}"


# ------------------------------------------------------------------------------ kernel tables


def new_table() -> State:
    table: State = np.zeros(1, DTYPE)[0]
    return table


def bytes_of(table: Any) -> bytes:
    """The whole record."""
    return bytes(table.tobytes())


def deal_table(
    dealer: int = 2, deck: Sequence[int] | Deck | None = None, rules: Rules | None = None
) -> State:
    """A table just dealt; without a deck the cards lie in order, and seat 0 is first hand."""
    table = new_table()
    cards = np.arange(32, dtype=np.int8) if deck is None else np.array(deck, np.int8)
    prefa.deal(table, (rules or Rules()).flags, cards, dealer)
    return table


def legal_of(table: State) -> list[int]:
    return members(prefa.legal_actions(table))


def do(table: State, texts: str) -> None:
    """Let the seats to act do what the text says; every action is checked."""
    for text in texts.split():
        action = prefa.parse_action(text)
        assert action in legal_of(table), f"{text} is illegal"
        prefa.step(table, action)


def observation_of(table: State, seat: int) -> npt.NDArray[np.int8]:
    words = np.full(OBSERVATION.size // 8, -1, np.int64)  # what is not written must show
    prefa.observe(table, seat, words)
    return words.view(np.int8)


def state_of(table: State) -> npt.NDArray[np.int8]:
    words = np.full(STATE.size // 8, -1, np.int64)
    prefa.observe_all(table, words)
    return words.view(np.int8)


def ints(row: Iterable[Any]) -> list[int]:
    return [int(number) for number in row]


@njit
def replay(  # type: ignore[no-untyped-def]
    tables, flags, deck, dealer, actions, legal, seats
) -> int:
    """Play actions on `tables[0]` until one is illegal; `tables[i]` is the table after i.

    One table is enough where only the end is wanted. Returns how many actions were played;
    `legal` and `seats` are as before each of them and at the end.
    """
    prefa.deal(tables[0], flags, deck, dealer)
    last = tables.shape[0] - 1
    for i in range(actions.shape[0]):
        at = min(i, last)
        legal[i] = prefa.legal_actions(tables[at])
        seats[i] = tables[at].seat
        if legal[i] >> actions[i] & 1 == 0:
            return i
        if at < last:
            tables[at + 1] = tables[at]
            at += 1
        prefa.step(tables[at], actions[i])
    at = min(actions.shape[0], last)
    legal[actions.shape[0]] = prefa.legal_actions(tables[at])
    seats[actions.shape[0]] = tables[at].seat
    return int(actions.shape[0])


class Replay:
    """Buffers to replay games in the kernel, one compiled call each."""

    def __init__(self, num_tables: int = 1) -> None:
        self.tables = np.zeros(num_tables, DTYPE)
        self.legal = np.zeros(MAX_ACTIONS + 1, np.int64)
        self.seats = np.zeros(MAX_ACTIONS + 1, np.int64)

    def play(self, game: Game, flag: int = 0) -> State:
        """The table at the end; compares every legal set and seat to act with the reference."""
        number = replay(
            self.tables,
            game.rules.flags | flag,
            game.deck,
            game.dealer,
            game.actions,
            self.legal,
            self.seats,
        )
        end = len(game.actions) + 1
        assert self.legal[:end].tolist() == game.legal, text_of(game)
        assert self.seats[:end].tolist() == game.seats, text_of(game)
        assert number == len(game.actions), text_of(game)
        table: State = self.tables[min(number, len(self.tables) - 1)]
        return table


def text_of(game: Game) -> str:
    """For messages of failed tests."""
    return f"{game.rules} {prefa.game_text(game.dealer, game.deck.tolist(), game.actions.tolist())}"
