"""How a run got better: past selves of its league, measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from agents import make_agent
from agents.benchmarks import SeedSet
from agents.comparison import compare
from agents.curves import read_curves
from agents.learning_curve import main, points_of
from agents.network import NetworkConfig
from agents.train_config import TrainConfig
from agents.trainer import train
from prefa_env import prefa
from prefa_env.prefa import Rules

NETWORK = NetworkConfig(width=16, blocks=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run that keeps every second self, was stopped on its way and went on."""
    folder = str(tmp_path_factory.mktemp("run"))
    config = TrainConfig(
        folder, deals=32, decisions=6_000, past_share=0.3, snapshot_every=2, network=NETWORK,
        teacher="heuristic", teaching=0.2, threads=1,
    )  # fmt: skip
    assert train(replace(config, decisions=3_000))
    assert train(replace(config, resume=True))
    return folder


def test_points_are_past_selves_and_the_average_with_what_they_took(
    run: str, tmp_path: Path
) -> None:
    file, svg = tmp_path / "curve.json", tmp_path / "curve.svg"
    arguments = ["--run", run, "--fields", "heuristic,uniform", "--points", "3", "--deals", "8"]
    assert main([*arguments, "--seeds", "smoke", "--json", str(file), "--svg", str(svg)]) == 0
    found = json.loads(file.read_text("utf-8"))
    points = points_of(run, prefa, Rules(), 3)
    assert found["decisions"] == [point.decisions for point in points]
    assert found["minutes"] == [point.seconds / 60 for point in points]
    for name, values in found["fields"].items():
        field = make_agent(name)
        players = [*(point.agent for point in points[:-1]), make_agent(run)]
        rows = [compare(prefa, Rules(), p, field, SeedSet("smoke"), 8) for p in players]
        assert values["mean"] == [row.mean for row in rows]
        assert values["low"] == [row.low for row in rows]
    text = svg.read_text("utf-8")
    for words in ("against heuristic", "against uniform", "decisions", "minutes", "kapikia a deal"):
        assert words in text


def test_points_tell_when_they_were(run: str) -> None:
    """As the curves of the run have it, which was stopped once and lost no point of them."""
    name = "time/iterations"
    decisions = [0, *(int(step) for step, _ in read_curves(run, [name])[name])]
    *selves, average = points_of(run, prefa, Rules(), 100)
    begun = next(i for i, count in enumerate(decisions) if count >= 0.2 * 3_000)
    expected = [begun, *range(begun + 1 + (begun + 1) % 2, len(decisions) - 1, 2)]
    assert [point.decisions for point in selves] == [decisions[i] for i in expected]
    assert average.decisions == decisions[-1]
    seconds = [point.seconds for point in (*selves, average)]
    assert seconds == sorted(set(seconds))
    first, last = (point.agent.policy.state_dict() for point in (selves[0], selves[-1]))
    assert any((first[name] != last[name]).any() for name in first)


def test_bad_input_is_named(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = str(tmp_path / "alone")
    assert train(TrainConfig(alone, deals=8, decisions=10, network=NETWORK, threads=1))
    target = str(tmp_path / "x.json")
    for arguments, words in (
        (["--run", alone, "--json", target], "train with past_share above 0"),
        (["--run", str(tmp_path / "no"), "--json", target], "no checkpoint at"),
        (["--run", run], "json or svg must say where"),
        (["--run", run, "--json", str(tmp_path / "no" / "x")], "there is no folder"),
        (["--run", "", "--json", target], "run must name a folder"),
        (["--run", run, "--json", target, "--points", "1"], "points must be at least 2"),
        (["--run", run, "--json", target, "--fields", "best"], "no such agent: 'best'"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
        assert re.search(words, capsys.readouterr().err)
    assert not Path(target).exists()
