"""What a seat sees: every field, nothing hidden, and the same from every chair."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from prefa_env import prefa
from prefa_env.prefa import OBSERVATION, STATE, Phase, Rules, State
from prefa_env.prefa.kernel import start_match
from prefa_env.prefa.rules import Flag
from prefa_env.prefa.state import DTYPE
from tests.helpers import (
    MAX_ACTIONS,
    RULES,
    Game,
    Replay,
    bytes_of,
    deal_table,
    do,
    ints,
    legal_of,
    members,
    new_table,
    observation_of,
    random_game,
    random_rules,
    replayed,
    shuffled,
    state_of,
    text_of,
)
from tests.prefa.decoder import Match, differing_fields, expected_observation, expected_state

MATCH = int(Flag.MATCH)
SEATS = [0, 1, 2]


def variants(rng: random.Random, number: int) -> list[Rules]:
    """The default, misère and the site, and combinations."""
    named = [RULES["default"], RULES["misere"], RULES["site"]]
    return [named[i] if i < 3 else random_rules(rng) for i in range(number)]


# ---------------------------------------------------------------------------------- every field


def test_sizes() -> None:
    assert OBSERVATION.size % 8 == STATE.size % 8 == 0
    assert [*STATE][: len([*OBSERVATION])] == [*OBSERVATION]
    assert DTYPE.itemsize <= 576


def assert_as_decoded(kernel: Replay, game: Game, match: Match | None = None) -> None:
    """Every field, for every seat, at every step of a game that was just replayed."""
    for number, deal in enumerate(replayed(game)):
        table: State = kernel.tables[number]
        if deal.over and match:
            match = replace(
                match,
                kassa=[a + b for a, b in zip(match.kassa, game.deal.kassa, strict=True)],
                kapikia=[a + b for a, b in zip(match.kapikia, game.deal.kapikia, strict=True)],
            )
        for me in SEATS:
            expected = expected_observation(deal, me, match)
            differing = differing_fields(OBSERVATION, observation_of(table, me), expected)
            assert not differing, f"seat {me}, after {number} of {text_of(game)}"
        whole = state_of(table)
        differing = differing_fields(STATE, whole, expected_state(deal, match))
        assert not differing, f"after {number} of {text_of(game)}"
        first_part = bytes(whole[: OBSERVATION.size])
        assert first_part == bytes(observation_of(table, max(table.seat, 0)))


def test_every_field_in_single_deals() -> None:
    rng = random.Random("fields")
    kernel = Replay(MAX_ACTIONS + 1)
    for rules in variants(rng, 60):
        game = random_game(rng, rules)
        kernel.play(game)
        assert_as_decoded(kernel, game)


def test_every_field_in_matches() -> None:
    rng = random.Random("match fields")
    kernel = Replay(MAX_ACTIONS + 1)
    table: State = kernel.tables[0]
    for rules in variants(rng, 20):
        a, b, c = (rng.choice([0, 3, 127, 128, 1000]) for _ in SEATS)
        kapikia = [rng.choice([0, 1, -1, 127, 128, -128, -129, 16000, -16000]) for _ in SEATS]
        start_match(table, 31, rng.choice([0, 7, 200]))
        table.kassa[:] = [a, b, c]
        table.kapikia[:] = kapikia
        game = random_game(rng, rules, (a, b, c))
        kernel.play(game, MATCH)
        assert_as_decoded(kernel, game, Match([a, b, c], kapikia, int(table.deals_left), 0))


def test_match_fields() -> None:
    # two bytes each, high byte times 128; the card shown by first hand, plus one
    table = new_table()
    start_match(table, 31, 300)
    table.kapikia[:] = [-1, 200, -20000]
    prefa.deal(table, MATCH, np.arange(32, dtype=np.int8), 2)
    table.shown_card = 17
    seen = observation_of(table, 1)
    pairs = {
        "kassa_me": (0, 31),
        "deals_left": (2, 44),
        "kapikia_me": (1, 72),
        "kapikia_next": (-128, 0),  # no number is below -16384
        "kapikia_after": (-1, 127),
    }
    for name, (high, low) in pairs.items():
        assert [*seen[OBSERVATION[f"{name}_high"]], *seen[OBSERVATION[f"{name}_low"]]] == [
            high,
            low,
        ]
    assert seen[OBSERVATION["shown_card"]] == 17
    assert seen[OBSERVATION["is_match"]] == 1
    prefa.deal(table, 0, np.arange(32, dtype=np.int8), 2)
    match_fields = slice(OBSERVATION["kassa_me_high"].start, OBSERVATION["is_match"].stop)
    assert not observation_of(table, 1)[match_fields].any()


# --------------------------------------------------------------------------------- what is hidden


def assert_same_facts(table: State, other: State, seat: int) -> None:
    """A redealt table: all that `seat` knows is as before, and the cards can be so."""
    facts = [table.copy(), other.copy()]
    for record in facts:
        record.hands[:] = record.talon = record.discards = record.has_aces = 0
    assert bytes_of(facts[0]) == bytes_of(facts[1])
    assert bytes(observation_of(table, seat)) == bytes(observation_of(other, seat))
    if seat == table.seat:
        assert legal_of(table) == legal_of(other)
    assert sorted(cards_in_place(other)) == list(range(32))
    for each in SEATS:
        assert len(members(table.hands[each])) == len(members(other.hands[each]))
        assert not other.hands[each] & other.voids[each] or each == seat
    assert len(members(other.talon)) == 2
    assert sorted(prefa.deck_of(other)) == list(range(32))
    if table.phase != Phase.AUCTION and table.owner >= 0:
        twelve = other.hands[table.owner] | other.played[table.owner] | other.discards
        assert other.talon & ~twelve == 0
        four = twelve & FOUR_ACES == FOUR_ACES
        assert other.has_aces == int(four and bool(table.options & Flag.ACES_BONUS))


FOUR_ACES = 0x80808080


def cards_in_place(table: State) -> list[int]:
    """The cards of all places; each card must be in one."""
    places = [*table.hands, *table.played, table.discards]
    if table.phase == Phase.AUCTION or table.owner < 0:
        places.append(table.talon)
    return [card for place in places for card in members(place)]


def test_redealing_hidden_cards_shows_nothing() -> None:
    rng = random.Random("redeal")
    kernel = Replay(MAX_ACTIONS + 1)
    changed: Counter[tuple[str, Phase]] = Counter()
    refused = 0
    for rules in variants(rng, 100):
        game = random_game(rng, rules)
        kernel.play(game)
        for number, acting in enumerate(game.seats):
            table: State = kernel.tables[number]
            for seat in {acting, rng.randrange(3)} - {-1}:
                other = table.copy()
                if not prefa.redeal_hidden(
                    other, seat, np.array(shuffled(rng), np.int8), np.array(shuffled(rng), np.int8)
                ):
                    assert bytes_of(other) == bytes_of(table)
                    refused += 1
                    continue
                assert_same_facts(table, other, seat)
                who = "acting" if seat == acting else "other"
                changed[who, Phase(table.phase)] += bytes(state_of(other)) != bytes(state_of(table))
                changed["all", Phase(table.phase)] += 1
    assert refused > 100
    for phase in Phase:
        if phase != Phase.OVER:
            assert changed["acting", phase] > 0.2 * changed["all", phase] > 10
            assert changed["other", phase] > 0


def test_redealing_when_the_deal_is_over() -> None:
    # a deal that was passed out hides two hands and the talon, one that was not played to the end
    # the declarer's discards too
    table = deal_table()
    do(table, "pass pass pass")
    other = table.copy()
    assert prefa.redeal_hidden(other, 1, *np.tile(np.arange(32, dtype=np.int8), (2, 1)))
    assert_same_facts(table, other, 1)
    assert bytes_of(other) != bytes_of(table)
    table = deal_table()
    do(table, "6S pass pass S7 S8 6S pass pass")
    other = table.copy()
    assert prefa.redeal_hidden(other, 1, *np.tile(np.arange(32, dtype=np.int8), (2, 1)))
    assert_same_facts(table, other, 1)
    assert other.discards != table.discards


def test_hidden_cards_are_redealt_uniformly() -> None:
    # before the play nothing is known of them but their number
    table = deal_table()
    do(table, "6S pass pass S7 S8 6S")
    places: Counter[tuple[str, int]] = Counter()
    shared: Counter[int] = Counter()
    rng = random.Random("uniform")
    number = 3000
    for _ in range(number):
        other = table.copy()
        assert prefa.redeal_hidden(
            other, 1, np.array(shuffled(rng), np.int8), np.array(shuffled(rng), np.int8)
        )
        for name, cards in [
            ("declarer", other.hands[0]),
            ("left", other.hands[2]),
            ("discards", other.discards),
            ("talon", other.talon),
        ]:
            places.update((name, card) for card in members(cards))
        shared[len(members(other.talon & other.discards))] += 1
    hidden = [*range(10), *range(20, 32)]
    for name, size in [("declarer", 10), ("left", 10), ("discards", 2), ("talon", 2)]:
        expected = number * size / 22
        chi_square = sum((places[name, card] - expected) ** 2 / expected for card in hidden)
        assert chi_square < 60, name  # 21 degrees of freedom: less than 1 in 100,000
        assert sum(places[name, card] for card in hidden) == number * size
    # any two of the twelve are the talon, any two the discards
    chances = {0: 45 / 66, 1: 20 / 66, 2: 1 / 66}
    chi_square = sum(
        (shared[n] - number * chance) ** 2 / (number * chance) for n, chance in chances.items()
    )
    assert chi_square < 23, shared  # 2 degrees of freedom


# -------------------------------------------------------------------------------- from any chair


@pytest.mark.parametrize("flag", [0, MATCH])
def test_turning_the_seats_turns_everything(flag: int) -> None:
    rng = random.Random(f"turn {flag}")
    kernel, turned = Replay(MAX_ACTIONS + 1), Replay(MAX_ACTIONS + 1)
    for rules in variants(rng, 100):
        kassas = [rng.randrange(9) for _ in SEATS]
        kernel.tables[0].kassa[:] = kassas
        turned.tables[0].kassa[:] = [kassas[2], kassas[0], kassas[1]]
        for each in (kernel, turned):
            each.tables[0].kapikia[:] = 0
        game = random_game(rng, rules, (kassas[0], kassas[1], kassas[2]))
        other = replace(
            game,
            dealer=(game.dealer + 1) % 3,
            deck=np.concatenate([game.deck[20:30], game.deck[:20], game.deck[30:]]),
            seats=[(seat + 1) % 3 if seat >= 0 else -1 for seat in game.seats],
        )
        end, turned_end = kernel.play(game, flag), turned.play(other, flag)
        for number in range(len(game.seats)):
            table: State = kernel.tables[number]
            as_turned: State = turned.tables[number]
            for seat in SEATS:
                seen = bytes(observation_of(table, seat))
                assert seen == bytes(observation_of(as_turned, (seat + 1) % 3)), text_of(game)
            if table.seat >= 0:
                assert bytes(state_of(table)) == bytes(state_of(as_turned))
        for name in ("tricks", "kassa_change", "kapikia_change", "settled_thirds", "kassa"):
            first, second = ints(getattr(end, name)), ints(getattr(turned_end, name))
            assert second == [first[2], first[0], first[1]], name
