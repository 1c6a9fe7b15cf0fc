"""Cloning from teacher data: what is learned from a row, and a run that learns it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents import checkpoint
from agents.agent import Actions, Keys, Masks, Observations, Values
from agents.benchmarks import SeedSet
from agents.cli import Names
from agents.folder import FolderError
from agents.lessons import Lessons, targets
from agents.network import NetworkConfig
from agents.policy import load_agent
from agents.ppo import PPOConfig
from agents.teaching.play import play_deals
from agents.teaching.shards import SETUP_FILE, Decisions, describe, encode, shard_name
from agents.train_config import TrainConfig
from agents.trainer import Trainer, train
from prefa_env import VectorEnv
from prefa_env.doors import find_game
from prefa_env.prefa import Rules

GAME = find_game("prefa")
DEALS, SHARDS = 8, 5
AS_DEALT, RENAMED = NetworkConfig(relabel=False), NetworkConfig()


class HighestIsBest:
    """Finds the highest legal action best, by a kapiki a number; chooses it."""

    name = "highest"

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        return highest(action_masks)

    def assess(
        self, observations: Observations, action_masks: Masks, keys: Keys
    ) -> tuple[Actions, Values]:
        values = np.where(action_masks == 1, np.arange(62), np.nan).astype(np.float32)
        return self.act(observations, action_masks, keys), values


def highest(masks: Masks) -> Actions:
    actions: Actions = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
    return actions


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    setup = describe(GAME, Rules())
    (folder / SETUP_FILE).write_text(json.dumps(setup), "utf-8")
    for number in range(SHARDS):
        env = VectorEnv("prefa", DEALS, auto_reset=False)
        decisions = play_deals(env, HighestIsBest(), SeedSet("lessons"), number * DEALS, 0.3)
        (folder / shard_name(number)).write_bytes(encode(decisions, setup, number))
    return folder


def rows(values: list[list[float]], choices: list[int]) -> Decisions:
    count = len(choices)
    return Decisions(
        states=np.zeros((count, 1), np.int8),
        legal_actions=np.zeros(count, np.int64),
        values=np.array(values, np.float32),
        choices=np.array(choices, np.int8),
        actions=np.zeros(count, np.int8),
        payoffs=np.zeros(count, np.float32),
        trajectories=np.arange(count),
    )


def test_a_shard_that_comes_twice_in_a_draw_is_two_sets_of_trajectories(data: Path) -> None:
    lessons = Lessons(data, GAME, Rules(), 1.0, 0.5, AS_DEALT)
    sizes = [len(np.unique(shard.trajectories)) for shard in lessons.shards]
    seen = set()
    for iteration in range(20):  # of four shards of five each
        rollout = lessons.draw(1, iteration, 4 * DEALS)
        places = np.arange(4 * iteration, 4 * iteration + 4)
        orders = [np.random.default_rng([1, t]).permutation(SHARDS) for t in range(17)]
        numbers = [int(orders[place // SHARDS][place % SHARDS]) for place in places]
        seen.add(len(set(numbers)))
        assert len(np.unique(rollout.trajectories)) == sum(sizes[number] for number in numbers)
    assert min(seen) < 4  # some draw does hold one twice


def test_targets() -> None:
    none = float("nan")
    some = rows([[3.0, none, 1.0], [none, none, none], [-900.0, 900.0, none]], [2, 1, 0])
    odds = np.exp(1.0)
    expected = [
        [0.75 * odds / (odds + 1), 0, 0.75 / (odds + 1) + 0.25],
        [0, 1, 0],  # nothing was valued
        [0.25, 0.75, 0],
    ]
    found = targets(some, temperature=2.0, choice_weight=0.25)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)
    only_choices = targets(some, temperature=2.0, choice_weight=1.0)
    np.testing.assert_allclose(only_choices, np.eye(3)[[2, 1, 0]])


def test_shards_come_in_turn(data: Path) -> None:
    lessons = Lessons(data, GAME, Rules(), 1.0, 0.5, AS_DEALT)
    sizes = [len(shard) for shard in lessons.shards]
    one_round = [lessons.draw(1, iteration, DEALS) for iteration in range(2 * SHARDS)]
    for first in (0, SHARDS):
        assert sorted(len(r.actions) for r in one_round[first : first + SHARDS]) == sorted(sizes)
    order = [r.states.tobytes() for r in one_round]
    assert sorted(order[:SHARDS]) == sorted(order[SHARDS:]) and order[:SHARDS] != order[SHARDS:]
    assert lessons.draw(1, 3, DEALS).states.tobytes() == order[3]
    assert lessons.draw(2, 3, DEALS).states.tobytes() != order[3]
    two = lessons.draw(1, 1, 2 * DEALS)  # the third and the fourth
    assert two.states.tobytes() == order[2] + order[3]
    assert len(lessons.draw(1, 0, 10**6).actions) == sum(sizes)


def test_rollouts_are_the_decisions(data: Path) -> None:
    rollout = Lessons(data, GAME, Rules(), 1.0, 0.5, AS_DEALT).draw(1, 0, 10**6)
    assert (
        rollout.actions == highest(rollout.masks.astype(np.int8))
    ).all()  # the choices, not exploration
    assert rollout.targets is not None
    np.testing.assert_allclose(rollout.targets.sum(axis=1), 1, atol=1e-5)
    assert (rollout.targets[~rollout.masks] == 0).all()
    for trajectory in (0, 7, int(rollout.trajectories.max())):
        assert len(set(rollout.payoffs[rollout.trajectories == trajectory].tolist())) == 1
    assert (np.unique(rollout.trajectories) == np.arange(rollout.trajectories.max() + 1)).all()


def test_lessons_name_suits_as_the_policy_does(data: Path) -> None:
    as_dealt, renamed = (
        Lessons(data, GAME, Rules(), 1.0, 0.5, network).draw(1, 0, 10**6)
        for network in (AS_DEALT, RENAMED)
    )
    states, masks, meant = GAME.relabel(as_dealt.states, as_dealt.masks.view(np.int8))
    np.testing.assert_array_equal(renamed.states, states)
    np.testing.assert_array_equal(renamed.masks, masks.view(np.bool_))
    rows = np.arange(len(states))
    np.testing.assert_array_equal(meant[rows, renamed.actions], as_dealt.actions)
    assert as_dealt.targets is not None and renamed.targets is not None
    np.testing.assert_array_equal(
        renamed.targets, np.take_along_axis(as_dealt.targets, meant, axis=1)
    )
    assert (renamed.actions != as_dealt.actions).any()


def config(data: Path, run: Path, decisions: int = 40_000) -> TrainConfig:
    return TrainConfig(
        run=str(run),
        decisions=decisions,
        deals=2 * DEALS,
        data=str(data),
        temperature=0.5,
        teaching=1.0,
        network=NetworkConfig(width=32, blocks=1),
        ppo=PPOConfig(minibatch=128, lr=3e-3),
        checkpoint_every=1,
        threads=1,
    )


def test_a_run_learns_what_the_teacher_does(data: Path, tmp_path: Path) -> None:
    trainer = Trainer(config(data, tmp_path / "run"))
    figures = []
    while trainer.decisions < trainer.config.decisions:
        figures.append(trainer.iterate())
    assert figures[0]["train/imitation_accuracy"] < 0.8
    assert figures[-1]["train/imitation_accuracy"] > 0.9
    assert figures[-1]["train/imitation_loss"] < 0.5 * figures[0]["train/imitation_loss"]
    trainer.save()
    agent = load_agent(tmp_path / "run")
    env = VectorEnv("prefa", 200, seed=3)  # deals that are not among the data
    keys = np.zeros(200, np.uint64)
    found = agent.act(env.observations, env.action_masks, keys)
    assert (found == highest(env.action_masks)).mean() > 0.9


def test_cloning_goes_on_where_it_was_stopped(data: Path, tmp_path: Path) -> None:
    whole = config(data, tmp_path / "whole", decisions=3000)
    train(whole)
    part = replace(whole, run=str(tmp_path / "part"))
    trainer = Trainer(part)
    trainer.iterate()
    trainer.save()
    train(replace(part, resume=True))
    for run in ("whole", "part"):
        assert checkpoint.load_meta(checkpoint.resolve(tmp_path / run))["decisions"] >= 3000
    tensors = [
        checkpoint.load_tensors(folder, checkpoint.load_meta(folder), checkpoint.MODEL_FILE)
        for folder in (checkpoint.resolve(tmp_path / run) for run in ("whole", "part"))
    ]
    for name, tensor in tensors[0].items():
        assert torch.equal(tensor, tensors[1][name]), name


def test_after_cloning_it_plays(data: Path, tmp_path: Path) -> None:
    half = replace(
        config(data, tmp_path / "run", decisions=2000), teaching=0.4, opponents=Names(["uniform"])
    )
    trainer = Trainer(half)
    seen = []
    while trainer.decisions < half.decisions:
        seen.append("train/imitation_loss" in trainer.iterate())
    assert seen == sorted(seen, reverse=True) and set(seen) == {True, False}


def test_what_does_not_fit(data: Path, tmp_path: Path) -> None:
    good = config(data, tmp_path / "run")
    with pytest.raises(ValueError, match="data or a teacher, not both"):
        replace(good, teacher="heuristic")
    for change, message in (
        ({"temperature": 0.0}, "temperature must be"),
        ({"choice_weight": 1.5}, "choice_weight must be 0 to 1"),
        ({"data": ""}, "data must name a folder"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(good, **change)
    with pytest.raises(FolderError, match="no teacher data"):
        Trainer(replace(good, data=str(tmp_path)))
    with pytest.raises(FolderError, match="do not fit: rules"):
        Trainer(replace(good, rules=Rules.site()))
