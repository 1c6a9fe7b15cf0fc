"""Suits renamed: a table whose suits are swapped gives the same row, and the same play."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from prefa_env import VectorEnv, prefa
from prefa_env.prefa import OBSERVATION, STATE, Action, Phase, State

RANKS = 8
SEEDS = (1, 2)


def swap_cards(cards: int, names: npt.NDArray[np.int64]) -> int:
    """A set of cards with each suit's cards given to the suit `names` says."""
    return sum((int(cards) >> RANKS * s & 0xFF) << RANKS * int(names[s]) for s in range(4))


def swap_rung(rung: int, names: npt.NDArray[np.int64]) -> int:
    level, strain = divmod(int(rung), 5)
    return 5 * level + (strain if strain == 4 else int(names[strain]))


def swapped(table: State, names: npt.NDArray[np.int64]) -> State:
    """A table in which the suits have other names."""
    other = table.copy()
    for name in ("talon", "discards", "trick", "trump", "led", "best"):
        setattr(other, name, swap_cards(getattr(table, name), names))
    for seat in range(3):
        for name in ("hands", "played", "voids"):
            getattr(other, name)[seat] = swap_cards(getattr(table, name)[seat], names)
        said = int(table.said[seat])
        bids = [r for r in range(25) if said >> 2 + r & 1]
        kept = said & ~(((1 << 25) - 1) << 2)
        other.said[seat] = kept | sum(1 << 2 + swap_rung(r, names) for r in bids)
    if table.bid >= 0:
        other.bid = swap_rung(table.bid, names)
    order = table.order.view(np.int8)
    other.order.view(np.int8).reshape(4, RANKS)[names] = order.reshape(4, RANKS)
    calls = other.calls.view(np.int8)
    for i in range(other.num_calls):
        if calls[i] >= 3:
            calls[i] = 3 + swap_rung(calls[i] - 3, names)
    return other


def row(table: State) -> npt.NDArray[np.int8]:
    words = np.zeros(STATE.size // 8, np.int64)
    prefa.observe_all(table, words)
    return words.view(np.int8)


def mask(table: State) -> npt.NDArray[np.int8]:
    return (prefa.legal_actions(table) >> np.arange(prefa.NUM_ACTIONS) & 1).astype(np.int8)


def has_twins(table: State) -> bool:
    """Whether two suits that are not trumps were the same in the hand of the seat to act."""
    ten = int(table.hands[table.seat] | table.played[table.seat])
    plain = [ten >> RANKS * s & 0xFF for s in range(4) if not table.trump >> RANKS * s & 1]
    return len(set(plain)) < len(plain)


@pytest.mark.parametrize("seed", SEEDS)
def test_swapped_suits_give_the_same_row_and_the_same_play(seed: int) -> None:
    rng = np.random.default_rng(seed)
    env = VectorEnv("prefa", 100, auto_reset=False, seed=seed)
    value = STATE["value"]
    compared: dict[int, int] = {}
    while not env.dones.all():
        actions = env.random_actions(seed)
        for i in np.flatnonzero(~env.dones):
            table = env.tables[i]
            if not Phase.DEFENCE <= table.phase <= Phase.PLAY or has_twins(table):
                continue
            names = rng.permutation(4)
            other = swapped(table, names)
            rows = np.stack([row(table), row(other)])
            masks = np.stack([mask(table), mask(other)])
            new_rows, new_masks, meant = prefa.relabel(rows, masks)
            new_rows[:, value] = 0  # of a contract: spades pay less than hearts
            assert (new_rows[0] == new_rows[1]).all()
            assert (new_masks[0] == new_masks[1]).all()
            compared[table.phase] = compared.get(int(table.phase), 0) + 1
            # The same new action leads to tables that are the same again.
            new = int(np.flatnonzero(meant[0] == actions[i])[0])
            after = table.copy()
            prefa.step(after, int(meant[0, new]))
            prefa.step(other, int(meant[1, new]))
            assert after.winner == other.winner and (after.tricks == other.tricks).all()
            assert row(swapped(after, names))[: value.start].tobytes() == (
                row(other)[: value.start].tobytes()
            )
        env.step(actions)
    assert compared[Phase.DEFENCE] > 20 and compared[Phase.PLAY] > 500


def test_trumps_are_the_last_suit_and_what_is_meant_is_legal() -> None:
    env = VectorEnv("prefa", 300, auto_reset=False, seed=3)
    trumps = 0
    while not env.dones.all():
        rows, masks, meant = prefa.relabel(env.observations, env.action_masks)
        np.testing.assert_array_equal(np.take_along_axis(env.action_masks, meant, 1), masks)
        assert (np.sort(meant, axis=1) == np.arange(prefa.NUM_ACTIONS)).all()
        is_named = rows[:, OBSERVATION["phase"]][:, Phase.DEFENCE : Phase.PLAY + 1].any(axis=1)
        np.testing.assert_array_equal(rows[~is_named], env.observations[~is_named])
        strains = rows[is_named][:, OBSERVATION["strain"]]
        assert (strains[:, :3] == 0).all()
        trumps += int(strains[:, 3].sum())
        env.step(env.random_actions(1))
    assert trumps > 40


def test_names_last_as_long_as_the_contract() -> None:
    env = VectorEnv("prefa", 100, auto_reset=False, seed=4)
    before = np.full((100, 3, prefa.NUM_ACTIONS), -1, np.int8)
    kept = 0
    while not env.dones.all():
        _, _, meant = prefa.relabel(env.observations, env.action_masks)
        for i in np.flatnonzero(env.tables["phase"] == Phase.PLAY):
            last = before[i, env.seats[i]]
            assert last[0] < 0 or (last == meant[i]).all()
            kept += last[0] >= 0
            before[i, env.seats[i]] = meant[i]
        env.step(env.random_actions(2))
    assert kept > 1000


def test_observations_and_states_are_named_alike() -> None:
    env = VectorEnv("prefa", 200, auto_reset=False, seed=5)
    while not env.dones.all():
        of_states = prefa.relabel(env.states, env.action_masks)
        of_observations = prefa.relabel(env.observations, env.action_masks)
        live = ~env.dones
        seen = of_states[0][live, : OBSERVATION.size]
        np.testing.assert_array_equal(seen, of_observations[0][live])
        np.testing.assert_array_equal(of_states[2][live], of_observations[2][live])
        env.step(env.random_actions(3))


def test_words_and_bids_stand_for_themselves() -> None:
    env = VectorEnv("prefa", 50, auto_reset=False, seed=6)
    while not env.dones.all():
        meant = prefa.relabel(env.observations, env.action_masks)[2]
        assert (meant[:, Action.PASS :] == np.arange(Action.PASS, prefa.NUM_ACTIONS)).all()
        env.step(env.random_actions(4))
