"""Duplicate deals: same cards in every seat, nothing depends on batches, chance or order."""

from __future__ import annotations

import contextlib
import re
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from agents import behaviour, make_agent
from agents.agent import Actions, Keys, Masks, Observations
from agents.arena import Arena, play
from agents.benchmarks import SeedSet
from agents.comparison import Comparison, compare
from agents.designs import one_against_copies, rotations
from agents.lots import AgentError
from agents.played import Played
from agents.tally import Tally, summarise
from prefa_env import prefa
from prefa_env.doors import find_game
from prefa_env.game import Game
from prefa_env.prefa import Rules
from prefa_env.prefa.scoring import value
from tests import toy

GAME = find_game("prefa")
SEEDS = SeedSet("test")
UNIFORM = make_agent("uniform")
PASS_ALWAYS = make_agent("pass-always")
FIRST_LEGAL = make_agent("first-legal")
BEHAVIOUR = {
    "passed_out", "declared", "made", "one_short", "two_short", "declined", "mean_level",
    "play", "pass", "alone", "invite", "wrote", "held",
}  # fmt: skip


class Wrapped:
    """Another agent, with notes of what it was asked; answers may be replaced."""

    def __init__(self, agent: Any = UNIFORM, answer: Any = None) -> None:
        self.name = "wrapped"
        self.agent = agent
        self.answer = answer
        self.keys: list[Keys] = []
        self.rows: list[int] = []

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        assert observations.dtype == action_masks.dtype == np.int8
        assert keys.dtype == np.uint64
        assert (action_masks.sum(axis=1) >= 2).all()  # forced moves are not asked for
        self.keys.append(keys)
        self.rows.append(len(keys))
        actions: Actions = self.agent.act(observations, action_masks, keys)
        return actions if self.answer is None else self.answer(actions)


def run(
    candidate: Any, field: Any, deals: int = 60, batch_size: int = 512, rules: Rules | None = None
) -> Comparison:
    return compare(GAME, rules or Rules(), candidate, field, SEEDS, deals, batch_size)


def played(agents: list[Any], deals: int = 60, batch_size: int = 512) -> list[Played]:
    return list(play(GAME, Rules(), agents, rotations(3), SEEDS, deals, batch_size))


# -- seatings and rows ----------------------------------------------------------------------------


def test_the_same_cards_in_every_seating() -> None:
    (games,) = played([UNIFORM, FIRST_LEGAL])
    deals = games.deals
    assert deals.games.tolist() == list(range(180))
    for k, table in enumerate(deals.tables):
        same = deals.dealers[k - k % 3], deals.decks[k - k % 3]
        for dealer, deck in (same, (deals.dealers[k], deals.decks[k])):
            assert prefa.deal_text(table["dealer"], prefa.deck_of(_record(table))) == (
                prefa.deal_text(dealer, deck.tolist())
            )


def _record(table: Any) -> Any:
    return np.array(table).view(prefa.DTYPE).reshape(1)[0]


def test_history_is_the_game() -> None:
    (games,) = played([UNIFORM, FIRST_LEGAL], deals=20)
    deals = games.deals
    for d in range(20):
        for r in range(3):
            k = 3 * d + r
            table: Any = np.zeros(1, prefa.DTYPE)[0]
            prefa.deal(table, 0, deals.decks[k], deals.dealers[k])
            for action, seat in zip(deals.actions[k], deals.seats[k], strict=True):
                if action < 0:
                    assert seat < 0
                    continue
                assert table.seat == seat
                assert prefa.legal_actions(table) >> int(action) & 1
                prefa.step(table, int(action))
            assert table.seat == -1
            assert table == deals.tables[k]
            assert table.settled_thirds.tolist() == games.settled_thirds[d, r].tolist()
            assert table.kapikia_change.tolist() == games.kapikia[d, r].tolist()
            assert table.kassa_change.tolist() == games.kassa[d, r].tolist()


def test_each_seat_is_played_by_its_agent() -> None:
    (games,) = played([PASS_ALWAYS, UNIFORM])
    passed = int(prefa.Action.PASS)
    for r in range(3):
        actions, seats = games.deals.actions[r::3], games.deals.seats[r::3]
        calls = actions[(actions >= 32) & (seats == r)]
        assert (calls == passed).all()
        others = actions[(actions >= 32) & (seats != r)]
        assert not (others == passed).all()


# -- the same numbers however it is played --------------------------------------------------------


def test_batch_size_changes_nothing() -> None:
    results = [run(UNIFORM, FIRST_LEGAL, 20, size) for size in (1, 7, 512)]
    assert results[0] == results[1] == results[2]
    whole = played([UNIFORM, UNIFORM], 20)[0]
    parts = played([UNIFORM, UNIFORM], 20, 6)
    assert [part.numbers[0] for part in parts] == [0, 6, 12, 18]
    assert np.concatenate([part.numbers for part in parts]).tolist() == list(range(20))
    length = whole.deals.actions.shape[-1]
    padded = [
        np.pad(
            part.deals.actions,
            [(0, 0), (0, length - part.deals.actions.shape[-1])],
            constant_values=-1,
        )
        for part in parts
    ]
    assert (np.concatenate(padded) == whole.deals.actions).all()


def test_keys_are_of_deal_seat_and_decision() -> None:
    at_once, one_by_one = Wrapped(), Wrapped()
    played([at_once, at_once], 15)
    played([one_by_one, one_by_one], 15, 1)
    keys = np.sort(np.concatenate(at_once.keys))
    assert (keys == np.sort(np.concatenate(one_by_one.keys))).all()
    firsts = {SEEDS.decision_key(deal, (SEEDS.deals(GAME, np.array([deal]))[1][0] + 1) % 3, 0)
              for deal in range(15)}  # fmt: skip
    assert firsts <= set(keys.tolist())
    # Seatings share keys: both arms of a comparison see the same chance.
    other = Wrapped(FIRST_LEGAL)
    played([other, other], 15)
    assert (np.unique(np.concatenate(other.keys), return_counts=True)[1] == 3).all()


def test_one_agent_in_all_seats_is_asked_once_a_step() -> None:
    agent = Wrapped()
    (games,) = played([agent, agent], 30)
    assert len(agent.rows) <= games.deals.actions.shape[-1]
    assert agent.rows[0] == 90


@pytest.mark.parametrize("agent", [UNIFORM, FIRST_LEGAL, PASS_ALWAYS])
def test_against_itself_exactly_zero(agent: Any) -> None:
    result = run(agent, agent)
    assert (result.mean, result.low, result.high, result.sd) == (0, 0, 0, 0)
    assert result.per_seat == (0, 0, 0) or abs(sum(result.per_seat)) < 1e-9


def test_two_copies_of_an_agent_are_the_same_player() -> None:
    assert run(UNIFORM, make_agent("uniform")) == run(UNIFORM, UNIFORM)


def test_payoffs_are_the_candidates() -> None:
    result = run(UNIFORM, PASS_ALWAYS, 200)
    (games,) = played([UNIFORM, PASS_ALWAYS], 200)
    won = np.array([[games.deals.tables[3 * d + r]["settled_thirds"][r] / 3 for r in range(3)]
                    for d in range(200)])  # fmt: skip
    assert result.mean == pytest.approx(won.mean())
    assert result.per_seat == pytest.approx(won.mean(axis=0))
    assert result.sd == pytest.approx(won.mean(axis=1).std(ddof=1))
    assert result.low < result.mean < result.high
    assert result.mean > 20  # nobody defends
    assert run(PASS_ALWAYS, UNIFORM, 200).candidate == "pass-always"


def test_rules_are_played() -> None:
    result = run(PASS_ALWAYS, PASS_ALWAYS, rules=Rules(all_pass="misere"))
    assert result.per_seat != (0, 0, 0)
    assert run(UNIFORM, UNIFORM, rules=Rules(write_bid=False)).behaviour["field"]["wrote"] == 0


# -- another game ---------------------------------------------------------------------------------


class TakesTheBest:
    """Plays the toy game as well as can be."""

    name = "takes-the-best"

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        return observations[:, 15].astype(np.int64)


def test_four_seats_and_a_known_value() -> None:
    game = cast(Game, toy)
    best = TakesTheBest()
    result = compare(game, toy.Rules(), best, FIRST_LEGAL, SEEDS, 40)
    # In one of four seatings he holds the best card, for 9; in the others nobody takes.
    assert (result.mean, result.low, result.high, result.sd) == (9 / 4, 9 / 4, 9 / 4, 0)
    assert len(result.per_seat) == 4 and sum(result.per_seat) == pytest.approx(9)
    assert result.behaviour == {"candidate": {}, "field": {}}
    assert compare(game, toy.Rules(), best, best, SEEDS, 40, 3).mean == 0
    turned = compare(game, toy.Rules(), FIRST_LEGAL, best, SEEDS, 40, 7)
    assert turned.mean == -9 / 4  # he leaves his own best card; three times he pays 3


# -- counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [-1, 62, 63, 64, 1000, -(2**40)])
def test_illegal_moves_are_counted_and_replaced(bad: int) -> None:
    agent = Wrapped(answer=lambda actions: np.full_like(actions, bad))
    result = run(agent, UNIFORM)
    expected = run(FIRST_LEGAL, UNIFORM)
    assert result.illegal == result.illegal_candidate == sum(agent.rows) > 0
    assert result.illegal_field == 0
    assert replace(result, candidate=expected.candidate, illegal=0, illegal_candidate=0) == expected
    turned = run(UNIFORM, agent)
    assert turned.illegal == turned.illegal_field > 0 == turned.illegal_candidate


def test_illegal_moves_of_all_lots_are_counted() -> None:
    agent = Wrapped(answer=lambda actions: np.full_like(actions, -1))
    assert run(agent, UNIFORM, 20, 6).illegal_candidate == sum(agent.rows) > 0


def test_illegal_for_the_moment_is_illegal() -> None:
    agent = Wrapped(answer=lambda actions: np.full_like(actions, int(prefa.Action.INVITE)))
    assert run(agent, UNIFORM, 20).illegal > 0


@pytest.mark.parametrize(
    "answer",
    [
        lambda actions: actions[:-1],
        lambda actions: actions.astype(np.float64),
        lambda actions: None,
        lambda actions: actions[:, None],
    ],
)
def test_no_actions_at_all_is_an_error(answer: Any) -> None:
    with pytest.raises(AgentError, match=r"agent 'wrapped': must return \d+ integers"):
        run(Wrapped(answer=answer), UNIFORM, 20)


def test_counts_legal_play_as_clean() -> None:
    result = run(UNIFORM, FIRST_LEGAL)
    assert (result.illegal, result.nonzero) == (0, 0)


@pytest.mark.parametrize("name", ["settled_thirds", "kapikia"])
def test_deals_that_do_not_sum_to_zero(name: str) -> None:
    (games,) = played([UNIFORM, UNIFORM])
    matchup = one_against_copies(0, 1, 3)
    changed = getattr(games, name).copy()
    changed[3, 1, 2] += 1
    changed[4, 0, 0] -= 1
    tally = Tally(matchup)
    tally.add(summarise(GAME, matchup, games, is_examined=False))
    assert tally.nonzero == 0
    tally.add(summarise(GAME, matchup, replace(games, **{name: changed}), is_examined=False))
    assert tally.nonzero == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_an_agent_that_raises_is_named(workers: int) -> None:
    agents = [UNIFORM, Breaking()]
    with (
        Arena(GAME, Rules(), agents, SEEDS, workers, 8) as arena,
        pytest.raises(AgentError) as caught,
    ):
        list(arena.play(rotations(3), np.arange(40)))
    assert str(caught.value) == "agent 'breaking': KeyError: 'never seen'"
    assert caught.value.agent == "breaking"


class Breaking:
    """Raises once it is asked whether to defend."""

    name = "breaking"

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        if action_masks[:, prefa.Action.PLAY].any():
            raise KeyError("never seen")
        return FIRST_LEGAL.act(observations, action_masks, keys)


def test_processes_outlive_a_match_up() -> None:
    with Arena(GAME, Rules(), [UNIFORM, Breaking()], SEEDS, 2, 4) as arena:
        with pytest.raises(AgentError):
            list(arena.play(rotations(3), np.arange(20)))
        lots = list(arena.play(np.zeros((1, 3), np.int64), np.arange(20)))
        some = arena.play(np.zeros((1, 3), np.int64), np.arange(500))
        next(some)
        some.close()  # seen enough
        assert len(list(arena.play(np.zeros((1, 3), np.int64), np.arange(20)))) == len(lots)
    (expected,) = play(GAME, Rules(), [UNIFORM], np.zeros((1, 3), np.int64), SEEDS, 20, 20)
    assert (np.concatenate([lot.kapikia for lot in lots]) == expected.kapikia).all()


# -- behaviour ------------------------------------------------------------------------------------


def test_behaviour_of_hand_made_games() -> None:
    deal = "2:AKQJT987...87 .AKQJT987.AK. ..QJT987.AKQJ ...T9"
    games = [
        # Passed out.
        "pass pass pass",
        # A writer who declines.
        "write pass pass S7 S8 write",
        # A hold by the dealer's right; the contract is raised, nobody defends.
        "6S 6C pass 6C pass S7 S8 7S pass pass",
        # Many short: the one who defends, alone, takes eight clubs.
        "pass pass 6S D8 D9 10NT pass play alone",
    ]
    tables, actions, seats = [], [], []
    for text in games:
        table, done = prefa.parse_game(f"{deal} | {text}")
        while table.seat >= 0:
            legal = int(prefa.legal_actions(table))
            action = (legal & -legal).bit_length() - 1
            prefa.step(table, action)
            done.append(action)
        tables.append(table)
        actions.append(done)
    for done in actions:
        replayed, _ = prefa.parse_game(f"{deal} |")
        by = []
        for action in done:
            by.append(int(replayed.seat))
            prefa.step(replayed, action)
        seats.append(by)
    length = max(map(len, actions))
    padded = np.array([row + [-1] * (length - len(row)) for row in actions], np.int8)
    by_seat = np.array([row + [-1] * (length - len(row)) for row in seats], np.int8)

    def look(*players: int) -> behaviour.Shares:
        is_counted = np.zeros((4, 3), np.bool_)
        is_counted[:, players] = True
        counts = behaviour.count(
            "prefa", np.array(tables, prefa.DTYPE), padded, by_seat, is_counted
        )
        return behaviour.shares("prefa", counts)

    first = look(0)
    assert first == {
        "passed_out": 1 / 4,
        "declared": 2 / 4,
        "made": 1 / 2,
        "one_short": 0,
        "two_short": 0,
        "declined": 1 / 2,
        "mean_level": 7,
        "play": 0,
        "pass": 1,
        "alone": None,
        "invite": None,
        "wrote": 1 / 4,
        "held": 1 / 4,
    }
    second = look(1)
    assert second["declared"] == second["held"] == 0
    assert second["made"] is second["mean_level"] is None
    assert (second["play"], second["pass"]) == (1 / 2, 1 / 2)
    assert (second["alone"], second["invite"]) == (1, 0)
    third = look(2)
    assert (third["two_short"], third["made"], third["mean_level"]) == (1, 0, 10)
    assert look(1, 2)["declared"] == 1 / 8


def test_behaviour_agrees_with_the_payments() -> None:
    (games,) = played([UNIFORM, UNIFORM], 1500, 1500)
    tables = games.deals.tables
    made = one = two = declined = 0
    for table in tables[tables["owner"] >= 0]:
        change = table["kassa_change"][table["owner"]]
        worth = value(0, int(table["bid"])) if table["bid"] >= 0 else 0
        declined += table["bid"] < 0
        made += worth > 0 and change <= 0
        one += worth > 0 and change == worth
        two += worth > 0 and change == 2 * worth
    declared = made + one + two + declined
    assert declared == (tables["owner"] >= 0).sum()
    shares = run(UNIFORM, UNIFORM, 1500).behaviour["candidate"]
    assert shares.keys() == BEHAVIOUR
    # An agent against itself: the three seatings are one game, each seat counts once.
    assert shares["made"] == pytest.approx(made / declared)
    assert shares["one_short"] == pytest.approx(one / declared)
    assert shares["two_short"] == pytest.approx(two / declared)
    assert shares["declined"] == pytest.approx(declined / declared)
    assert all(number > 0 for number in (made, one, two, declined))


def test_holds_are_found_in_play() -> None:
    (games,) = played([UNIFORM, UNIFORM], 300)
    expected = 0
    for d in range(300):
        actions, seats = games.deals.actions[3 * d], games.deals.seats[3 * d]
        bids = [(a, s) for a, s in zip(actions[: games.deals.tables[3 * d]["num_calls"]], seats,
                                       strict=False) if a >= 34]  # fmt: skip
        expected += len({s for i, (a, s) in enumerate(bids) if i and bids[i - 1][0] == a})
    share = run(UNIFORM, UNIFORM, 300).behaviour["field"]["held"]
    assert expected > 0 and share == pytest.approx(expected / 900)


def test_games_without_behaviour() -> None:
    nothing: npt.NDArray[Any] = np.zeros(0)
    assert behaviour.count("chess", nothing, nothing, nothing, nothing) == {}
    assert behaviour.shares("chess", {}) == {}


class Endable:
    """Raises if its process could not be ended while it plays."""

    name = "endable"

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        if signal.SIGTERM in blocked_signals():
            raise RuntimeError("SIGTERM is blocked")
        return FIRST_LEGAL.act(observations, action_masks, keys)


def blocked_signals() -> set[int]:
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def threads_to_end() -> int:
    """Threads of this process, a library's too, that SIGTERM could reach."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return int(signal.SIGTERM not in blocked_signals())
    masks = [re.search(r"SigBlk:\s*(\w+)", (t / "status").read_text()) for t in tasks.iterdir()]
    return sum(mask is not None and not int(mask[1], 16) >> (signal.SIGTERM - 1) & 1
               for mask in masks)  # fmt: skip


def test_processes_are_not_ended_while_they_send() -> None:
    """Half a message would let the parent wait for the rest for ever."""
    seatings = np.zeros((1, 3), np.int64)
    with Arena(GAME, Rules(), [Endable()], SEEDS, 2) as arena:
        assert len(list(arena.play(seatings, np.arange(40)))) > 1
        assert arena._processes._pool is not None
        for _ in range(4):
            assert arena._processes._pool.submit(threads_to_end).result() == 0


@pytest.mark.slow
def test_processes_end_whatever_they_are_doing() -> None:
    agents = [PASS_ALWAYS, FIRST_LEGAL]
    for attempt in range(20):
        with (
            contextlib.suppress(KeyboardInterrupt),
            Arena(GAME, Rules(), agents, SEEDS, 2, 512) as arena,
        ):
            for number, _ in enumerate(arena.play(rotations(3), np.arange(40_000))):
                if number == 2:
                    time.sleep(0.003 * attempt)
                    raise KeyboardInterrupt
