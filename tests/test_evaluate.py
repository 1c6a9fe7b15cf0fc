"""The script: every candidate against every field, exit codes, errors in one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

import evaluate
from agents import evaluation
from agents.agent import Actions, Keys, Masks, Observations
from agents.benchmarks import BENCHMARKS
from agents.cli import parse_config
from agents.evaluation import EvaluateConfig, Evaluation
from agents.journal import Journal
from agents.tally import Tally
from evaluate import main
from prefa_env.prefa import Rules
from prefa_env.records import DealRecord, read_records, replay

ROOT = Path(evaluate.__file__).parent
PAIR = (
    "--candidates", "uniform", "--fields", "pass-always", "--deals", "20", "--seeds", "smoke",
    "--examine", "0", "--timed", "0",
)  # fmt: skip


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
    for name in ("config", "seconds"):
        del values[name]
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
    monkeypatch.setattr(evaluation, "make_agent", lambda *_: Cheat())
    path = tmp_path / "x"
    assert main([*PAIR, "--json", str(path)]) == 1
    assert results(path)["rows"][0]["illegal"] > 0


class Breaks(Cheat):
    """Has no answer."""

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        raise TimeoutError("took longer than 10 s")


def test_an_agent_that_is_out_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluation, "make_agent", lambda *_: Breaks())
    assert main(PAIR) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "out: cheat: TimeoutError: took longer than 10 s (uniform against pass-always)" in text


def test_deals_that_do_not_sum_to_zero_end_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    add = Tally.add
    monkeypatch.setattr(Tally, "add", lambda tally, lot: add(tally, {**lot, "nonzero": 1}))
    assert main(PAIR) == 1


def test_interruption(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Evaluation, "run", run)
    paths = ("--json", str(tmp_path / "x"), "--records", str(tmp_path / "y"))
    assert main([*PAIR, *paths]) == 130
    assert list(tmp_path.iterdir()) == []
    captured = capsys.readouterr()
    assert captured.err == "interrupted; unfinished results were not written\n"


def test_an_interrupted_folder_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ("--out", str(tmp_path / "out"), "--batch_size", "5")
    calls = 0
    add = Tally.add

    def stop(tally: Tally, lot: Any) -> None:
        nonlocal calls
        add(tally, lot)
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Tally, "add", stop)
        assert main([*PAIR, *out]) == 130
    captured = capsys.readouterr()
    assert captured.err == "interrupted; the same command goes on\n"
    assert "pass-always     10 " in captured.out  # what there is so far
    assert main([*PAIR, *out]) == 0
    assert main([*PAIR, "--json", str(tmp_path / "x")]) == 0
    assert results(tmp_path / "out" / "results.json") == results(tmp_path / "x")
    assert "<svg" in (tmp_path / "out" / "report.html").read_text("utf-8")
    with pytest.raises(SystemExit) as exit_code:
        main([*PAIR, *out, "--candidates", "first-legal"])
    assert exit_code.value.code == 2
    assert "holds another evaluation: candidates was ['uniform']" in capsys.readouterr().err


ANSWERS_CTRL_C = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
runpy.run_path("evaluate.py", run_name="__main__")
"""


@pytest.mark.parametrize("is_killed", [False, True])
def test_processes_end_with_their_parent(tmp_path: Path, is_killed: bool) -> None:
    """Ctrl-C to all of them, or kill -9 of the first; nobody is left, and the same goes on."""
    command = [
        sys.executable, "-c", ANSWERS_CTRL_C, "--candidates", "heuristic",
        "--fields", "heuristic-v1", "--deals", "100000", "--seeds", "test",
        "--examine", "0", "--timed", "0",
        "--workers", "2", "--batch_size", "20", "--out", str(tmp_path / "out"),
    ]  # fmt: skip
    journal = tmp_path / "out" / "journal.jsonl"
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not journal.exists() or journal.read_bytes().count(b"\n") < 10:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    if is_killed:
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    while True:  # those that it started end soon after
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)
    if not is_killed:
        assert (process.returncode, error) == (130, "interrupted; the same command goes on\n")
    evaluation = Evaluation(parse_config(EvaluateConfig, "", command[3:]))
    with Journal(tmp_path / "out", evaluation.setup()) as played:
        evaluation.restore(played.entries)
    assert 100 < evaluation.tallies[0].deals < 100_000


def test_a_full_disk(capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with pytest.raises(SystemExit) as exit_code:
        main([*PAIR, "--records", "/dev/full"])
    assert exit_code.value.code == 2
    assert "No space left on device" in capsys.readouterr().err


def test_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deals.jsonl"
    assert main([*PAIR, "--records", str(path)]) == 0
    capsys.readouterr()
    assert main(["--replay", f"{path}:5"]) == 0
    text = capsys.readouterr().out
    record = list(read_records(path))[4]
    assert isinstance(record, DealRecord)
    assert f"deal smoke:1: {record.deal}" in text
    assert "player_1  uniform" in text
    assert "the replay agrees with the record" in text
    lines = path.read_text("utf-8").splitlines()
    first, *rest = record.settled
    lines[4] = structs.replace(record, settled=(first + 1, *rest)).to_json()
    path.write_text("\n".join(lines), "utf-8")
    for place, message in ((f"{path}:5", "field 'settled' is"), (f"{path}:99", "has no line 99")):
        with pytest.raises(SystemExit) as exit_code:
            main(["--replay", place])
        assert exit_code.value.code == 2
        assert message in capsys.readouterr().err


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
    "--json x --records x": "json, html and records must be different files",
    "--deals 501": "the benchmark 'smoke' has 500 deals, not 501: ask for fewer",
    "--design xxx": "design: must be one of 'xyy', 'xxy', 'cross', 'trio', 'league'; got xxx",
    "--design trio": "trio needs 3 candidates, a seat each, not 1",
    "--design league": "a league needs 2 candidates or more, not 1",
    "--design cross --until 1": "until is for the designs xyy and xxy, not cross",
    "--until 0": "until must be 0.001 to 1000000.0, not 0.0",
    "--until 1": "until needs 500 deals or more, not 20",
    "--sample 3": "sample is for the design league, not xyy",
    "--out /dev/null": "/dev/null is a file, not the folder of an evaluation",
    "--replay none.jsonl": "none.jsonl",
    "--out x --json x/journal.jsonl": "journal.jsonl in x is the evaluation's own",
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
    monkeypatch.setattr(Evaluation, "run", None)
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


def test_configs_name_benchmarks() -> None:
    names = [
        parse_config(EvaluateConfig, "", ["--config", str(path)]).seeds
        for path in (ROOT / "configs").glob("*eval*.yaml")
    ]
    assert sorted(names) == sorted(BENCHMARKS)
