"""Ratings of synthetic leagues with known strengths."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from agents.ratings import fit, fit_openskill
from agents.statistics import estimate

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TRUE = np.array([4.0, 1.0, -2.0, -3.0])
ROTATIONS = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])


def balance(values: Floats) -> Floats:
    return np.asarray(values - values.mean(axis=-1, keepdims=True))


def play(key: int, ratings: Floats, players: Ints, deals: Ints) -> Floats:
    """Payoffs [N, S]: ratings, the luck of a deal's hands, and more luck in each game.

    Both kinds of luck have the tails of Student's t with five degrees of freedom.
    """
    rng = np.random.default_rng(key)
    own = ratings[players]
    skill = own - (own.sum(axis=1, keepdims=True) - own) / (players.shape[1] - 1)
    hands = 10 * rng.standard_t(5, (deals.max() + 1, players.shape[1]))
    return np.asarray(skill + balance(hands[deals] + 5 * rng.standard_t(5, players.shape)))


def draw_players(key: int, num_games: int, num_agents: int, num_seats: int = 3) -> Ints:
    """Random line-ups, never one agent in all seats."""
    players = np.random.default_rng(key).integers(0, num_agents, (num_games, num_seats))
    is_alone = (players == players[:, :1]).all(axis=1)
    players[is_alone, 0] = (players[is_alone, 0] + 1) % num_agents
    return players


def assert_rate(hits: npt.NDArray[np.bool_], rate: float) -> None:
    """The share of hits is what chance makes of the rate in 998 of 1,000 cases."""
    low, high = stats.binom.interval(0.998, hits.size, rate)
    assert low <= hits.sum() <= high


# -- least squares --------------------------------------------------------------------------------


def test_recovers_ratings_where_there_is_no_luck() -> None:
    players = draw_players(1, 30, 4)
    own = TRUE[players]
    payoffs = own - (own.sum(axis=1, keepdims=True) - own) / 2
    result = fit(players, payoffs, np.arange(30), 4)
    for values in result:
        assert values == pytest.approx(TRUE)


@pytest.mark.parametrize("num_seats", [2, 3, 4])
def test_equals_dense_least_squares(num_seats: int) -> None:
    players = draw_players(2, 80, 5, num_seats)
    deals = np.random.default_rng(3).integers(7, 30, 80)
    payoffs = play(4, np.zeros(5), players, deals)
    rows = np.zeros((80, num_seats, 5))
    for game, seats in enumerate(players):
        for seat, agent in enumerate(seats):
            rows[game, seat, agent] += 1
            for other in np.delete(seats, seat):
                rows[game, seat, other] -= 1 / (num_seats - 1)
    design = rows.reshape(-1, 5)
    expected = np.linalg.lstsq(design, payoffs.ravel(), rcond=None)[0]  # of least norm: sums to 0
    residuals = payoffs - rows @ expected
    scores = [np.einsum("gsk,gs->k", rows[deals == d], residuals[deals == d]) for d in range(30)]
    bread = np.linalg.pinv(design.T @ design)
    variances = np.diag(bread @ np.transpose(scores) @ scores @ bread)
    counts = np.array([len(np.unique(deals[(players == k).any(axis=1)])) for k in range(5)])
    half = stats.t.ppf(0.95, counts - 1) * np.sqrt(variances * counts / (counts - 1))
    result = fit(players, payoffs, deals, 5, confidence=0.9)
    assert result.rating == pytest.approx(expected)
    assert result.high == pytest.approx(expected + half)
    assert result.low == pytest.approx(expected - half)
    assert result.rating.sum() == pytest.approx(0)


def test_of_duplicate_deals_it_is_the_duplicate_mean() -> None:
    players, deals = np.tile(ROTATIONS, (50, 1)), np.repeat(np.arange(50), 3)
    payoffs = play(5, TRUE[:2], players, deals)
    values = payoffs[players == 0].reshape(50, 3).mean(axis=1)
    result = fit(players, payoffs, deals, 2)
    mean, low, high, _ = estimate(values)
    assert (result.rating[0] - result.rating[1]) == pytest.approx(mean)
    assert 2 * result.low[0] == pytest.approx(low)
    assert 2 * result.high[0] == pytest.approx(high)


def test_intervals_cover_as_often_as_they_say() -> None:
    hits = []
    for key in range(500):
        # Each line-up plays its deal twice in the same seats: those games are far from independent.
        players = np.repeat(draw_players(1000 + key, 80, 4), 2, axis=0)
        deals = np.repeat(np.arange(80), 2)
        result = fit(players, play(key, TRUE, players, deals), deals, 4)
        hits.append((result.low <= TRUE) & (result.high >= TRUE))
    for agent in range(4):
        assert_rate(np.array(hits)[:, agent], 0.95)


def test_interval_of_an_agent_with_few_deals_covers() -> None:
    others = draw_players(6, 300, 3)
    players = np.concatenate([others, np.tile([[3, 0, 1], [2, 3, 0], [1, 2, 3]], (2, 1))])
    deals = np.arange(len(players))
    results = [fit(players, play(key, TRUE, players, deals), deals, 4) for key in range(300)]
    hits = [result.low[3] <= TRUE[3] <= result.high[3] for result in results]
    assert_rate(np.array(hits), 0.95)


def test_an_agent_against_itself_is_worth_0() -> None:
    players, deals = np.tile(ROTATIONS, (40, 1)), np.repeat(np.arange(40), 3)
    results = [fit(players, play(key, np.zeros(2), players, deals), deals, 2) for key in range(300)]
    assert_rate(np.array([result.low[0] <= 0 <= result.high[0] for result in results]), 0.95)


def test_does_not_depend_on_the_order_of_games_or_the_numbers_of_deals() -> None:
    players, deals = draw_players(7, 90, 4), np.repeat(np.arange(45), 2)
    payoffs = play(8, TRUE, players, deals)
    order = np.random.default_rng(9).permutation(90)
    one = fit(players, payoffs, deals, 4)
    other = fit(players[order], payoffs[order], 10**12 - 17 * deals[order], 4)
    assert np.array(one) == pytest.approx(np.array(other))


def test_says_which_agents_never_met() -> None:
    players = np.array([[0, 1, 1], [4, 2, 4], [1, 0, 0], [2, 4, 4]])
    with pytest.raises(ValueError, match=r"connects these agents: \[0, 1\], \[2, 4\], \[3\]"):
        fit(players, np.zeros((4, 3)), np.arange(4), 5)


def test_agents_that_met_through_others_are_comparable() -> None:
    players = np.array([[0, 1, 1], [1, 2, 2]] * 2)
    payoffs = np.array([[2.0, -1, -1], [4, -2, -2]] * 2)
    assert fit(players, payoffs, np.arange(4), 3).rating == pytest.approx([8 / 3, 2 / 3, -10 / 3])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"players": [[0.0, 1.0, 1.0]] * 2}, "players must be integers"),
        ({"players": [0, 1, 1]}, r"players must be integers \[games, seats\]"),
        ({"players": [[0, 1, 2]] * 2}, "found 0 to 2"),
        ({"players": [[0, 1, -1]] * 2}, "found -1 to 1"),
        ({"players": [[0, 1, 1], [1, 1, 1]]}, "agent 1 holds all seats of game 1"),
        ({"payoffs": [[2, -1, -1]]}, "shape of players"),
        ({"payoffs": [[2, -1, -1], [2, -1, 0]]}, "game 1 has"),
        ({"payoffs": [[np.inf, -np.inf, 0], [0, 0, 0]]}, "game 0 has"),
        ({"deals": [1]}, "integer for each of 2 games"),
        ({"deals": [0.5, 1.0]}, "integer for each of 2 games"),
        ({"deals": [3, 3]}, r"at least 2 deals for each agent; fewer: \[0, 1\]"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_refuses_what_is_no_league(changes: dict[str, object], message: str) -> None:
    league = {
        "players": [[0, 1, 1], [1, 0, 1]],
        "payoffs": [[2, -1, -1], [-1, 2, -1]],
        "deals": [0, 1],
        "num_agents": 2,
    }
    with pytest.raises(ValueError, match=message):
        fit(**{**league, **changes})  # type: ignore[arg-type]


# -- OpenSkill ------------------------------------------------------------------------------------


def test_openskill_orders_agents_and_repeats_itself() -> None:
    pytest.importorskip("openskill")
    players = draw_players(10, 1500, 4)
    payoffs = play(11, TRUE, players, np.arange(1500))
    result = fit_openskill(players, payoffs, 4)
    assert np.argsort(-result.mu).tolist() == [0, 1, 2, 3]
    assert (result.sigma < 25 / 3 / 4).all()
    assert np.array_equal(result, fit_openskill(players, payoffs, 4))


def test_openskill_of_one_game_by_the_package() -> None:
    models = pytest.importorskip("openskill.models")
    model = models.PlackettLuce(tau=0.0)
    teams = model.rate([[model.rating()] for _ in range(3)], ranks=[1, 3, 1])
    result = fit_openskill([[3, 0, 1]], [[4.0, -8.0, 4.0]], 4)  # a tie before the loser
    assert result.mu[[3, 0, 1]] == pytest.approx([team[0].mu for team in teams])
    assert result.sigma[[3, 0, 1]] == pytest.approx([team[0].sigma for team in teams])
    assert (result.mu[2], result.sigma[2]) == (25, 25 / 3)


def test_openskill_puts_together_the_seats_of_an_agent() -> None:
    models = pytest.importorskip("openskill.models")
    model = models.PlackettLuce(tau=0.0)
    last, first, second = (
        team[0] for team in model.rate([[model.rating()] for _ in range(3)], ranks=[3, 1, 2])
    )
    result = fit_openskill([[0, 1, 0]], [[-3.0, 2.0, 1.0]], 2)
    assert result.mu == pytest.approx([25 + (last.mu - 25) + (second.mu - 25), first.mu])
    assert result.sigma[0] == pytest.approx(last.sigma * second.sigma / (25 / 3))


def test_openskill_takes_games_evenly() -> None:
    pytest.importorskip("openskill")
    players = draw_players(12, 100, 4)
    payoffs = play(13, TRUE, players, np.arange(100))
    rows = [0, 33, 66, 99]
    some = fit_openskill(players, payoffs, 4, games=4)
    assert np.array_equal(some, fit_openskill(players[rows], payoffs[rows], 4))
    whole = fit_openskill(players, payoffs, 4, games=100)
    assert np.array_equal(whole, fit_openskill(players, payoffs, 4))


def test_openskill_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    with pytest.raises(ModuleNotFoundError, match=r"prefa\[report\]"):
        fit_openskill([[0, 1, 1]], [[2.0, -1.0, -1.0]], 2)


def test_openskill_refuses_no_games() -> None:
    with pytest.raises(ValueError, match="games must be at least 1"):
        fit_openskill([[0, 1, 1]], [[2.0, -1.0, -1.0]], 2, games=0)
