"""Whole matches through the environments: one table, many tables, rewards, streams, standings."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pettingzoo.test import api_test, seed_test

from prefa_env import VectorEnv, prefa, prefa_v0
from prefa_env.prefa import Action, Rules
from prefa_env.prefa.state import OBSERVATION
from tests import toy
from tests.helpers import RULES
from tests.test_aec import AGENTS, api_warnings

DEAL = prefa.deal_text(2, list(range(32)))
Row = npt.NDArray[Any]


def tame(mask: Row, rng: random.Random) -> int:
    """A legal action; defenders mostly pass, so that contracts are made and matches end."""
    legal = np.flatnonzero(mask).tolist()
    if Action.PLAY in legal and rng.random() < 0.9:
        return int(Action.PASS)
    return int(rng.choice(legal))


def tame_batch(env: VectorEnv, rng: random.Random) -> Row:
    return np.array(
        [tame(mask, rng) if mask.any() else 0 for mask in env.action_masks], dtype=np.int64
    )


def results(tables: Row) -> Row:
    """What a match has brought each seat, float [B, S]."""
    return np.array([[prefa.match_thirds(t, seat) / 3 for seat in range(3)] for t in tables])


# ------------------------------------------------------------------------------ PettingZoo


@api_warnings
@pytest.mark.parametrize("max_deals", [None, 2])
@pytest.mark.parametrize("reward", ["settled", "kapikia"])
@pytest.mark.parametrize("name", RULES)
def test_api(name: str, reward: str, max_deals: int | None) -> None:
    env = prefa_v0.env(RULES[name], "match", reward, max_deals=max_deals)
    api_test(env, num_cycles=100)


@pytest.mark.parametrize("name", RULES)
def test_seeds(name: str) -> None:
    seed_test(lambda: prefa_v0.env(RULES[name], "match", max_deals=3), num_cycles=100)


@pytest.mark.parametrize("reward", ["settled", "kapikia"])
@pytest.mark.parametrize("max_deals", [None, 1, 7])
@pytest.mark.parametrize(
    "rules", [Rules(kassa=9), Rules(kassa=4, first_bid="seven_of_diamonds"), Rules.site()]
)
def test_one_table_is_one_of_many(rules: Rules, max_deals: int | None, reward: Any) -> None:
    rng = random.Random(0)
    one = prefa_v0.raw_env(rules, "match", reward, max_deals=max_deals)
    many = VectorEnv("prefa", 1, rules, "match", reward, seed=11, max_deals=max_deals)
    for match in range(3):
        one.reset(seed=11 if match == 0 else None)
        paid = dict.fromkeys(AGENTS, 0.0)
        told = dict.fromkeys(AGENTS, 0.0)  # what `last` says, added up
        deals = 0
        for agent in one.agent_iter():
            seen, reward_told, is_over, _, info = one.last()
            told[agent] += reward_told
            if is_over:
                one.step(None)
                continue
            assert one.possible_agents.index(agent) == many.seats[0]
            assert seen["observation"].tobytes() == many.observations[0].tobytes()
            assert seen["action_mask"].tobytes() == many.action_masks[0].tobytes()
            assert info["action_mask"].tobytes() == many.action_masks[0].tobytes()
            action = tame(seen["action_mask"], rng)
            one.step(action)
            many.step(np.array([action]))
            deals += int(many.deal_dones[0])
            assert many.dones[0] == all(one.terminations.values())
            for seat, other in enumerate(AGENTS):
                paid[other] += one.rewards[other]
                assert one.rewards[other] == pytest.approx(many.rewards[0, seat], abs=1e-4)
                if many.deal_dones[0]:
                    assert one.infos[other]["kapikia"] == many.kapikia[0, seat]
                    assert one.infos[other]["kassa"] == many.kassa[0, seat]
        assert many.dones[0]
        assert max_deals is None or deals <= max_deals
        assert told == pytest.approx(paid)
        end = many.finished[0]
        assert end["kassa"].sum() == 0 or end["deals_left"] == 1
        for seat, agent in enumerate(AGENTS):
            # Settled kapikia know no floor, hence no rounding of what it takes in thirds.
            tolerance = 0.7 if reward == "settled" else 1e-6
            assert paid[agent] == pytest.approx(prefa.match_thirds(end, seat) / 3, abs=tolerance)


def test_what_agents_are_told_between_deals() -> None:
    env = prefa_v0.raw_env(Rules(kassa=20), "match")
    env.reset(seed=3)
    rng = random.Random(3)
    num_deals, before = 0, env.table.copy()
    changes = {agent: {"kapikia": 0, "kassa": 0, "settled": 0.0} for agent in AGENTS}
    while num_deals < 6 and not all(env.terminations.values()):
        for agent in AGENTS:  # of the last deal, for as long as the next one is played
            info = dict(env.infos[agent])
            info.pop("action_mask")
            assert info == changes[agent]
        assert set(env.rewards.values()) == {0.0} or env.table.num_calls == 0
        env.step(tame(env.observe(env.agent_selection)["action_mask"], rng))
        if env.table.num_calls == 0:
            num_deals += 1
            after = env.table
            assert after.dealer == (before.dealer + 1) % 3
            for seat, agent in enumerate(AGENTS):
                changes[agent] = {
                    "kapikia": int(after.kapikia[seat] - before.kapikia[seat]),
                    "kassa": int(after.kassa[seat] - before.kassa[seat]),
                    "settled": env.rewards[agent],
                }
            before = env.table.copy()
    assert num_deals == 6


@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_the_middle_of_a_match_go_on_alike(way: Any) -> None:
    env = prefa_v0.raw_env(Rules(kassa=40), "match", max_deals=30)
    env.reset(seed=5)
    rng = random.Random(5)
    for _ in range(90):
        env.step(tame(env.observe(env.agent_selection)["action_mask"], rng))
    twin = way(env)
    for _ in range(150):
        if all(env.terminations.values()):
            break
        action = tame(env.observe(env.agent_selection)["action_mask"], rng)
        env.step(action)
        twin.step(action)
        assert env.state().tobytes() == twin.state().tobytes()
        assert env.rewards == twin.rewards
    assert env.table["kassa"].tolist() != [40, 40, 40]


# ------------------------------------------------------------------------------ many tables


@pytest.mark.parametrize("max_deals", [None, 5])
@pytest.mark.parametrize("auto_reset", [True, False])
def test_tables_are_independent(auto_reset: bool, max_deals: int | None) -> None:
    """Each table plays what it plays alone, whatever the others do."""
    rules = Rules(kassa=6, first_bid="seven_of_diamonds")
    settings: dict[str, Any] = {"episode": "match", "auto_reset": auto_reset, "seed": 2}
    settings["max_deals"] = max_deals
    env = VectorEnv("prefa", 8, rules, **settings)
    single = VectorEnv("prefa", 1, rules, **settings)
    single.reset(streams=[5])
    rng = random.Random(1)
    ended = 0
    for _ in range(600):
        assert env.observations[5].tobytes() == single.observations[0].tobytes()
        actions = tame_batch(env, rng)
        was_over = env.dones.copy()
        env.step(actions)
        single.step(actions[5:6])
        for name in ("rewards", "dones", "deal_dones", "kapikia", "kassa", "finished", "dealers"):
            assert getattr(env, name)[5].tobytes() == getattr(single, name)[0].tobytes(), name
        assert (env.dones <= env.deal_dones).all() or not auto_reset
        assert not env.rewards[~env.deal_dones].any()
        if not auto_reset:
            assert not env.deal_dones[was_over].any()
        ended += int((env.dones & env.deal_dones).sum())
    assert ended >= 8
    assert env.dones.all() or auto_reset


def test_streams_share_their_deals() -> None:
    env = VectorEnv("prefa", 6, Rules(kassa=20), "match", seed=9)
    env.reset(streams=[3, 3, 3, 7, 7, 3])
    rng = random.Random(0)
    decks: list[list[tuple[int, ...]]] = [[] for _ in range(6)]
    for table, _ in enumerate(decks):
        decks[table].append((int(env.dealers[table]), *env.decks[table].tolist()))
    for _ in range(500):
        env.step(tame_batch(env, rng))
        for table in np.flatnonzero(env.deal_dones & ~env.dones).tolist():
            decks[table].append((int(env.dealers[table]), *env.decks[table].tolist()))
        if env.dones.any():
            break
    for other in (1, 2, 5):
        both = min(len(decks[0]), len(decks[other]))
        assert both > 3
        assert decks[other][:both] == decks[0][:both]
    assert decks[3][0] == decks[4][0] != decks[0][0]


def test_finished_tables_are_those_that_ended() -> None:
    env = VectorEnv("prefa", 16, episode="match", seed=4)
    rng = random.Random(4)
    played = env.tables.copy()
    for _ in range(200):
        actions = tame_batch(env, rng)
        for i in range(16):
            prefa.step(played[i], int(actions[i]))
        env.step(actions)
        ended = env.deal_dones
        assert (env.finished[ended] == played[ended]).all()
        assert (env.tables[~ended] == played[~ended]).all()
        played = env.tables.copy()


def test_snapshots_of_matches() -> None:
    env = VectorEnv("prefa", 4, Rules(kassa=5), "match", seed=8)
    rng = random.Random(8)
    for _ in range(100):
        env.step(tame_batch(env, rng))
    then = env.snapshot()
    ends = []
    for _ in range(2):
        env.restore(then)
        rng = random.Random(9)
        for _ in range(300):
            env.step(tame_batch(env, rng))
        ends.append((env.tables.tobytes(), env.finished.tobytes(), env.deal_dones.tobytes()))
    assert ends[0] == ends[1]


def test_snapshots_keep_the_seed_and_know_their_kind() -> None:
    env = VectorEnv("prefa", 2, Rules(kassa=3), "match", seed=1, max_deals=5)
    then = env.snapshot()
    ends = []
    for seed in (None, 2):
        if seed:
            env.reset(seed=seed)
        env.restore(then)
        for key in range(200):
            env.step(env.random_actions(key))
        ends.append(env.tables.tobytes())
    assert ends[0] == ends[1]
    for other, name in (
        (VectorEnv("prefa", 2, Rules(kassa=3)), "flags"),
        (VectorEnv("prefa", 2, Rules(kassa=3), "match", max_deals=6), "max_deals"),
        (VectorEnv("prefa", 2, Rules(kassa=4), "match", max_deals=5), "kassa"),
    ):
        before = other.tables.tobytes()
        with pytest.raises(ValueError, match=f"of another environment: {name} is"):
            other.restore(then)
        assert other.tables.tobytes() == before


def test_a_given_deal_is_the_first_one_only() -> None:
    rules = Rules(first_bid="seven_of_diamonds")
    env = VectorEnv("prefa", 2, rules, "match", seed=0)
    dealer, deck = prefa.parse_deal(DEAL)
    env.reset(np.stack([deck, deck]), np.array([dealer, dealer]), seed=0)
    one = prefa_v0.raw_env(rules, "match")
    one.reset(seed=0, options={"deal": DEAL})
    for table in (env.tables[0], env.tables[1], one.table):
        assert table.dealer == 2  # the holder of the seven of diamonds is seat 1, not first hand
        assert table.shown_card == 0
    for action in (Action.PASS,) * 3:
        env.step(np.array([action, action]))
        one.step(action)
    assert env.dealers.tolist() == [0, 0]
    assert one.table.dealer == 0
    assert env.decks[0].tolist() != deck.tolist()
    assert bytes(one.table.hands) == bytes(env.tables[0].hands)


def test_the_seven_of_diamonds_speaks_first() -> None:
    env = VectorEnv("prefa", 4096, Rules(first_bid="seven_of_diamonds"), "match", seed=1)
    holders = np.full(4096, -1)
    for card in (17, 16):  # the seven, else the eight
        rows, places = np.nonzero(env.decks[:, :30] == card)
        holders[rows] = places // 10
        is_seven = np.isin(np.arange(4096), rows)
    assert (env.tables["first"] == holders).all()
    assert (env.tables["dealer"] == (holders + 2) % 3).all()
    assert (env.dealers == env.tables["dealer"]).all()
    assert (env.tables["shown_card"] == np.where(is_seven, 17, 18)).all()
    assert (env.observations[:, OBSERVATION["shown_card"]][:, 0] >= 17).all()
    assert (~is_seven).any() and is_seven.any()


# --------------------------------------------------------------------------- standings, errors


def test_given_standings() -> None:
    env = prefa_v0.raw_env(episode="match")
    env.reset(seed=1, options={"kassas": [3, 0, 12], "kapikia": (-40, 50, -10)})
    assert env.table.kassa.tolist() == [3, 0, 12]
    assert env.table.kapikia.tolist() == [-40, 50, -10]
    seen = env.observe(env.agent_selection)["observation"]
    me = env.possible_agents.index(env.agent_selection)
    assert seen[OBSERVATION["kassa_me_low"]] == [3, 0, 12][me]
    # Such a deal is not the first of its match: no card decides about it.
    later = prefa_v0.raw_env(Rules(first_bid="seven_of_diamonds"), "match")
    for seed in range(9):
        later.reset(seed=seed, options={"kassas": [3, 0, 12]})
        assert later.table.shown_card == 0
        later.reset(seed=seed)
        assert later.table.shown_card in (17, 18)
    env.reset(seed=1)
    assert env.table.kassa.tolist() == [31, 31, 31]
    assert env.table.kapikia.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kassas": [0, 0, 0]}, "kassas are all 0"),
        ({"kassas": [1, 2]}, "kassas must be 3 integers of 0 to 16383"),
        ({"kassas": [1, 2, -3]}, "kassas must be 3 integers of 0 to 16383"),
        ({"kassas": [1, 2, 2.5]}, "kassas must be 3 integers"),
        ({"kassas": [1, 2, 16384]}, "kassas must be 3 integers"),
        ({"kassas": "111"}, "kassas must be 3 integers"),
        ({"kapikia": [1, 2, 3]}, "kapikia must add up to 0, not 6"),
        ({"kapikia": 5}, "kapikia must be 3 integers"),
        ({"kassa": [1, 2, 3]}, "reset knows no option 'kassa'"),
    ],
)
def test_bad_standings_change_nothing(options: dict[str, Any], message: str) -> None:
    env = prefa_v0.raw_env(episode="match")
    env.reset(seed=1)
    before = env.state().tobytes()
    with pytest.raises(ValueError, match=message):
        env.reset(seed=2, options=options)
    assert env.state().tobytes() == before
    single = prefa_v0.raw_env()
    with pytest.raises(ValueError, match=r"for episode='match'|knows no option"):
        single.reset(options=options)


@pytest.mark.parametrize("max_deals", [0, -1, 16384, 2.0, True, "3"])
def test_bad_caps(max_deals: Any) -> None:
    for make in (prefa_v0.env, lambda **kw: VectorEnv("prefa", 2, **kw)):
        with pytest.raises(ValueError, match="max_deals must be None or an integer of 1 to 16383"):
            make(episode="match", max_deals=max_deals)
        with pytest.raises(ValueError, match="max_deals is for episode='match'"):
            make(max_deals=5)


@pytest.mark.parametrize("streams", [[1, 2, 3], 1, [0.5, 1.0], [[1, 2]], [2**64 - 1, 1], [-1, 0]])
def test_bad_streams(streams: Any) -> None:
    env = VectorEnv("prefa", 2, seed=3)
    before = env.snapshot()
    with pytest.raises(ValueError, match=r"streams must be (integers of shape \(2,\)|0 to 2)"):
        env.reset(seed=4, streams=streams)
    for mine, theirs in zip(before.arrays, env.snapshot().arrays, strict=True):
        assert (mine == theirs).all()


# ---------------------------------------------------------------------------------- any game


def test_a_game_of_four_seats_plays_matches() -> None:
    env = VectorEnv(toy, 32, episode="match", seed=1, max_deals=3, auto_reset=False)  # type: ignore[arg-type]
    paid = np.zeros((32, 4))
    deals = np.zeros(32, np.int64)
    key = 0
    while not env.dones.all():
        env.step(env.random_actions(key))
        paid += env.rewards
        deals += env.deal_dones
        key += 1
    assert (deals == 3).all()
    assert (paid == env.tables["kapikia"]).all()
    assert np.abs(paid).sum() > 0
