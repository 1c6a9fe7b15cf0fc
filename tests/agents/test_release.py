"""Players made from checkpoints: weights, and an ONNX graph that plays the same moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from agents import checkpoint, make_agent
from agents.network import NetworkConfig
from agents.policy import load_agent
from agents.release import ReleaseConfig, export, main, release
from agents.train_config import TrainConfig
from agents.trainer import Trainer
from prefa_env import VectorEnv, prefa


@pytest.fixture(scope="module", params=[False, True], ids=["one network", "two networks"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose average is not its policy."""
    folder = tmp_path_factory.mktemp("run")
    network = NetworkConfig(width=16, blocks=1, card_body=request.param)
    trainer = Trainer(TrainConfig(str(folder), deals=64, network=network, threads=1))
    for _ in range(3):
        trainer.iterate()
    with torch.no_grad():
        for parameter in trainer.learner.average.parameters():
            generator = torch.Generator().manual_seed(1)
            parameter.add_(torch.randn(parameter.shape, generator=generator))
    trainer.save()
    return folder


def test_a_player_has_the_average_and_no_optimiser(run: Path, tmp_path: Path) -> None:
    folder = release(run, tmp_path / "player")
    assert {path.name for path in folder.iterdir()} == {"checkpoint.json", "model.safetensors"}
    before = load_agent(run).policy.state_dict()
    after = load_agent(folder).policy.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    network = load_agent(run).policy.config
    trainer = Trainer(TrainConfig(str(tmp_path / "on"), start=str(folder), network=network))
    critic = trainer.learner.critic.state_dict()
    meta = checkpoint.load_meta(checkpoint.resolve(run))
    saved = checkpoint.load_tensors(checkpoint.resolve(run), meta, checkpoint.MODEL_FILE)
    assert all(torch.equal(tensor, saved[f"critic.{name}"]) for name, tensor in critic.items())
    with pytest.raises(FileExistsError, match="exists: choose another folder"):
        release(run, folder)


def test_the_graph_plays_the_same_moves(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.onnx"
    export(run, file)
    session = onnxruntime.InferenceSession(str(file))
    agent = make_agent(str(run))
    env = VectorEnv("prefa", 50, auto_reset=False, seed=3)
    moves = 0
    while not env.dones.all():
        live = np.flatnonzero(~env.dones)
        seen, masks = env.observations[live], env.action_masks[live]
        rows, legal, meant = prefa.relabel(seen, masks)
        (log_probs,) = session.run(None, {"observations": rows, "masks": legal})
        chosen = np.asarray(log_probs).argmax(axis=1)
        expected = agent.act(seen, masks, np.zeros(len(live), np.uint64))
        np.testing.assert_array_equal(meant[np.arange(len(live)), chosen], expected)
        actions = np.zeros(50, np.int64)
        actions[live] = expected
        env.step(actions)
        moves += len(live)
    assert moves > 300


def test_a_player_of_other_rules_can_be_exported(tmp_path: Path) -> None:
    network = NetworkConfig(width=8, blocks=0)
    rules = prefa.Rules(all_pass="misere")
    folder = str(tmp_path / "run")
    Trainer(TrainConfig(folder, rules=rules, deals=8, network=network)).save()
    file = tmp_path / "policy.onnx"
    assert main(["--source", folder, "--out", str(tmp_path / "player"), "--onnx", str(file)]) == 0
    assert file.stat().st_size > 0


def test_nothing_is_written_if_not_all_can_be(run: Path, tmp_path: Path) -> None:
    player, file = tmp_path / "player", tmp_path / "missing" / "policy.onnx"
    with pytest.raises(SystemExit):
        main(["--source", str(run), "--out", str(player), "--onnx", str(file)])
    assert not list(tmp_path.iterdir())


def test_bad_input_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        (["--source", str(tmp_path / "no"), "--out", str(tmp_path / "x")], "no checkpoint at"),
        (["--source", "runs/x"], "out or onnx must say where"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
    assert ReleaseConfig(out="x").onnx is None
