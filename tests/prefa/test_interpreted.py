"""Compiled and interpreted, the kernel does the same, bit for bit."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from prefa_env import prefa
from prefa_env._jit import IS_COMPILED
from prefa_env.prefa import OBSERVATION, STATE, State
from prefa_env.prefa.rules import Flag
from prefa_env.streams import derive_key, random_bit, shuffle
from tests.helpers import MAX_ACTIONS, RULES, Replay, bytes_of, random_game, random_rules
from tests.lockstep import Lockstep

ROOT = Path(__file__).parents[2]
NUM_DEALS = 200
# The mixing of keys overflows as it should; nothing else may.
WARNINGS = ["-W", "error::RuntimeWarning"]
WARNINGS += ["-W", "ignore:overflow encountered:RuntimeWarning:prefa_env.streams"]


def digest(num_deals: int) -> str:
    """A hash of every record, observation, legal set and redeal of some deals, and of streams."""
    rng = random.Random("interpreted")
    kernel = Replay(MAX_ACTIONS + 1)
    kernel.tables["kassa"][0] = 3
    seen = hashlib.sha256()
    words = np.zeros(OBSERVATION.size // 8, np.int64)
    whole = np.zeros(STATE.size // 8, np.int64)
    deck = np.zeros(32, np.int8)
    for number in range(num_deals):
        rules = [*RULES.values()][number] if number < len(RULES) else random_rules(rng)
        flag = int(Flag.MATCH) if number % 3 == 0 else 0
        game = random_game(rng, rules)
        kernel.play(game, flag)
        key = np.uint64(derive_key(np.uint64(number), 1))
        shuffle(deck, key)
        seen.update(deck.tobytes())
        for i in range(len(game.seats)):
            table: State = kernel.tables[i]
            seen.update(bytes_of(table))
            legal = int(prefa.legal_actions(table))
            if legal:
                picked = int(random_bit(legal, key))
                seen.update(f"{legal} {picked} {prefa.beneficiary(table)}".encode())
            prefa.observe(table, i % 3, words)
            prefa.observe_all(table, whole)
            seen.update(words.tobytes() + whole.tobytes())
            other = table.copy()
            seen.update(
                f"{bool(prefa.redeal_hidden(other, i % 3, deck, deck[::-1].copy()))}".encode()
            )
            seen.update(bytes_of(other))
    return seen.hexdigest()


def run_interpreted(script: str) -> str:
    """What a script prints when nothing is compiled."""
    ran = subprocess.run(
        [sys.executable, *WARNINGS, "-c", script],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.mark.skipif(not IS_COMPILED, reason="everything is interpreted already")
def test_interpreted_kernel_is_the_same() -> None:
    script = (
        "from prefa_env._jit import IS_COMPILED\n"
        "from tests.prefa.test_interpreted import NUM_DEALS, digest\n"
        "assert not IS_COMPILED\n"
        "print(digest(NUM_DEALS))"
    )
    assert run_interpreted(script) == digest(NUM_DEALS)


def play_some_matches() -> str:
    """Let the kernel play in lockstep with the reference; returns what has happened."""
    lockstep = Lockstep("interpreted")
    for rules in RULES.values():
        lockstep.play(replace(rules, kassa=3), 12, is_calm=True)
    return " ".join(sorted(lockstep.seen))


@pytest.mark.skipif(not IS_COMPILED, reason="everything is interpreted already")
def test_interpreted_matches_are_the_same() -> None:
    script = (
        "from tests.prefa.test_interpreted import play_some_matches\nprint(play_some_matches())"
    )
    assert run_interpreted(script) == play_some_matches()
