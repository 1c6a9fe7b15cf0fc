"""Deals played by a teacher: what is kept of them is what happened."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from agents import arena, make_agent
from agents.agent import ValuingAgent
from agents.benchmarks import SeedSet
from agents.teaching import Decisions, concatenate
from agents.teaching.play import play_deals
from prefa_env import VectorEnv, prefa
from prefa_env.prefa import Action, Phase, Rules
from tests.agents.teaching.chance import Chance
from tests.helpers import members

SEEDS = SeedSet("teaching")


def taught(
    teacher: Any, deals: int, epsilon: float = 0.0, first: int = 0, rules: Rules | None = None
) -> Decisions:
    assert isinstance(teacher, ValuingAgent)
    env = VectorEnv("prefa", deals, rules, auto_reset=False)
    return play_deals(env, teacher, SEEDS, first, epsilon)


def phases(decisions: Decisions) -> Any:
    return decisions.states[:, prefa.OBSERVATION["phase"]].argmax(axis=1)


def equal(one: Decisions, other: Decisions) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in vars(one)]
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.mark.parametrize("rules", [Rules(), Rules.site()])
def test_the_deals_can_be_replayed_and_pay_what_is_kept(rules: Rules) -> None:
    """By the kernel alone: states, legal actions, who is paid, and what in the end."""
    deals, first = 150, 1000
    decisions = taught(Chance(), deals, 0.1, first, rules)
    rows = defaultdict(list)
    for row, trajectory in enumerate(decisions.trajectories):
        rows[int(trajectory)].append(row)
    decks, dealers = SEEDS.deals(prefa, first + np.arange(deals))
    words = np.empty(prefa.STATE.size // 8, np.int64)
    found = invited = 0
    for number in range(deals):
        table: Any = np.zeros(1, prefa.DTYPE)[0]
        prefa.deal(table, rules.flags, decks[number], dealers[number])
        inviter = -1
        paid: list[tuple[int, int]] = []
        while table.seat >= 0:
            legal = int(prefa.legal_actions(table))
            action = members(legal)[0]
            if legal & (legal - 1):
                is_invited = inviter >= 0 and table.seat not in (inviter, table.owner)
                payee = inviter if is_invited else int(table.seat)
                row = rows[((first + number) * 3 + int(table.seat)) * 3 + payee].pop(0)
                prefa.observe_all(table, words)
                assert decisions.states[row].tobytes() == words.tobytes()
                assert decisions.legal_actions[row] == legal
                action = int(decisions.actions[row])
                paid.append((row, payee))
                found += 1
                invited += is_invited
            if action == Action.INVITE:
                inviter = int(table.seat)
            prefa.step(table, action)
        for row, payee in paid:
            assert decisions.payoffs[row] == np.float32(table.settled_thirds[payee]) / 3
    assert found == len(decisions)
    assert invited > 20


@pytest.mark.parametrize("spec", ["pimc:1", "heuristic+pimc:2"])
def test_without_exploration_it_is_what_the_agent_plays(spec: str) -> None:
    teacher = make_agent(spec)
    decisions = taught(teacher, 6)
    (lot,) = arena.play(prefa, Rules(), [teacher], np.zeros((1, 3), np.int64), SEEDS, 6, 6)
    payees = decisions.trajectories % 3
    expected = lot.settled_thirds[decisions.trajectories // 9, 0, payees] / 3
    assert (decisions.payoffs == expected.astype(np.float32)).all()
    assert (decisions.actions == decisions.choices).all()


def test_a_chosen_card_is_worth_the_most_and_a_call_more_than_the_models() -> None:
    decisions = taught(make_agent("pimc:2"), 12, 0.05)
    masks = decisions.masks
    values = np.where(np.isnan(decisions.values), -np.inf, decisions.values)
    chosen = values[np.arange(len(decisions)), decisions.choices]
    is_card = phases(decisions) == Phase.PLAY
    assert (np.isfinite(decisions.values) <= masks).all()
    assert (np.isfinite(decisions.values) == masks)[is_card].all()
    assert (chosen == values.max(axis=1))[is_card].all()
    # Before the first card another action than the model's must be better by a standard error.
    size = prefa.OBSERVATION.size
    model = make_agent("heuristic").act(
        np.ascontiguousarray(decisions.states[:, :size]),
        masks.astype(np.int8),
        np.zeros(len(decisions), np.uint64),
    )
    models = values[np.arange(len(decisions)), model]
    is_other = ~is_card & (decisions.choices != model)
    assert is_other.sum() > 5
    assert (chosen > models)[is_other].all()
    is_valued = np.isfinite(decisions.values).any(axis=1)
    assert (np.isfinite(chosen) == is_valued).all()
    assert (decisions.choices == model)[~is_valued].all()


def test_a_bidder_without_values_leaves_rows_without_any() -> None:
    decisions = taught(make_agent("heuristic+pimc:1"), 6)
    is_card = phases(decisions) == Phase.PLAY
    assert 0 < is_card.sum() < len(decisions)
    assert np.isnan(decisions.values[~is_card]).all()
    assert (np.isfinite(decisions.values) == decisions.masks)[is_card].all()


def test_a_deal_is_played_the_same_in_any_company() -> None:
    whole = taught(Chance(), 6, 0.3)
    parts = [taught(Chance(), 4, 0.3), taught(Chance(), 2, 0.3, first=4)]
    assert equal(whole, concatenate(parts))
    assert not equal(taught(Chance(), 6, 0.0), whole)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.5, 1.0])
def test_exploration_is_as_often_as_asked(epsilon: float) -> None:
    """A teacher of the lowest legal action, so that every other one is exploration."""

    class Lowest(Chance):
        def act(self, observations: Any, action_masks: Any, keys: Any) -> Any:
            return action_masks.argmax(axis=1).astype(np.int64)

    decisions = taught(Lowest(), 400, epsilon)
    counts = decisions.masks.sum(axis=1)
    assert (counts > 1).all()
    assert decisions.masks[np.arange(len(decisions)), decisions.actions].all()
    is_other = decisions.actions != decisions.choices
    chances = epsilon * (1 - 1 / counts)
    deviation = np.sqrt((chances * (1 - chances)).sum())
    assert abs(is_other.sum() - chances.sum()) <= 4 * deviation
    # Its own values and choices are kept where it was not followed.
    assert (decisions.choices == decisions.masks.argmax(axis=1)).all()
