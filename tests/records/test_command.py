"""`python -m prefa_env.records`: what it prints and its exit codes."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from prefa_env import prefa
from prefa_env.prefa import Rules, parse_action
from prefa_env.prefa.site import log_lines
from prefa_env.records import (
    DealRecord,
    Record,
    RecordError,
    json_schema,
    parse_record,
    record_deal,
    replay,
    replay_deals,
    write_records,
)
from prefa_env.records.__main__ import main
from prefa_env.sheet import ScoreSheet
from tests.helpers import new_table
from tests.records.played import (
    GAME,
    NAMES,
    play_out,
    random_deal,
    random_deck,
    random_match,
)

RNG = random.Random(6)
RECORDS: list[Record] = [random_deal(RNG)[0], random_match(RNG)[0], random_deal(RNG)[0]]
LINES = [record.to_json() for record in RECORDS]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    write_records(tmp_path / "good.jsonl", RECORDS)
    return tmp_path / "good.jsonl"


def test_a_good_file(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(good), str(good)]) == 0
    assert capsys.readouterr().out.startswith("4 deals, 2 matches, 0 errors, ")


def test_a_line_that_breaks_off_is_a_warning(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with good.open("a", encoding="utf-8") as file:
        file.write(LINES[0][:-20])
    assert main(["check", str(good)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{good}:4: the last line breaks off and is left out (a warning)\n")
    assert "2 deals, 1 matches, 0 errors" in out


def test_bad_lines_are_named(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good.write_text("\n".join([LINES[0], "{}", LINES[1]] + 30 * ["[]"]), "utf-8")
    assert main(["check", str(good)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"{good}:2: field 'v' is missing"
    assert len(out) == 22
    assert out[20] == "11 more errors; --all names them"
    assert out[21].startswith("1 deals, 1 matches, 31 errors, ")
    assert main(["check", "--all", str(good)]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 32


def test_what_cannot_be_read(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.gz").write_text("plain")
    for path in (tmp_path / "none", tmp_path, tmp_path / "plain.gz"):
        assert main(["check", str(path), str(good)]) == 2
        out, err = capsys.readouterr()
        assert err.startswith(f"{path}: cannot be read: ") and err.count("\n") == 1
        assert out.startswith("2 deals, 1 matches, 0 errors")  # the other file is checked


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = io.TextIOWrapper(io.BytesIO(LINES[0].encode() + b"\n{}\n"))
    monkeypatch.setattr("sys.stdin", text)
    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("-:2: field 'v' is missing\n1 deals")


def test_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_a_bad_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["check"], ["chek", "x"]):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interruption_is_clean() -> None:
    command = [sys.executable, "-m", "prefa_env.records", "check", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT) as process:
        assert process.stdin is not None
        process.stdin.write(b"{}\n" * 200_000)  # more than a pipe holds: the command is at work
        process.stdin.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b"interrupted; the lines after this were not read\n"


def test_the_score_sheet_of_a_match(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = RECORDS[1]
    sheet = ScoreSheet.of_tables(match.agents, replay_deals(match))
    command = ["sheet", str(good), "--line", "2"]
    for options, expected in (
        ([], sheet.text(annotated=True)),
        (["--plain"], sheet.text()),
        (["--format", "markdown"], sheet.markdown(annotated=True)),
        (["--format", "html", "--plain"], sheet.html()),
    ):
        assert main([*command, *options]) == 0
        assert capsys.readouterr().out == expected + "\n"


def test_players_of_one_name_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.jsonl"
    for agents, names in (
        (("a", "b", "a"), ["a 0", "b", "a 2"]),
        (("", "x\n y\x1b", "  "), ["0", "x y", "2"]),
    ):
        match = msgspec.structs.replace(RECORDS[1], agents=agents)
        write_records(path, [match])
        assert main(["check", str(path)]) == 0
        capsys.readouterr()
        assert main(["sheet", str(path)]) == 0
        sheet = ScoreSheet.of_tables(names, replay_deals(match))
        assert capsys.readouterr().out == sheet.text(annotated=True) + "\n"


def test_what_the_command_cannot_do_is_said_in_a_line(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(SystemExit, match="2"):
        main(["sheet", str(good), "--line", "2", "--format", "html"])
    assert "needs jinja2: pip install" in capsys.readouterr().err
    line = log_lines(site_deals(1)[0].deal, list(map(parse_action, site_deals(1)[0].actions)))
    log = os.fsencode(tmp_path) + b"/\xff.txt"
    Path(os.fsdecode(log)).write_text("\n".join(line), "utf-8")
    assert main(["import", os.fsdecode(log)]) == 0
    record = parse_record(capsys.readouterr().out)
    assert str(record.seed).endswith("\\udcff.txt:1")
    with pytest.raises(RecordError, match="no Unicode"):
        msgspec.structs.replace(record, seed="\udcff").to_json()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1", "good.jsonl:1: is a deal, not a match: it has no score sheet"),
        ("9", "good.jsonl has no line 9"),
        ("0", "good.jsonl has no line 0"),
        ("4", "good.jsonl:4: field 'v' is missing"),
        ("5", "good.jsonl:5: deal 1: field 'deal': "),
    ],
)
def test_no_sheet(line: str, message: str, good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dealer = f'"deals":[{{"deal":"{RECORDS[1].deals[0].deal[0]}'  # type: ignore[union-attr]
    with good.open("a", encoding="utf-8") as file:
        file.write("{}\n" + LINES[1].replace(dealer, dealer[:-1] + "7") + "\n")
    with pytest.raises(SystemExit, match="2"):
        main(["sheet", str(good), "--line", line])
    out, err = capsys.readouterr()
    assert message in err and err.count("\n") == 1 and not out


def test_import_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deals = site_deals(4)
    lines = [log_lines(deal.deal, list(map(parse_action, deal.actions))) for deal in deals]
    lines[2].insert(3, "claim\t1\t7")
    log = tmp_path / "log.txt"
    log.write_text("\n".join(line for deal in lines for line in deal), "utf-8")
    assert main(["import", str(log)]) == 1
    out, err = capsys.readouterr()
    refusal, counts = err.splitlines()
    assert refusal.startswith(f"{log}:") and "claim" in refusal
    assert counts == "3 deals, 1 refused"
    found = [parse_record(line) for line in out.splitlines()]
    for record, deal in zip(found, [deals[0], deals[1], deals[3]], strict=True):
        assert isinstance(record, DealRecord)
        replay(record)
        assert (record.deal, record.actions, record.kapikia) == (
            deal.deal, deal.actions, deal.kapikia,
        )  # fmt: skip
        assert str(record.seed).startswith(f"{log}:")
    with pytest.raises(SystemExit, match="2"):
        main(["import", str(tmp_path / "none")])
    assert "No such file" in capsys.readouterr().err


def site_deals(count: int) -> list[DealRecord]:
    """Random deals by the rules of the site."""
    rng, rules = random.Random(9), Rules.site()
    found = []
    for _ in range(count):
        table = new_table()
        prefa.deal(table, rules.flags, random_deck(rng), rng.randrange(3))
        actions = play_out(rng, table, is_easy=False)
        found.append(record_deal(GAME, rules, table, actions, NAMES, 0))
    return found
