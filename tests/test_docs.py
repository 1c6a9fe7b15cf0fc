"""The documentation says what the code does: generated pages, links, examples, tables, numbers."""

from __future__ import annotations

import ast
import io
import json
import random
import re
import runpy
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from agents import AGENT_NAMES
from agents.benchmarks import BENCHMARKS
from agents.cli import Names
from agents.evaluation import EvaluateConfig
from agents.exploiter import ExploiterConfig
from agents.teaching.generation import TeachingConfig
from agents.train_config import TrainConfig
from prefa_env import solver
from prefa_env.prefa import Rules, document, floor_kassa, parse_action, payments
from prefa_env.prefa.rules import (
    OWED_ALONE,
    OWED_LEFT,
    OWED_RIGHT,
    OWED_TOGETHER,
    VALUES,
    Action,
    Defence,
)
from prefa_env.records import DealRecord, MatchDeal, MatchRecord, frames, json_schema
from tests.records.played import random_match

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
RULES = (DOCS / "rules.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
MODULES = sorted((ROOT / "prefa_env").rglob("*.py"))


class Block(NamedTuple):
    page: Path
    line: int
    code: str

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.line}"


def python_blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        if found[1] == "python":
            yield Block(page, text.count("\n", 0, found.start()) + 1, found[2])


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return FENCE.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and Sphinx make them."""
    heads = re.findall(r"^#+ +(.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def section(head: str) -> list[list[str]]:
    """The rows of the first table after some text in the rules, without its head."""
    lines = RULES[RULES.index(head) :].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    end = next(i for i, line in enumerate(lines) if i > start and not line.startswith("|"))
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in lines[start + 2 : end]]


def numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"[+-]?\d+", text.replace("−", "-"))]


# -- generated, linked, runnable ------------------------------------------------------------------


def test_observation_page_is_as_generated() -> None:
    committed = (DOCS / "observation.md").read_text("utf-8")
    assert committed == document.page(), (
        "write it anew: python -m prefa_env.prefa.document > docs/observation.md"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z][a-z+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{page.name}: no such file: {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name}: no such heading: {target}"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_page_is_in_the_index(page: Path) -> None:
    assert page.name == "index.md" or f"({page.name})" in (DOCS / "index.md").read_text("utf-8")


@pytest.mark.parametrize(
    "block", [b for page in PAGES for b in python_blocks(page)], ids=lambda b: b.name
)
def test_python_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = compile("\n" * block.line + block.code, str(block.page), "exec")
    with np.errstate(over="ignore"):  # interpreted, numpy would warn of what is intended
        exec(code, {"__name__": "__main__"})


def test_what_the_solver_prints() -> None:
    text = (DOCS / "solver.md").read_text("utf-8")
    deal = re.findall(r'-m prefa_env.solver "(.+)"', text)[0]
    assert f"```\n{solver.table_text(deal)}\n```" in text
    line = solver.principal_line(solver.deal_hands(deal), "S", 0b001, 1)
    assert "\n".join(solver.line_text(line).splitlines()[:4]) + "\n```" in text


# -- rule numbers ---------------------------------------------------------------------------------


def comments(path: Path) -> Iterator[str]:
    """Comments and free-standing strings of a module, without what is quoted as code in them."""
    source = path.read_text("utf-8")
    texts = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    texts += [
        node.value.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    return (re.sub(r"`[^`]*`", "", text) for text in texts)


def test_rules_cited_in_the_code_exist() -> None:
    known = set(re.findall(r"^- \*\*([PLATDCS]\d+)\b", RULES, re.M))
    cited: dict[str, str] = {}
    for path in MODULES:
        for text in comments(path):
            for number in re.findall(r"\b[PLATDCS]\d+\b", text):
                cited[number] = str(path.relative_to(ROOT))
    assert {"A3", "D4", "S4"} <= cited.keys()
    assert not {number: path for number, path in cited.items() if number not in known}


def test_rules_mentioned_in_the_docs_exist() -> None:
    known = set(re.findall(r"^- \*\*([PLATDCS]\d+)\b", RULES, re.M))
    for page in PAGES:
        text = re.sub(r"`[^`\n]*`", "", prose(page))
        assert set(re.findall(r"\b[PLATDCS]\d+\b", text)) <= known, page.name


# -- tables of the rules --------------------------------------------------------------------------

RUNGS = {"♠": "S", "♣": "C", "♦": "D", "♥": "H"}
DEFENCES = {
    "both": Defence.BOTH,
    "A invites": Defence.RIGHT_INVITES,
    "A alone": Defence.RIGHT_ALONE,
}


def rung(contract: str) -> int:
    text = re.sub("[♠♣♦♥]", lambda found: RUNGS[found[0]], contract)
    return parse_action(text) - Action.BID


def test_values() -> None:
    rows = section("- **L2**")
    assert [int(cell) for row in rows for cell in row[1:]] == VALUES.tolist()


def test_tricks_owed() -> None:
    rows = [list(map(int, row[1:])) for row in section("- **D4**")]
    owed = [OWED_RIGHT, OWED_LEFT, OWED_TOGETHER, OWED_ALONE]
    assert rows == [[int(column[level]) for column in owed] for level in range(5)]


def test_worked_examples() -> None:
    rows = section("### Fourteen worked examples")
    assert [int(row[0]) for row in rows] == list(range(1, 15))
    for _, contract, defence, tricks, kassa, kapikia, _ in rows:
        declarer, right, left = numbers(tricks)
        paid = payments(0, rung(contract), DEFENCES[defence], declarer, right, left, 0)
        assert list(paid) == numbers(kassa) + numbers(kapikia), contract


def test_score_sheet() -> None:
    start, first, second = ([*map(numbers, row[1:])] for row in section("### A score sheet"))
    kassa, to_c, to_a, to_b = payments(0, rung("6♠"), Defence.BOTH, 6, 2, 2, 0)
    assert [start[2][0] + kassa] == first[2]
    assert [[to_a], [to_b], [to_c]] == first[3:]
    kassa, *paid = payments(0, rung("7♥"), Defence.BOTH, 8, 0, 2, 0)  # A, B at his right, C
    assert kassa == 0 and first[:3] == second[:3]
    assert [[n + m] for [n], m in zip(first[3:], paid, strict=True)] == second[3:]


def test_examples_of_the_floor() -> None:
    for before, after, kapikia, _ in section("### Examples of the floor"):
        right, left = numbers(before)
        declarer, right, left, from_right, from_left = floor_kassa(0, 4 - 9, right, left)
        assert [declarer, right, left] == [0, *numbers(after)]
        assert [from_right + from_left, -from_right, -from_left] == numbers(kapikia)


def test_options_of_the_rules() -> None:
    rows = section("## Options")
    named = {row[0].strip("`"): re.split("[,;] ", row[1])[0].strip("`") for row in rows}
    assert named == {
        name: f'"{value}"' if isinstance(value, str) else str(value)
        for name, value in Rules().to_dict().items()
    }
    site = RULES[RULES.index("**The preset `site`**") :].split("\n\n")[0]
    options = re.findall(r"`(\w+=[^`]+)`", site)
    assert eval(f"Rules({', '.join(options)})", {"Rules": Rules}) == Rules.site()


# -- options of the scripts, names of agents ------------------------------------------------------


def leaves(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Keys and values; the rules are one key."""
    for field in fields(config):
        value, name = getattr(config, field.name), prefix + field.name
        if is_dataclass(value) and not isinstance(value, Rules):
            yield from leaves(value, name + ".")
        else:
            yield name, value


def in_the_table(value: Any) -> str:
    if isinstance(value, Rules):
        return "defaults"
    if isinstance(value, Names):
        return ",".join(value) or "–"
    return "–" if value is None else str(value)


@pytest.mark.parametrize(
    ("page", "config"),
    [
        ("training.md", TrainConfig),
        ("evaluation.md", EvaluateConfig),
        ("exploiter.md", ExploiterConfig),
        ("teaching.md", TeachingConfig),
    ],
)
def test_options_of_the_scripts(page: str, config: Callable[[], Any]) -> None:
    text = (DOCS / page).read_text("utf-8")
    text = text[text.index("## Options") :].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| ([^|]*) \|", text, re.M)
    named = {name: default.strip(" `") for name, default in rows}
    expected = {name: in_the_table(value) for name, value in leaves(config())}
    assert named == expected


def test_fields_of_records() -> None:
    text = (DOCS / "records.md").read_text("utf-8")
    heads = {"## A deal": {"v", *DealRecord.__struct_fields__}}
    heads["## A match"] = {"v", *MatchRecord.__struct_fields__}
    for head, names in heads.items():
        part = text[text.index(head) :].split("\n## ")[0]
        cells = re.findall(r"^\| (`[^|]*`) \|", part, re.M)
        assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == names
    match_deal = next(line for line in text.splitlines() if line.startswith("| `deals`"))
    assert set(MatchDeal.__struct_fields__) <= set(re.findall(r"`(\w+)`", match_deal))


def test_the_schema_of_records_is_as_generated() -> None:
    committed = json.loads((DOCS / "records.schema.json").read_text("utf-8"))
    assert committed == json_schema(), (
        "write it anew: python -m prefa_env.records schema > docs/records.schema.json"
    )


def test_columns_of_data_frames() -> None:
    text = (DOCS / "records.md").read_text("utf-8")
    table = text[text.index("## Data frames") :]
    match, _ = random_match(random.Random(1))
    for column in frames.to_frame([match]).columns:
        assert f"`{re.sub(r'_[012]$', '', column)}" in table


def test_agents_are_named() -> None:
    text = (DOCS / "agents.md").read_text("utf-8")
    assert re.findall(r"^\| `([\w:-]+)` \| ", text, re.M)[3:] == list(AGENT_NAMES)


def test_the_page_of_results_is_that_of_its_files() -> None:
    script = runpy.run_path(str(DOCS / "results.py"))
    assert (DOCS / "results.md").read_text("utf-8") == script["page"]()
    report = json.loads((DOCS / "results" / "report.json").read_text("utf-8"))
    benchmark = report["seeds"]["benchmark"]
    assert report["seeds"]["name"] == "report-v1"
    assert benchmark == BENCHMARKS["report-v1"].hashes["prefa"]
    assert all(row["illegal"] == row["nonzero"] == 0 for row in report["rows"])
