"""The policy that comes with the project: it can be loaded, and plays as its card says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import agents
from agents import make_agent
from agents.benchmarks import SeedSet
from agents.comparison import compare
from agents.network import NetworkConfig
from agents.train_config import TrainConfig
from agents.trainer import Trainer
from prefa_env import prefa
from prefa_env.prefa import Rules

CANDIDATE = Path(agents.__file__).parent / "released" / "candidate"


def test_it_plays_legally_and_better_than_the_rule_player() -> None:
    found = compare(
        prefa, Rules(), make_agent(str(CANDIDATE)), make_agent("heuristic"), SeedSet("card"), 300
    )
    assert found.illegal == found.nonzero == 0
    assert found.low > 0


def test_a_run_can_start_from_it(tmp_path: Path) -> None:
    network = NetworkConfig(width=256, blocks=2)
    config = TrainConfig(str(tmp_path / "run"), start=str(CANDIDATE), network=network, deals=8)
    assert Trainer(config).decisions == 0


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(CANDIDATE, copy)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    with pytest.raises(ValueError, match="broken checkpoint"):
        make_agent(str(copy))
