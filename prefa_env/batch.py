"""Compiled loops over many tables of one game, and the errors of bad actions.

The loops close over one game's kernel, so they are compiled anew in each process (the kernel itself
comes from the disk cache).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from . import prefa
from ._jit import announce_compilation, njit_closure
from .game import Game
from .streams import derive_key, random_bit, shuffle
from .words import expand_64

GAMES: dict[str, Game] = {"prefa": prefa}


class IllegalActionError(ValueError):
    """An action that the rules do not allow; no table was changed."""


def find_game(game: str | Game) -> Game:
    """A game by its name; a game module is returned as it is. Raises ValueError."""
    if not isinstance(game, str):
        return game
    if game not in GAMES:
        raise ValueError(f"no such game: {game!r} (known: {', '.join(GAMES)})")
    return GAMES[game]


def raise_illegal(game: Game, action: int, legal: int, where: str = "") -> NoReturn:
    """Raise IllegalActionError naming the action and what was legal."""
    if 0 <= action < game.NUM_ACTIONS:
        name = f"action {action} ({game.action_text(action)})"
    else:
        name = f"action {action} (there are 0 to {game.NUM_ACTIONS - 1})"
    raise IllegalActionError(f"{where}{name} is illegal; legal: {game.legal_text(legal)}")


class Buffers(NamedTuple):
    """Arrays allocated once and written in place by the loops; B tables, S seats."""

    tables: npt.NDArray[Any]  # game records [B]
    decks: npt.NDArray[np.int8]  # [B, cards], as dealt
    dealers: npt.NDArray[np.int8]  # [B]
    deals: npt.NDArray[np.int64]  # [B], random deals drawn so far at each table
    legal: npt.NDArray[np.int64]  # [B] bit sets
    seats: npt.NDArray[np.int8]  # [B]
    masks: npt.NDArray[np.int64]  # [B, 8] words
    observations: npt.NDArray[np.int64]  # [B, O / 8] words
    dones: npt.NDArray[np.bool_]  # [B]
    rewards: npt.NDArray[np.float32]  # [B, S]
    kapikia: npt.NDArray[np.int32]  # [B, S]
    kassa: npt.NDArray[np.int32]  # [B, S]


class Settings(NamedTuple):
    """What the loops need to know besides; constant for an environment."""

    flags: int
    key: np.uint64
    is_observing: bool
    in_kapikia: bool
    auto_reset: bool


@dataclass(frozen=True)
class Loops:
    """The compiled loops of one game (see `make_loops`)."""

    start: Any
    first_illegal: Any
    advance: Any
    observe_all: Any
    beneficiaries: Any
    random_actions: Any


@cache
def make_loops(game: Game) -> Loops:
    """Compile the loops for a game; they release the GIL."""
    announce_compilation()
    num_seats = game.NUM_SEATS
    deal, step, legal_actions = game.deal, game.step, game.legal_actions
    observe, observe_table, beneficiary = game.observe, game.observe_all, game.beneficiary

    @njit_closure
    def look(table, i, legal, seats, masks, observations, is_observing):  # type: ignore[no-untyped-def]
        """Write what the seat to act sees of one table."""
        actions = legal_actions(table)
        legal[i] = actions
        seats[i] = table.seat
        expand_64(masks[i], actions)
        if is_observing:
            observe(table, max(table.seat, 0), observations[i])

    @njit_closure
    def draw_deal(table, i, decks, dealers, deals, key, flags):  # type: ignore[no-untyped-def]
        """Deal the table's next random deal, keyed by (seed, table, deal)."""
        deal_key = derive_key(derive_key(key, i), deals[i])
        shuffle(decks[i], deal_key)
        dealers[i] = np.int64(derive_key(deal_key, 1) % np.uint64(num_seats))
        deals[i] += 1
        deal(table, flags, decks[i], dealers[i])

    @njit_closure
    def start(b, c, is_random):  # type: ignore[no-untyped-def]
        """Deal at every table: the next random deal, or what stands in decks and dealers."""
        for i in range(b.tables.shape[0]):
            if is_random:
                draw_deal(b.tables[i], i, b.decks, b.dealers, b.deals, c.key, c.flags)
            else:
                deal(b.tables[i], c.flags, b.decks[i], b.dealers[i])
            look(b.tables[i], i, b.legal, b.seats, b.masks, b.observations, c.is_observing)

    @njit_closure
    def first_illegal(legal, actions):  # type: ignore[no-untyped-def]
        """Index of the first table whose action is illegal; -1. Tables that are over take any."""
        for i in range(legal.shape[0]):
            action = actions[i]
            is_legal = action >= 0 and action < 64 and legal[i] >> (action & 63) & 1 != 0
            if not is_legal and legal[i] != 0:
                return i
        return -1

    @njit_closure
    def pay(table, i, rewards, kapikia, kassa, in_kapikia):  # type: ignore[no-untyped-def]
        """Report what the deal that just ended at a table has paid."""
        for seat in range(num_seats):
            kapikia[i, seat] = table.kapikia_change[seat]
            kassa[i, seat] = table.kassa_change[seat]
            if in_kapikia:
                rewards[i, seat] = table.kapikia_change[seat]
            else:
                rewards[i, seat] = np.float32(table.settled_thirds[seat]) / np.float32(3)

    @njit_closure
    def advance(b, c, actions):  # type: ignore[no-untyped-def]
        """Step every table that is not over; pay, and deal anew where a deal ended."""
        # Taken out of the tuple once: inside the loop that would cost more than the step.
        tables, decks, dealers, deals = b.tables, b.decks, b.dealers, b.deals
        legal, seats, masks, observations = b.legal, b.seats, b.masks, b.observations
        dones, rewards, kapikia, kassa = b.dones, b.rewards, b.kapikia, b.kassa
        for i in range(tables.shape[0]):
            if dones[i]:
                for seat in range(num_seats):
                    rewards[i, seat] = 0
                    kapikia[i, seat] = 0
                    kassa[i, seat] = 0
            if legal[i] == 0:
                continue
            table = tables[i]
            step(table, actions[i])
            is_over = table.seat < 0
            dones[i] = is_over
            if is_over:
                pay(table, i, rewards, kapikia, kassa, c.in_kapikia)
                if c.auto_reset:
                    draw_deal(table, i, decks, dealers, deals, c.key, c.flags)
            look(table, i, legal, seats, masks, observations, c.is_observing)

    @njit_closure
    def observe_all(tables, states):  # type: ignore[no-untyped-def]
        for i in range(tables.shape[0]):
            observe_table(tables[i], states[i])

    @njit_closure
    def beneficiaries(tables, out):  # type: ignore[no-untyped-def]
        for i in range(tables.shape[0]):
            out[i] = beneficiary(tables[i])

    @njit_closure
    def random_actions(legal, key, out):  # type: ignore[no-untyped-def]
        """A uniformly chosen legal action for each table; 0 where it is over."""
        for i in range(legal.shape[0]):
            out[i] = random_bit(legal[i], derive_key(key, i)) if legal[i] != 0 else 0

    return Loops(start, first_illegal, advance, observe_all, beneficiaries, random_actions)
