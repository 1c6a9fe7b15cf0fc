"""The score sheet: the example of the source digit for digit, and what random matches book."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefa_env import prefa
from prefa_env._jit import IS_COMPILED
from prefa_env.prefa import MATCH, Defence, Rules, State, kernel
from prefa_env.sheet import Row, ScoreSheet, payments_of
from prefa_env.sheet.rows import Cells
from tests import reference
from tests.helpers import Game, Replay, do, ints, new_table, random_game, random_rules

FIRST = (
    "1:AT.J98.7.AKQ7 Q8.A7.J98.JT9 KJ97.KQ.AKQT. .T..8 | 6S pass pass H8 CT 6S play play DA D7 DJ "
    "SK SA S8 HA HT SJ CK C9 CA C7 CQ CJ DK ST D8 HK H9 S9 DQ HQ D9 DT C8 SQ HJ S7 H7"
)
SECOND = (
    "2:AQ9.AQ.A.KJT9 T87.KT.KQJ.Q8 J.J87.T987.A7 K.9.. | 6S pass pass S9 C9 7H play play SA ST SJ "
    "CA CK C7 DA DK D7 SK S7 H7 C8 CQ CT HK HQ HA D8 HJ DQ SQ S8 D9 HT H8 DT H9 DJ CJ"
)
"""The two deals of RU: C plays 6S and takes 6, A and B 2 each; A plays 7H: A 8, C 2, B 0."""

DECLINED = "2:AKQJ.98.T7.A9 T98.AKQ.AK.KQ 7.JT7.QJ98.J8 ...T7 | pass write pass HK HQ write"
NO_DEFENCE = "2:AKQJ.98.T7.A9 T98.AKQ.AK.KQ 7.JT7.QJ98.J8 ...T7 | 6S pass pass D7 C8 6S pass pass"
PASSED_OUT = "2:AKQJ.98.T7.A9 T98.AKQ.AK.KQ 7.JT7.QJ98.J8 ...T7 | pass pass pass"
BLANK: Cells = (None, None, None)


def play(table: State, text: str, rules: Rules | None = None) -> State:
    """Play the next deal of a match from a text."""
    deal, _, actions = text.partition("|")
    dealer, deck = prefa.parse_deal(deal)
    prefa.deal(table, (rules or Rules()).flags | MATCH, deck, dealer)
    do(table, actions)
    return table


def begin(kassas: Sequence[int], kapikia: Sequence[int] = (0, 0, 0)) -> State:
    table = new_table()
    table.kassa[:] = kassas
    table.kapikia[:] = kapikia
    return table


def sheet_of(
    *texts: str, kassas: Sequence[int] = (31, 31, 31), rules: Rules | None = None
) -> ScoreSheet:
    table, sheet = begin(kassas), ScoreSheet(["A", "B", "C"], kassas)
    for text in texts:
        sheet.add(play(table, text, rules))
    return sheet


def paid(
    contract: str,
    defence: Defence,
    tricks: Sequence[int],
    aces: int = 0,
    kassas: Sequence[int] = (31, 31, 31),
) -> State:
    """A deal of declarer A and its tricks; B sits at his right. `aces`: he held all four."""
    table = play(begin(kassas), FIRST[: FIRST.index("|")], Rules(aces_bonus=bool(aces)))
    table.owner = 0
    table.bid = prefa.parse_action(contract) - prefa.Action.BID
    table.defence = int(defence)
    table.tricks[:] = tricks
    table.has_aces = aces
    kernel.pay(table)
    return table


def cells(row: Row) -> str:
    """A row as the brief way to write one: `. . −2 | . +4 −4`."""
    words = [
        [
            "." if cell is None else f"{cell:+d}".replace("-", "−").replace("+0", "0")
            for cell in group
        ]
        for group in (row.kassa_change, row.kapikia, row.kapikia_change)
    ]
    kassa = [str(cell) if cell is not None else "." for cell in row.kassa]
    groups = ((kassa, words[0]), (words[1], words[2]))
    return " | ".join(
        " ".join(a if a != "." else b for a, b in zip(*group, strict=True)) for group in groups
    )


# -- the source -----------------------------------------------------------------------------------

RU = """\
31 31 31 | +4 . −4
. . −2 | . +4 −4
31 31 29 | +4 +4 −8
. . . | +56 −56 .
. . . | . −14 +14
. . . | +60 −66 +6"""

RU_TEXT = """\
  Kassa              Kapikia
      A    B    C          A    B    C
-------  ---  ---  ---------  ---  ---
     31   31   31         +4        −4
               −2              +4   −4
     31   31   29         +4   +4   −8
                         +56  −56
                              −14  +14
                         +60  −66   +6"""

RU_MARKDOWN = """\
|   Kassa A |   Kassa B |   Kassa C |   Kapikia A |   Kapikia B |   Kapikia C |
|----------:|----------:|----------:|------------:|------------:|------------:|
|        31 |        31 |        31 |          +4 |             |          −4 |
|           |           |        −2 |             |          +4 |          −4 |
|        31 |        31 |        29 |          +4 |          +4 |          −8 |
|           |           |           |         +56 |         −56 |             |
|           |           |           |             |         −14 |         +14 |
|           |           |           |         +60 |         −66 |          +6 |"""


def test_the_example_of_the_source() -> None:
    sheet = sheet_of(FIRST, SECOND)
    assert "\n".join(map(cells, sheet.rows)) == RU
    assert "\n".join(map(cells, sheet_of(FIRST).rows)) == "\n".join(RU.splitlines()[:3])
    assert sheet.text() == RU_TEXT
    assert sheet.markdown() == RU_MARKDOWN


def test_the_annotated_sheet() -> None:
    text = sheet_of(FIRST, SECOND, PASSED_OUT).text(annotated=True)
    words = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    assert words[:2] == [["Deal", "Kassa", "Kapikia"], ["A", "B", "C"] * 2]
    assert words[3:] == [
        ["start", "31", "31", "31"],
        ["1: C 6♠, 6 tricks", "+4", "−4"],
        ["−2", "+4", "−4"],
        ["total", "31", "31", "29", "+4", "+4", "−8"],
        ["2: A 7♥, 8 tricks", "+56", "−56"],
        ["−14", "+14"],
        ["total", "+60", "−66", "+6"],
        ["3: all passed"],
        ["worth so far", "+53⅓", "−72⅔", "+19⅓"],
    ]


def test_the_page_shows_what_is_printed() -> None:
    page = (Path(__file__).parents[1] / "docs" / "score_sheet.md").read_text("utf-8")
    assert f"```\n{RU_TEXT}\n```" in page
    assert sheet_of(FIRST, SECOND, PASSED_OUT).markdown(annotated=True) in page


# -- what single deals look like ------------------------------------------------------------------


def rows_of(table: State, start: Sequence[int] = (31, 31, 31)) -> list[str]:
    """The rows of one deal, after that of the start."""
    sheet = ScoreSheet(["A", "B", "C"], start)
    sheet.add(table)
    return [f"{row.note}: {cells(row)}" for row in sheet.annotated_rows[1:-1]]


BOTH, RIGHT_ALONE, NOBODY = Defence.BOTH, Defence.RIGHT_ALONE, Defence.NOBODY


@pytest.mark.parametrize(
    ("deal", "rows"),
    [
        # both defenders missed their numbers: two payers, one payee
        (
            ("7H", BOTH, (10, 0, 0)),
            ["1: . . . | +140 −140 .", ": . . . | +70 . −70", "total: . . . | +210 −140 −70"],
        ),
        # the declarer is short and pays both
        (
            ("6D", BOTH, (4, 4, 2)),
            ["1: . . . | −32 +32 .", ": +8 . . | −16 . +16", "total: 39 31 31 | −48 +32 +16"],
        ),
        (
            ("8S", RIGHT_ALONE, (9, 1, 0)),
            ["1: −8 . . | −8 +8 .", "total: 23 31 31 | −8 +8 0"],
        ),
        (("7S", NOBODY, (0, 0, 0)), ["1: −7 . . | . . .", "total: 24 31 31 | . . ."]),
        # the aces bonus has rows of its own
        (
            ("7S", NOBODY, (0, 0, 0), 1),
            [
                "1, four aces: . . . | +50 −50 .",
                "four aces: −7 . . | +50 . −50",
                "total: 24 31 31 | +100 −50 −50",
            ],
        ),
        (
            ("6S", RIGHT_ALONE, (5, 5, 0), 1),
            [
                "1: . . . | −10 +10 .",
                "four aces: . . . | −25 +25 .",
                "four aces: +2 . . | −25 . +25",
                "total: 33 31 31 | −60 +35 +25",
            ],
        ),
    ],
)
def test_rows_of_a_deal(deal: tuple[Any, ...], rows: list[str]) -> None:
    found = rows_of(paid(*deal))
    assert [re.sub("^1: A [^,]*, [^,:]*", "1", row) for row in found] == rows


@pytest.mark.parametrize(
    ("kassas", "rows"),
    [
        # the examples of the floor: declarer A has 4 and makes 8NT, worth 9
        ((4, 20, 10), ["floor: −4 −5 . | +50 −50 ."]),
        ((4, 7, 7), ["floor: . . . | +30 −30 .", "floor: −4 −3 −2 | +20 . −20"]),
        ((4, 3, 1), ["floor: . . . | +33 −33 .", "floor: −4 −3 −1 | +13 . −13"]),
        ((4, 0, 0), ["floor: . . . | +17 −17 .", "floor: −4 . . | +17 . −17"]),
    ],
)
def test_the_floor(kassas: tuple[int, int, int], rows: list[str]) -> None:
    table = paid("8NT", RIGHT_ALONE, (8, 2, 0), 0, kassas)
    found = rows_of(table, kassas)
    assert found[0].endswith(": . . . | −18 +18 .")
    assert found[1:-1] == rows


def test_a_writer_who_declines() -> None:
    assert [cells(row) for row in sheet_of(DECLINED).rows] == [
        "31 31 31 | . −2 +2",
        ". +2 . | +2 −2 .",
        "31 33 31 | +2 −4 +2",
    ]
    assert sheet_of(DECLINED).annotated_rows[1].note == "1: B declines"


def test_a_misere() -> None:
    table = play(begin([5, 5, 5]), PASSED_OUT + " SA", Rules(all_pass="misere"))
    table.tricks[:] = (5, 3, 2)
    kernel.pay(table)
    assert rows_of(table, (5, 5, 5)) == [
        "1: all passed, played: +3 +1 . | . . .",
        "total: 8 6 5 | . . .",
    ]


def test_kassas_of_the_start_have_a_row_where_the_first_one_is_taken() -> None:
    start = "31 31 31 | . . ."
    assert [cells(row) for row in sheet_of().rows] == [start]
    assert [cells(row) for row in sheet_of(PASSED_OUT).rows] == [start]
    assert [cells(row) for row in sheet_of(NO_DEFENCE).rows] == [
        start,
        "−2 . . | . . .",
        "29 31 31 | . . .",
    ]
    # a deal that is not written does not come between
    assert [cells(row) for row in sheet_of(PASSED_OUT, FIRST, SECOND).rows] == RU.splitlines()


def test_a_match_that_goes_on_with_kapikia() -> None:
    table = play(begin((31, 31, 29), (4, 4, -8)), SECOND)
    sheet = ScoreSheet(["A", "B", "C"], (31, 31, 29), (4, 4, -8))
    sheet.add(table)
    assert [cells(row) for row in sheet.rows] == ["31 31 29 | +4 +4 −8", *RU.splitlines()[3:]]
    assert ScoreSheet.of_tables(["A", "B", "C"], [table]).rows == sheet.rows


def test_the_end_of_a_match() -> None:
    sheet = sheet_of(NO_DEFENCE, kassas=(1, 0, 0))
    assert (sheet.kassa, sheet.kapikia) == ((0, 0, 0), (6, -3, -3))
    assert ints(sheet.worth) == [6, -3, -3]
    assert sheet.annotated_rows[-1] == Row("result", kapikia=(6, -3, -3))
    with pytest.raises(ValueError, match="the match ended with deal 1: begin another sheet"):
        sheet.add(play(begin((0, 0, 0), (6, -3, -3)), PASSED_OUT))


def test_worth_of_an_unfinished_match() -> None:
    sheet = sheet_of(FIRST, SECOND)
    mean = Fraction(31 + 31 + 29, 3)
    assert sheet.worth == tuple(
        kapikia - 10 * (kassa - mean)
        for kapikia, kassa in zip(sheet.kapikia, sheet.kassa, strict=True)
    )
    assert sheet.annotated_rows[-1] == Row("worth so far", kapikia=sheet.worth)


# -- random matches -------------------------------------------------------------------------------


def total(rows: Sequence[Row], name: str) -> list[int]:
    return [sum(int(getattr(row, name)[seat] or 0) for row in rows) for seat in range(3)]


def contract_pays(game: Game) -> tuple[list[int], list[int], list[int]]:
    """By the reference: kapikia of the contract, of the aces, of the floor."""
    deal = game.deal
    assert deal.declarer is not None and deal.contract is not None and deal.defence is not None
    player = deal.plays[0] if len(deal.plays) == 1 else None
    held = {reference.card_number(suit + "A") for suit in "SCDH"} <= deal.twelve
    plain, both = (
        reference.payments(
            deal.contract, deal.declarer, deal.defence, player, deal.tricks, deal.options, aces
        )[0]
        for aces in (False, held)
    )
    aces = [a - b for a, b in zip(both, plain, strict=True)]
    floor = [a - b for a, b in zip(deal.kapikia, both, strict=True)]
    return plain, aces, floor


def test_rows_are_what_was_booked() -> None:
    rng = random.Random("sheet")
    kernel_tables = Replay()
    seen: set[str] = set()
    for _ in range(1200 if IS_COMPILED else 60):
        kassas = [rng.randrange(9) for _ in range(3)]
        if not any(kassas):
            continue
        rules = random_rules(rng)
        table = kernel_tables.tables[0]
        table.kassa[:], table.kapikia[:] = kassas, (3, -5, 2)
        sheet = ScoreSheet(["A", "B", "C"], kassas, (3, -5, 2))
        tables = []
        for number in range(3):
            before = ints(table.kassa)
            game = random_game(rng, rules, (before[0], before[1], before[2]))
            kernel_tables.play(game, MATCH)
            length = len(sheet.annotated_rows)
            sheet.add(table)
            tables.append(table.copy())
            rows = sheet.annotated_rows[length - 1 : -1]
            assert total(rows, "kapikia_change") == game.deal.kapikia
            assert total(rows, "kassa_change") == game.deal.kassa
            for row in rows:
                changes = [int(cell) for cell in row.kapikia_change if cell is not None]
                assert not changes or (len(changes) == 2 and sum(changes) == 0 != changes[0])
            assert sum(any(row.kassa_change) for row in rows) == any(game.deal.kassa)
            if any(game.deal.kassa) or any(game.deal.kapikia):
                last = rows[-1]
                assert last.kassa in (BLANK, tuple(ints(table.kassa)))
                assert last.kapikia in (BLANK, tuple(ints(table.kapikia)))
                assert (last.kassa == BLANK) != any(game.deal.kassa)
                assert (last.kapikia == BLANK) != any(game.deal.kapikia)
                assert rows[-2].kassa_change != BLANK or not any(game.deal.kassa)
            else:
                assert rows == [Row(f"{number + 1}: all passed")]
            parts = {"": [0] * 3, "four aces": [0] * 3, "floor": [0] * 3}
            for payment in payments_of(table):
                parts[payment.reason][payment.payer] -= payment.kapikia
                parts[payment.reason][payment.payee] += payment.kapikia
                seen.add(payment.reason)
                assert payment.kapikia > 0
            if game.deal.contract is not None:
                assert tuple(parts.values()) == contract_pays(game)
            if kernel.is_match_over(table):
                seen.add("over")
                break
        assert ScoreSheet.of_tables(["A", "B", "C"], tables).rows == sheet.rows
        assert sum(sheet.worth) == 0
    assert seen == {"", "four aces", "floor", "over"} or not IS_COMPILED


# -- formats --------------------------------------------------------------------------------------


class TablePage(HTMLParser):
    """The rows of a page's table: tag, attributes and text of each cell."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[tuple[str, dict[str, str | None], str]]] = []
        self.caption = ""
        self._tag = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag in ("td", "th"):
            tag, attributes, text = self.rows[-1][-1]
            self.rows[-1][-1] = (tag, attributes, text + data)
        if self._tag == "caption":
            self.caption += data


NAMES = ["<b>A", "B|x_y", "Γ & Δ"]


def named_sheet() -> ScoreSheet:
    table, sheet = begin((31, 31, 31)), ScoreSheet(NAMES)
    sheet.add(play(table, FIRST))
    sheet.add(play(table, SECOND))
    return sheet


@pytest.mark.parametrize("annotated", [False, True])
def test_html(annotated: bool) -> None:
    pytest.importorskip("jinja2")
    sheet = named_sheet()
    page = sheet.html(annotated=annotated)
    table = TablePage(page)
    assert table.caption == "Score sheet of <b>A, B|x_y, Γ & Δ"
    assert "<b>" not in page
    head, names, *rows = table.rows
    skip = int(annotated)
    groups = [(cell[1]["colspan"], cell[1]["scope"], cell[2]) for cell in head[skip:]]
    assert groups == [("3", "colgroup", "Kassa"), ("3", "colgroup", "Kapikia")]
    assert [cell[2] for cell in names] == NAMES * 2
    assert all(len(row) == 6 + skip for row in rows)
    texts = [[cell[2] for cell in row] for row in rows]
    if annotated:
        assert head[0][1]["rowspan"] == "2" and texts[1][0] == "1: Γ & Δ 6♠, 6 tricks"
        assert texts[-1] == ["worth so far", "", "", "", "+53⅓", "−72⅔", "+19⅓"]
    else:
        assert texts == [line.split("/") for line in RU_HTML.splitlines()]
    assert page.count('<tr class="total">') == (4 if annotated else 2)
    assert "text-align: right" in page and "prefers-color-scheme: dark" in page


RU_HTML = """\
31/31/31/+4//−4
//−2//+4/−4
31/31/29/+4/+4/−8
///+56/−56/
////−14/+14
///+60/−66/+6"""


def test_a_deal_passed_out_is_no_total() -> None:
    pytest.importorskip("jinja2")
    page = sheet_of(PASSED_OUT).html(annotated=True)
    assert page.count('<tr class="total">') == 2  # the start, and what the match is worth
    assert page.count("<tr>") == 3  # both rows of the head, and the deal


def test_totals_of_zero() -> None:
    sheet = ScoreSheet(["A", "B", "C"])
    sheet.add(paid("8S", RIGHT_ALONE, (9, 1, 0)))
    assert sheet.text().splitlines()[-1].split() == ["23", "31", "31", "−8", "+8", "0"]


def test_names_in_markdown() -> None:
    lines = named_sheet().markdown(annotated=True).splitlines()
    assert lines[0].count(r"\<b\>A") == 2 and r"B\|x\_y" in lines[0] and r"Γ \& Δ" in lines[0]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {8}
    assert lines[1].startswith("|:--") and lines[1].count("-:|") == 6
    assert "| 1: Γ \\& Δ 6♠, 6 tricks |" in lines[3]


def test_numbers_as_names_stay_as_they_are() -> None:
    assert ScoreSheet(["1.50", "+2", "3e1"]).text().splitlines()[1].split() == [
        *("1.50", "+2", "3e1"),
        *("1.50", "+2", "3e1"),
    ]


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs jinja2: pip install 'prefa\[report\]'"):
        ScoreSheet(["A", "B", "C"]).html()


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["A", "B"],), "names must be 3, one a seat"),
        (("ABC",), "names must be 3, one a seat"),
        ((["A", " ", "C"],), "names must be one line of text each, not ' '"),
        ((["A", "B\nb", "C"],), r"names must be one line of text each, not 'B\\nb'"),
        ((["A", "B", "C"], (1, 2)), "kassas must be 3"),
        ((["A", "B", "C"], (1, 2, -3)), "kassas must be 3 integers of 0 to"),
        ((["A", "B", "C"], (1, 2, 3), (1, 2, 3)), "kapikia must add up to 0"),
    ],
)
def test_a_bad_start(arguments: tuple[Sequence[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScoreSheet(*arguments)


def test_tables_that_do_not_belong() -> None:
    sheet = sheet_of(FIRST)
    before = sheet.rows
    table = begin((31, 31, 29), (4, 4, -8))
    with pytest.raises(ValueError, match="deal 2 is not over: seat 1 is to act"):
        sheet.add(play(table, SECOND[: SECOND.index("|")] + "| pass"))
    with pytest.raises(ValueError, match=r"deal 2 begins with kassa \(31, 31, 31\), the sheet st"):
        sheet.add(play(begin((31, 31, 31), (4, 4, -8)), SECOND))
    with pytest.raises(ValueError, match=r"begins with kapikia \(0, 0, 0\), the sheet stands at"):
        sheet.add(play(begin((31, 31, 29)), SECOND))
    single, _ = prefa.parse_game(SECOND)
    with pytest.raises(ValueError, match="deal 2 is no deal of a match: deal it with"):
        sheet.add(single)
    with pytest.raises(ValueError, match="a sheet of no tables"):
        ScoreSheet.of_tables(["A", "B", "C"], [])
    assert sheet.rows == before
    sheet.add(play(table, SECOND))
    assert "\n".join(map(cells, sheet.rows)) == RU


def test_a_table_may_be_dealt_anew() -> None:
    table, sheet = begin((31, 31, 31)), ScoreSheet(["A", "B", "C"])
    sheet.add(play(table, FIRST))
    rows, worth = sheet.rows, sheet.worth
    prefa.start_match(table, 7, 0)
    prefa.deal(table, MATCH, np.arange(32, dtype=np.int8), 0)
    assert (sheet.rows, sheet.worth, sheet.kassa) == (rows, worth, (31, 31, 29))
