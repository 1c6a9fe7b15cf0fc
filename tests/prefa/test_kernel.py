"""The kernel by itself: auctions, contracts, defence and play as the rule book tells them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from prefa_env import prefa
from prefa_env.prefa import Action, Defence, Phase, Rules, State
from prefa_env.prefa.state import MAX_CALLS
from prefa_env.prefa.text import RUNG_TEXTS
from tests.helpers import deal_table, do, ints, legal_of, members, options_of
from tests.reference import Deal

DATA = Path(__file__).parents[1] / "data"
EXAMPLES: dict[str, Any] = json.loads((DATA / "prefa_examples.json").read_text(encoding="utf-8"))
GAMES: list[str] = json.loads((DATA / "prefa_games.json").read_text(encoding="utf-8"))["examples"]
SEATS = [0, 1, 2]
SITE = Rules.site()
RIGHT_LEFT = {0: (1, 2), 1: (2, 0), 2: (0, 1)}


def calls_after(texts: str, rules: Rules | None = None) -> str:
    """What the next player may say, first hand being seat 0."""
    table = deal_table(rules=rules)
    do(table, texts)
    assert table.phase == Phase.AUCTION
    return prefa.legal_text(prefa.legal_actions(table))


# ------------------------------------------------------------------------------------- auction


@pytest.mark.parametrize("dealer", SEATS)
@pytest.mark.parametrize("auction", EXAMPLES["auctions"], ids=["RU 1", "RU 2"])
def test_auctions_of_the_source(auction: dict[str, Any], dealer: int) -> None:
    table = deal_table(dealer)
    do(table, " ".join(auction["calls"]))
    first = (dealer + 1) % 3
    declarer = (first + auction["first_hand_offset_of_declarer"]) % 3
    assert (table.phase, table.seat, table.owner) == (Phase.DISCARD, declarer, declarer)
    assert RUNG_TEXTS[table.bid] == auction["bid"]


@pytest.mark.parametrize("auction", EXAMPLES["auctions"], ids=["RU 1", "RU 2"])
def test_turns_in_the_auctions_of_the_source(auction: dict[str, Any]) -> None:
    # the letters in RU's auctions: A is first hand
    table = deal_table()
    speakers = ""
    for call in auction["calls"]:
        speakers += "ABC"[table.seat]
        do(table, call)
    assert speakers in ("ABCABCABABABA", "ABCABCBC")


@pytest.mark.parametrize(
    ("texts", "rules", "legal"),
    [
        # A2: pass, write or 6S; one write only; then exactly the next rung
        ("", None, "pass write 6S"),
        ("pass", None, "pass write 6S"),
        ("pass pass", None, "pass write 6S"),
        ("write", None, "pass 6S"),
        ("pass write", None, "pass 6S"),
        ("write pass", None, "pass 6S"),
        ("6S", None, "pass 6C"),
        ("6S 6C", None, "pass 6D"),
        # A6
        ("", Rules(write_bid=False), "pass 6S"),
        ("pass pass", Rules(write_bid=False), "pass 6S"),
        # A3: an earlier position than the owner of the bid
        ("6S 6C 6D", None, "pass 6D 6H"),
        ("6S 6C 6D 6D", None, "pass 6H"),
        ("6S 6C 6D pass", None, "pass 6D 6H"),
        ("6S 6C 6D 6D 6H", None, "pass 6NT"),
        ("6S 6C 6D 6D 6H pass", None, "pass 6H 6NT"),
        ("pass 6S 6C", None, "pass 6C 6D"),
        ("6S 6C 6D", Rules(hold_excludes_raise=True), "pass 6D"),
        ("6S 6C 6D 6D", Rules(hold_excludes_raise=True), "pass 6H"),
        # A3, option: a hold or a pass from the fourth call on; a hold can only be raised
        ("6S", SITE, "pass 6C"),
        ("6S 6C", SITE, "pass 6D"),
        ("6S 6C 6D", SITE, "pass 6D"),
        ("6S 6C 6D 6D", SITE, "pass 6H"),
        ("6S 6C 6D 6D 6H", SITE, "pass 6H"),
        ("6S pass 6C", SITE, "pass 6C"),
        ("pass 6S 6C", SITE, "pass 6C"),
    ],
)
def test_legal_calls(texts: str, rules: Rules | None, legal: str) -> None:
    assert calls_after(texts, rules) == legal


def test_a_writer_is_out_after_a_bid() -> None:
    # A4
    table = deal_table()
    do(table, "write 6S 6C")
    assert table.seat == 1
    do(table, "pass")
    assert (table.phase, table.owner, RUNG_TEXTS[table.bid]) == (Phase.DISCARD, 2, "6C")
    table = deal_table()
    do(table, "write pass 6S")  # the only one left has bid
    assert (table.phase, table.owner, table.is_written) == (Phase.DISCARD, 2, 0)


def test_the_last_hand_still_speaks_after_two_passes() -> None:
    table = deal_table()
    do(table, "pass pass")
    assert (table.phase, table.seat) == (Phase.AUCTION, 2)
    do(table, "6S")
    assert (table.phase, table.owner) == (Phase.DISCARD, 2)


@pytest.mark.parametrize("rules", [Rules(), SITE])
def test_no_raise_over_ten_no_trump(rules: Rules) -> None:
    # A2, two still in: the second raises each time, first hand holds
    table = deal_table(rules=rules)
    do(table, "6S 6C pass 6C")
    for rung in range(2, 25):
        do(table, RUNG_TEXTS[rung])
        assert RUNG_TEXTS[rung] in prefa.legal_text(prefa.legal_actions(table))
        if rung < 24:
            do(table, RUNG_TEXTS[rung])
    assert legal_of(table) == [Action.PASS, 58]
    do(table, "10NT")
    assert legal_of(table) == [Action.PASS]  # one legal action; he still makes it
    do(table, "pass")
    assert (table.phase, table.owner, table.bid) == (Phase.DISCARD, 0, 24)


def test_all_pass() -> None:
    # A5: void
    table = deal_table()
    do(table, "pass pass pass")
    assert (table.phase, table.seat, table.owner) == (Phase.OVER, -1, -1)
    assert legal_of(table) == []
    assert ints(table.settled_thirds) == ints(table.kassa_change) == [0, 0, 0]
    # option: played without trump and talon, first hand leads
    table = deal_table(1, rules=Rules(all_pass="misere"))
    do(table, "pass pass pass")
    assert (table.phase, table.seat, table.trump, table.playing) == (Phase.PLAY, 2, 0, 0b111)
    assert [len(members(hand)) for hand in table.hands] == [10, 10, 10]


HOLDS = [
    Rules(),
    Rules(hold_excludes_raise=True),
    Rules(hold="any_after_first_round"),
    Rules(hold="any_after_first_round", hold_excludes_raise=True),
    Rules(write_bid=False),
]


@pytest.mark.parametrize("rules", HOLDS)
def test_longest_auction(rules: Rules) -> None:
    """Every state of the auction: nothing else of the history matters for what may follow."""
    known: dict[tuple[int, ...], int] = {}

    def most_calls_from(table: State) -> int:
        if table.phase != Phase.AUCTION:
            return 0
        state = (
            table.seat,
            table.active,
            table.bid,
            table.owner,
            table.is_held,
            min(table.num_calls, 3),
        )
        if state not in known:
            longest = 0
            for action in legal_of(table):
                after = table.copy()
                prefa.step(after, action)
                longest = max(longest, 1 + most_calls_from(after))
            known[state] = longest
        return known[state]

    assert most_calls_from(deal_table(rules=rules)) == 51 <= MAX_CALLS
    assert len(known) > 150


# ------------------------------------------------------------------ talon, discards, contract


def test_talon_discards_and_contract() -> None:
    # T1, T2: the cards lie in order, so seat 1 has cards 10 to 19 and the talon is HK, HA
    table = deal_table()
    do(table, "6S 6C pass pass")
    assert table.owner == table.seat == 1
    assert members(table.hands[1]) == [*range(10, 20), 30, 31]
    assert legal_of(table) == [*range(10, 20), 30, 31]
    do(table, "HA")
    assert table.phase == Phase.DISCARD
    assert legal_of(table) == [*range(10, 20), 30]
    do(table, "C9")
    assert members(table.discards) == [10, 31]
    assert (table.phase, table.seat) == (Phase.CONTRACT, 1)
    assert legal_of(table) == list(range(35, 59))  # 6C and up
    do(table, "7H")
    assert (RUNG_TEXTS[table.bid], table.phase, table.seat) == ("7H", Phase.DEFENCE, 2)  # D1


def test_a_writer_names_anything_or_declines() -> None:
    # T2, T3
    table = deal_table()
    do(table, "pass write pass CT CJ")
    assert table.is_written == 1
    assert legal_of(table) == [Action.WRITE, *range(34, 59)]
    do(table, "6S")
    assert (table.phase, RUNG_TEXTS[table.bid]) == (Phase.DEFENCE, "6S")


# ---------------------------------------------------------------------------- defence and play


DEFENCES = [
    ("pass pass", Defence.NOBODY, None),
    ("play play", Defence.BOTH, "right left"),
    ("play pass alone", Defence.RIGHT_ALONE, "right"),
    ("pass play alone", Defence.LEFT_ALONE, "left"),
    ("play pass invite", Defence.RIGHT_INVITES, "right left"),
    ("pass play invite", Defence.LEFT_INVITES, "right left"),
]


@pytest.mark.parametrize("declarer", SEATS)
@pytest.mark.parametrize("first", SEATS)
@pytest.mark.parametrize(("texts", "defence", "takes_part"), DEFENCES)
def test_defence(
    declarer: int, first: int, texts: str, defence: Defence, takes_part: str | None
) -> None:
    # D1-D3, C1
    right, left = RIGHT_LEFT[declarer]
    table = deal_table((first + 2) % 3)
    while table.phase == Phase.AUCTION:
        do(table, "6S" if table.seat == declarer else "pass")
    do(table, " ".join(prefa.action_text(card) for card in legal_of(table)[:2]))
    do(table, "6S")
    speakers = []
    for text in texts.split():
        speakers.append(table.seat)
        others = {"pass": "play", "play": "pass", "alone": "invite", "invite": "alone"}
        assert {prefa.action_text(action) for action in legal_of(table)} == {text, others[text]}
        do(table, text)
    says_play = right if texts.startswith("play") else left
    assert speakers == [right, left, says_play][: len(speakers)]
    assert table.defence == defence
    if takes_part is None:
        # D2: no card is played, the contract counts as made
        assert (table.phase, table.seat, sum(table.tricks)) == (Phase.OVER, -1, 0)
        assert table.kassa_change[declarer] == -2
        return
    playing = {
        declarer,
        *(s for s, name in [(right, "right"), (left, "left")] if name in takes_part),
    }
    assert members(table.playing) == sorted(playing)
    leader = first  # C1: first hand, else the next taking part to his right
    while leader not in playing:
        leader = RIGHT_LEFT[leader][0]
    assert (table.phase, table.seat) == (Phase.PLAY, leader)
    inviter = says_play if "invite" in texts else -1
    for _ in range(4):
        for_whom = inviter if inviter >= 0 and table.seat != declarer else table.seat
        assert prefa.beneficiary(table) == for_whom
        prefa.step(table, legal_of(table)[0])


def test_follow_trump_and_win() -> None:
    # C2, C3: trumps are spades; seat 1 has no clubs and one trump, seat 2 no clubs, no hearts
    deck = prefa.parse_deal("2:AK.AKQJT987.. 7..A.AKQJT987 QJT..KQJT987. 98...")[1]
    table = deal_table(2, deck)
    do(table, "6S pass pass S8 S9 6S play play CA")
    assert calls(table) == "S7"  # void: a trump
    do(table, "S7")
    assert calls(table) == "ST SJ SQ"  # no duty to beat, but a trump
    do(table, "ST")
    assert (ints(table.tricks), table.seat) == ([0, 0, 1], 2)  # the highest trump
    do(table, "DK")
    assert calls(table) == "SK SA"  # void: a trump
    do(table, "SK")
    assert calls(table) == "DA"  # follow suit, too late
    do(table, "DA")
    assert (ints(table.tricks), table.seat) == ([1, 0, 1], 0)
    do(table, "SA")
    assert calls(table) == "H7 H8 H9 HT HJ HQ HK HA"  # void in trumps: any card
    do(table, "HA SQ C7 HK")
    assert calls(table) == "SJ"
    do(table, "SJ DQ")
    assert calls(table) == "C8 C9 CT CJ CQ CK"  # void in both: any card
    do(table, "C8 HQ")
    assert (ints(table.tricks), table.seat) == ([2, 0, 3], 2)  # the suit led, nobody follows
    # in no trump a hand that is void may play any card
    table = deal_table(2, deck)
    do(table, "6S pass pass S8 S9 6NT play play CA")
    assert len(legal_of(table)) == 10
    do(table, "S7 ST")
    assert ints(table.tricks) == [1, 0, 0]


def calls(table: State) -> str:
    return prefa.legal_text(prefa.legal_actions(table))


# --------------------------------------------------------------------------------------- perft


def kernel_leaves(table: State, last: Phase, depth: int) -> tuple[int, int]:
    """Continuations of up to `depth` actions, not beyond a phase; a check sum over their ends."""
    legal = legal_of(table)
    if not legal or depth == 0 or table.phase > last:
        return 1, int(table.settled_thirds[0] + 7 * table.tricks[0] + 13 * table.seat)
    count = total = 0
    for action in legal:
        after = table.copy()
        prefa.step(after, action)
        leaves, some = kernel_leaves(after, last, depth - 1)
        count, total = count + leaves, total + some
    return count, total


def reference_leaves(deal: Deal, last: Phase, depth: int) -> tuple[int, int]:
    legal = deal.legal()
    if not legal or depth == 0 or Phase[deal.phase.upper()] > last:
        seat = -1 if deal.seat is None else deal.seat
        return 1, int(3 * deal.settled[0]) + 7 * deal.tricks[0] + 13 * seat
    count = total = 0
    for action in legal:
        after = copy.deepcopy(deal)
        after.play(action)
        leaves, some = reference_leaves(after, last, depth - 1)
        count, total = count + leaves, total + some
    return count, total


MISERE = (
    "0:AQJ8.T9.87.J9 K7.QJ8.KQT.KQ T9.AK.AJ.AT87 .7.9. | pass pass pass "
    "S7 S9 S8 H8 H9 HK SK ST SQ DT DJ D8 CA C9 CJ H7 HJ HQ C8 CK CT"
)


@pytest.mark.parametrize(
    ("game", "undone", "rules", "last", "depth", "leaves"),
    [
        # endings: both, both, an inviter, alone, misère
        (GAMES[0], 9, None, Phase.PLAY, 99, 96),
        (GAMES[4], 9, None, Phase.PLAY, 99, 60),
        (GAMES[7], 9, None, Phase.PLAY, 99, 44),
        (GAMES[11], 8, None, Phase.PLAY, 99, 360),
        (MISERE, 0, Rules(all_pass="misere"), Phase.PLAY, 99, 120),
        # auctions of up to ten calls
        ("", 0, Rules(), Phase.AUCTION, 10, 331),
        ("", 0, Rules(hold_excludes_raise=True), Phase.AUCTION, 10, 71),
        ("", 0, Rules(hold="any_after_first_round"), Phase.AUCTION, 10, 71),
        ("", 0, Rules(write_bid=False), Phase.AUCTION, 10, 280),
        # from a writer's second discard; from his contract into the play
        ("write pass pass S7", 0, None, Phase.CONTRACT, 99, 11 * 26),
        ("write pass pass S7 S8", 0, None, Phase.INVITE, 99, 1 + 25 * 6),
    ],
)
def test_perft(
    game: str, undone: int, rules: Rules | None, last: Phase, depth: int, leaves: int
) -> None:
    """All continuations, counted by both and as they were counted once."""
    start = game.split(" | ", maxsplit=1)[0] if "|" in game else IN_ORDER
    actions = game.rsplit(" | ", maxsplit=1)[-1].split()
    dealer, deck = prefa.parse_deal(start)
    table = deal_table(dealer, deck, rules)
    deal = Deal(deck.tolist(), dealer, options_of(rules or Rules()))
    for text in actions[: len(actions) - undone]:
        do(table, text)
        deal.play(prefa.parse_action(text))
    counted = kernel_leaves(table, last, depth)
    assert counted == reference_leaves(deal, last, depth)
    assert counted[0] == leaves


IN_ORDER = prefa.deal_text(2, range(32))
