"""The policy that comes with the project: it can be loaded, and plays as its card says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import torch

import agents
from agents import checkpoint, exploiter, make_agent, provenance
from agents.benchmarks import SeedSet
from agents.comparison import compare
from agents.network import NetworkConfig
from agents.policy import load_agent
from agents.train_config import TrainConfig
from agents.trainer import Trainer
from prefa_env import prefa
from prefa_env.prefa import Rules

NAME = "prefa-v1"
FOLDER = Path(agents.__file__).parent / "released" / NAME


def test_it_plays_legally_and_better_than_the_rule_player() -> None:
    found = compare(prefa, Rules(), make_agent(NAME), make_agent("heuristic"), SeedSet("card"), 300)
    assert found.illegal == found.nonzero == 0
    assert found.low > 0


def test_a_run_can_start_from_it(tmp_path: Path) -> None:
    network = NetworkConfig(width=256, blocks=2, card_body=True)
    config = TrainConfig(str(tmp_path / "run"), start=NAME, network=network, deals=8)
    started = Trainer(config).learner.policy.state_dict()
    released = load_agent(NAME).policy.state_dict()
    assert all(torch.equal(tensor, released[name]) for name, tensor in started.items())


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(FOLDER, copy)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    with pytest.raises(ValueError, match="broken checkpoint"):
        make_agent(str(copy))


def test_its_name_is_known_wherever_a_path_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).mkdir()  # nor is another thing of that name meant
    assert checkpoint.resolve(NAME) == FOLDER
    with pytest.raises(ValueError, match="no checkpoint at prefa-v1: neither"):
        checkpoint.resolve(Path(NAME))  # a path is a path
    with pytest.raises(ValueError, match="no checkpoint at"):
        make_agent(f"./{NAME}")
    assert make_agent(NAME).name == NAME
    assert make_agent(f"guided:2:{NAME}").name == f"guided:2:{NAME}"
    assert exploiter.frozen(f"heuristic+{NAME}", "prefa", Rules()) == f"heuristic+{NAME}"
    assert re.fullmatch(r"prefa-v1:[0-9a-f]{16}", provenance.identity(NAME))


def test_other_rules_than_its_own_are_refused() -> None:
    with pytest.raises(ValueError, match=r"prefa-v1 does not fit: rules kassa is 31, here 50"):
        make_agent(NAME, "prefa", Rules(kassa=50))


def test_it_is_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 6e6
