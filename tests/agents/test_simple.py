"""Agents without judgement, and agents by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import AGENT_NAMES, make_agent, registry
from prefa_env import VectorEnv
from prefa_env.prefa import Action, Rules
from tests.helpers import RULES

SIMPLE = ["uniform", "first-legal", "pass-always"]


def keys_of(step: int, size: int) -> Any:
    return np.arange(size, dtype=np.uint64) * np.uint64(1000) + np.uint64(step)


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_legal_whatever_the_batch(name: str, rules: Rules) -> None:
    agent = make_agent(name, rules=rules)
    env = VectorEnv("prefa", 40, rules=rules, seed=3)
    for step in range(200):
        keys = keys_of(step, 40)
        actions = agent.act(env.observations, env.action_masks, keys)
        assert actions.shape == (40,) and actions.dtype == np.int64
        one = step % 40
        alone = agent.act(
            env.observations[one : one + 1], env.action_masks[one : one + 1], keys[one : one + 1]
        )
        assert alone[0] == actions[one]
        env.step(actions if step % 3 == 0 else env.random_actions(step))  # which checks them


def test_uniform_draws_every_legal_action_as_often() -> None:
    masks = np.zeros((30_000, 62), np.int8)
    masks[:, [3, 32, 61]] = 1
    keys = np.arange(30_000, dtype=np.uint64)
    agent = make_agent("uniform")
    actions = agent.act(np.zeros((30_000, 0), np.int8), masks, keys)
    counts = np.bincount(actions, minlength=62)
    assert counts[[3, 32, 61]].sum() == 30_000
    assert np.abs(counts[[3, 32, 61]] - 10_000).max() < 400  # 5 deviations
    assert (agent.act(np.zeros((30_000, 0), np.int8), masks, keys) == actions).all()


def test_first_legal_and_pass_always() -> None:
    masks = np.zeros((2, 62), np.int8)
    masks[0, [Action.PASS, Action.BID, 7]] = 1
    masks[1, [9, 5]] = 1
    nothing, keys = np.zeros((2, 0), np.int8), np.zeros(2, np.uint64)
    assert make_agent("first-legal").act(nothing, masks, keys).tolist() == [7, 5]
    assert make_agent("pass-always").act(nothing, masks, keys).tolist() == [Action.PASS, 5]


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_names_make_agents_that_know_them(name: str) -> None:
    released = Path(registry.__file__).parent / "released" / "prefa-v1"
    spec = name.replace(":N", ":2").replace("COMMAND", "sh").replace("SPEC", str(released))
    assert make_agent(spec).name == spec


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no such agent: 'best'") as caught:
        make_agent("best")
    assert all(name in str(caught.value) for name in AGENT_NAMES)
    with pytest.raises(ValueError, match="no such agent: ''"):
        make_agent("")


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_another_game_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match=f"no agent '{name}' for the game 'whist'") as caught:
        make_agent(name, "whist")
    assert all(known in str(caught.value) for known in AGENT_NAMES)


def test_what_is_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    assert registry.is_checkpoint("runs/last")
    assert registry.is_checkpoint("run")
    assert not registry.is_checkpoint("file")
    assert not registry.is_checkpoint("uniform")
    assert not registry.is_checkpoint("exec:runs/mybot")


def test_importing_agents_does_not_import_torch() -> None:
    code = "import sys, agents; agents.make_agent('heuristic'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
