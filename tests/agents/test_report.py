"""Results on the console and as a file."""

from __future__ import annotations

import io
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress

from agents.cli import Names
from agents.evaluation import EvaluateConfig, Evaluation
from agents.html import render
from agents.report import print_results, write_json
from agents.results import results
from prefa_env.prefa import Rules

Results = dict[str, Any]


def play(**changes: Any) -> Results:
    settings = {"deals": 30, "examine": 5, "timed": 1, "seeds": "smoke", **changes}
    evaluation = Evaluation(EvaluateConfig(**settings))
    evaluation.run(Progress(disable=True))
    return results(evaluation)


@pytest.fixture(scope="module")
def found() -> Results:
    return play(candidates=Names(("uniform",)), fields=Names(("pass-always",)))


@pytest.fixture(scope="module")
def league() -> Results:
    return play(design="league", candidates=Names(("uniform", "pass-always", "first-legal")))


def printed(values: Results, width: int = 120) -> str:
    file = io.StringIO()
    print_results(Console(file=file, width=width), values)
    return file.getvalue()


def changed(values: Results, **row: Any) -> Results:
    copy = deepcopy(values)
    copy["rows"][0].update(row)
    return copy


def test_table_shows_the_numbers(found: Results) -> None:
    text = printed(found)
    row = found["rows"][0]
    cells = next(line.split() for line in text.splitlines() if line.split()[:1] == ["uniform"])
    assert cells == [
        "uniform", "pass-always", "30", f"{row['mean']:+.2f}", f"{row['low']:+.2f}",
        f"{row['high']:+.2f}", "<.001", f"{row['sd']:.1f}",
        *(f"{m:+.1f}" for m in row["per_seat"]), "0", "0",
    ]  # fmt: skip
    assert "settled kapikia per deal" in text


def test_small_probabilities() -> None:
    values = play(candidates=Names(("uniform",)), fields=Names(("uniform",)))
    assert " 1.000 " in printed(values)
    assert " .042 " in printed(changed(values, p_holm=0.0421))


def test_table_shows_behaviour(found: Results) -> None:
    text = printed(found)
    cells = next(line.split() for line in text.splitlines() if line.startswith("  pass-always"))
    assert "–" in cells and cells[-1] == "0.0"
    declared = found["rows"][0]["behaviour"]["candidate"]["declared"]
    assert f"{100 * declared:.1f}" in text
    empty = changed(found, behaviour={"candidate": {}, "field": {}})
    assert "what they did" not in printed(empty)


def test_table_shows_the_players(league: Results) -> None:
    text = printed(league)
    line = next(line for line in text.splitlines()[::-1] if line.startswith(" uniform"))
    agent = league["agents"]["uniform"]
    assert f"{agent['regret']['declarer']['per_card']:.3f}" in line
    assert f"{agent['ms']['play']['p50']:.2g} / {agent['ms']['play']['p95']:.2g}" in line
    plain = play(examine=0, timed=0)
    assert "the players" not in printed(plain)


def test_players_that_are_not_the_same_alone_are_shown(league: Results) -> None:
    values = deepcopy(league)
    values["agents"]["pass-always"]["differing"] = 17
    assert "pass-always chose otherwise when asked alone, 17 times" in printed(values)
    assert "chose otherwise" not in printed(league)


def test_a_league_is_shown(league: Results) -> None:
    text = printed(league)
    for rating in league["league"]["ratings"]:
        assert f"{rating['rating']:+.2f}" in text and f"{rating['mu']:.1f} ±" in text
    assert f"{league['league']['payoffs'][0][1][1]:+.1f}" in text


def test_a_cross_is_shown() -> None:
    pair = {"candidates": Names(("heuristic",)), "fields": Names(("uniform",))}
    values = play(design="cross", **pair)
    text = printed(values)
    assert "where heuristic wins from uniform" in text
    assert f"interaction  {values['cross'][0]['interaction']['mean']:+.2f}" in text
    page = render(values)
    assert "Bidding and cards" in page
    assert f"{abs(values['cross'][0]['bidding']['mean']):.2f}" in page


def test_who_is_out_is_shown(found: Results) -> None:
    failure = {"agent": "[x]", "message": "TimeoutError: late", "candidate": "[x]", "field": "y"}
    text = printed({**found, "rows": [], "failures": [failure]})
    assert "out: [x]: TimeoutError: late ([x] against y)" in text


@pytest.mark.parametrize("kind", ["found", "league"])
def test_every_number_fits(kind: str, request: pytest.FixtureRequest) -> None:
    values: Results = request.getfixturevalue(kind)
    for width in (80, 120):
        assert "…" not in printed(values, width)
    narrow = printed(changed(values, candidate="runs/quickstart"), 80)
    if kind == "found":
        for header in ("illegal", "nonzero", "runs/quickstart", "pass-always", "held"):
            assert header in narrow


def test_names_are_no_markup(found: Results) -> None:
    text = printed(changed(found, candidate="[bold]x", field="[red]y"))
    assert text.count("[bold]x") == text.count("[red]y") == 2


def test_trouble_is_shown(found: Results) -> None:
    text = printed(changed(found, illegal=71, nonzero=83))
    assert "71" in text and "83" in text


def test_json_contract(tmp_path: Path) -> None:
    rules = Rules.site()
    values = play(rules=rules, deals=30)
    write_json(tmp_path / "x", values)
    read = json.loads((tmp_path / "x").read_text("utf-8"))
    assert read["unit"] == "settled_kapikia"
    assert read["game"] == "prefa"
    assert Rules(**read["rules"]) == rules
    assert read["seeds"] == {
        "name": "smoke", "hash": "1ae32d912af21556", "deals": 30, "benchmark": "587ce5fbe263f548",
    }  # fmt: skip
    assert read["config"]["deals"] == 30
    assert read["version"] and read["processor"] and read["date"]
    (row,) = read["rows"]
    for name in ("candidate", "field", "deals", "mean", "low", "high", "sd", "illegal", "nonzero"):
        assert row[name] == values["rows"][0][name]
    assert sum(row["histogram"]["counts"]) == 30
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_json(tmp_path / "x", {"a": 1, "b": object()})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["found", "league"])
def test_the_page_takes_what_is_found(kind: str, request: pytest.FixtureRequest) -> None:
    values: Results = request.getfixturevalue(kind)
    page = render(values)
    for part in ("Regret", "Milliseconds a move", "uniform"):
        assert part.lower() in page.lower()
