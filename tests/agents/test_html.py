"""The HTML page of an evaluation's results."""

from __future__ import annotations

import copy
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from agents.curves import read_curves
from agents.html import render, words
from agents.html.__main__ import main
from tests.agents.html_results import EIGHT, agent, results, row

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """A page taken apart; fails where tags are not balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.labels: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            if name == "id":
                self.ids.append(value or "")
            elif name in {"href", "src", "xlink:href", "action", "data"}:
                self.links.append(value or "")
            elif name == "aria-label":
                self.labels.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def league_page() -> str:
    return render(results("league"))


def small(**changes: Any) -> dict[str, Any]:
    """One row and nothing that may be missing: quick to render."""
    bare = row("heuristic", "pimc:10")
    for name in ("behaviour", "roles", "histogram", "bootstrap_low", "bootstrap_high"):
        del bare[name]
    values = results(rows=[bare])
    for name in ("league", "agents", "failures", "commit", "processor", "date", "seconds"):
        del values[name]
    return values | changes


def parts(text: str) -> set[str]:
    return set(re.findall(r'<section id="(\w+)"', text))


# -- the page ---------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["xyy", "xxy", "trio", "cross"])
def test_every_design_is_a_page(design: str) -> None:
    values = results(design)
    values["rows"] = values["rows"][:2]
    values["agents"] = {}
    page = Page(render(values))
    assert words.DESIGNS[design] in page.words
    assert page.words.startswith("prefa: evaluation on report-v1")


def test_page_is_whole_and_needs_nothing_else(league_page: str) -> None:
    page = Page(league_page)
    assert page.tags[:2] == ["html", "head"]
    assert "script" not in page.tags and "link" not in page.tags
    assert league_page.startswith("<!DOCTYPE html>")
    assert all(link.startswith("#") for link in page.links)
    assert set(re.findall(r"url\((.)", league_page)) <= {"#"}
    assert "@import" not in league_page
    assert 'name="viewport"' in league_page and "prefers-color-scheme: dark" in league_page


def test_ids_are_unique_and_what_is_pointed_to_is_there(league_page: str) -> None:
    page = Page(league_page)
    assert len(page.ids) == len(set(page.ids))
    pointed = set(page.links) | set(re.findall(r"url\((#[^)]+)\)", league_page))
    assert pointed and {target[1:] for target in pointed} <= set(page.ids)


def test_eight_agents_with_long_names_stay_small(league_page: str) -> None:
    assert len(league_page.encode()) < 1_500_000
    page = Page(league_page)
    for name in EIGHT:
        assert name in page.words  # in full in a table


def test_every_plot_says_what_it_shows(league_page: str) -> None:
    plots = re.findall(r"<svg [^>]*>", league_page)
    assert len(plots) > 20
    assert all('role="img"' in svg and 'aria-label="' in svg for svg in plots)
    page = Page(league_page)
    assert any("pimc:10 vs heuristic +4.70 (+3.83 to +5.57)" in label for label in page.labels)


def test_tables_have_headers(league_page: str) -> None:
    tables = re.findall(r"<table>.*?</table>", league_page, re.DOTALL)
    assert len(tables) == 8
    for table in tables:
        assert '<th scope="col"' in table
        assert '<th scope="row"' in table or '<th scope="rowgroup"' in table


def test_same_results_same_bytes() -> None:
    values = results(agents={})
    before = copy.deepcopy(values)
    assert render(values) == render(copy.deepcopy(values))
    assert values == before


def test_matplotlibrc_does_not_matter() -> None:
    import matplotlib

    expected = render(small())
    with matplotlib.rc_context({"xtick.labelsize": 31, "svg.fonttype": "path"}):
        assert render(small()) == expected


def test_names_are_text() -> None:
    name = 'runs/<script>alert("&amp;$x$")</script>'
    values = results(
        failures=[{"agent": name, "message": "<b>", "candidate": name, "field": "a&b"}],
        rows=[row(name, "a&b"), row('<i id="x">', "'")],
        agents={name: agent(has_curves=True)},
        config={"candidates": [name]},
    )
    text = render(values)
    page = Page(text)
    assert "script" not in page.tags and "i" not in set(page.tags) - {"i"}
    assert "<script" not in text and "&amp;amp;$x$" in text
    assert f"{name} vs a&b" in page.words
    assert '<i id="x">' in page.words


# -- its parts --------------------------------------------------------------------------------

ALWAYS = {"results", "reading", "repeating"}


def test_what_is_missing_is_left_out() -> None:
    text = render(small())
    assert parts(text) == ALWAYS
    assert "None" not in text and 'class="trouble"' not in text
    empty = small(league=None, agents={}, failures=None, commit=None, seconds=None)
    assert render(empty) == text
    bare = {**small()["rows"][0], "behaviour": {}, "roles": None, "histogram": None, "p_holm": None}
    without_p = render(small(rows=[bare]))
    assert parts(without_p) == ALWAYS and "; Holm" not in without_p
    assert parts(render(small(rows=[]))) == {"reading", "repeating"}


def test_everything_is_there_with_its_data(league_page: str) -> None:
    everything = {"spread", "league", "roles", "behaviour", "calibration", "regret", "speed"}
    assert parts(league_page) == ALWAYS | everything | {"curves"}
    shown = set(re.findall(r'<a href="#(\w+)"', league_page))
    assert shown == parts(league_page)


@pytest.mark.parametrize(
    ("key", "part", "shown"),
    [
        ("histogram", "spread", "% of deals"),
        ("roles", "roles", "co-defender"),
        ("behaviour", "behaviour", "mean level"),
    ],
)
def test_part_of_rows(key: str, part: str, shown: str) -> None:
    full = row("heuristic", "pimc:10")
    text = render(small(rows=[{**small()["rows"][0], key: full[key]}]))
    assert parts(text) == ALWAYS | {part}
    assert shown in Page(text).words


@pytest.mark.parametrize(
    ("key", "part", "shown"),
    [
        ("ms", "speed", "discard 1,800 0.02 0.1"),
        ("calibration", "calibration", "8 187 8.10 8.40 88.3"),
        ("regret", "regret", "defender 24,000 0.031 0.41 94.0"),
        ("curves", "curves", "rollout/ep_rew_mean"),
    ],
)
def test_part_of_agents(key: str, part: str, shown: str) -> None:
    text = render(small(agents={"heuristic": {key: agent(has_curves=True)[key]}, "x": {}}))
    assert parts(text) == ALWAYS | {part}
    assert shown in Page(text).words


def test_league_shows_the_pairs_and_the_ratings(league_page: str) -> None:
    page = Page(league_page).words
    assert "1 heuristic 0.00 +1.60 +3.20" in page  # (2 * 7.5 - 2 * 5.1) / 3 and so on
    assert "2 pimc:10 −1.60 0.00 +1.60" in page
    assert "heuristic +7.50 +6.90 to +8.10 32.50 1.20" in page


def test_league_without_some_games() -> None:
    values = results("league", rows=[], agents={})
    payoffs = values["league"]["payoffs"]
    payoffs[0][1][1] = payoffs[0][0][0] = None
    page = Page(render(values)).words
    assert "1 heuristic 0.00 – +3.20" in page


def test_rows_in_numbers() -> None:
    text = Page(render(results(rows=[row("heuristic", "pimc:10")], agents={}))).words
    expected = (
        "heuristic pimc:10 +2.30 +1.67 to +2.93 +1.69 to +2.96 12.3 < 0.001 3,000 "
        "+2.6 +1.8 +2.5 0 0"
    )
    assert expected in text
    assert "11.0 31.0 74.0 18.0 5.0 3.0 6.42 55.0 45.0 20.0 80.0 4.0 –" in text


def test_where_it_comes_from() -> None:
    page = Page(render(results(rows=[], agents={}))).words
    for expected in (
        "3,000 deals of report-v1", "0123456789abcdef", "fedcba9876543210", "0.1.0", "abcdef0",
        "AMD EPYC 7763", "2026-12-01", "123 s", "hold=earlier_position", "write_bid=true",
        "--fields heuristic",
    ):  # fmt: skip
        assert expected in page


def test_trouble_is_red() -> None:
    failure = {"agent": "mine", "message": "ValueError: x", "candidate": "mine", "field": "pimc:10"}
    values = small(failures=[failure])
    values["rows"][0] |= {"illegal": 1071, "illegal_candidate": 1070, "illegal_field": 1}
    text = render(values)
    page = Page(text).words
    assert "mine failed in mine vs pimc:10: ValueError: x" in page
    assert "illegal moves: 1,071 (candidate 1,070, field 1)" in page
    assert text.count('<td class="alarm">') == 1 and '<td class="alarm">1,071</td>' in text
    nonzero = small()
    nonzero["rows"][0]["nonzero"] = 5
    assert '<td class="alarm">5</td>' in render(nonzero)


# -- words ------------------------------------------------------------------------------------


def verdict(mean: float, low: float, high: float, p: float | None = 1e-9, **changes: Any) -> str:
    values: Any = {"candidate": "a", "field": "b", "design": "xyy", "p_holm": p} | changes
    text = words.verdict(values | {"mean": mean, "low": low, "high": high}, "kapikia a deal")
    return text.replace("\u00a0", " ")


def test_verdicts() -> None:
    won = "a wins 2.31 kapikia a deal from b (95 %: 1.90 to 2.72); Holm p < 0.001."
    assert verdict(2.31, 1.9, 2.72) == won
    lost = "a loses 2.31 kapikia a deal to b (95 %: 1.90 to 2.72); Holm p = 0.012."
    assert verdict(-2.31, -2.72, -1.9, 0.0121) == lost
    even = "a is not told apart from b: −0.10 kapikia a deal (95 %: −0.50 to +0.30)."
    assert verdict(-0.1, -0.5, 0.3, None) == even
    assert verdict(1, 0.1, 1.9, 0.07).startswith("a is not told apart from b: +1.00")
    assert "so not told apart" not in verdict(0.1, -0.5, 0.7, 0.9)
    assert verdict(1, 0.5, 1.5, design="xxy").startswith("each of two a wins 1.00")
    assert "wins 1.00 kapikia a deal with b, c" in verdict(1, 0.5, 1.5, design="trio", field="b, c")
    assert verdict(0, 0, 0, 1.0).startswith("a is not told apart from b: 0.00")


def test_numbers() -> None:
    assert [words.signed(x) for x in (1.005, -0.001, -1234.5, None)] == [
        "+1.00", "0.00", "−1,234.50", "–",
    ]  # fmt: skip
    assert [words.milliseconds(x) for x in (0.01234, 12.34, 1234.5)] == ["0.0123", "12.3", "1,234"]


def test_cut_names_differ() -> None:
    names = ["runs/one/checkpoints/step_0001", "runs/two/checkpoints/step_0001", "short"]
    short = words.short_names(names, 12)
    assert len(set(short.values())) == 3
    assert all(len(name) <= 12 for name in short.values())
    assert short["short"] == "short"


def test_command_can_be_pasted() -> None:
    config = {
        "candidates": ["a b", "c"], "deals": 30, "json": None, "fields": [],
        "rules": {"write_bid": False},
    }  # fmt: skip
    assert words.command(config).replace(" \\\n    ", " ") == (
        "python evaluate.py --candidates 'a b,c' --deals 30 --rules.write_bid false"
    )


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("unit",), ..., "unit is missing"),
        (("seeds", "hash"), ..., "seeds.hash is missing"),
        (("rows", 0, "mean"), ..., "rows[0].mean is missing"),
        (("rows",), {}, "rows must be a list, not {}"),
        (("rows", 0, "mean"), float("nan"), "rows[0].mean must be a finite number, not nan"),
        (("rows", 0, "deals"), True, "rows[0].deals must be an integer, not True"),
        (("rows", 0, "candidate"), 7, "rows[0].candidate must be text, not 7"),
        (("rows", 0, "histogram", "counts"), [1], "rows[0].histogram needs one edge more"),
        (("rows", 0, "roles", "field", "guest"), 3, "rows[0].roles.field.guest must be an object"),
        (("league", "agents"), ["a"], "league.payoffs must hold 1 entries"),
        (("league", "payoffs", 0, 0), [], "league.payoffs[0][0] must hold 8 entries"),
        (("agents", "heuristic", "curves"), {"x": [[1]]}, "agents.heuristic.curves.x must hold"),
    ],
)
def test_bad_results_name_the_key(path: tuple[Any, ...], value: Any, expected: str) -> None:
    values = results("league")
    inner = values
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    with pytest.raises(ValueError, match=re.escape(expected)):
        render(values)


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, report = tmp_path / "results.json", tmp_path / "report.html"
    source.write_text(json.dumps(small()), "utf-8")
    assert main([str(source), str(report)]) == 0
    assert report.read_text("utf-8") == render(small())
    for text, expected in (
        ("[]", "the whole must be an object, not []"),
        ("{}", "unit is missing"),
        ("{", "holds no results"),
        ("\xff", "holds no results"),
    ):
        source.write_bytes(text.encode("latin-1"))
        assert main([str(source), str(tmp_path / "other.html")]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and str(source) in error and expected in error
    assert main([str(tmp_path / "none"), str(report)]) == 2
    assert "none" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == [report, source]


@pytest.mark.parametrize("name", ["jinja2", "matplotlib"])
def test_missing_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match=rf"needs {name}: pip install 'prefa\[report\]'"):
        render(small())


# -- learning curves --------------------------------------------------------------------------


def test_curves_of_a_run(tmp_path: Path) -> None:
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    with tensorboard.SummaryWriter(str(tmp_path)) as writer:
        for step in range(1000):
            value = float("nan") if step == 500 else step / 10
            writer.add_scalar("rollout/ep_rew_mean", value, 64 * step)
        writer.add_scalar("rollout/made", 0.5, 7)
        writer.add_scalar("train/grad_norm", 0.5, 7)
    curves = read_curves(tmp_path, points=20)
    assert set(curves) == {"rollout/ep_rew_mean", "rollout/made"}
    assert curves["rollout/made"] == [[7, 0.5]]
    curve = curves["rollout/ep_rew_mean"]
    assert len(curve) == 20
    assert curve[0] == [0, 0] and curve[-1] == pytest.approx([64 * 999, 99.9])
    assert all(value == pytest.approx(step / 640, rel=1e-6) for step, value in curve)
    everything = read_curves(tmp_path, ["rollout/ep_rew_mean"], points=5000)
    assert len(everything["rollout/ep_rew_mean"]) == 999  # all but the one that is no number
    json.dumps(curves, allow_nan=False)


def test_no_curves(tmp_path: Path) -> None:
    assert read_curves(tmp_path) == {}
    assert read_curves(tmp_path / "none") == {}
    with pytest.raises(ValueError, match="points must be at least 2, not 1"):
        read_curves(tmp_path, points=1)


def test_of_many_rows_there_is_a_table_only() -> None:
    few, many = (small(rows=[row("mine", "theirs")] * count) for count in (60, 61))
    assert 'class="verdicts"' in render(few)
    page = render(many)
    assert 'class="verdicts"' not in page
    assert page.count('<th scope="row">mine</th>') == 61
