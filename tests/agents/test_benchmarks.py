"""Named deals: always the same, pinned by hash, and barred from training."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from agents import benchmarks
from agents.benchmarks import (
    BENCHMARKS,
    Benchmark,
    BenchmarkError,
    SeedSet,
    benchmark_hash,
    refuse_benchmark_deals,
)
from prefa_env import VectorEnv
from prefa_env.doors import find_game
from prefa_env.game import Game
from tests import toy

GAME = find_game("prefa")
SEEDS = SeedSet("test")


def test_deals_of_a_name_are_always_the_same() -> None:
    decks, dealers = SEEDS.deals(GAME, np.arange(300))
    assert (np.sort(decks, axis=1) == np.arange(32)).all()
    assert set(dealers) == {0, 1, 2}
    assert len(np.unique(decks, axis=0)) == 300
    numbers = np.array([250, 7, 99])
    some_decks, some_dealers = SeedSet("test").deals(GAME, numbers)
    assert (some_decks == decks[numbers]).all() and (some_dealers == dealers[numbers]).all()


def test_other_names_are_other_deals() -> None:
    numbers = np.arange(300)
    both = [SEEDS.deals(GAME, numbers)[0], SeedSet("text").deals(GAME, numbers)[0]]
    assert len(np.unique(np.concatenate(both), axis=0)) == 600


def test_every_card_goes_everywhere() -> None:
    decks, dealers = SEEDS.deals(GAME, np.arange(6000))
    counts = np.stack([np.bincount(decks[:, place], minlength=32) for place in range(32)])
    assert (abs(counts - 6000 / 32) < 6 * (6000 / 32) ** 0.5).all()
    assert (abs(np.bincount(dealers) - 2000) < 200).all()


def test_fingerprint() -> None:
    assert SEEDS.fingerprint(GAME, 500) != SeedSet("smoke").fingerprint(GAME, 500)
    assert SEEDS.fingerprint(GAME, 500) != SEEDS.fingerprint(GAME, 501)
    assert SEEDS.fingerprint(GAME, 5000) == SeedSet("test").fingerprint(GAME, 5000)


def test_decision_keys_are_those_of_many() -> None:
    deals, seats = np.array([4, 4, 9]), np.array([0, 2, 0], np.int8)
    keys = SEEDS.agent_keys(deals, seats, 3, np.array([2, 1]))
    assert keys.tolist() == [SEEDS.decision_key(9, 0, 3), SEEDS.decision_key(4, 2, 3)]
    assert (
        len({SEEDS.decision_key(*of) for of in ((4, 0, 3), (4, 0, 4), (4, 1, 3), (5, 0, 3))}) == 4
    )


# -- benchmarks -----------------------------------------------------------------------------------


def test_pinned_hashes() -> None:
    # Written down once: benchmarks that drift would make all results worthless.
    pinned = {
        "report-v1": "1827bce4b100de36",
        "select-v1": "8dad354487f9e7cb",
        "smoke": "587ce5fbe263f548",
    }
    assert {name: benchmark_hash(GAME, name, 2) for name in BENCHMARKS} == pinned
    assert benchmark_hash(GAME, "some other set", 10**6) is None


def test_more_deals_than_there_are() -> None:
    assert benchmark_hash(GAME, "smoke", 500)
    with pytest.raises(BenchmarkError, match="'smoke' has 500 deals, not 501: ask for fewer"):
        benchmark_hash(GAME, "smoke", 501)


def test_drawn_otherwise_than_before(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = Benchmark(500, "", {"prefa": "0123456789abcdef"})
    monkeypatch.setitem(benchmarks.BENCHMARKS, "smoke", changed)
    with pytest.raises(BenchmarkError, match="hash to 587ce5fbe263f548, not to 0123456789abcdef"):
        benchmark_hash(GAME, "smoke", 2)


def test_benchmarks_are_disjoint() -> None:
    assert len(np.unique(benchmarks._benchmark_deals(GAME))) == sum(
        benchmark.size for benchmark in BENCHMARKS.values()
    )


@pytest.mark.parametrize("name", BENCHMARKS)
def test_training_on_a_benchmark_is_refused(name: str) -> None:
    last = BENCHMARKS[name].size - 1
    decks, dealers = SEEDS.deals(GAME, np.arange(20))
    refuse_benchmark_deals(GAME, decks, dealers, "a test")
    barred_deck, barred_dealer = SeedSet(name).deals(GAME, np.array([last]))
    decks[13], dealers[13] = barred_deck[0], barred_dealer[0]
    with pytest.raises(BenchmarkError, match=f"a test drew 1 deals of the benchmark {name}: "):
        refuse_benchmark_deals(GAME, decks, dealers, "a test")
    beyond = SeedSet(name).deals(GAME, np.array([last + 1]))
    refuse_benchmark_deals(GAME, *beyond, "a test")


def test_games_without_benchmarks() -> None:
    game = cast(Game, toy)
    assert benchmark_hash(game, "smoke", 501) is None
    refuse_benchmark_deals(game, *SeedSet("smoke").deals(game, np.arange(5)), "a test")


def test_turned_and_reordered_deals_are_the_same_deals() -> None:
    decks, dealers = SeedSet("smoke").deals(GAME, np.arange(5))
    turned = np.column_stack([decks[:, 20:30], decks[:, :20], decks[:, 30:]])
    with pytest.raises(BenchmarkError, match="drew 5 deals"):
        refuse_benchmark_deals(GAME, turned, (dealers + 1) % 3, "a test")
    turned[:, :10] = turned[:, 9::-1]
    turned[:, 30:] = turned[:, :29:-1]
    with pytest.raises(BenchmarkError, match="drew 5 deals"):
        refuse_benchmark_deals(GAME, turned, (dealers + 1) % 3, "a test")
    refuse_benchmark_deals(GAME, turned, dealers, "another dealer is another deal")


def test_a_seed_that_hits_a_benchmark() -> None:
    env = VectorEnv("prefa", 3, seed=0)
    env.reset(seed=int(SeedSet("smoke").key))
    decks = np.array([GAME.deck_of(table) for table in env.tables], np.int8)
    with pytest.raises(BenchmarkError, match="the benchmark smoke"):
        refuse_benchmark_deals(GAME, decks, env.tables["dealer"], "a test")
