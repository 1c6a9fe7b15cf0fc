"""Past selves: which are kept, and that they play as their policy says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agents.league import League, Sampler
from agents.network import NetworkConfig, Policy
from prefa_env import VectorEnv, prefa
from prefa_env.prefa import Action
from prefa_env.streams import derive_keys

NETWORK = NetworkConfig(width=8, blocks=0)


def policy(mark: float = 0.0) -> Policy:
    made = Policy(prefa, NETWORK)
    with torch.no_grad():
        biases(made)[Action.PASS] = mark
    return made


def biases(of: Policy) -> torch.Tensor:
    layer = of.body[-1]
    assert isinstance(layer, torch.nn.Linear)
    return layer.bias


def mark_of(past: Policy) -> float:
    return biases(past)[Action.PASS].item()


def marks(league: League) -> set[float]:
    rng, past = np.random.default_rng(0), policy()
    found = set()
    for _ in range(200):
        league.draw(rng, past)
        found.add(mark_of(past))
    return found


def test_when_full_every_other_one_is_forgotten() -> None:
    league = League(size=4)
    kept = []
    for time in range(12):
        league.add(time, policy(float(time)), 10 * time, time / 2)
        kept.append(marks(league))
    assert kept[3] == {0, 1, 2, 3}
    assert kept[4] == kept[5] == {0, 2, 4}
    assert kept[6] == {0, 2, 4, 6}
    assert kept[8] == kept[11] == {0, 4, 8}


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("count", range(1, 12))
def test_a_loaded_league_goes_on_as_before(count: int, first: int, size: int) -> None:
    league, twin = League(size), League(size)
    for time in range(first, first + count):
        league.add(time, policy(float(time)), 10 * time, time / 2)
    twin.load(league.tensors(), league.taken)
    for time in range(first + count, 24):
        league.add(time, policy(float(time)), 10 * time, time / 2)
        twin.add(time, policy(float(time)), 10 * time, time / 2)
        assert marks(league) == marks(twin)
        assert league.taken == twin.taken == {t: (10 * t, t / 2) for t in league.times}


def test_members_do_not_change_with_the_policy() -> None:
    league, learner = League(size=4), policy(1.0)
    league.add(0, learner, 0, 0.0)
    with torch.no_grad():
        biases(learner)[Action.PASS] = 2.0
    assert marks(league) == {1.0}


def test_actions_are_drawn_as_often_as_the_policy_says() -> None:
    env = VectorEnv("prefa", 4000, seed=1)
    keys = derive_keys(1, np.arange(4000), 0)
    agent = Sampler(policy(1.0), prefa)
    actions = agent.act(env.observations, env.action_masks, keys)
    assert env.action_masks[np.arange(4000), actions].all()
    expected = np.e / (np.e + 2)  # against write and 6S
    assert abs((actions == Action.PASS).mean() - expected) < 4 * np.sqrt(0.25 / 4000)
    again = agent.act(env.observations[5:6], env.action_masks[5:6], keys[5:6])
    assert again[0] == actions[5]
