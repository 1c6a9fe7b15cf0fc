"""Results as a table and as JSON."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from agents import make_agent
from agents.arena import Comparison, SeedSet, compare
from agents.report import print_results, results_json, write_json
from prefa_env.doors import find_game
from prefa_env.prefa import Rules

GAME = find_game("prefa")
SEEDS = SeedSet("test")


@pytest.fixture(scope="module")
def result() -> Comparison:
    uniform, pass_always = make_agent("uniform"), make_agent("pass-always")
    return compare(GAME, Rules(), uniform, pass_always, SEEDS, 30)


def printed(*results: Comparison, width: int = 120) -> str:
    file = io.StringIO()
    print_results(Console(file=file, width=width), GAME, results)
    return file.getvalue()


def test_table_shows_the_numbers(result: Comparison) -> None:
    text = printed(result)
    row = next(line.split() for line in text.splitlines() if line.split()[:1] == ["uniform"])
    expected = [
        "uniform", "pass-always", "30", f"{result.mean:+.2f}", f"{result.low:+.2f}",
        f"{result.high:+.2f}", f"{result.sd:.1f}", *(f"{m:+.1f}" for m in result.per_seat),
        "0", "0",
    ]  # fmt: skip
    assert row == expected
    assert "settled kapikia per deal" in text


def test_table_shows_behaviour(result: Comparison) -> None:
    text = printed(result)
    cells = next(line.split() for line in text.splitlines() if line.startswith("  pass-always"))
    assert "–" in cells and cells[-1] == "0.0"
    declared = result.behaviour["candidate"]["declared"]
    assert declared is not None and f"{100 * declared:.1f}" in text
    empty = replace(result, behaviour={"candidate": {}, "field": {}})
    assert "what they did" not in printed(empty)


def test_every_number_fits(result: Comparison) -> None:
    assert "…" not in printed(result)
    narrow = printed(replace(result, candidate="runs/quickstart"), width=80)
    assert "…" not in narrow
    for header in ("illegal", "nonzero", "runs/quickstart", "pass-always", "held"):
        assert header in narrow


def test_names_are_no_markup(result: Comparison) -> None:
    text = printed(replace(result, candidate="[bold]x", field="[red]y"))
    assert text.count("[bold]x") == text.count("[red]y") == 2


def test_trouble_is_shown(result: Comparison) -> None:
    text = printed(replace(result, illegal=71, nonzero=83))
    assert "71" in text and "83" in text


def test_json_contract(result: Comparison, tmp_path: Path) -> None:
    rules = Rules.site()
    write_json(
        tmp_path / "x", results_json(GAME, rules, SEEDS, 30, {"deals": 30}, [result, result])
    )
    values = json.loads((tmp_path / "x").read_text("utf-8"))
    assert values["unit"] == "settled_kapikia"
    assert values["game"] == "prefa"
    assert Rules(**values["rules"]) == rules
    assert values["seeds"] == {"name": "test", "hash": SEEDS.fingerprint(GAME, 30)}
    assert values["config"] == {"deals": 30}
    assert values["version"]
    assert len(values["rows"]) == 2
    row = values["rows"][0]
    for name in ("candidate", "field", "deals", "mean", "low", "high", "sd", "illegal", "nonzero"):
        assert row[name] == getattr(result, name)
    assert row["per_seat"] == list(result.per_seat)
    assert row["behaviour"] == result.behaviour
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_json(tmp_path / "x", {"a": 1, "b": object()})
    assert list(tmp_path.iterdir()) == []
