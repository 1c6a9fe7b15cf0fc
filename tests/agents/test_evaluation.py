"""Evaluations: every design, interrupted and gone on with, the same however they are played."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.progress import Progress

from agents import make_agent
from agents.agent import Actions, Keys, Masks, Observations
from agents.arena import Arena
from agents.cli import Names
from agents.designs import one_against_copies
from agents.evaluation import CHECK_EVERY, EvaluateConfig, Evaluation
from agents.folder import FolderError
from agents.journal import JOURNAL, Journal
from agents.records import open_records
from agents.results import results
from agents.statistics import anytime_interval, deals_until, estimate, holm
from prefa_env import prefa
from prefa_env.records import RecordError, read_records

THREE = Names(("uniform", "first-legal", "pass-always"))
VOLATILE = {"config", "seconds", "date", "commit", "agents"}


def config(**changes: Any) -> EvaluateConfig:
    return replace(EvaluateConfig(deals=40, seeds="smoke", examine=0, timed=0), **changes)


def run(settings: EvaluateConfig, **agents: Any) -> Evaluation:
    evaluation = Evaluation(settings, agents)
    evaluation.run(Progress(disable=True))
    return evaluation


def found(settings: EvaluateConfig, **agents: Any) -> dict[str, Any]:
    return json.loads(json.dumps(results(run(settings, **agents)), allow_nan=False))  # type: ignore[no-any-return]


def lasting(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in VOLATILE}


class Wrapped:
    """Another agent, that does something at a certain call."""

    def __init__(self, name: str, at: int, error: BaseException) -> None:
        self.name = name
        self.agent = make_agent("uniform")
        self.calls = 0
        self.at = at
        self.error = error

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        self.calls += 1
        if self.calls == self.at:
            raise self.error
        return self.agent.act(observations, action_masks, keys)


# -- designs --------------------------------------------------------------------------------------


def test_xyy_and_xxy_see_the_same_players_from_both_sides() -> None:
    pair = {"candidates": Names(("uniform",)), "fields": Names(("pass-always",))}
    turned = {"candidates": Names(("pass-always",)), "fields": Names(("uniform",))}
    alone = found(config(**pair))["rows"][0]
    two = found(config(design="xxy", **turned))["rows"][0]
    # The same games: what one wins alone, the two others lose, half each.
    assert two["mean"] == pytest.approx(-alone["mean"] / 2)
    assert two["high"] - two["low"] == pytest.approx((alone["high"] - alone["low"]) / 2)
    assert (alone["design"], two["design"]) == ("xyy", "xxy")
    assert sum(alone["per_seat"]) / 3 == pytest.approx(alone["mean"])
    assert sum(two["per_seat"]) / 3 == pytest.approx(two["mean"])


def test_three_agents_in_six_seatings() -> None:
    values = found(config(design="trio", candidates=THREE))
    rows = values["rows"]
    assert [(row["candidate"], row["field"]) for row in rows] == [
        ("uniform", "first-legal,pass-always"),
        ("first-legal", "uniform,pass-always"),
        ("pass-always", "uniform,first-legal"),
    ]
    assert sum(row["mean"] for row in rows) == pytest.approx(0)
    assert all(row["mean"] != 0 and row["low"] < row["mean"] < row["high"] for row in rows)
    # As played seating by seating.
    evaluation = run(config(design="trio", candidates=THREE))
    (tally,) = evaluation.tallies
    won = np.where(tally.matchup.seatings == 1, tally.settled_thirds, 0).sum(axis=(1, 2)) / 3 / 6
    assert rows[1]["mean"] == pytest.approx(estimate(won).mean)
    assert rows[1]["low"] == pytest.approx(estimate(won).low)


def test_a_league() -> None:
    values = found(config(design="league", candidates=THREE))
    league = values["league"]
    payoffs = league["payoffs"]
    assert league["agents"] == list(THREE)
    for i, j in np.ndindex(3, 3):
        assert payoffs[i][i][i] == 0
        assert payoffs[i][j][j] + 2 * payoffs[j][i][j] == pytest.approx(0)
        assert payoffs[i][i][j] == payoffs[i][j][i]
    assert sum(payoffs[i][(i + 1) % 3][(i + 2) % 3] for i in range(3)) == pytest.approx(0)
    pair = {"candidates": Names(("first-legal",)), "fields": Names(("pass-always",))}
    assert payoffs[1][2][2] == found(config(**pair))["rows"][0]["mean"]
    ratings = [rating["rating"] for rating in league["ratings"]]
    assert sum(ratings) == pytest.approx(0)
    assert [rating["agent"] for rating in league["ratings"]] == list(THREE)
    assert all(rating["low"] < rating["rating"] < rating["high"] for rating in league["ratings"])
    assert len(values["rows"]) == 2 * 6 + 3


def test_a_league_that_could_not_be_rated_is_not_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'prefa\[report\]'"):
        Evaluation(config(design="league", candidates=THREE))
    Evaluation(config(design="trio", candidates=THREE))


def test_a_sampled_league_has_the_same_games() -> None:
    four = Names((*THREE, "heuristic"))
    settings = config(design="league", candidates=four, deals=200)
    whole = run(settings)
    sampled = run(replace(settings, sample=4))
    assert len(whole.tallies) == 16 and sum(tally.deals for tally in sampled.tallies) == 800
    for tally, some, numbers in zip(whole.tallies, sampled.tallies, sampled.deals, strict=True):
        assert some.deals == len(numbers) == 50
        assert (some.settled_thirds == tally.settled_thirds[numbers]).all()
    ratings = [
        {row["agent"]: row["rating"] for row in results(e)["league"]["ratings"]}
        for e in (whole, sampled)
    ]
    assert all(abs(ratings[0][name] - ratings[1][name]) < 12 for name in four)
    assert ratings[1]["heuristic"] > 10 > ratings[1]["uniform"]


def test_a_cross_takes_a_gain_apart() -> None:
    pair = {"candidates": Names(("heuristic",)), "fields": Names(("uniform",))}
    values = found(config(design="cross", **pair))
    (cross,) = values["cross"]
    rows = values["rows"]
    assert [row["candidate"] for row in rows] == [
        "heuristic", "heuristic+uniform", "uniform+heuristic",
    ]  # fmt: skip
    for name, row in zip(("both", "bidding", "cards"), rows, strict=True):
        assert [cross[name][key] for key in ("mean", "low", "high", "sd")] == [
            row[key] for key in ("mean", "low", "high", "sd")
        ]
    assert cross["interaction"]["mean"] == pytest.approx(
        cross["both"]["mean"] - cross["bidding"]["mean"] - cross["cards"]["mean"]
    )
    assert cross["bidding"]["mean"] > 0 and rows[0] == found(config(**pair))["rows"][0] | {
        "design": "cross", "p_holm": rows[0]["p_holm"],
    }  # fmt: skip


def test_holm_looks_at_the_whole_table() -> None:
    rows = found(config(candidates=THREE, fields=Names(("uniform", "first-legal"))))["rows"]
    p = [row["p"] for row in rows]
    assert [row["p_holm"] for row in rows] == holm(p).tolist()
    assert any(row["p_holm"] > row["p"] for row in rows)


def test_roles_add_up_to_the_mean() -> None:
    pair = {"candidates": Names(("heuristic",)), "fields": Names(("uniform",))}
    row = found(config(**pair))["rows"][0]
    contributions = [role["contribution"] for role in row["roles"]["candidate"].values()]
    assert sum(contributions) == pytest.approx(row["mean"])
    assert sum(role["games"] for role in row["roles"]["field"].values()) == 40 * 3 * 2


# -- the same however it is played ----------------------------------------------------------------


@pytest.mark.parametrize("design", ["xyy", "league"])
def test_batches_and_processes_change_nothing(design: str) -> None:
    settings = config(design=design, candidates=THREE, deals=30, examine=7)
    expected = found(replace(settings, batch_size=1))
    for batch_size, workers in ((512, 1), (512, 2), (1, 2), (None, 1)):
        values = found(replace(settings, batch_size=batch_size, workers=workers))
        assert lasting(values) == lasting(expected)
        assert values["agents"] == expected["agents"]


def test_fewer_deals_are_the_first_of_more() -> None:
    evaluations = [run(config(deals=deals)) for deals in (25, 40)]
    fewer, more = (evaluation.tallies[0].settled_thirds for evaluation in evaluations)
    assert (fewer == more[:25]).all()


# -- until it is narrow enough --------------------------------------------------------------------


def test_until() -> None:
    settings = config(deals=3000, until=8.0, seeds="test", fields=Names(("pass-always",)))
    evaluation = run(settings)
    (tally,) = evaluation.tallies
    values = tally.values(0)
    whole = run(replace(settings, until=None)).tallies[0].values(0)
    expected = deals_until(whole, 8.0, every=CHECK_EVERY)
    assert tally.deals == expected and expected < 3000
    assert (values == whole[:expected]).all()
    row = found(settings)["rows"][0]
    interval = anytime_interval(values)
    assert (row["deals"], row["low"], row["high"]) == (expected, interval.low, interval.high)
    assert row["p"] is row["p_holm"] is row["bootstrap_low"] is None
    for batch_size, workers in ((17, 1), (100, 2)):
        assert lasting(found(replace(settings, batch_size=batch_size, workers=workers))) == lasting(
            found(settings)
        )


def test_too_few_deals_for_an_interval_at_any_time() -> None:
    bad = Wrapped("bad", 100, ZeroDivisionError())
    settings = config(candidates=Names(("bad", "uniform")), deals=500, until=50.0, batch_size=20,
                      fields=Names(("pass-always",)))  # fmt: skip
    values = found(settings, bad=bad)
    assert [row["candidate"] for row in values["rows"]] == ["uniform"]
    assert len(values["failures"]) == 1


# -- interrupted ----------------------------------------------------------------------------------


def play_in(folder: Path, settings: EvaluateConfig, records: Path, **agents: Any) -> Evaluation:
    evaluation = Evaluation(settings, agents)
    with Journal(folder, evaluation.setup()) as journal:
        evaluation.restore(journal.entries)
        kept = evaluation.records_size
        with open_records(records, evaluation.game, settings.rules, kept) as writer:
            evaluation.run(Progress(disable=True), journal, writer)
    return evaluation


@pytest.mark.parametrize("at", [1, 30, 150])
def test_interrupted_and_gone_on_with(tmp_path: Path, at: int) -> None:
    settings = config(candidates=THREE, fields=Names(("heuristic", "first-legal")), examine=5,
                      batch_size=4)  # fmt: skip
    play_in(tmp_path / "a", settings, tmp_path / "a.jsonl")
    stopping = Wrapped("first-legal", at, KeyboardInterrupt())
    stopping.agent = make_agent("first-legal")
    with pytest.raises(KeyboardInterrupt):
        play_in(tmp_path / "b", settings, tmp_path / "b.jsonl", **{"first-legal": stopping})
    with (tmp_path / "b.jsonl").open("a") as file:
        file.write("half a rec")  # written, but the journal did not get that far
    evaluation = play_in(tmp_path / "b", settings, tmp_path / "b.jsonl")
    expected = results(run(settings))
    assert lasting(results(evaluation)) == lasting(expected)
    assert results(evaluation)["agents"] == expected["agents"]
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    assert len(list(read_records(tmp_path / "b.jsonl"))) == 6 * 40 * 3


def test_more_deals_go_on_where_it_ended(tmp_path: Path) -> None:
    records = tmp_path / "r.jsonl"
    play_in(tmp_path / "a", config(deals=20), records)
    counting = Wrapped("heuristic", 0, KeyboardInterrupt())
    evaluation = play_in(tmp_path / "a", config(deals=20), records, heuristic=counting)
    assert counting.calls == 0 and evaluation.games == 60
    evaluation = play_in(tmp_path / "a", config(deals=40), records)
    assert lasting(results(evaluation)) == lasting(results(run(config(deals=40))))
    assert [r.seed for r in read_records(records)][::3] == [f"smoke:{n}" for n in range(40)]


def test_fewer_deals_than_played(tmp_path: Path) -> None:
    play_in(tmp_path / "a", config(deals=20), tmp_path / "r.jsonl")
    with pytest.raises(ValueError, match="deals: 20 were already played, more than 10"):
        play_in(tmp_path / "a", config(deals=10), tmp_path / "r.jsonl")


@pytest.mark.parametrize(
    "entry",
    [5, None, {}, {"matchup": 9, "lot": {}}, {"matchup": 0, "lot": {"deals": 5}}, {"agent": "x"}],
)
def test_entries_of_something_else(tmp_path: Path, entry: Any) -> None:
    play_in(tmp_path / "a", config(deals=20, batch_size=20), tmp_path / "r.jsonl")
    with (tmp_path / "a" / JOURNAL).open("a") as file:
        file.write(json.dumps(entry) + "\n")
    with pytest.raises(FolderError, match="line 3 of the journal is none of an evaluation"):
        play_in(tmp_path / "a", config(deals=20, batch_size=20), tmp_path / "r.jsonl")


def test_records_are_not_written_over(tmp_path: Path) -> None:
    records = tmp_path / "r.jsonl"
    records.write_text("mine", "utf-8")
    with pytest.raises(RecordError, match="is there already: name another file"):
        play_in(tmp_path / "a", config(deals=20), records)
    assert records.read_text("utf-8") == "mine"
    records.unlink()
    play_in(tmp_path / "a", config(deals=20), records)
    records.unlink()
    with pytest.raises(RecordError, match="has lost records"):
        play_in(tmp_path / "a", config(deals=20), records)


# -- agents that fail -----------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_an_agent_that_raises_is_out_and_the_rest_is_kept(workers: int) -> None:
    bad = Wrapped("bad", 1, ZeroDivisionError("no cards?"))
    four = Names((*THREE, "bad"))
    evaluation = run(config(design="league", candidates=four, workers=workers), bad=bad)
    (failure,) = evaluation.failures
    assert (failure.agent, failure.message) == ("bad", "ZeroDivisionError: no cards?")
    assert not evaluation.is_clean
    values, expected = results(evaluation), found(config(design="league", candidates=THREE))
    rows = [row for row in values["rows"] if "bad" not in row["candidate"] + row["field"]]
    kept = {(row["candidate"], row["field"]): row["mean"] for row in rows}
    for row in expected["rows"]:
        assert kept[row["candidate"], row["field"]] == row["mean"]
    assert values["league"]["ratings"] == expected["league"]["ratings"]
    assert bad.calls <= 1


def test_one_that_fails_when_timed_is_out_at_once() -> None:
    bad = Wrapped("bad", 1, TimeoutError("took too long"))
    settings = config(candidates=Names(("bad", "uniform")), timed=1)
    evaluation = run(settings, bad=bad)
    assert [failure.message for failure in evaluation.failures] == ["TimeoutError: took too long"]
    assert bad.calls == 1
    assert [row["candidate"] for row in results(evaluation)["rows"]] == ["uniform"]


def test_an_interrupt_is_no_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(config(candidates=Names(("bad",))), bad=Wrapped("bad", 2, KeyboardInterrupt()))


# -- looked at closely ----------------------------------------------------------------------------


def test_agents_are_examined_and_timed() -> None:
    pair = {"candidates": Names(("heuristic",)), "fields": Names(("uniform",))}
    agents = found(config(**pair, examine=10, timed=2))["agents"]
    assert agents["heuristic"]["identity"] == "heuristic"
    for name in ("heuristic", "uniform"):
        agent = agents[name]
        assert agent["differing"] == 0
        assert agent["ms"]["play"]["moves"] > 20
        assert 0 < agent["ms"]["play"]["p50"] <= agent["ms"]["play"]["p95"]
        assert sum(level["contracts"] for level in agent["calibration"]) > 0
    regret = {name: agents[name]["regret"]["declarer"]["per_card"] for name in agents}
    assert regret["uniform"] > 2 * regret["heuristic"] > 0
    plain = found(config(**pair))
    assert plain["agents"]["heuristic"]["regret"] == {}
    assert plain["rows"] == found(config(**pair, examine=10))["rows"]


def test_arena_plays_chosen_deals() -> None:
    agents = [make_agent("uniform"), make_agent("heuristic")]
    seatings = one_against_copies(0, 1, 3).seatings
    evaluation = run(config(candidates=Names(("uniform",)), fields=Names(("heuristic",))))
    with Arena(prefa, prefa.Rules(), agents, evaluation.seeds) as arena:
        (played,) = arena.play(seatings, np.array([3, 17, 30]))
        part = played.select(slice(1, 3))
    expected = evaluation.tallies[0].settled_thirds[[3, 17, 30]]
    assert (played.settled_thirds == expected).all()
    assert part.numbers.tolist() == [17, 30]
    assert (part.settled_thirds == expected[1:]).all()
