"""Observations that no game leads to are refused; none crashes or hangs the search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.search.pimc import Pimc
from agents.search.recall import recall_tables
from agents.search.sampling import NoWorldError
from agents.search.validity import is_possible
from prefa_env import prefa
from prefa_env.prefa import OBSERVATION, Rules
from prefa_env.prefa.rules import Flag
from prefa_env.prefa.state import DTYPE
from tests.agents.search.positions import positions
from tests.helpers import members, observation_of

TABLES = np.zeros(2, DTYPE)


def accepts(row: Any, legal: int, flags: int) -> bool:
    seen = recall_tables(row[None], flags)[0]
    return bool(is_possible(seen, row.view(np.int64), legal, TABLES))


@pytest.mark.parametrize("flag", [0, int(Flag.MATCH)])
def test_all_that_happens_is_possible(flag: int) -> None:
    for table, rules in positions("possible", 100, flag=flag):
        legal = int(prefa.legal_actions(table))
        row = observation_of(table, int(table.seat))
        assert accepts(row, legal, rules.flags)
        assert not accepts(row, legal ^ 1 << 35, rules.flags)
        other = observation_of(table, (int(table.seat) + 1) % 3)
        assert not accepts(other, legal, rules.flags)


def test_a_changed_byte_is_seen() -> None:
    """Kassas and what is left of a match are facts of their own; everything else hangs together."""
    rng = np.random.default_rng(1)
    end = OBSERVATION["kassa_me_high"].start
    for table, rules in positions("byte", 60):
        legal = int(prefa.legal_actions(table))
        row = observation_of(table, int(table.seat)).copy()
        for _ in range(10):
            at = int(rng.integers(end))
            before = row[at]
            row[at] ^= 1 << int(rng.integers(7))
            assert not accepts(row, legal, rules.flags), at
            row[at] = before


def test_two_observations_mixed_and_noise_neither_crash_nor_pass() -> None:
    rng = np.random.default_rng(2)
    seen = [
        (observation_of(table, int(table.seat)).copy(), int(prefa.legal_actions(table)))
        for table, _ in positions("mixed", 40, Rules())
    ]
    for _ in range(3000):
        (one, legal), (two, _) = (seen[i] for i in rng.integers(len(seen), size=2))
        row = np.where(rng.random(one.size) < rng.random(), one, two).astype(np.int8)
        if not any((row == known).all() for known in (one, two)):
            assert not accepts(row, legal, 0)
        noise = rng.integers(-128, 128, one.size).astype(np.int8)
        assert not accepts(noise, legal, 0)
        sparse = np.where(rng.random(one.size) < 0.03, noise, one).astype(np.int8)
        assert (sparse == one).all() or not accepts(sparse, legal, 0)


def test_the_player_says_which_row() -> None:
    tables = [table.copy() for table, _ in positions("row", 1, Rules())][:3]
    rows = np.stack([observation_of(table, int(table.seat)) for table in tables])
    masks = np.zeros((3, prefa.NUM_ACTIONS), np.int8)
    for mask, table in zip(masks, tables, strict=True):
        mask[members(prefa.legal_actions(table))] = 1
    keys = np.zeros(3, np.uint64)
    player = Pimc(1)
    player.act(rows, masks, keys)
    wrong = masks.copy()
    wrong[1] = 0
    with pytest.raises(NoWorldError, match="row 1: no game leads to this observation"):
        player.act(rows, wrong, keys)
    with pytest.raises(ValueError, match=r"masks \[B, 62\], not \[3, 584\] and \[3, 60\]"):
        player.act(rows, masks[:, :60], keys)


@pytest.mark.parametrize("worlds", [0, -1, 1.5, True, "3", 10**9])
def test_numbers_of_worlds(worlds: Any) -> None:
    with pytest.raises(ValueError, match="pimc needs how many worlds, 1 to"):
        Pimc(worlds)
