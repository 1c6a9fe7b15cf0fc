"""One table for PettingZoo: its own suites, the interface, and the same deals as many tables."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium.utils import EzPickle
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils import wrappers

from prefa_env import IllegalActionError, VectorEnv, aec, prefa, prefa_v0
from prefa_env.prefa.state import OBSERVATION, STATE
from tests.helpers import RULES, bytes_of, members, observation_of, random_game, state_of

AGENTS = ["player_0", "player_1", "player_2"]
DEAL = prefa.deal_text(2, list(range(32)))
MAKERS = [prefa_v0.env, prefa_v0.raw_env]


def acting(env: Any) -> list[int]:
    """Legal actions of the agent whose turn it is."""
    return [*map(int, np.flatnonzero(env.last()[0]["action_mask"]))]


def is_over(env: Any) -> bool:
    return all(env.terminations.values())


def finish(env: Any, rng: random.Random) -> list[int]:
    """Play the deal to its end at random; the actions."""
    actions = []
    while not is_over(env):
        actions.append(rng.choice(acting(env)))
        env.step(actions[-1])
    return actions


def snapshot(env: Any) -> Any:
    """Copies of everything that can be seen of an environment."""
    return copy.deepcopy(
        {
            "observations": [env.observe(agent) for agent in AGENTS],
            "state": env.state(),
            "agents": env.agents,
            "selection": env.agent_selection,
            "rewards": env.rewards,
            "cumulative": env._cumulative_rewards,
            "terminations": env.terminations,
            "truncations": env.truncations,
            "infos": env.infos,
        }
    )


# ------------------------------------------------------------------------- PettingZoo's suites

# What `api_test` says of every environment whose observations are a dict with a mask.
api_warnings = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation space for each agent probably should be:UserWarning",
    "ignore:Action mask numpy array is all zeros:UserWarning",
)


@api_warnings
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("reward", ["settled", "kapikia"])
@pytest.mark.parametrize("name", RULES)
def test_api(name: str, reward: str, make: Callable[..., Any]) -> None:
    api_test(make(rules=RULES[name], reward=reward), num_cycles=100)


@pytest.mark.parametrize("reward", ["settled", "kapikia"])
@pytest.mark.parametrize("name", RULES)
def test_seeds(name: str, reward: str) -> None:
    seed_test(lambda: prefa_v0.env(rules=RULES[name], reward=reward), num_cycles=100)


@pytest.mark.parametrize("name", RULES)
def test_rendering(name: str) -> None:
    def make(render_mode: str) -> Any:
        # PettingZoo's test reads the render modes from an environment made for "human".
        mode = "ansi" if render_mode == "human" else render_mode
        return prefa_v0.env(rules=RULES[name], render_mode=mode)

    render_test(make, {"ansi": lambda text: len(text.splitlines()) >= 6})


def test_the_loop_of_the_documentation() -> None:
    env = prefa_v0.env()
    for seed in range(20):
        env.reset(seed=seed)
        order, paid = [], dict.fromkeys(AGENTS, 0.0)
        for agent in env.agent_iter():
            observation, reward, termination, truncation, info = env.last()
            order.append(agent)
            paid[agent] += reward
            if termination or truncation:
                action = None
                assert reward == info["settled"]
            else:
                action = env.action_space(agent).sample(observation["action_mask"])
            env.step(action)
        assert sorted(order[-3:]) == AGENTS
        assert env.agents == []
        assert sum(paid.values()) == pytest.approx(0, abs=1e-9)
    env.close()


# ----------------------------------------------------------------------------------- interface


def test_what_it_is() -> None:
    env = prefa_v0.env(rules=prefa_v0.Rules(), episode="deal", reward="settled", render_mode=None)
    assert env.metadata["name"] == "prefa_v0" == str(env)
    assert env.metadata["render_modes"] == ["ansi"]
    assert env.metadata["is_parallelizable"] is False
    assert env.metadata["render_fps"] > 0
    kinds = []
    inner = env
    while isinstance(inner, wrappers.BaseWrapper):
        kinds.append(type(inner))
        inner = inner.env
    assert kinds == [
        wrappers.OrderEnforcingWrapper,
        wrappers.AssertOutOfBoundsWrapper,
        wrappers.TerminateIllegalWrapper,
    ]
    assert type(inner) is prefa_v0.raw_env
    assert isinstance(inner, pettingzoo.AECEnv)
    assert isinstance(inner, EzPickle)


def test_spaces() -> None:
    env = prefa_v0.env()
    assert env.possible_agents == AGENTS
    for agent in AGENTS:
        space = env.observation_space(agent)
        assert [*space.spaces] == ["observation", "action_mask"]
        assert space["observation"].shape == (OBSERVATION.size,)
        assert space["action_mask"].shape == (62,)
        assert space["observation"].dtype == space["action_mask"].dtype == np.int8
        assert env.action_space(agent).n == 62
    for box, layout in [(space["observation"], OBSERVATION), (env.state_space, STATE)]:
        for field in layout:
            assert (box.low[layout[field.name]] == field.low).all()
            assert (box.high[layout[field.name]] == field.high).all()
    assert env.state_space.shape == (STATE.size,)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", RULES)
def test_everybody_observes_at_any_time(name: str, make: Callable[..., Any]) -> None:
    rng = random.Random(name)
    env = make(rules=RULES[name])
    for _ in range(5):
        env.reset(seed=rng.randrange(1000))
        while env.agents:
            table = env.unwrapped.table
            for seat in rng.sample(range(3), 3):
                seen = env.observe(AGENTS[seat])
                assert [*seen] == ["observation", "action_mask"]
                assert env.observation_space(AGENTS[seat]).contains(seen)
                assert (seen["observation"] == observation_of(table, seat)).all()
                legal = int(prefa.legal_actions(table)) if seat == table.seat else 0
                assert np.flatnonzero(seen["action_mask"]).tolist() == members(legal)
                if AGENTS[seat] in env.agents:
                    mask = env.infos[AGENTS[seat]]["action_mask"]
                    assert mask.dtype == np.int8
                    assert (mask == seen["action_mask"]).all()
            last = env.last()[0]
            assert data_equivalence(last, env.observe(env.agent_selection))
            env.step(None if is_over(env) else rng.choice(acting(env)))
        for seat in range(3):
            seen = env.observe(AGENTS[seat])
            assert (seen["observation"] == observation_of(env.unwrapped.table, seat)).all()
            assert not seen["action_mask"].any()


def test_arrays_handed_out_stay_as_they_were() -> None:
    env = prefa_v0.env()
    rng = random.Random(3)
    env.reset(seed=3)
    given: list[tuple[Any, bytes]] = []

    def keep(array: Any) -> None:
        given.append((array, array.tobytes()))

    for _ in range(3):
        while env.agents:
            for seen in [env.last()[0], *map(env.observe, AGENTS)]:
                keep(seen["observation"])
                keep(seen["action_mask"])
            for info in env.infos.values():
                keep(info["action_mask"])
            keep(env.state())
            env.step(None if is_over(env) else rng.choice(acting(env)))
        env.reset()
    assert len(given) > 500
    assert all(array.tobytes() == before for array, before in given)


def test_an_observation_may_be_written_to() -> None:
    env = prefa_v0.env()
    env.reset(seed=5)
    before = copy.deepcopy(env.observe(env.agent_selection))
    for agent in AGENTS:
        for array in env.observe(agent).values():
            array[:] = 9
    assert data_equivalence(env.observe(env.agent_selection), before)


@pytest.mark.parametrize("name", RULES)
def test_infos_and_rewards_are_what_the_deal_paid(name: str) -> None:
    rng = random.Random(name)
    envs = {kind: prefa_v0.env(rules=RULES[name], reward=kind) for kind in ["settled", "kapikia"]}
    for _ in range(20):
        game = random_game(rng, RULES[name])
        for kind, env in envs.items():
            env.reset(options={"deal": prefa.deal_text(game.dealer, game.deck.tolist())})
            assert prefa.deck_of(env.unwrapped.table) == [
                card
                for place in np.split(game.deck, [10, 20, 30])
                for card in sorted(place.tolist())
            ]
            for action, legal in zip(game.actions, game.legal, strict=False):
                assert set(env.rewards.values()) == {0}
                for info in env.infos.values():
                    assert [*info] == ["action_mask", "kapikia", "kassa", "settled"]
                    assert (info["kapikia"], info["kassa"], info["settled"]) == (0, 0, 0)
                    assert [type(value) for value in info.values()][1:] == [int, int, float]
                assert acting(env) == members(legal)
                env.step(action)
            assert is_over(env)
            infos = [env.infos[agent] for agent in AGENTS]
            assert [[*info] for info in infos] == 3 * [
                ["action_mask", "kapikia", "kassa", "settled"]
            ]
            assert [[*map(type, info.values())][1:] for info in infos] == 3 * [[int, int, float]]
            assert not any(info["action_mask"].any() for info in infos)
            assert [info["kapikia"] for info in infos] == game.deal.kapikia
            assert [info["kassa"] for info in infos] == game.deal.kassa
            settled = [float(worth) for worth in game.deal.settled]
            assert [info["settled"] for info in infos] == pytest.approx(settled)
            paid = [env.rewards[agent] for agent in AGENTS]
            assert paid == pytest.approx(settled if kind == "settled" else game.deal.kapikia)
            assert sum(paid) == pytest.approx(0, abs=1e-9)


def test_a_passed_out_deal_pays_nothing() -> None:
    env = prefa_v0.env()
    env.reset(options={"deal": DEAL})
    for agent in AGENTS:
        assert env.agent_selection == agent
        env.step(prefa.Action.PASS)
    assert is_over(env)
    assert env.rewards == dict.fromkeys(AGENTS, 0)
    assert [env.infos[agent]["settled"] for agent in AGENTS] == [0, 0, 0]


def test_state_is_the_table_from_the_seat_to_act() -> None:
    env = prefa_v0.env()
    rng = random.Random(4)
    for seed in range(5):
        env.reset(seed=seed)
        while True:
            state = env.state()
            assert env.state_space.contains(state)
            assert (state == state_of(env.unwrapped.table)).all()
            agent = "player_0" if is_over(env) else env.agent_selection
            assert (state[: OBSERVATION.size] == env.observe(agent)["observation"]).all()
            if is_over(env):
                break
            env.step(rng.choice(acting(env)))


# --------------------------------------------------------------------------------------- deals


# Interpreted, numpy warns of the overflow that mixing keys is made of.
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning")
def test_the_deals_of_a_seed_are_those_of_many_tables() -> None:
    rng = random.Random(7)
    one = prefa_v0.raw_env()
    one.reset(seed=7)
    many = VectorEnv("prefa", num_envs=2, seed=7)
    dealt = set()
    for _ in range(5):
        dealt.add(bytes_of(one.table))
        while not is_over(one):
            seen = one.last()[0]
            assert bytes_of(one.table) == bytes_of(many.tables[0])
            assert (seen["observation"] == many.observations[0]).all()
            assert (seen["action_mask"] == many.action_masks[0]).all()
            action = rng.choice(acting(one))
            many.step([action, members(many.legal_actions[1])[0]])
            one.step(action)
        assert many.dones[0]
        assert [one.rewards[agent] for agent in AGENTS] == pytest.approx(many.rewards[0].tolist())
        one.reset()
    assert len(dealt) == 5


def test_a_given_deal_leaves_the_stream_where_it_is() -> None:
    plain, other = prefa_v0.env(), prefa_v0.env()
    plain.reset(seed=11)
    other.reset(seed=11, options={"deal": DEAL})
    assert other.unwrapped.table.dealer == 2
    assert [*other.unwrapped.table.hands] == [0x3FF, 0x3FF << 10, 0x3FF << 20]
    other.reset()
    assert data_equivalence(snapshot(plain), snapshot(other))
    other.reset(options={"deal": DEAL})
    plain.reset()
    other.reset()
    assert data_equivalence(snapshot(plain), snapshot(other))


def test_without_a_seed_deals_differ() -> None:
    states = set()
    for _ in range(3):
        env = prefa_v0.env()
        env.reset()
        states.add(env.state().tobytes())
        env.reset()
        states.add(env.state().tobytes())
    assert len(states) == 6


def through_pickle(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("clone", [copy.deepcopy, through_pickle])
@pytest.mark.parametrize("make", MAKERS)
def test_copies_go_on_alike_and_alone(
    make: Callable[..., Any], clone: Callable[[Any], Any]
) -> None:
    rng = random.Random(9)
    env = make(rules=prefa_v0.Rules.site(), reward="kapikia", render_mode="ansi")
    env.reset(seed=9)
    for _ in range(9):
        env.step(rng.choice(acting(env)))
    env.action_space("player_0").sample()
    before = snapshot(env)
    twin = clone(env)
    assert data_equivalence(snapshot(twin), before)
    assert twin.render() == env.render()
    actions = finish(twin, random.Random(1))
    assert data_equivalence(snapshot(env), before)  # untouched by what the copy does
    for action in actions:
        env.step(action)
    assert data_equivalence(snapshot(env), snapshot(twin))
    assert env.action_space("player_0").sample() == twin.action_space("player_0").sample()
    while env.agents:
        env.step(None)
        twin.step(None)
    env.reset()
    twin.reset()
    assert data_equivalence(snapshot(env), snapshot(twin))


def test_a_deal_replays() -> None:
    env = prefa_v0.env()
    env.reset(seed=21)
    actions = finish(env, random.Random(2))
    end = snapshot(env)
    env.reset(seed=22)
    env.step(acting(env)[0])
    env.reset(seed=21)
    for action in actions:
        env.step(action)
    assert data_equivalence(snapshot(env), end)


# ----------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (5, r"player_0: action 5 \(SQ\) is illegal; legal: pass write 6S"),
        (35, r"action 35 \(6C\) is illegal; legal: pass write 6S"),
        (np.int64(59), r"action 59 \(play\)"),
        (-1, r"action -1 \(there are 0 to 61\)"),
        (62, r"action 62 \(there are 0 to 61\)"),
        (96, "action 96 "),  # 32, a legal one, if only its low bits were looked at
        (2**70, "action 1180591620717411303424 "),
        (None, "player_0: an action is an integer, not None"),
        (32.0, "an action is an integer, not 32.0"),
        ("pass", "an action is an integer, not 'pass'"),
    ],
)
def test_an_illegal_action_changes_nothing(action: Any, says: str) -> None:
    env = prefa_v0.raw_env()
    env.reset(options={"deal": DEAL})
    before, table = snapshot(env), bytes_of(env.table)
    with pytest.raises(IllegalActionError, match=says):
        env.step(action)
    assert bytes_of(env.table) == table
    assert data_equivalence(snapshot(env), before)
    env.step(prefa.Action.PASS)
    assert env.agent_selection == "player_1"


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint8, np.array])
def test_an_action_may_be_any_integer(kind: Callable[[int], Any]) -> None:
    env = prefa_v0.raw_env()
    env.reset(options={"deal": DEAL})
    env.step(kind(34))
    assert env.table.bid == 0


def test_the_wrapped_game_ends_with_an_illegal_action() -> None:
    env = prefa_v0.env()
    env.reset(options={"deal": DEAL})
    env.step(int(prefa.Action.PASS))
    with pytest.raises(AssertionError, match="action space"):
        env.step(62)
    env.last()
    env.step(5)
    assert env.rewards == {"player_0": 0, "player_1": -1, "player_2": 0}
    assert env.terminations == dict.fromkeys(AGENTS, True)
    seen = []
    for agent in env.agent_iter():
        observation, reward, *_ = env.last()
        seat = AGENTS.index(agent)
        assert (observation["observation"] == observation_of(env.unwrapped.table, seat)).all()
        seen.append((agent, reward))
        env.step(None)
    assert sorted(seen) == [("player_0", 0), ("player_1", -1), ("player_2", 0)]
    env.reset(seed=1)
    assert env.agents == AGENTS
    assert not is_over(env)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"episode": "match", "max_deals": 0}, "max_deals must be None or an integer of 1"),
        ({"episode": "hand"}, "episode must be 'deal' or 'match', not 'hand'"),
        ({"reward": "points"}, "reward must be 'settled' or 'kapikia', not 'points'"),
        ({"render_mode": "human"}, "render_mode must be None or 'ansi', not 'human'"),
        ({"render_mode": "rgb_array"}, "render_mode must be None or 'ansi', not 'rgb_array'"),
        ({"rules": {"hold": "x"}}, "rules must be Rules of prefa"),
    ],
)
def test_bad_arguments(make: Callable[..., Any], arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make(**arguments)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("seed", "options", "says"),
    [
        (None, {"deals": DEAL}, "reset knows no option 'deals', only 'deal'"),
        (1, {"deal": DEAL, "kassa": 3}, "reset knows no option 'kassa'"),
        (1, {"deal": 5}, "option 'deal' must be a deal as text, not 5"),
        (1, {"deal": None}, "option 'deal' must be a deal as text, not None"),
        (1, {"deal": DEAL[1:]}, "a deal begins with its dealer"),
        (1, {"deal": DEAL.replace("A", "K", 1)}, "card SK stands twice"),
        (1, {"deal": DEAL + " ..."}, "a deal has 4 parts"),
        (-1, None, r"seed must be an integer of 0 to 2\*\*64 - 1, not -1"),
        (2**64, {"deal": DEAL}, "seed must be an integer"),
        ("7", None, "seed must be an integer .*, not '7'"),
        (1.5, None, "seed must be an integer .*, not 1.5"),
    ],
)
def test_a_bad_reset_leaves_the_running_deal(
    make: Callable[..., Any], seed: Any, options: Any, says: str
) -> None:
    env, other = make(), make()
    for each in (env, other):
        each.reset(seed=2)
        for _ in range(5):
            each.step(acting(each)[-1])
    before = snapshot(env)
    with pytest.raises(ValueError, match=says):
        env.reset(seed=seed, options=options)
    assert data_equivalence(snapshot(env), before)
    env.step(acting(env)[-1])
    for each in (env, other):  # nor has the stream of deals moved
        each.reset()
    assert data_equivalence(snapshot(env), snapshot(other))


def test_nothing_can_be_asked_before_reset() -> None:
    env = prefa_v0.env(render_mode="ansi")
    for ask in [env.render, env.state, lambda: env.step(32), lambda: env.observe("player_0")]:
        with pytest.raises(AssertionError, match="reset"):
            ask()


def test_rendering_without_a_mode_warns() -> None:
    env = prefa_v0.env()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert env.render() is None


# ------------------------------------------------------------------------------------ registry


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="before PettingZoo 1.27")
def test_it_is_registered_once() -> None:
    env = pettingzoo.make("aec", "prefa/prefa-v0", reward="kapikia")
    assert type(env.unwrapped) is prefa_v0.raw_env
    env.reset(seed=1)
    aec.register("prefa/prefa-v0", "prefa_env.prefa_v0:env")  # a warning would fail here


def test_pettingzoo_without_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pettingzoo, "register", raising=False)
    monkeypatch.delattr(pettingzoo, "aec_registry", raising=False)
    aec.register("prefa/other-v0", "prefa_env.prefa_v0:env")
