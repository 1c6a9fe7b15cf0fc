"""The kernel against the independent reference, action by action, on random deals."""

from __future__ import annotations

import random
from itertools import product

import pytest

from prefa_env._jit import IS_COMPILED
from prefa_env.prefa import Rules, State
from prefa_env.prefa.kernel import start_match
from prefa_env.prefa.rules import Flag
from tests.helpers import (
    RULES,
    Game,
    Replay,
    floor_event,
    ints,
    kind_of_call,
    random_game,
    random_rules,
    text_of,
)
from tests.reference import (
    LADDER,
    OWED_ALONE,
    OWED_LEFT,
    OWED_RIGHT,
    OWED_TOGETHER,
    PASS,
    Contract,
    Deal,
    action_contract,
    card_number,
    left_of,
    right_of,
)

MATCH = int(Flag.MATCH)
SLOWER = 1 if IS_COMPILED else 20
"""Interpreted, fewer deals: too few to reach everything."""
ACES = {card_number(suit + "A") for suit in "SCDH"}


def assert_same_result(table: State, game: Game) -> None:
    deal = game.deal
    assert ints(table.tricks) == deal.tricks, text_of(game)
    assert ints(table.kapikia_change) == deal.kapikia, text_of(game)
    assert ints(table.kassa_change) == deal.kassa, text_of(game)
    assert ints(table.settled_thirds) == [3 * worth for worth in deal.settled], text_of(game)


def auction_events(game: Game) -> set[str]:
    """What happened in the auction."""
    events = set()
    deal = Deal([*game.deck], game.dealer, game.deal.options)
    for _, action in game.deal.calls:
        events.add(kind_of_call(deal, action))
        if action >= 34:
            events.add(f"bid at {action_contract(action).level}")
        if deal.bid == Contract(10, "NT"):
            events.add("a call over 10NT")
        if deal.bid_is_a_hold and action != PASS:
            events.add("raised a hold")
        deal.play(action)
    return events


def result(deal: Deal) -> str:
    """How a contract came out: made, made with more, declarer or defence short by so many."""
    assert deal.declarer is not None and deal.contract is not None
    level, tricks = deal.contract.level, deal.tricks[deal.declarer]
    defence = sum(deal.tricks) - tricks
    owed = OWED_ALONE[level] if deal.defence == "alone" else OWED_TOGETHER[level]
    if tricks < level:
        return "short by 1" if level - tricks == 1 else "short by more"
    if tricks == level:
        return "made"
    if defence >= owed:
        return "made with more"
    if deal.defence != "both":
        return "defence short by 1" if owed - defence == 1 else "defence short by more"
    right = deal.tricks[right_of(deal.declarer)] < OWED_RIGHT[level]
    left = deal.tricks[left_of(deal.declarer)] < OWED_LEFT[level]
    if right and left:
        return "both defenders short"
    who = "right" if right else "left"
    return f"{who} short, by {1 if owed - defence == 1 else 'more'} together"


def events_of(game: Game) -> set[str]:
    """What kinds of things happened in a deal."""
    deal = game.deal
    events = auction_events(game)
    if deal.declarer is None:
        return events | {"misère" if deal.misere else "void"}
    if deal.declined:
        return events | {"declined"}
    assert deal.contract is not None
    level, strain = deal.contract
    events |= {f"contract at {level}", f"contract in {strain}"}
    if deal.bid is None:
        events.add("a writer's contract")
    elif deal.contract != deal.bid:
        events.add("contract above the bid")
    if deal.options.aces_bonus and deal.twelve >= ACES:
        made = deal.defence == "none" or deal.tricks[deal.declarer] >= level
        events.add(f"aces {'paid' if made else 'lost'} {'at 6' if level == 6 else 'above'}")
        if deal.defence == "none":
            events.add("aces with no defence")
    if deal.defence == "none":
        return events | {"both passed"}
    who = "both"
    if deal.defence != "both":
        is_right = deal.plays[0] == right_of(deal.declarer)
        who = f"{'right' if is_right else 'left'} {deal.defence}"
    events |= {who, f"{deal.defence}: {result(deal)}", f"{deal.defence} at {level}"}
    events.add(f"{'made' if deal.tricks[deal.declarer] >= level else 'short'} at {level}")
    return events


EXPECTED = (
    {"pass", "write", "raise", "hold", "a call over 10NT", "raised a hold", "void"}
    | {f"bid at {level}" for level in range(6, 11)}
    | {"declined", "a writer's contract", "contract above the bid"}
    | {f"contract at {level}" for level in range(6, 11)}
    | {f"contract in {contract.strain}" for contract in LADDER}
    | {"both passed", "both"}
    | {f"{who} {how}" for who, how in product(["right", "left"], ["alone", "invite"])}
    | {f"{how} at {level}" for how, level in product(["both", "alone", "invite"], range(6, 11))}
    | {f"{how} at {level}" for how, level in product(["made", "short"], range(6, 11))}
    | {
        f"{how}: {result}"
        for how, result in product(
            ["both", "alone", "invite"], ["made", "short by 1", "short by more"]
        )
    }
    | {
        f"{how}: {result}"
        for how, result in product(
            ["alone", "invite"], ["defence short by 1", "defence short by more"]
        )
    }
    | {"alone: made with more", "both: both defenders short"}
    | {
        f"both: {who} short, by {number} together"
        for who, number in product(["right", "left"], ["1", "more"])
    }
)
"""Every kind of thing that can happen under the default rules."""


def assert_reached(seen: set[str], expected: set[str]) -> None:
    assert seen <= expected
    assert seen == expected or not IS_COMPILED, expected - seen


@pytest.mark.parametrize("chunk", range(8))
def test_default_rules(chunk: int) -> None:
    rng = random.Random(f"default {chunk}")
    kernel = Replay()
    seen: set[str] = set()
    for _ in range(2500 // SLOWER):
        game = random_game(rng, Rules())
        assert_same_result(kernel.play(game), game)
        seen |= events_of(game)
    assert_reached(seen, EXPECTED)


@pytest.mark.parametrize("name", [name for name in RULES if name != "default"])
def test_each_option(name: str) -> None:
    rng = random.Random(name)
    kernel = Replay()
    seen: set[str] = set()
    for _ in range(2000 // SLOWER):
        game = random_game(rng, RULES[name])
        assert_same_result(kernel.play(game), game)
        seen |= events_of(game)
    expected = set(EXPECTED)
    if name == "write_bid":
        expected -= {"write", "declined", "a writer's contract"}
    if name == "misere":
        expected = expected - {"void"} | {"misère"}
    if name in ("aces_bonus", "site"):
        expected |= {"aces paid at 6", "aces paid above", "aces lost at 6", "aces lost above"}
        expected.add("aces with no defence")
    assert_reached(seen, expected)


@pytest.mark.parametrize("chunk", range(2))
def test_combinations_of_options(chunk: int) -> None:
    rng = random.Random(f"combined {chunk}")
    kernel = Replay()
    for _ in range(2000 // SLOWER):
        game = random_game(rng, random_rules(rng))
        assert_same_result(kernel.play(game), game)


FLOOR_EVENTS = {
    "nothing taken off",
    "own kassa",
    *(f"equal, {odd}, {rest}" for odd in ["odd", "even"] for rest in ["all", "rest in kapikia"]),
    *(f"{s} larger, {rest}" for s in ["right", "left"] for rest in ["all", "rest in kapikia"]),
}


@pytest.mark.parametrize("name", ["default", "half_rounding", "misere", "site"])
def test_matches_with_small_kassas(name: str) -> None:
    # S4, S5, P5: five deals a match, booked on the same table
    rng = random.Random(f"match {name}")
    kernel = Replay()
    table: State = kernel.tables[0]
    seen: set[str] = set()
    for _ in range(250 // SLOWER):
        start_match(table, 31, 0)
        assert [*ints(table.kassa), *ints(table.kapikia)] == [31, 31, 31, 0, 0, 0]
        most = rng.choice([1, 4, 12])
        kassas = [rng.randint(0, most) for _ in range(3)]
        if rng.random() < 0.4:
            kassas[2] = kassas[1]
        table.kassa[:] = kassas
        kapikia = [0, 0, 0]
        for number in range(5):
            a, b, c = kassas
            game = random_game(rng, RULES[name], (a, b, c), dealer=number % 3)
            assert_same_result(kernel.play(game, MATCH), game)
            seen.add(floor_event(game.deal, kassas))
            kassas = [x + y for x, y in zip(kassas, game.deal.kassa, strict=True)]
            kapikia = [x + y for x, y in zip(kapikia, game.deal.kapikia, strict=True)]
            assert ints(table.kassa) == kassas
            assert ints(table.kapikia) == kapikia
            assert min(kassas) >= 0
    assert_reached(seen, FLOOR_EVENTS)
