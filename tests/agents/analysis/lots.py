"""Lots of finished deals, written by hand or played."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.arena import play
from agents.benchmarks import SeedSet
from agents.designs import rotations
from agents.played import Deals, Played
from prefa_env import prefa
from prefa_env.prefa import Rules
from prefa_env.prefa.state import DTYPE

DATA = Path(__file__).parents[2] / "data" / "prefa_games.json"
EXAMPLES: list[str] = json.loads(DATA.read_text(encoding="utf-8"))["examples"]
"""Whole games that come to the worked examples of the rules."""

SEEDS = SeedSet("analysis")
EVERYBODY = np.ones((3, 3), np.bool_)
CANDIDATE = np.eye(3, dtype=np.bool_)


def only(seat: int) -> npt.NDArray[np.bool_]:
    """In a lot of one seating, that seat."""
    return np.eye(3, dtype=np.bool_)[seat : seat + 1]


def lot(texts: Sequence[str], rules: Rules | None = None) -> Played:
    """Games in one seating; those not over are played on, each with its lowest legal card."""
    rules = rules or Rules()
    tables = np.zeros(len(texts), DTYPE)
    decks, dealers, games, movers = [], [], [], []
    for n, text in enumerate(texts):
        dealer, deck = prefa.parse_deal(text.split(" | ")[0])
        actions = list(prefa.parse_game(text, rules)[1])
        seats: list[int] = []
        table: Any = np.zeros(1, DTYPE)[0]
        prefa.deal(table, rules.flags, deck, dealer)
        while table.seat >= 0:
            legal = int(prefa.legal_actions(table))
            if len(seats) == len(actions):
                actions.append((legal & -legal).bit_length() - 1)
            seats.append(int(table.seat))
            prefa.step(table, actions[len(seats) - 1])
        tables[n] = table
        decks.append(deck)
        dealers.append(dealer)
        games.append(actions)
        movers.append(seats)
    return Played(
        numbers=np.arange(len(texts)),
        seatings=np.zeros((1, 3), np.int64),
        settled_thirds=tables["settled_thirds"][:, None],
        kapikia=tables["kapikia_change"][:, None],
        kassa=tables["kassa_change"][:, None],
        illegal=np.zeros((len(texts), 1, 3), np.int64),
        lengths=np.ones((len(texts), 1), np.int64),
        is_unfinished=np.zeros((len(texts), 1), np.bool_),
        deals=Deals(
            games=np.arange(len(texts)),
            decks=np.array(decks, np.int8),
            dealers=np.array(dealers, np.int8),
            actions=_padded(games),
            seats=_padded(movers),
            tables=tables,
        ),
    )


def _padded(rows: list[list[int]]) -> npt.NDArray[np.int8]:
    """int8 [N, L], -1 after the end."""
    out = np.full((len(rows), max(map(len, rows))), -1, np.int8)
    for n, row in enumerate(rows):
        out[n, : len(row)] = row
    return out


def played(
    candidate: Any, field: Any, deals: int, batch_size: int = 512, rules: Rules | None = None
) -> list[Played]:
    """Deals of `SEEDS` in all rotations."""
    agents = [candidate, field]
    return list(play(prefa, rules or Rules(), agents, rotations(3), SEEDS, deals, batch_size))
