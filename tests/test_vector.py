from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from prefa_env import IllegalActionError, VectorEnv, prefa
from prefa_env.game import Game
from prefa_env.prefa import OBSERVATION, STATE, Rules
from prefa_env.prefa.rules import NUM_ACTIONS, NUM_CARDS
from prefa_env.words import Words
from tests import toy

BATCH = 200


def advance(env: VectorEnv, steps: int, key: int = 0) -> None:
    for number in range(steps):
        env.step(env.random_actions(key + number))


def public(env: VectorEnv) -> dict[str, npt.NDArray[Any]]:
    names = ("observations", "action_masks", "seats", "rewards", "dones", "kapikia", "kassa")
    return {name: getattr(env, name).copy() for name in (*names, "states", "decks", "dealers")}


def assert_equal(one: dict[str, npt.NDArray[Any]], other: dict[str, npt.NDArray[Any]]) -> None:
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], name)


def test_shapes_and_types_are_those_promised() -> None:
    env = VectorEnv("prefa", BATCH)
    promised = {
        "observations": (np.int8, (BATCH, OBSERVATION.size)),
        "action_masks": (np.int8, (BATCH, NUM_ACTIONS)),
        "seats": (np.int8, (BATCH,)),
        "rewards": (np.float32, (BATCH, 3)),
        "dones": (np.bool_, (BATCH,)),
        "kapikia": (np.int32, (BATCH, 3)),
        "kassa": (np.int32, (BATCH, 3)),
        "states": (np.int8, (BATCH, STATE.size)),
    }
    for name, (dtype, shape) in promised.items():
        array = getattr(env, name)
        assert (array.dtype, array.shape) == (dtype, shape), name


def test_buffers_are_allocated_once() -> None:
    env = VectorEnv("prefa", 5)
    before = [env.observations, env.action_masks, env.seats, env.rewards, env.dones, env.kapikia]
    advance(env, 100)
    env.reset()
    after = [env.observations, env.action_masks, env.seats, env.rewards, env.dones, env.kapikia]
    assert all(a is b for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("rules", [Rules(), Rules(all_pass="misere"), Rules.site()])
@pytest.mark.parametrize("reward", ["settled", "kapikia"])
def test_every_step_is_what_the_kernel_says(rules: Rules, reward: Any) -> None:
    env = VectorEnv("prefa", 60, rules, reward=reward, seed=3)
    tables = np.zeros(60, prefa.DTYPE)
    words: Words = np.zeros(OBSERVATION.size // 8, np.int64)
    for i in range(60):
        prefa.deal(tables[i], rules.flags, env.decks[i], int(env.dealers[i]))
    finished = 0
    for number in range(150):
        actions = env.random_actions(number)
        for i, table in enumerate(tables):
            prefa.step(table, int(actions[i]))
        env.step(actions)
        for i, table in enumerate(tables):
            assert env.dones[i] == (table.seat < 0)
            if env.dones[i]:
                finished += 1
                np.testing.assert_array_equal(env.kapikia[i], table.kapikia_change)
                np.testing.assert_array_equal(env.kassa[i], table.kassa_change)
                settled = table.settled_thirds / np.float32(3)
                paid = table.kapikia_change if reward == "kapikia" else settled
                np.testing.assert_allclose(env.rewards[i], paid, rtol=1e-6)
                prefa.deal(table, rules.flags, env.decks[i], int(env.dealers[i]))
            else:
                assert not env.rewards[i].any() and not env.kapikia[i].any()
                assert not env.kassa[i].any()
            assert env.seats[i] == table.seat
            legal = int(prefa.legal_actions(table))
            assert [legal >> a & 1 for a in range(NUM_ACTIONS)] == list(env.action_masks[i])
            prefa.observe(table, int(table.seat), words)
            np.testing.assert_array_equal(env.observations[i], words.view(np.int8))
    assert finished > 100


def test_a_table_does_not_depend_on_how_many_there_are() -> None:
    many, few = VectorEnv("prefa", 50, seed=9), VectorEnv("prefa", 7, seed=9)
    for number in range(200):
        many.step(many.random_actions(number))
        few.step(few.random_actions(number))
        for name in ("observations", "seats", "rewards", "decks"):
            np.testing.assert_array_equal(getattr(many, name)[:7], getattr(few, name), name)


def test_seeds_decide_the_deals() -> None:
    one, same, other = (VectorEnv("prefa", 30, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.decks, same.decks)
    assert (one.decks != other.decks).any(axis=1).all()
    one.reset()
    assert (one.decks != same.decks).any(axis=1).all()
    one.reset(seed=1)
    np.testing.assert_array_equal(one.decks, same.decks)
    assert (VectorEnv("prefa", 30, seed=None).decks != one.decks).any()


def test_decks_are_permutations_and_dealers_all_seats() -> None:
    env = VectorEnv("prefa", 3000)
    np.testing.assert_array_equal(np.sort(env.decks, axis=1), np.tile(np.arange(32), (3000, 1)))
    counts = np.bincount(env.dealers, minlength=3)
    assert (abs(counts - 1000) < 4 * np.sqrt(3000 * 2 / 9)).all()


def test_given_deals_are_dealt_and_played() -> None:
    rng = np.random.default_rng(0)
    decks = np.array([rng.permutation(32) for _ in range(20)])
    dealers = rng.integers(3, size=20)
    env = VectorEnv("prefa", 20, auto_reset=False)
    env.reset(decks, dealers)
    assert (env.seats == (dealers + 1) % 3).all()
    hands = env.observations[:, OBSERVATION["hand"]]
    for i in range(20):
        first = int(env.seats[i])
        held = set(decks[i, 10 * first : 10 * first + 10].tolist())
        assert set(np.flatnonzero(hands[i])) == held


def test_without_auto_reset_finished_tables_stay_and_take_any_action() -> None:
    env = VectorEnv("prefa", 100, auto_reset=False)
    total = np.zeros((100, 3))
    for number in range(120):
        was_done = env.dones.copy()
        before = env.tables.copy()
        actions = env.random_actions(number)
        actions[was_done] = 10**6
        env.step(actions)
        total += env.rewards
        assert (env.dones >= was_done).all()
        assert not env.rewards[was_done].any()
        assert (env.tables[was_done] == before[was_done]).all()
        assert (env.seats[env.dones] == -1).all() and not env.action_masks[env.dones].any()
    assert env.dones.all()
    np.testing.assert_allclose(total, env.tables["settled_thirds"] / 3, rtol=1e-5)
    np.testing.assert_allclose(total.sum(1), 0, atol=1e-3)


@pytest.mark.parametrize("bad", [-1, 62, 63, 64, 10**9, -(2**62)])
def test_an_action_out_of_range_changes_nothing(bad: int) -> None:
    env = VectorEnv("prefa", 10)
    before = public(env)
    actions = env.random_actions(0)
    actions[3] = bad
    with pytest.raises(IllegalActionError, match=rf"table 3: action {bad} \(there are 0 to 61\)"):
        env.step(actions)
    assert_equal(before, public(env))


def test_an_illegal_action_names_table_action_and_what_was_legal() -> None:
    env = VectorEnv("prefa", 10)
    before = public(env)
    actions = env.random_actions(0)
    actions[7] = 40
    with pytest.raises(IllegalActionError, match=r"table 7: action 40 \(7C\) .* pass write 6S"):
        env.step(actions)
    assert_equal(before, public(env))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.zeros(9, np.int64), r"shape \(10,\)"),
        (np.zeros((10, 1), np.int64), r"shape \(10,\)"),
        (np.full(10, 32.0), "must be integers"),
        (["pass"] * 10, "must be integers"),
    ],
)
def test_actions_of_wrong_shape_or_type(actions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VectorEnv("prefa", 10).step(actions)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_actions_of_every_integer_type(dtype: Any) -> None:
    env, same = VectorEnv("prefa", 10), VectorEnv("prefa", 10)
    for number in range(50):
        actions = env.random_actions(number)
        env.step(actions)
        same.step(actions.astype(dtype))
    assert_equal(public(env), public(same))


def good_deals() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    return np.tile(np.arange(32), (4, 1)), np.zeros(4, np.int64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda decks, dealers: (decks[:3], dealers), r"decks must be integers of shape \(4, 32\)"),
        (lambda decks, dealers: (decks * 1.0, dealers), "decks must be integers"),
        (lambda decks, dealers: (decks // 2, dealers), "deck 0 must hold each card"),
        (lambda decks, dealers: (decks, dealers[:2]), r"dealers must be integers of shape \(4,\)"),
        (lambda decks, dealers: (decks, dealers + 3), "dealer 3 of deal 0 must be 0 to 2"),
        (lambda decks, dealers: (decks, None), "must be given together"),
        (lambda decks, dealers: (None, dealers), "must be given together"),
    ],
)
def test_bad_deals_change_nothing(change: Any, message: str) -> None:
    env = VectorEnv("prefa", 4)
    advance(env, 5)
    before = public(env)
    with pytest.raises(ValueError, match=message):
        env.reset(*change(*good_deals()))
    assert_equal(before, public(env))


def test_bad_settings_are_named() -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"game": "whist"}, r"no such game: 'whist' \(known: prefa"),
        ({"num_envs": 0}, "num_envs must be an integer of at least 1"),
        ({"num_envs": 1.5}, "num_envs must be an integer of at least 1, not 1.5"),
        ({"game": 5}, "no such game: 5"),
        ({"episode": "week"}, "episode must be 'deal'"),
        ({"reward": "euros"}, "reward must be 'settled' or 'kapikia', not 'euros'"),
        ({"seed": -1}, "seed must be an integer of 0 to"),
        ({"seed": 2**64}, "seed must be an integer of 0 to"),
    ]
    for settings, message in bad:
        with pytest.raises(ValueError, match=message):
            VectorEnv(**settings)


def test_a_bad_seed_leaves_the_tables_as_they_were() -> None:
    env = VectorEnv("prefa", 4)
    before = public(env)
    with pytest.raises(ValueError, match="seed must be an integer"):
        env.reset(*good_deals(), seed=-1)
    with pytest.raises(ValueError, match="seed must be an integer"):
        env.random_actions(-1)
    assert_equal(before, public(env))


def test_snapshots_are_exact() -> None:
    env = VectorEnv("prefa", 40)
    advance(env, 37)
    snapshot, then = env.snapshot(), public(env)
    advance(env, 90, key=100)
    later = public(env)
    env.restore(snapshot)
    assert_equal(then, public(env))
    advance(env, 90, key=100)
    assert_equal(later, public(env))
    with pytest.raises(ValueError, match="snapshot is of another environment"):
        VectorEnv("prefa", 41).restore(snapshot)


def test_states_are_the_whole_table_after_every_step() -> None:
    env = VectorEnv("prefa", 40)
    words: Words = np.zeros(STATE.size // 8, np.int64)
    for number in range(60):
        env.step(env.random_actions(number))
        states = env.states
        np.testing.assert_array_equal(states[:, : OBSERVATION.size], env.observations)
        for i in range(0, 40, 13):
            prefa.observe_all(env.tables[i], words)
            np.testing.assert_array_equal(states[i], words.view(np.int8))


def test_without_observing_the_rest_is_the_same() -> None:
    env, blind = VectorEnv("prefa", 20), VectorEnv("prefa", 20, observe=False)
    for number in range(100):
        env.step(env.random_actions(number))
        blind.step(blind.random_actions(number))
    assert not blind.observations.any()
    np.testing.assert_array_equal(env.action_masks, blind.action_masks)
    np.testing.assert_array_equal(env.states, blind.states)


def test_beneficiaries_are_inviters_for_invited_hands() -> None:
    env = VectorEnv("prefa", 500)
    invited = 0
    for number in range(80):
        env.step(env.random_actions(number))
        inviter = env.observations[:, OBSERVATION["inviter"]]
        is_declarer = env.observations[:, OBSERVATION["owner"]][:, 0] == 1
        has_inviter = (inviter[:, 1:].any(1)) & ~is_declarer
        expected = np.where(has_inviter, (env.seats + inviter.argmax(1)) % 3, env.seats)
        np.testing.assert_array_equal(env.beneficiaries(), expected)
        invited += int(has_inviter.sum())
    assert invited > 100


def test_random_actions_are_uniform_over_the_legal_ones() -> None:
    env = VectorEnv("prefa", 1)
    drawn = np.concatenate([env.random_actions(key) for key in range(3000)])
    actions, counts = np.unique(drawn, return_counts=True)
    assert list(actions) == [32, 33, 34]
    assert (abs(counts - 1000) < 4 * np.sqrt(3000 * 2 / 9)).all()


def test_another_game_goes_through_the_same_loops() -> None:
    env = VectorEnv(cast(Game, toy), 100, auto_reset=False)
    assert env.observations.shape == (100, toy.OBSERVATION.size)
    for number in range(4):
        env.step(env.random_actions(number))
    assert env.dones.all()
    took = env.tables["kapikia_change"]
    assert set(np.unique(took)) == {-3, 0, 1, 9} and (took.sum(1) == 0).all()


def test_the_constants_of_the_test_are_the_game_s() -> None:
    assert (NUM_CARDS, NUM_ACTIONS) == (32, 62)
