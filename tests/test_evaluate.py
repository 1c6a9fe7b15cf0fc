"""The script: every candidate against every field, exit codes, errors in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evaluate
from agents import arena
from agents.agent import Actions, Keys, Masks, Observations
from agents.arena import Comparison
from agents.cli import parse_config
from agents.records import read_records, replay
from evaluate import EvaluateConfig, main
from prefa_env.prefa import Rules

ROOT = Path(evaluate.__file__).parent
PAIR = ("--candidates", "uniform", "--fields", "pass-always", "--deals", "20", "--seeds", "smoke")


def test_end_to_end(tmp_path: Path) -> None:
    out, records = tmp_path / "out.json", tmp_path / "deals.jsonl"
    done = subprocess.run(
        [
            sys.executable, "evaluate.py", "--game", "prefa",
            "--candidates", "first-legal,uniform", "--fields", "uniform,pass-always",
            "--deals", "50", "--seeds", "smoke", "--json", str(out), "--records", str(records),
            "--rules.hold", "any_after_first_round",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "settled kapikia per deal" in done.stdout
    values = json.loads(out.read_text("utf-8"))
    assert values["unit"] == "settled_kapikia"
    assert values["seeds"]["name"] == "smoke"
    assert values["rules"] == Rules(hold="any_after_first_round").to_dict()
    assert values["config"]["candidates"] == ["first-legal", "uniform"]
    assert [(row["candidate"], row["field"]) for row in values["rows"]] == [
        ("first-legal", "uniform"),
        ("first-legal", "pass-always"),
        ("uniform", "uniform"),
        ("uniform", "pass-always"),
    ]
    for row in values["rows"]:
        assert row["deals"] == 50
        assert row["illegal"] == row["nonzero"] == 0
        assert row["low"] <= row["mean"] <= row["high"]
        assert row["sd"] >= 0
    assert values["rows"][2]["mean"] == 0
    played = list(read_records(records))
    assert len(played) == 4 * 50 * 3
    for record in played[::7]:
        replay(record)


def results(path: Path) -> Any:
    values = json.loads(path.read_text("utf-8"))
    del values["config"]
    return values


def test_batch_sizes_give_the_same_bit_for_bit(tmp_path: Path) -> None:
    for size in ("1", "512"):
        paths = ("--json", str(tmp_path / f"{size}.json"), "--records", str(tmp_path / size))
        assert main([*PAIR, *paths, "--batch_size", size]) == 0
    assert results(tmp_path / "1.json") == results(tmp_path / "512.json")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "512").read_bytes()


class Cheat:
    """Does what is never possible."""

    name = "cheat"

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        return np.full(len(keys), 63)


def test_illegal_moves_end_with_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(evaluate, "make_agent", lambda *_: Cheat())
    path = tmp_path / "x"
    assert main([*PAIR, "--json", str(path)]) == 1
    assert results(path)["rows"][0]["illegal"] > 0


def test_deals_that_do_not_sum_to_zero_end_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(*arguments: Any) -> Comparison:
        return replace(arena.compare(*arguments), nonzero=1)

    monkeypatch.setattr(evaluate, "compare", compare)
    assert main(PAIR) == 1


def test_interruption(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def compare(*arguments: Any) -> Comparison:
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "compare", compare)
    paths = ("--json", str(tmp_path / "x"), "--records", str(tmp_path / "y"))
    assert main([*PAIR, *paths]) == 130
    assert list(tmp_path.iterdir()) == []
    captured = capsys.readouterr()
    assert captured.err == "interrupted; unfinished results were not written\n"


BAD = {
    "--candidates nobody": "no such agent: 'nobody'",
    "--fields uniform,nobody": "no such agent: 'nobody'",
    "--candidates runs/no-such-run": "runs/no-such-run",
    "--candidates uniform,uniform": "candidates: 'uniform' stands there twice",
    "--candidates []": "candidates must name at least one agent",
    "--fields []": "fields must name at least one agent",
    "--deals 1": "deals must be 2 to 1000000000, not 1",
    "--deals many": "deals: must be of type int; got many",
    "--batch_size 0": "batch_size must be 1 to 1000000, not 0",
    "--seeds=": "seeds must be a name",
    "--game chess": "no such game: 'chess' (known: prefa",
    "--json none/x.json": "cannot write 'none/x.json': there is no folder",
    "--records /": "cannot write '/': it is a folder",
    "--json x --records x": "json and records must be two files",
    "--rules.all_pass never": "rules.all_pass: must be one of 'redeal', 'misere'; got never",
    "--deal 5": "unknown option 'deal' (did you mean 'deals'?)",
    "--config none.yaml": "config: no such file: 'none.yaml'",
}


@pytest.mark.parametrize("arguments", BAD)
def test_errors_end_with_2_in_one_line_before_playing(
    arguments: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(evaluate, "compare", None)
    with pytest.raises(SystemExit) as stop:
        main([*PAIR, *arguments.split()])
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("evaluate.py: error: ") and captured.err.count("\n") == 1
    assert BAD[arguments] in captured.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*eval*.yaml")), ids=str)
def test_configs_are_read(path: Path) -> None:
    config = parse_config(EvaluateConfig, "", ["--config", str(path)])
    assert config != EvaluateConfig()
    assert config.json is None  # a config says what is played, its user where results go


def test_seed_sets_of_the_configs_are_disjoint() -> None:
    names = [
        parse_config(EvaluateConfig, "", ["--config", str(path)]).seeds
        for path in (ROOT / "configs").glob("*eval*.yaml")
    ]
    assert len(names) == len(set(names)) >= 3
