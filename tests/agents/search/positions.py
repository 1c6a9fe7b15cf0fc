"""Positions of random games, and the same table seen from another seat."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from prefa_env.prefa import Rules, State
from tests.helpers import MAX_ACTIONS, RULES, Replay, random_game, random_rules

_SEATS = ("seat", "dealer", "first", "owner", "winner")
_SEAT_SETS = ("active", "playing")


def turned(table: State, me: int) -> State:
    """The table with seats counted from `me`."""
    other: Any = table.copy()
    for name in other.dtype.names:
        value = other[name]
        if name in _SEATS:
            other[name] = (value - me) % 3 if value >= 0 else value
        elif name in _SEAT_SETS:
            other[name] = sum(1 << (seat - me) % 3 for seat in range(3) if value >> seat & 1)
        elif getattr(value, "shape", ()) == (3,):
            other[name] = np.roll(value, -me)
    return other  # type: ignore[no-any-return]


def positions(
    seed: str, games: int, rules: Rules | None = None, flag: int = 0
) -> Iterator[tuple[State, Rules]]:
    """Every table of random games in which somebody is to act, with its variant."""
    rng = random.Random(seed)
    kernel = Replay(MAX_ACTIONS + 1)
    kernel.tables["kassa"][0] = 5
    kernel.tables["kapikia"][0] = (-300, 40, 260)
    variants = [*RULES.values()]
    for number in range(games):
        variant = rules or (variants[number] if number < len(variants) else random_rules(rng))
        game = random_game(rng, variant)
        kernel.play(game, flag)
        for i in range(len(game.actions)):
            yield kernel.tables[i], variant


def holding(table: State, seat: int) -> tuple[int, ...]:
    """What a world says of a table turned to `seat`: two hands, talon, discards."""
    other = turned(table, seat)
    return (
        int(other.hands[1]), int(other.hands[2]), int(other.talon), int(other.discards)
    )  # fmt: skip
