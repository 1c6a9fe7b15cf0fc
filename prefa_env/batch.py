"""Compiled loops over many tables of one game.

The loops are written once; `make_loops` compiles a copy of them for each game.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._jit import announce_compilation, specialise
from .game import Game
from .streams import derive_key, draw_deck, random_bit
from .words import expand_64


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


game: Any = None
"""In the functions below, the game that `make_loops` compiles them for."""


def look(
    table: Any, i: int, legal: Any, seats: Any, masks: Any, observations: Any, is_observing: bool
) -> None:
    """Write what the seat to act sees of one table."""
    actions = game.legal_actions(table)
    legal[i] = actions
    seats[i] = table.seat
    expand_64(masks[i], actions)
    if is_observing:
        game.observe(table, max(table.seat, 0), observations[i])


def draw_deal(
    table: Any, i: int, decks: Any, dealers: Any, deals: Any, key: np.uint64, flags: int
) -> None:
    """Deal the table's next random deal, keyed by (seed, table, deal)."""
    dealers[i] = draw_deck(decks[i], key, i, deals[i], game.NUM_SEATS)
    deals[i] += 1
    game.deal(table, flags, decks[i], dealers[i])


def start(b: Buffers, c: Settings, is_random: bool) -> None:
    """Deal at every table: the next random deal, or what stands in decks and dealers."""
    for i in range(b.tables.shape[0]):
        if is_random:
            draw_deal(b.tables[i], i, b.decks, b.dealers, b.deals, c.key, c.flags)
        else:
            game.deal(b.tables[i], c.flags, b.decks[i], b.dealers[i])
        look(b.tables[i], i, b.legal, b.seats, b.masks, b.observations, c.is_observing)


def first_illegal(legal: Any, actions: Any) -> int:
    """Index of the first table whose action is illegal; -1. Tables that are over take any."""
    for i in range(legal.shape[0]):
        action = actions[i]
        is_legal = action >= 0 and action < 64 and legal[i] >> (action & 63) & 1 != 0
        if not is_legal and legal[i] != 0:
            return i
    return -1


def pay(table: Any, i: int, rewards: Any, kapikia: Any, kassa: Any, in_kapikia: bool) -> None:
    """Report what the deal that just ended at a table has paid."""
    for seat in range(game.NUM_SEATS):
        kapikia[i, seat] = table.kapikia_change[seat]
        kassa[i, seat] = table.kassa_change[seat]
        if in_kapikia:
            rewards[i, seat] = table.kapikia_change[seat]
        else:
            rewards[i, seat] = np.float32(table.settled_thirds[seat]) / np.float32(3)


def advance(b: Buffers, c: Settings, actions: Any) -> None:
    """Step every table that is not over; pay, and deal anew where a deal ended."""
    # Taken out of the tuple once: inside the loop that would cost more than the step.
    tables, decks, dealers, deals = b.tables, b.decks, b.dealers, b.deals
    legal, seats, masks, observations = b.legal, b.seats, b.masks, b.observations
    dones, rewards, kapikia, kassa = b.dones, b.rewards, b.kapikia, b.kassa
    for i in range(tables.shape[0]):
        if dones[i]:
            for seat in range(game.NUM_SEATS):
                rewards[i, seat] = 0
                kapikia[i, seat] = 0
                kassa[i, seat] = 0
        if legal[i] == 0:
            continue
        table = tables[i]
        game.step(table, actions[i])
        is_over = table.seat < 0
        dones[i] = is_over
        if is_over:
            pay(table, i, rewards, kapikia, kassa, c.in_kapikia)
            if c.auto_reset:
                draw_deal(table, i, decks, dealers, deals, c.key, c.flags)
        look(table, i, legal, seats, masks, observations, c.is_observing)


def observe_all(tables: Any, states: Any) -> None:
    """Write the whole tables, int64 [B, P / 8]."""
    for i in range(tables.shape[0]):
        game.observe_all(tables[i], states[i])


def beneficiaries(tables: Any, out: Any) -> None:
    """Write whose payment each seat to act plays for."""
    for i in range(tables.shape[0]):
        out[i] = game.beneficiary(tables[i])


def random_actions(legal: Any, key: np.uint64, out: Any) -> None:
    """A uniformly chosen legal action for each table; 0 where it is over."""
    for i in range(legal.shape[0]):
        out[i] = random_bit(legal[i], derive_key(key, i)) if legal[i] != 0 else 0


@cache
def make_loops(game: Game) -> SimpleNamespace:
    """The functions above, compiled for one game; they release the GIL."""
    announce_compilation()
    return specialise(
        game,
        look,
        draw_deal,
        pay,
        start,
        first_illegal,
        advance,
        observe_all,
        beneficiaries,
        random_actions,
    )
