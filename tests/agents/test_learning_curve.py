"""How a run got better: past selves of its league, measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agents import make_agent
from agents.benchmarks import SeedSet
from agents.comparison import compare
from agents.learning_curve import main, past_selves
from agents.network import NetworkConfig
from agents.train_config import TrainConfig
from agents.trainer import train
from prefa_env import prefa
from prefa_env.prefa import Rules


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of some iterations that keeps every second self."""
    folder = str(tmp_path_factory.mktemp("run"))
    network = NetworkConfig(width=16, blocks=1)
    assert train(
        TrainConfig(
            folder, deals=32, decisions=6_000, past_share=0.3, snapshot_every=2, network=network,
            teacher="heuristic", teaching=0.2, threads=1,
        )
    )  # fmt: skip
    return folder


def test_points_are_past_selves_and_the_average_with_what_they_took(
    run: str, tmp_path: Path
) -> None:
    file, svg = tmp_path / "curve.json", tmp_path / "curve.svg"
    arguments = ["--run", run, "--fields", "heuristic,uniform", "--points", "3", "--deals", "8"]
    assert main([*arguments, "--seeds", "smoke", "--json", str(file), "--svg", str(svg)]) == 0
    found = json.loads(file.read_text("utf-8"))
    selves = past_selves(Path(run), prefa, Rules(), 2)
    assert len(found["decisions"]) == len(found["minutes"]) == 3
    for axis in ("decisions", "minutes"):
        assert found[axis] == sorted(set(found[axis]))
    assert found["decisions"][-1] >= 6_000
    for name, values in found["fields"].items():
        field = make_agent(name)
        players = [*selves.values(), make_agent(run)]
        rows = [compare(prefa, Rules(), p, field, SeedSet("smoke"), 8) for p in players]
        assert values["mean"] == [row.mean for row in rows]
        assert values["low"] == [row.low for row in rows]
    text = svg.read_text("utf-8")
    for words in ("against heuristic", "against uniform", "decisions", "minutes", "kapikia a deal"):
        assert words in text


def test_past_selves_are_those_of_their_time(run: str) -> None:
    selves = list(past_selves(Path(run), prefa, Rules(), 2).items())
    assert selves[0][0] < selves[-1][0]
    assert selves[0][0] % 2 == selves[-1][0] % 2 == 0
    first, last = (agent.policy.state_dict() for _, agent in selves)
    assert any((first[name] != last[name]).any() for name in first)


def test_bad_input_is_named(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = NetworkConfig(width=16, blocks=0)
    alone = str(tmp_path / "alone")
    assert train(TrainConfig(alone, deals=8, decisions=10, network=network, threads=1))
    target = str(tmp_path / "x.json")
    for arguments, words in (
        (["--run", alone, "--json", target], "train with past_share above 0"),
        (["--run", str(tmp_path / "no"), "--json", target], "no checkpoint at"),
        (["--run", run], "json or svg must say where"),
        (["--run", run, "--json", str(tmp_path / "no" / "x")], "no"),
        (["--run", run, "--json", target, "--points", "1"], "points must be at least 2"),
        (["--run", run, "--json", target, "--fields", "best"], "no such agent: 'best'"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
        assert re.search(words, capsys.readouterr().err)
    assert not Path(target).exists()
