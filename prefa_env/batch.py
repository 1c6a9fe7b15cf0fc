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
    streams: npt.NDArray[np.int64]  # [B], whose random deals each table takes
    deals: npt.NDArray[np.int64]  # [B], random deals drawn so far at each table
    legal: npt.NDArray[np.int64]  # [B] bit sets
    seats: npt.NDArray[np.int8]  # [B]
    masks: npt.NDArray[np.int64]  # [B, 8] words
    observations: npt.NDArray[np.int64]  # [B, O / 8] words
    finished: npt.NDArray[Any]  # game records [B], of the deal that ended last at each table
    deal_dones: npt.NDArray[np.bool_]  # [B]
    dones: npt.NDArray[np.bool_]  # [B]
    rewards: npt.NDArray[np.float32]  # [B, S]
    kapikia: npt.NDArray[np.int32]  # [B, S]
    kassa: npt.NDArray[np.int32]  # [B, S]


class Settings(NamedTuple):
    """What the loops need to know besides; constant for an environment."""

    flags: int
    kassa: int
    max_deals: int
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


def draw(i: int, decks: Any, dealers: Any, streams: Any, deals: Any, key: np.uint64) -> None:
    """Draw the table's next random deal, keyed by (seed, stream, deal)."""
    dealers[i] = draw_deck(decks[i], key, streams[i], deals[i], game.NUM_SEATS)
    deals[i] += 1


def begin_match(table: Any, c: Settings) -> None:
    """Set a table up for a new match, if it plays matches."""
    if c.flags & game.MATCH != 0:
        game.start_match(table, c.kassa, c.max_deals)


def begin_random(
    table: Any, i: int, decks: Any, dealers: Any, streams: Any, deals: Any, c: Settings
) -> None:
    """Begin an episode with the table's next random deal."""
    begin_match(table, c)
    draw(i, decks, dealers, streams, deals, c.key)
    while not game.deal_first(table, c.flags, decks[i], dealers[i]):
        draw(i, decks, dealers, streams, deals, c.key)
    dealers[i] = table.dealer


def start(b: Buffers, c: Settings, is_random: bool) -> None:
    """Begin an episode at every table: with a random deal, or what stands in decks and dealers."""
    for i in range(b.tables.shape[0]):
        if is_random:
            begin_random(b.tables[i], i, b.decks, b.dealers, b.streams, b.deals, c)
        else:
            begin_match(b.tables[i], c)
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


def pay(
    table: Any, i: int, rewards: Any, kapikia: Any, kassa: Any, in_kapikia: bool, is_last: bool
) -> None:
    """Report what the deal that just ended at a table has paid.

    In kapikia the last deal of a match also pays what kassas that are left are worth, so that all
    rewards add up to its result.
    """
    for seat in range(game.NUM_SEATS):
        kapikia[i, seat] = table.kapikia_change[seat]
        kassa[i, seat] = table.kassa_change[seat]
        thirds = table.settled_thirds[seat]
        if in_kapikia:
            thirds = 3 * table.kapikia_change[seat]
            if is_last:
                thirds += game.match_thirds(table, seat) - 3 * table.kapikia[seat]
        rewards[i, seat] = np.float32(thirds) / np.float32(3)


def advance(b: Buffers, c: Settings, actions: Any) -> None:
    """Step every table that is not over; where a deal ended, pay and go on."""
    # Taken out of the tuple once: inside the loop that would cost more than the step.
    tables, decks, dealers, streams, deals = b.tables, b.decks, b.dealers, b.streams, b.deals
    legal, seats, masks, observations = b.legal, b.seats, b.masks, b.observations
    finished, deal_dones, dones = b.finished, b.deal_dones, b.dones
    rewards, kapikia, kassa = b.rewards, b.kapikia, b.kassa
    is_match = c.flags & game.MATCH != 0
    for i in range(tables.shape[0]):
        if deal_dones[i]:
            for seat in range(game.NUM_SEATS):
                rewards[i, seat] = 0
                kapikia[i, seat] = 0
                kassa[i, seat] = 0
        deal_dones[i] = False
        if legal[i] == 0:
            continue
        table = tables[i]
        game.step(table, actions[i])
        dones[i] = False
        if table.seat < 0:
            is_over = game.is_match_over(table)
            deal_dones[i] = True
            dones[i] = is_over
            finished[i] = table
            pay(table, i, rewards, kapikia, kassa, c.in_kapikia, is_match and is_over)
            if not is_over:
                draw(i, decks, dealers, streams, deals, c.key)
                game.deal_next(table, decks[i])
                dealers[i] = table.dealer
            elif c.auto_reset:
                begin_random(table, i, decks, dealers, streams, deals, c)
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
        draw,
        begin_match,
        begin_random,
        pay,
        start,
        first_illegal,
        advance,
        observe_all,
        beneficiaries,
        random_actions,
    )
