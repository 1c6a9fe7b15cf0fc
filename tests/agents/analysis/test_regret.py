"""Regret of every card against the solver's doors and brute force; players known to have none."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from agents import make_agent
from agents.agent import Actions, Keys, Masks, Observations, OpenAgent
from agents.analysis import regret
from agents.analysis.games import Counts, add, games_of
from agents.composite import combine
from agents.played import Played
from prefa_env import prefa, solver
from prefa_env.cards import cards_of
from prefa_env.game import Game
from prefa_env.prefa import Defence, Phase, Rules
from tests import toy
from tests.agents.analysis.lots import CANDIDATE, EVERYBODY, EXAMPLES, lot, only, played
from tests.brute_force import brute_force_values

UNIFORM, PASS_ALWAYS = make_agent("uniform"), make_agent("pass-always")
MEMORY = solver.Memory()


def position(table: Any) -> tuple[list[int], int, int, int, list[int]]:
    """Of a table in play: hands, strain, the declarer's side, who led, cards on the table."""
    seats = [seat for seat in range(3) if int(table.playing) >> seat & 1]
    strain = int(table.bid) % 5
    turn = seats.index(int(table.seat))
    leader = (turn - int(table.in_trick)) % len(seats)
    trick = []
    for place in range(int(table.in_trick)):
        seat = seats[(leader + place) % len(seats)]
        trick += cards_of(int(table.trick) & int(table.played[seat]))
    hands = [int(table.hands[seat]) for seat in seats]
    return hands, strain, 1 << seats.index(int(table.owner)), leader, trick


def card_values(table: Any, brutally: bool = False) -> dict[int, int]:
    """The declarer's tricks to come after each card."""
    hands, strain, side, leader, trick = position(table)
    if brutally:
        return brute_force_values(hands, strain, side, leader, trick, False, True, 8)
    return solver.card_values(
        hands, solver.STRAINS[strain], side, leader, trick=trick, memory=MEMORY
    )


class Greedy(OpenAgent):
    """Plays the highest of the cards that the solver calls best."""

    name = "greedy"

    def act_open(
        self,
        tables: npt.NDArray[Any],
        observations: Observations,
        action_masks: Masks,
        keys: Keys,
    ) -> Actions:
        return np.array([self.best(table) for table in tables])

    def best(self, table: Any) -> int:
        values = card_values(table)
        pick = max if table.seat == table.owner else min
        best = pick(values.values())
        return max(card for card, tricks in values.items() if tricks == best)


def regrets(games: Played, is_counted: npt.NDArray[np.bool_]) -> npt.NDArray[np.int8]:
    return regret.regrets_of(games_of(games, is_counted))


def test_every_card_against_the_solver_and_brute_force() -> None:
    (games,) = played(UNIFORM, UNIFORM, 20, rules=Rules.site())
    found = regrets(games, EVERYBODY)
    sides, brutal, defences = {0: 0, 1: 0}, 0, set()
    for n, actions in enumerate(games.deals.actions):
        table: Any = np.zeros(1, prefa.DTYPE)[0]
        prefa.deal(table, Rules.site().flags, games.deals.decks[n], games.deals.dealers[n])
        for i, action in enumerate(actions):
            expected = -1
            if table.phase == Phase.PLAY and int(prefa.legal_actions(table)).bit_count() > 1:
                values = card_values(table)
                is_declarer = table.seat == table.owner
                best = max(values.values()) if is_declarer else min(values.values())
                expected = abs(best - values[int(action)])
                sides[int(is_declarer)] += expected
                defences.add(int(table.defence))
                if int(table.hands[table.seat]).bit_count() <= 4:
                    assert card_values(table, brutally=True) == values
                    brutal += 1
            assert found[n, i] == expected
            if action >= 0:
                prefa.step(table, int(action))
    assert brutal > 50 and min(sides.values()) > 20 and len(defences) == 5


def test_regrets_are_what_the_declarer_got_beyond_open_cards() -> None:
    (games,) = played(UNIFORM, UNIFORM, 60)
    flat = games_of(games, EVERYBODY)
    found = np.maximum(regret.regrets_of(flat), 0)
    own = (found * (flat.seats == flat.tables["owner"][:, None])).sum(axis=1)
    given = found.sum(axis=1) - own
    checked = 0
    for n, table in enumerate(flat.tables):
        if table["owner"] < 0 or table["playing"] == 0:
            assert own[n] == given[n] == 0
        elif table["playing"] == 0b111:
            owner = int(table["owner"])
            hands = [int(cards) for cards in table["played"]]
            strain = solver.STRAINS[int(table["bid"]) % 5]
            start = solver.solve(hands, strain, 1 << owner, int(table["first"]), memory=MEMORY)
            assert table["tricks"][owner] == start - own[n] + given[n]
            checked += 1
    assert checked > 50


def test_some_players_are_counted_as_among_all() -> None:
    (games,) = played(UNIFORM, UNIFORM, 30)
    flat = games_of(games, CANDIDATE)
    is_mine = np.take_along_axis(flat.is_counted, np.maximum(flat.seats, 0), 1) & (flat.seats >= 0)
    found = regrets(games, EVERYBODY)
    assert (regrets(games, CANDIDATE) == np.where(is_mine, found, -1)).all()
    assert (regrets(games, ~CANDIDATE) == np.where(is_mine, -1, found)).all()
    both = add(*(regret.count(prefa, games, who) for who in (CANDIDATE, ~CANDIDATE)))
    assert both == regret.count(prefa, games, EVERYBODY)


def test_the_solvers_choice_has_no_regret() -> None:
    (games,) = played(combine(UNIFORM, Greedy()), UNIFORM, 12)
    greedy = regret.sides(regret.count(prefa, games, CANDIDATE))
    for side in regret.SIDES:
        assert greedy[side]["cards"] > 30  # type: ignore[operator]
        assert (greedy[side]["per_card"], greedy[side]["perfect"]) == (0, 1)
    field = regret.sides(regret.count(prefa, games, ~CANDIDATE))
    for side in regret.SIDES:
        assert field[side]["per_card"] > 0.1  # type: ignore[operator]
        assert field[side]["perfect"] < 0.95  # type: ignore[operator]


def test_who_sees_all_cards_and_plays_for_money() -> None:
    (games,) = played(combine(UNIFORM, make_agent("open")), UNIFORM, 20)
    flat = games_of(games, CANDIDATE)
    found = regret.regrets_of(flat)
    is_for_himself = flat.seats != flat.tables["owner"][:, None]
    is_for_himself &= (flat.tables["defence"] == Defence.BOTH)[:, None]
    of_a_side = found[(found >= 0) & ~is_for_himself]
    assert of_a_side.size > 100 and not of_a_side.any()  # its money rises with its tricks
    assert found[(found >= 0) & is_for_himself].size > 50


def test_deals_are_of_those_who_play() -> None:
    # Seat 0 declares; both others defend; 1 invites 2; 1 defends alone.
    games = lot([EXAMPLES[0], EXAMPLES[7], EXAMPLES[11]])
    deals = [
        [regret.count(prefa, games, only(seat))[f"{side}_deals"] for side in regret.SIDES]
        for seat in range(3)
    ]
    assert deals == [[3, 0], [0, 3], [0, 2]]


def test_sides() -> None:
    counts = {
        "declarer_deals": 2, "declarer_cards": 8, "declarer_perfect": 6, "declarer_tricks": 3,
        "defender_deals": 0, "defender_cards": 0, "defender_perfect": 0, "defender_tricks": 0,
    }  # fmt: skip
    assert regret.sides(counts) == {
        "declarer": {"cards": 8, "deals": 2, "per_card": 3 / 8, "per_deal": 1.5, "perfect": 0.75},
        "defender": {"cards": 0, "deals": 0, "per_card": None, "per_deal": None, "perfect": None},
    }


def test_a_misere_is_left_out() -> None:
    (games,) = played(PASS_ALWAYS, PASS_ALWAYS, 3, rules=Rules(all_pass="misere"))
    assert (games.deals.tables["playing"] == 0b111).all()
    assert set(regret.count(prefa, games, EVERYBODY).values()) == {0}


def test_lots_add_up() -> None:
    (whole,) = played(PASS_ALWAYS, UNIFORM, 12)
    counts: Counts = {}
    for part in played(PASS_ALWAYS, UNIFORM, 12, batch_size=5):
        counts = add(counts, regret.count(prefa, part, CANDIDATE))
    assert counts == regret.count(prefa, whole, CANDIDATE)
    assert counts["declarer_deals"] == 0 < counts["defender_deals"]


def test_other_games() -> None:
    (games,) = played(UNIFORM, PASS_ALWAYS, 2)
    assert regret.count(cast(Game, toy), games, CANDIDATE) == {}
    assert regret.sides({}) == {}


@pytest.mark.parametrize("number", range(16))
def test_examples_say_what_they_gave_away(number: int) -> None:
    games = lot([EXAMPLES[number]])
    counts = [regret.count(prefa, games, only(seat)) for seat in range(3)]
    table = games.deals.tables[0]
    own = sum(count["declarer_tricks"] for count in counts)
    given = sum(count["defender_tricks"] for count in counts)
    if table["playing"] == 0b111:
        deal = prefa.deal_text(0, [*_played(table), *_rest(table)])
        strain = solver.STRAINS[int(table["bid"]) % 5]
        start = solver.declarer_tricks(deal, strain, int(table["owner"]), int(table["first"]))
        assert table["tricks"][table["owner"]] == start - own + given


def _played(table: Any) -> list[int]:
    return [card for cards in table["played"] for card in cards_of(int(cards))]


def _rest(table: Any) -> list[int]:
    return [card for card in range(32) if card not in _played(table)]
