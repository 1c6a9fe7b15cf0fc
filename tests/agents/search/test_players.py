"""Search players: legal, the same whatever the batch or the processes, and strong."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.agent import ValuingAgent, ask
from agents.arena import play
from agents.benchmarks import SeedSet
from agents.comparison import compare
from agents.designs import rotations
from agents.search.open import Open
from agents.search.pimc import Pimc
from agents.search.valuation import add_cards
from prefa_env import prefa, solver
from prefa_env.prefa import Rules
from prefa_env.prefa.rules import NUM_CARDS, Phase
from prefa_env.prefa.state import DTYPE
from tests.agents.search.positions import positions
from tests.helpers import RULES, members, observation_of
from tests.test_payment import exact, settled

SPECS = ("pimc:2", "heuristic+pimc:3", "pimc:1+heuristic", "open", "heuristic+open")
SEEDS = SeedSet("search")


def rows(tables: list[Any]) -> tuple[Any, ...]:
    observations = np.stack([observation_of(table, int(table.seat)) for table in tables])
    masks = np.zeros((len(tables), prefa.NUM_ACTIONS), np.int8)
    for mask, table in zip(masks, tables, strict=True):
        mask[members(prefa.legal_actions(table))] = 1
    keys = np.arange(len(tables), dtype=np.uint64)
    return np.array([table.copy() for table in tables], DTYPE), observations, masks, keys


@pytest.mark.parametrize("spec", SPECS)
def test_legal_everywhere_and_alone_as_in_company(spec: str) -> None:
    for name in ("default", "site", "misere"):
        rules = RULES[name]
        tables = [table.copy() for table, _ in positions(f"{spec} {name}", 1, rules)][::3]
        player = make_agent(spec, rules=rules)
        tables_, observations, masks, keys = rows(tables)
        before = tables_.tobytes()
        actions = ask(player, tables_, observations, masks, keys)
        assert (masks[np.arange(len(tables)), actions] == 1).all()
        assert tables_.tobytes() == before
        order = np.random.default_rng(0).permutation(len(tables))[:4]
        other = make_agent(spec, rules=rules)
        for i in order:
            one = slice(i, i + 1)
            again = ask(other, tables_[one], observations[one], masks[one], keys[one])
            assert again[0] == actions[i]


@pytest.mark.parametrize("spec", ["pimc:2", "heuristic+open"])
def test_number_of_processes_changes_nothing(spec: str) -> None:
    agents = [make_agent(spec), make_agent("heuristic")]
    lots = {
        workers: list(
            play(prefa, Rules(), agents, rotations(3), SEEDS, 5, batch_size=2, workers=workers)
        )
        for workers in (1, 2)
    }
    assert [lot.numbers[0] for lot in lots[2]] == sorted(lot.numbers[0] for lot in lots[2])
    one, two = (
        [
            (lot.settled_thirds[d].tolist(), [a for a in row.tolist() if a != -1])
            for lot in lots[workers]
            for d in range(len(lot))
            for row in lot.deals.actions[3 * d : 3 * d + 3]
        ]
        for workers in (1, 2)
    )
    assert one == two and len(one) == 15


def test_cards_are_worth_what_minimax_says() -> None:
    """Every card, in money, in the one world there is; an invited hand plays for the inviter."""
    memory = solver.Memory()
    checked = 0
    invited = 0
    for table, _ in positions("cards", 80):
        left = 10 - int(sum(table.tricks))
        if table.phase != Phase.PLAY or left > 4:
            continue
        gainer = int(prefa.beneficiary(table))
        tables = np.zeros(3, DTYPE)
        tables[2] = table
        sums = np.full(NUM_CARDS, -(10**6))
        legal = members(prefa.legal_actions(table))
        sums[legal] = 0
        add_cards(memory.table, memory.scratch, tables, False, 2, sums)
        for card in range(NUM_CARDS):
            if card in legal:
                after: Any = table.copy()
                prefa.step(after, card)
                assert sums[card] == 2 * settled(after, gainer)[gainer]
                if table.seat == table.owner:
                    assert sums[card] == 2 * exact(after, gainer)
                    checked += 1
                invited += gainer != table.seat
            else:
                assert sums[card] == -(10**6)
    assert checked > 100 and invited > 10


def test_stronger_than_the_rule_player() -> None:
    heuristic = make_agent("heuristic")
    for spec, deals in (("heuristic+pimc:5", 120), ("heuristic+open", 80), ("open", 20)):
        result = compare(prefa, Rules(), make_agent(spec), heuristic, SEEDS, deals, workers=2)
        assert result.mean > 0.5, (spec, result)
        assert result.illegal == result.nonzero == 0


def test_own_weights_are_asked() -> None:
    calls = []

    def weigh(seen: Any, tables: Any) -> Any:
        calls.append(len(tables))
        return np.ones(len(tables))

    tables = [t.copy() for t, _ in positions("weigh", 3, Rules()) if t.phase == Phase.PLAY]
    _, observations, masks, keys = rows(tables)
    Pimc(4, weigh=weigh).act(observations, masks, keys)
    assert len(calls) == int((masks.sum(axis=1) > 1).sum()) and set(calls) == {128}


def test_solving_to_tricks_is_another_player() -> None:
    tables = [t.copy() for t, _ in positions("tricks", 20, Rules()) if t.phase == Phase.PLAY]
    _, observations, masks, keys = rows(tables)
    money = Pimc(8).act(observations, masks, keys)
    tricks = Pimc(8, by_tricks=True).act(observations, masks, keys)
    assert (money != tricks).any() and (money == tricks).mean() > 0.5


@pytest.mark.parametrize(
    "spec", ["pimc", "pimc:", "pimc:0", "pimc:x", "pimc:1e9", "pimc:-3", "pimc:²"]
)
def test_bad_numbers_of_worlds(spec: str) -> None:
    with pytest.raises(ValueError, match="pimc"):
        make_agent(spec)


@pytest.mark.parametrize("spec", ["open:3", "heuristic:1", "+", "heuristic+", "+pimc:3", "a+b"])
def test_bad_specs(spec: str) -> None:
    with pytest.raises(ValueError, match="no such agent"):
        make_agent(spec)


def test_names_make_the_same_player_again() -> None:
    for spec in SPECS:
        assert make_agent(spec).name == spec
    assert Open().name == "open"


# -- what actions are worth -----------------------------------------------------------------------


PLAY = {"pimc:2": "5c1715523e2ba848", "heuristic+pimc:5": "8d3e645b686acadf"}
"""Hash of twelve deals as these players have always played them."""


@pytest.mark.parametrize("spec", PLAY)
def test_play_is_as_it_was(spec: str) -> None:
    seats = np.zeros((1, 3), np.int64)
    (lot,) = play(prefa, Rules(), [make_agent(spec)], seats, SeedSet("digest"), 12, 12)
    assert hashlib.sha256(lot.deals.actions.tobytes()).hexdigest()[:16] == PLAY[spec]


@pytest.mark.parametrize("spec", ["pimc:2", "heuristic+pimc:3", "pimc:1+heuristic"])
def test_values_go_with_the_choice(spec: str) -> None:
    """Legal actions only, all cards, and the same alone as in company."""
    tables = [table.copy() for table, _ in positions(f"values {spec}", 2, Rules())][::2]
    _, observations, masks, keys = rows(tables)
    player = make_agent(spec)
    assert isinstance(player, ValuingAgent)
    actions, values = player.assess(observations, masks, keys)
    assert (actions == player.act(observations, masks, keys)).all()
    assert values.shape == masks.shape and values.dtype == np.float32
    is_valued = np.isfinite(values)
    assert is_valued.any() and (is_valued <= (masks == 1)).all()
    for i in np.random.default_rng(0).permutation(len(tables))[:4]:
        one = slice(i, i + 1)
        again = player.assess(observations[one], masks[one], keys[one])[1]
        assert again.tobytes() == values[one].tobytes()


def test_values_are_what_minimax_says_for_whom_the_seat_plays() -> None:
    """Of the one world that is believed in; an invited hand plays for the inviter."""
    hands = np.zeros(3, np.int64)
    is_drawn = [False]

    def believe(seen: Any, tables: Any) -> Any:
        is_this = (tables["hands"] == hands).all(axis=1)
        is_drawn[0] = bool(is_this.any())
        return is_this.astype(np.float64)

    player = Pimc(20, weigh=believe)
    checked = invited = 0
    for table, _ in positions("worth", 60, Rules()):
        legal = members(prefa.legal_actions(table))
        left = 10 - int(sum(table.tricks))
        if table.phase != Phase.PLAY or left > 3 or len(legal) < 2:
            continue
        _, observations, masks, keys = rows([table])
        hands[:] = np.roll(table.hands, -int(table.seat))
        (values,) = player.values(observations, masks, keys)
        if not is_drawn[0]:
            continue
        payee = int(prefa.beneficiary(table))
        for card in legal:
            after: Any = table.copy()
            prefa.step(after, card)
            assert values[card] == np.float32(settled(after, payee)[payee] / 3)
        checked += 1
        invited += payee != table.seat
    assert checked > 40 and invited > 3


@pytest.mark.parametrize(
    ("spec", "is_valuing"),
    [("pimc:1", True), ("heuristic+pimc:1", True), ("pimc:1+heuristic", True),
     ("heuristic", False), ("uniform+heuristic", False), ("open", False), ("pimc:1+open", False)],
)  # fmt: skip
def test_who_says_what_actions_are_worth(spec: str, is_valuing: bool) -> None:
    assert isinstance(make_agent(spec), ValuingAgent) == is_valuing
