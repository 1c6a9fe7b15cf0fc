"""Random deals and finished matches of the kernel, under all options, as records and tables."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from prefa_env import prefa
from prefa_env.doors import find_game
from prefa_env.prefa import Phase, Rules, State
from prefa_env.records import (
    DealRecord,
    MatchDeal,
    MatchRecord,
    Start,
    record_deal,
    record_match,
    record_match_deal,
)
from tests.helpers import Deck, members, new_table, random_rules, shuffled

GAME = find_game("prefa")
NAMES = ("αλφα", "uniform", "a b")


def any_rules(rng: random.Random) -> Rules:
    """Any combination of the options; kassas so small that matches end and the floor is reached."""
    rules = replace(random_rules(rng), kassa=rng.randint(1, 12))
    return replace(rules, first_bid="seven_of_diamonds") if rng.random() < 0.5 else rules


def choose(rng: random.Random, table: State, is_easy: bool) -> int:
    """A legal action: any, or the one that ends the deal soon with a contract made."""
    legal = members(prefa.legal_actions(table))
    if not is_easy or table.phase == Phase.DISCARD:
        return rng.choice(legal)
    if table.bid >= 0 and table.phase in {Phase.AUCTION, Phase.DEFENCE}:
        return int(prefa.Action.PASS)
    return next((action for action in legal if action >= prefa.Action.BID), legal[0])


def play_out(rng: random.Random, table: State, is_easy: bool) -> list[int]:
    actions = []
    while table.seat >= 0:
        actions.append(choose(rng, table, is_easy))
        prefa.step(table, actions[-1])
    return actions


def random_deck(rng: random.Random) -> Deck:
    return np.array(shuffled(rng), np.int8)


def random_deal(rng: random.Random) -> tuple[DealRecord, State]:
    """A single deal, and its table at the end."""
    rules, table = any_rules(rng), new_table()
    prefa.deal(table, rules.flags, random_deck(rng), rng.randrange(3))
    actions = play_out(rng, table, rng.random() < 0.2)
    return record_deal(GAME, rules, table, actions, NAMES, "test:1"), table


def random_start(rng: random.Random) -> Start:
    right, left = rng.randint(-500, 500), rng.randint(-500, 500)
    kassa = (rng.randint(1, 12), rng.randint(0, 12), rng.randint(0, 12))
    return Start(kassa=kassa, kapikia=(-right - left, right, left))


def random_match(rng: random.Random, **changes: Any) -> tuple[MatchRecord, State]:
    """A finished match, and its table at the end.

    Args:
        rng: its chance.
        changes: instead of what is drawn: `rules`, `max_deals`, `start`, `given`.
    """
    drawn: dict[str, Any] = {
        "rules": any_rules(rng),
        "max_deals": rng.choice([None, 1, 2, 5, 16383]),
        "start": rng.choice([None, None, random_start(rng)]),
        "given": rng.random() < 0.3,
    }
    rules, max_deals, start, given = (drawn | changes).values()
    table = new_table()
    prefa.start_match(table, rules.kassa, max_deals or 0)
    flags = rules.flags | prefa.MATCH
    if start is not None:
        table.kassa[:], table.kapikia[:] = start.kassa, start.kapikia
    if start is not None or given:
        prefa.deal(table, flags, random_deck(rng), rng.randrange(3))
    else:
        while not prefa.deal_first(table, flags, random_deck(rng), rng.randrange(3)):
            pass
    deals: list[MatchDeal] = []
    while True:
        # Random contracts mostly fail and raise the kassas: without easy deals no match would end.
        actions = play_out(rng, table, len(deals) >= 4 or rng.random() < 0.5)
        deals.append(record_match_deal(GAME, table, actions))
        if prefa.is_match_over(table):
            break
        prefa.deal_next(table, random_deck(rng))
    more: dict[str, Any] = {"max_deals": max_deals, "start": start, "given": given}
    return record_match(GAME, rules, table, deals, NAMES, 7, **more), table
