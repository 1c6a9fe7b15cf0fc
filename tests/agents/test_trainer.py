from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents import checkpoint
from agents.benchmarks import BenchmarkError, SeedSet
from agents.cli import Names
from agents.machine import check_memory
from agents.network import Critic, NetworkConfig, Policy
from agents.policy import BLOCK, load_agent
from agents.ppo import DivergedError, PPOConfig, hindsight_loss, policy_loss
from agents.rollout import LEARNER, advantages, play
from agents.seating import draw_seating
from agents.simple import FirstLegal, Uniform
from agents.train_config import TrainConfig
from agents.trainer import Trainer, train
from prefa_env import VectorEnv, prefa
from prefa_env.doors import GAMES
from prefa_env.prefa import OBSERVATION, STATE, Phase, Rules
from prefa_env.streams import derive_keys
from tests import toy

ROOT = Path(checkpoint.__file__).parents[1]


@pytest.fixture
def small(tmp_path: Path) -> TrainConfig:
    return TrainConfig(
        run=str(tmp_path / "run"),
        decisions=6000,
        deals=64,
        opponents=Names(["uniform"]),
        network=NetworkConfig(width=16, blocks=1),
        ppo=PPOConfig(minibatch=512),
        checkpoint_every=1,
        threads=1,
    )


def weights(run: str | Path) -> dict[str, torch.Tensor]:
    folder = checkpoint.resolve(Path(run))
    return checkpoint.load_tensors(folder, checkpoint.load_meta(folder), checkpoint.MODEL_FILE)


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


def new_policy(seed: int = 0, *, spread: bool = True, relabel: bool = True) -> Policy:
    torch.manual_seed(seed)
    network = NetworkConfig(width=32, blocks=1, relabel=relabel)
    policy = Policy(prefa, network)
    if spread:  # the last layer starts at zero; here actions shall differ
        torch.nn.init.normal_(last_layer(policy).weight)
    return policy


def last_layer(policy: Policy) -> torch.nn.Linear:
    layer = policy.body[-1]
    assert isinstance(layer, torch.nn.Linear)
    return layer


# -- the rollout ----------------------------------------------------------------------------------


def test_rollout_holds_every_free_decision_of_whole_deals_and_what_was_paid() -> None:
    env = VectorEnv("prefa", 300, auto_reset=False)
    seating = np.full((300, 3), LEARNER)
    rollout = play(env, new_policy(spread=False), [], seating, seed=5)
    assert env.dones.all()
    assert (rollout.masks.sum(1) >= 2).all()
    assert rollout.masks[np.arange(len(rollout.actions)), rollout.actions].all()
    tables = rollout.trajectories // 9
    seats, payees = rollout.trajectories // 3 % 3, rollout.trajectories % 3
    paid = env.tables["settled_thirds"][tables, payees] / 3
    np.testing.assert_allclose(rollout.payoffs, paid, rtol=1e-6)
    # An invited hand plays for the inviter, from the play on and not before.
    phase = rollout.states[:, OBSERVATION["phase"]].argmax(1)
    is_invited = seats != payees
    inviter = rollout.states[:, OBSERVATION["inviter"]]
    owner = rollout.states[:, OBSERVATION["owner"]]
    expected = (phase == Phase.PLAY) & (inviter[:, 1:].sum(1) > 0) & (owner[:, 0] == 0)
    np.testing.assert_array_equal(is_invited, expected)
    assert 0 < is_invited.sum() < len(seats) / 2


def test_same_seed_same_rollout_and_another_seed_another() -> None:
    env = VectorEnv("prefa", 50, auto_reset=False)
    seating = np.full((50, 3), LEARNER)
    one, two, three = (play(env, new_policy(), [], seating, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.states, two.states)
    np.testing.assert_array_equal(one.log_probs, two.log_probs)
    assert one.states.shape != three.states.shape or (one.states != three.states).any()


def test_no_deal_of_a_benchmark_is_trained_on() -> None:
    env = VectorEnv("prefa", 8, auto_reset=False)
    policy = Policy(prefa, NetworkConfig(width=16, blocks=1))
    seating = np.full((8, 3), LEARNER)
    with pytest.raises(BenchmarkError, match="drew 1 deals of the benchmark smoke"):
        play(env, policy, [], seating, int(SeedSet("smoke").key))


def test_seats_of_opponents_are_no_samples() -> None:
    env = VectorEnv("prefa", 100, auto_reset=False)
    seating = np.zeros((100, 3), np.int64)
    seating[:50, 1] = LEARNER
    rollout = play(env, new_policy(), [Uniform()], seating, seed=5)
    assert set(rollout.trajectories // 3 % 3) == {1}
    assert set(rollout.trajectories // 9) <= set(range(50))


def test_a_teacher_s_actions_stand_in_the_rollout() -> None:
    env = VectorEnv("prefa", 100, auto_reset=False)
    seating = np.full((100, 3), LEARNER)
    rollout = play(env, new_policy(relabel=False), [], seating, 5, FirstLegal())
    np.testing.assert_array_equal(rollout.actions, rollout.masks.argmax(1))


def test_a_teacher_s_actions_are_found_under_the_policy_s_names() -> None:
    env = VectorEnv("prefa", 100, auto_reset=False)
    seating = np.full((100, 3), LEARNER)
    as_dealt, renamed = (
        play(env, new_policy(relabel=relabel), [], seating, 5, Uniform())
        for relabel in (False, True)
    )
    np.testing.assert_array_equal(as_dealt.history, renamed.history)
    states, masks, meant = prefa.relabel(as_dealt.states, as_dealt.masks.view(np.int8))
    np.testing.assert_array_equal(renamed.states, states)
    np.testing.assert_array_equal(renamed.masks, masks.view(np.bool_))
    rows = np.arange(len(states))
    np.testing.assert_array_equal(meant[rows, renamed.actions], as_dealt.actions)
    assert (renamed.actions != as_dealt.actions).any()


def test_imitation_makes_the_policy_do_as_its_teacher(small: TrainConfig) -> None:
    config = replace(small, teacher="pass-always", teaching=1.0, opponents=Names(), decisions=10**9)
    trainer = Trainer(config)
    losses = [trainer.iterate()["train/imitation_loss"] for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]


def test_log_probabilities_of_the_rollout_are_those_of_the_policy() -> None:
    env = VectorEnv("prefa", 50, auto_reset=False)
    policy = new_policy()
    rollout = play(env, policy, [], np.full((50, 3), LEARNER), seed=3)
    states = torch.from_numpy(rollout.states)
    log_probs = policy(states[:, : OBSERVATION.size], torch.from_numpy(rollout.masks))
    again = log_probs.gather(1, torch.from_numpy(rollout.actions)[:, None])[:, 0]
    np.testing.assert_allclose(again.detach().numpy(), rollout.log_probs, atol=1e-5)
    assert torch.isfinite(log_probs).all()


def test_actions_are_drawn_as_often_as_the_policy_says() -> None:
    env = VectorEnv("prefa", 4000, auto_reset=False)
    policy = new_policy(spread=False)
    with torch.no_grad():
        last_layer(policy).bias[32] = 1.0
    rollout = play(env, policy, [], np.full((4000, 3), LEARNER), seed=3)
    is_first = rollout.states[:, OBSERVATION["calls"]].sum(1) == 0
    is_auction = rollout.states[:, OBSERVATION["phase"].start] == 1
    passes = (rollout.actions[is_first & is_auction] == 32).mean()
    expected = np.e / (np.e + 2)  # against write and 6S
    assert passes == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4000))


def test_the_actor_never_sees_hidden_cards_but_the_critic_does() -> None:
    env = VectorEnv("prefa", 200, auto_reset=False)
    for key in range(12):
        env.step(env.random_actions(key))
    before, seen = env.states.copy(), env.observations.copy()
    rng = np.random.default_rng(0)
    for table in np.flatnonzero(env.seats >= 0):
        for _ in range(50):
            decks = rng.permuted(np.tile(np.arange(32, dtype=np.int8), (2, 1)), axis=1)
            if prefa.redeal_hidden(env.tables[table], int(env.seats[table]), *decks):
                break
    env._are_states_current = False
    after = env.states
    np.testing.assert_array_equal(after[:, : OBSERVATION.size], seen)
    changed = int((after[:, OBSERVATION.size :] != before[:, OBSERVATION.size :]).any(1).sum())
    assert changed > 100
    assert STATE.size > OBSERVATION.size


# -- learning -------------------------------------------------------------------------------------


@pytest.mark.parametrize("gae_lambda", [0.0, 0.9, 1.0])
def test_advantages_equal_the_textbook_sums(gae_lambda: float) -> None:
    rng = np.random.default_rng(3)
    trajectories = rng.integers(20, size=200)
    values = rng.normal(size=200).astype(np.float32)
    payoff = rng.normal(size=20).astype(np.float32)
    got = advantages(
        trajectories, np.argsort(trajectories, kind="stable"), values, payoff[trajectories],
        gae_lambda,
    )  # fmt: skip
    for trajectory in range(20):
        mine = np.flatnonzero(trajectories == trajectory)
        following = np.append(values[mine[1:]], payoff[trajectory])
        deltas = following - values[mine]
        for k, i in enumerate(mine):
            weights_ = gae_lambda ** np.arange(len(mine) - k)
            assert got[i] == pytest.approx(float((weights_ * deltas[k:]).sum()), abs=1e-4)


def test_the_objective_is_cut_off_where_the_ratio_left_the_clip_range() -> None:
    log_probs = torch.log_softmax(torch.zeros(2, 2), -1).requires_grad_()
    actions = torch.tensor([0, 1])
    old = torch.log(torch.tensor([0.25, 0.45]))  # ratios 2 and 1.11
    loss, figures = policy_loss(log_probs, actions, old, torch.ones(2), 0.2, torch.ones(2) > 0)
    assert loss.detach().mean().item() == pytest.approx(-(1.2 + 0.5 / 0.45) / 2)
    assert figures["train/clip_fraction"] == pytest.approx(0.5)
    (gradient,) = torch.autograd.grad(loss.mean(), log_probs)
    assert gradient[0].abs().sum() == 0 and gradient[1].abs().sum() > 0


@pytest.mark.parametrize("method", ["ppo", "monte-carlo"])
def test_training_finds_the_best_play_of_a_tiny_game(
    method: Literal["ppo", "monte-carlo"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GAMES, "toy", toy)
    config = TrainConfig(
        run=str(tmp_path / "toy"),
        game="toy",
        decisions=80_000,
        deals=1024,
        network=NetworkConfig(width=32, blocks=1),
        method=method,
        ppo=PPOConfig(
            lr=3e-3,
            final_lr=3e-4,
            clip=0.1,
            minibatch=512,
            reward_scale=5,
            entropy=0.05,
            final_entropy=0.01,
        ),
        threads=1,
    )
    assert train(config)
    agent = load_agent(config.run, "toy", config.rules)
    env = VectorEnv("toy", 2000, auto_reset=False, seed=99)
    while not env.dones.all():
        keys = derive_keys(0, np.arange(2000), 0)
        masks = np.maximum(env.action_masks, env.dones[:, None])
        env.step(agent.act(env.observations, masks, keys))
    best = env.tables["hands"] & toy.BEST != 0
    assert env.tables["kapikia_change"][best].mean() > 8.9  # the best value is 9


def test_the_critic_learns_to_explain_what_deals_pay(small: TrainConfig) -> None:
    trainer = Trainer(replace(small, deals=512, decisions=10**9))
    explained = [trainer.iterate()["train/explained_variance"] for _ in range(12)]
    assert explained[-1] > 0.3 > explained[0]


@pytest.mark.parametrize("open_critic", [True, False])
def test_the_critic_sees_hidden_cards_only_if_it_may(open_critic: bool) -> None:
    network = NetworkConfig(width=16, blocks=1, open_critic=open_critic)
    critic = Critic(prefa, network)
    layer = list(critic.body.children())[-1]
    assert isinstance(layer, torch.nn.Linear)
    torch.nn.init.normal_(layer.weight)
    states = torch.from_numpy(VectorEnv("prefa", 20, seed=3).states.copy())
    others = states.clone()
    others[:, OBSERVATION.size :] = states.roll(1, 0)[:, OBSERVATION.size :]
    with torch.no_grad():
        is_same = critic(states) == critic(others)
    assert not is_same.any() if open_critic else is_same.all()


# -- runs -----------------------------------------------------------------------------------------


def test_same_seed_same_weights_and_tensorboard_has_the_curves(
    small: TrainConfig, tmp_path: Path
) -> None:
    twin = replace(small, run=str(tmp_path / "twin"))
    assert train(small) and train(twin)
    assert_same(weights(small.run), weights(twin.run))
    other = replace(small, run=str(tmp_path / "other"), seed=2)
    assert train(other)
    assert any(not torch.equal(a, weights(other.run)[k]) for k, a in weights(small.run).items())
    log = EventAccumulator(small.run)
    log.Reload()
    names = set(log.Tags()["scalars"])
    assert names >= {
        "rollout/ep_rew_mean",
        "rollout/declared",
        "rollout/made",
        "train/entropy_loss",
        "train/approx_kl",
        "train/value_loss",
        "train/explained_variance",
        "time/fps",
    }
    assert all(np.isfinite(e.value) for name in names for e in log.Scalars(name))


def test_a_resumed_run_ends_with_the_same_weights(small: TrainConfig, tmp_path: Path) -> None:
    assert train(small)
    part = replace(small, run=str(tmp_path / "part"))
    trainer = Trainer(part)
    trainer.iterate()
    trainer.save()
    assert train(replace(part, resume=True))
    assert_same(weights(small.run), weights(part.run))


def test_a_run_that_is_killed_goes_on_from_its_last_checkpoint(
    small: TrainConfig, tmp_path: Path
) -> None:
    whole = replace(small, decisions=12_000, checkpoint_every=1)
    assert train(whole)
    run = tmp_path / "killed"
    arguments = [
        "--run", str(run), "--decisions", "12000", "--deals", "64", "--opponents", "uniform",
        "--network.width", "16", "--network.blocks", "1", "--ppo.minibatch", "512",
        "--checkpoint_every", "1", "--threads", "1",
    ]  # fmt: skip
    process = subprocess.Popen([sys.executable, "train.py", *arguments], cwd=ROOT)
    while not checkpoint.checkpoints(run):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    before = checkpoint.load_meta(checkpoint.resolve(run))["decisions"]
    assert 0 < before < 12_000
    assert train(replace(whole, run=str(run), resume=True))
    assert_same(weights(whole.run), weights(run))


def test_a_run_folder_with_checkpoints_is_not_overwritten(small: TrainConfig) -> None:
    train(small)
    with pytest.raises(ValueError, match=r"already holds checkpoints.*--resume true"):
        Trainer(small)
    with pytest.raises(checkpoint.CheckpointError, match="deals was 64 and is now 32"):
        Trainer(replace(small, deals=32, resume=True))


def test_resume_without_a_checkpoint_begins(small: TrainConfig) -> None:
    assert Trainer(replace(small, resume=True)).decisions == 0


def test_a_finished_run_is_left_alone(small: TrainConfig) -> None:
    train(small)
    before = weights(small.run)
    assert train(replace(small, resume=True))
    assert_same(before, weights(small.run))


def test_a_broken_checkpoint_is_not_resumed(small: TrainConfig) -> None:
    train(small)
    file = checkpoint.resolve(Path(small.run)) / checkpoint.OPTIMIZER_FILE
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(checkpoint.CheckpointError, match=r"broken checkpoint: .*optimizer"):
        Trainer(replace(small, resume=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decisions": 0}, "decisions must be 1 to"),
        ({"deals": 10**11}, "deals must be 1 to"),
        ({"threads": 10**11}, "threads must be 1 to"),
        ({"run": ""}, "run must name a folder"),
        ({"teacher": ""}, "teacher must name an agent"),
        ({"opponent_share": 1.5}, "opponent_share must be 0 to 1"),
        ({"teaching": -0.1}, "teaching must be 0 to 1"),
        ({"seed": -1}, "seed must be"),
        ({"network": {"width": 0}}, "width must be 1 to"),
        ({"ppo": {"lr": 0}}, "lr must be positive"),
        ({"ppo": {"gae_lambda": 2}}, "gae_lambda must be 0 to 1"),
    ],
)
def test_bad_values_are_named(change: dict[str, object], message: str) -> None:
    parts = {"network": NetworkConfig, "ppo": PPOConfig}
    with pytest.raises(ValueError, match=message):
        TrainConfig(**{k: parts[k](**v) if k in parts else v for k, v in change.items()})  # type: ignore[arg-type]


def test_a_device_that_is_not_there_is_named(small: TrainConfig) -> None:
    with pytest.raises(ValueError, match="device must be cpu, cuda or auto, not 'tpu'"):
        Trainer(replace(small, device="tpu"))
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="no CUDA device"):
            Trainer(replace(small, device="cuda"))


def test_too_little_memory_of_a_device_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (10**9, 10**10))
    device = torch.device("cuda")
    check_memory(1000, prefa, device)
    with pytest.raises(ValueError, match="deals 20,000 need about 1 GB, and the CUDA device has 1"):
        check_memory(20_000, prefa, device)


# -- checkpoints and the agent --------------------------------------------------------------------


@pytest.fixture
def run(small: TrainConfig) -> Path:
    config = replace(small, decisions=1)
    train(config)
    return Path(config.run)


def test_an_agent_plays_the_same_alone_and_among_many(run: Path) -> None:
    agent = load_agent(run)
    env = VectorEnv("prefa", 7 * BLOCK + 3)
    for key in range(30):
        keys = np.zeros(env.num_envs, np.uint64)
        together = agent.act(env.observations, env.action_masks, keys)
        for i in (0, 6 * BLOCK + 1, 7 * BLOCK, 7 * BLOCK + 2):
            one = slice(i, i + 1)
            alone = agent.act(env.observations[one], env.action_masks[one], keys[one])
            assert alone[0] == together[i]
        assert (env.action_masks[np.arange(env.num_envs), together] == 1).all()
        env.step(env.random_actions(key))


def edit_meta(run: Path, **changes: object) -> None:
    file = checkpoint.resolve(run) / checkpoint.META_FILE
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_checkpoints_of_other_layouts_games_and_rules_are_refused(run: Path) -> None:
    with pytest.raises(checkpoint.CheckpointError, match="rules hold is 'earlier_position', here"):
        load_agent(run, "prefa", Rules(hold="any_after_first_round"))
    layout = [["hand", 31, 0, 1], *OBSERVATION.description()[1:]]
    edit_meta(run, observation=layout)
    with pytest.raises(checkpoint.CheckpointError, match=r"observation field \['hand', 31, 0, 1\]"):
        load_agent(run)
    edit_meta(run, observation=OBSERVATION.description(), game="priffe")
    with pytest.raises(checkpoint.CheckpointError, match="game is 'priffe', here 'prefa'"):
        load_agent(run)
    edit_meta(run, game="prefa", version=7)
    with pytest.raises(checkpoint.CheckpointError, match="version 7"):
        load_agent(run)


@pytest.mark.parametrize("name", [checkpoint.MODEL_FILE, checkpoint.META_FILE])
def test_truncated_and_missing_files_are_named(run: Path, name: str) -> None:
    file = checkpoint.resolve(run) / name
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(checkpoint.CheckpointError, match=f"broken checkpoint: .*{name}"):
        load_agent(run)
    file.unlink()
    if name == checkpoint.MODEL_FILE:
        with pytest.raises(checkpoint.CheckpointError, match=f"broken checkpoint: .*{name}"):
            load_agent(run)


def test_tensors_that_were_changed_are_refused(run: Path) -> None:
    folder = checkpoint.resolve(run)
    tensors = weights(run)
    save_file({name: tensor * float("nan") for name, tensor in tensors.items()}, folder / "x")
    (folder / "x").replace(folder / checkpoint.MODEL_FILE)
    with pytest.raises(checkpoint.CheckpointError, match="not as it was saved"):
        load_agent(run)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("network", None, "network must be of type dict"),
        ("network", {"width": "x"}, "broken checkpoint"),
        ("network", {"width": 16, "depth": 3}, "broken checkpoint: .*depth"),
        ("network", {"width": 10**9}, "width must be 1 to"),
        ("config", [], r"config must be of type dict, not \[\]"),
        ("iteration", "x", "iteration must be of type int, not negative, not 'x'"),
        ("decisions", None, "decisions must be of type int"),
        ("sha256", {}, "not as it was saved"),
    ],
)
def test_a_damaged_description_is_named(run: Path, field: str, value: object, message: str) -> None:
    edit_meta(run, **{field: value})
    with pytest.raises(checkpoint.CheckpointError, match=message):
        load_agent(run)


def test_training_that_diverges_stops_before_it_spoils_the_weights(small: TrainConfig) -> None:
    trainer = Trainer(replace(small, ppo=PPOConfig(reward_scale=1e-300)))
    before = {name: tensor.clone() for name, tensor in trainer.learner.state_dict().items()}
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match=r"lower ppo.lr"):
        trainer.iterate()
    assert_same(before, trainer.learner.state_dict())


def test_no_checkpoint_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(checkpoint.CheckpointError, match="no such folder"):
        load_agent(tmp_path / "nothing")
    with pytest.raises(checkpoint.CheckpointError, match="nor a folder checkpoint-"):
        load_agent(tmp_path)


def test_an_interrupted_save_leaves_the_last_checkpoint(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(path.name for path in run.iterdir())

    def fail(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(run, 10**9, {"x.safetensors": {"policy.x": torch.zeros(1)}}, {})
    assert sorted(path.name for path in run.iterdir()) == before


def test_what_a_killed_process_left_half_written_is_swept_away(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, 10, {"x.safetensors": {"x": torch.zeros(1)}}, {})
    for pid in (os.getpid(), 1):  # its number may come again
        (tmp_path / f".{checkpoint._DRAFT}.{pid}").mkdir()
    checkpoint.save(tmp_path, 20, {"x.safetensors": {"x": torch.zeros(1)}}, {})
    assert {path.name for path in tmp_path.iterdir()} == {
        "checkpoint-000000000010",
        "checkpoint-000000000020",
    }


def test_only_the_last_checkpoints_are_kept(tmp_path: Path) -> None:
    for decisions in (5, 50, 500):
        checkpoint.save(tmp_path, decisions, {"x.safetensors": {"x": torch.zeros(1)}}, {}, keep=2)
    found = [path.name for path in checkpoint.checkpoints(tmp_path)]
    assert found == ["checkpoint-000000000050", "checkpoint-000000000500"]
    shutil.rmtree(checkpoint.resolve(tmp_path))
    assert checkpoint.resolve(tmp_path).name == "checkpoint-000000000050"


# -- the league, the average, hindsight -----------------------------------------------------------


def full(run: Path) -> TrainConfig:
    """A run with everything in it."""
    return TrainConfig(
        run=str(run),
        decisions=8000,
        deals=64,
        opponents=Names(["uniform"]),
        opponent_share=0.3,
        past_share=0.3,
        snapshot_every=1,
        snapshots=3,
        explore=0.1,
        warm_up=2000,
        network=NetworkConfig(width=16, blocks=1),
        ppo=PPOConfig(minibatch=512, hindsight=1, final_hindsight=1, magnet=0.1),
        checkpoint_every=1,
        threads=2,
    )


def test_a_run_with_everything_is_resumed_to_the_same_weights(tmp_path: Path) -> None:
    assert train(full(tmp_path / "whole"))
    part = full(tmp_path / "part")
    trainer = Trainer(part)
    for _ in range(4):
        trainer.iterate()
    trainer.save()
    assert train(replace(part, resume=True))
    one, other = weights(tmp_path / "whole"), weights(tmp_path / "part")
    assert_same(one, other)
    assert any(not torch.equal(one[k], one[k.replace("policy", "average")]) for k in one)


def test_while_it_warms_up_only_the_critic_learns(tmp_path: Path) -> None:
    trainer = Trainer(full(tmp_path / "run"))
    before = {k: v.clone() for k, v in trainer.learner.state_dict().items()}
    while trainer.decisions < 2000:
        trainer.iterate()
        after = trainer.learner.state_dict()
        for name, tensor in before.items():
            is_critic = name.startswith("critic.") and not name.endswith("factors")
            assert torch.equal(tensor, after[name]) != is_critic, name
    trainer.iterate()
    name = next(k for k in reversed(before) if k.startswith("policy."))
    assert not torch.equal(before[name], trainer.learner.state_dict()[name])


def test_seats_are_shared_out_as_they_shall_be() -> None:
    seating = draw_seating(np.random.default_rng(1), (10_000, 3), 1, 0.3, 0.3)
    others = np.sort(np.where(seating == LEARNER, -1, seating), axis=1)
    assert (others[:, 1] == others[:, 2]).all()  # one learner, or three
    kinds = [(others[:, 2] == kind).mean() for kind in (LEARNER, 0, 1)]
    np.testing.assert_allclose(kinds, [0.4, 0.3, 0.3], atol=0.02)
    learners = [((seating[:, seat] == LEARNER) & (others[:, 2] >= 0)).mean() for seat in range(3)]
    np.testing.assert_allclose(learners, [0.2, 0.2, 0.2], atol=0.02)


def test_hindsight_leads_to_a_softmax_over_means_however_sure_the_policy_was() -> None:
    masks = torch.tensor([[True, True, True, False]])
    means = torch.tensor([0.0, 1.0, -1.0, 0.0])
    logits = torch.tensor([[12.0, 0.0, 0.0, 0.0]], requires_grad=True)  # all but certain, and wrong
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.SGD([logits], lr=0.02)
    tail = []
    for step in range(6000):
        gains = means + torch.randn(1, 4, generator=generator)  # one world each time
        log_probs = torch.log_softmax(logits.masked_fill(~masks, -1e9), -1)
        optimizer.zero_grad()
        hindsight_loss(log_probs, masks, gains, temperature=0.5).sum().backward()
        optimizer.step()
        if step >= 2000:
            tail.append(log_probs.detach()[0, :3])
    expected = torch.log_softmax(means[:3] / 0.5, -1)
    assert torch.allclose(torch.stack(tail).mean(0), expected, atol=0.15)
    assert logits[0, 3] == 0


def test_hindsight_lets_unlikely_actions_alone_unless_they_are_better() -> None:
    masks = torch.ones(1, 4, dtype=torch.bool)
    gains = torch.tensor([[0.0, 1.0, -3.0, 2.0]])
    start = torch.tensor([[5.0, 5.0, -4.0, -4.0]])  # the last two at e^-9
    logits = start.clone().requires_grad_(True)
    hindsight_loss(torch.log_softmax(logits, -1), masks, gains, temperature=0.1).sum().backward()
    assert logits.grad is not None
    push = -logits.grad[0]
    assert push[0] < push[1]
    assert abs(push[2]) < 0.01  # bad and unlikely: as it is
    assert push[3] > 1  # unlikely and best


class CardsOnly:
    """Finds the highest card best, by 30 kapikia a card."""

    def is_sure(self, tables: np.ndarray) -> np.ndarray:
        return np.asarray(tables["phase"] == Phase.PLAY)

    def values(self, tables: np.ndarray, deals: np.ndarray) -> np.ndarray:
        legal = np.array([prefa.legal_actions(table) for table in tables])
        is_card = (legal[:, None] >> np.arange(62) & 1 == 1) & self.is_sure(tables)[:, None]
        return np.where(is_card, 30 * np.arange(62), np.nan).astype(np.float32)

    def settle(self, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError


def test_cards_are_learned_from_hindsight(tmp_path: Path) -> None:
    config = full(tmp_path / "run")
    config = replace(
        config,
        decisions=10**9,
        warm_up=0,
        past_share=0.0,
        network=NetworkConfig(width=32, blocks=1, relabel=False),
        ppo=replace(config.ppo, lr=3e-3, magnet=0, entropy=0.5, final_entropy=0.5),
    )  # with so much entropy it goes on bidding
    trainer = Trainer(config)
    trainer.judge = CardsOnly()
    env, seating = VectorEnv("prefa", 300, auto_reset=False), np.full((300, 3), LEARNER)

    def share_of_highest() -> float:
        policy = trainer.learner.policy
        rollout = play(env, policy, [], seating, 9, judge=CardsOnly(), is_greedy=True)
        is_play = rollout.states[:, OBSERVATION["phase"]][:, Phase.PLAY] == 1
        assert is_play.sum() > 1000
        highest = 61 - rollout.masks[:, ::-1].argmax(axis=1)
        return float((rollout.actions == highest)[is_play].mean())

    assert share_of_highest() < 0.4
    for _ in range(80):
        trainer.iterate()
    assert share_of_highest() > 0.7


def test_log_probabilities_know_of_explored_calls() -> None:
    env = VectorEnv("prefa", 3000, auto_reset=False)
    policy = new_policy(spread=False)
    with torch.no_grad():
        last_layer(policy).bias[32] = 5.0  # it passes
    rollout = play(env, policy, [], np.full((3000, 3), LEARNER), seed=3, explore=0.3)
    is_first = rollout.states[:, OBSERVATION["calls"]].sum(1) == 0
    is_auction = rollout.states[:, OBSERVATION["phase"].start] == 1
    first = is_first & is_auction
    sure = np.exp(5) / (np.exp(5) + 2)
    expected = 0.7 * sure + 0.3 / 3
    passes = rollout.actions[first] == 32
    assert passes.mean() == pytest.approx(expected, abs=0.04)
    np.testing.assert_allclose(rollout.log_probs[first][passes], np.log(expected), atol=1e-5)


def test_cards_with_values_are_played_greedily() -> None:
    env = VectorEnv("prefa", 200, auto_reset=False)
    policy = new_policy()
    seating = np.full((200, 3), LEARNER)
    rollout = play(env, policy, [], seating, 3, judge=CardsOnly(), is_greedy=True)
    states = torch.from_numpy(rollout.states)
    log_probs = policy(states[:, : OBSERVATION.size], torch.from_numpy(rollout.masks))
    is_likeliest = log_probs.argmax(-1).numpy() == rollout.actions
    is_play = rollout.states[:, OBSERVATION["phase"]][:, Phase.PLAY] == 1
    assert is_likeliest[is_play].all() and not is_likeliest[~is_play].all()
    assert rollout.values is not None
    np.testing.assert_array_equal(np.isfinite(rollout.values).any(axis=1), is_play)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"past_share": 0.8}, "together more than 1"),
        ({"snapshots": 2}, "snapshots must be 3 to"),
        ({"settled_share": -1}, "settled_share must be 0 to 1"),
        ({"anchor": None, "ppo": PPOConfig(anchor=0.1)}, "ppo.anchor is the weight of an anchor"),
        (
            {"method": "monte-carlo", "ppo": PPOConfig(hindsight=1)},
            "monte-carlo learns from what deals paid",
        ),
        (
            {"method": "monte-carlo", "ppo": PPOConfig(), "warm_up": 5},
            "warm_up, anchor and ppo.magnet are for",
        ),
        ({"warm_up": -1}, "warm_up must be 0 to"),
        ({"explore": 2}, "explore must be 0 to 1"),
        ({"deals": 10**6}, "too little memory: deals 1,000,000 need about"),
    ],
)
def test_bad_values_of_a_league_are_named(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Trainer(replace(full(tmp_path / "run"), **change))  # type: ignore[arg-type]


def test_hindsight_needs_a_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "toy", toy)
    config = replace(full(tmp_path / "run"), game="toy", opponents=Names(), opponent_share=0.0)
    with pytest.raises(ValueError, match="hindsight needs a solver, which 'toy' has not"):
        Trainer(config)


def test_alarms_are_printed(
    small: TrainConfig, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {"train/approx_kl": 1.0}
    whole = Trainer.iterate
    monkeypatch.setattr(Trainer, "iterate", lambda trainer: whole(trainer) | bad)
    assert train(small)
    assert capsys.readouterr().out.replace("\n", " ").count("moves too far") == 1


class NobodyPlays(CardsOnly):
    """Says that the declarer is paid 6 and each other seat loses 3."""

    def settle(self, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        paid = np.where(np.arange(3) == tables["owner"][:, None], 6, -3).astype(np.float32)
        return paid, tables


def test_where_deals_are_settled_no_card_is_played_or_learned() -> None:
    env = VectorEnv("prefa", 300, auto_reset=False)
    seating = np.full((300, 3), LEARNER)
    policy = new_policy()
    rollout = play(env, policy, [], seating, 3, judge=NobodyPlays(), is_settled=True)
    phase = rollout.states[:, OBSERVATION["phase"]]
    assert phase[:, Phase.PLAY].sum() == 0 and rollout.values is None
    assert rollout.ends is not None and rollout.paid is not None
    is_played = rollout.ends["phase"] == Phase.PLAY
    assert 20 < is_played.sum() < 300
    expected = np.where(np.arange(3) == rollout.ends["owner"][:, None], 6, -3)
    np.testing.assert_array_equal(rollout.paid[is_played], expected[is_played])
    thirds = rollout.ends["settled_thirds"][~is_played]
    np.testing.assert_array_equal(rollout.paid[~is_played], (thirds / 3).astype(np.float32))
    tables, payees = rollout.trajectories // 9, rollout.trajectories % 3
    np.testing.assert_array_equal(rollout.payoffs, rollout.paid[tables, payees])


def test_a_share_of_the_iterations_is_settled(tmp_path: Path) -> None:
    trainer = Trainer(replace(full(tmp_path / "run"), settled_share=0.4))
    trainer.judge = NobodyPlays()
    has_cards = ["train/hindsight_gain" in trainer.iterate() for _ in range(10)]
    assert has_cards == [True, True, False, True, False] * 2
