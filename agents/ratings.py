"""Ratings of the agents of a league, in kapikia per deal and as OpenSkill.

A league is a row of games; each has one agent a seat (an agent may hold several) and payoffs that
sum to 0. Games of the same deal share its cards, so the deal is what is independent.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit
from scipy.stats import rankdata


class Ratings(NamedTuple):
    """Float [k] each, by agent: kapikia per deal above the average agent, and the interval."""

    rating: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]


class Skills(NamedTuple):
    """Float [k] each, by agent: mean and deviation of OpenSkill's belief about its skill."""

    mu: npt.NDArray[np.float64]
    sigma: npt.NDArray[np.float64]


def fit(
    players: npt.ArrayLike,
    payoffs: npt.ArrayLike,
    deals: npt.ArrayLike,
    num_agents: int,
    confidence: float = 0.95,
) -> Ratings:
    """Least-squares ratings with intervals that are robust to what games of a deal share.

    The model: a seat's payoff is the rating of its agent minus the mean rating in the other seats,
    plus noise. Ratings sum to 0, and a difference of two is what one of the agents wins a deal
    among copies of the other. If only such duplicate deals are given, it is the duplicate mean,
    and its interval Student's.

    Intervals come from the sandwich covariance clustered by deal (Liang and Zeger, Longitudinal
    data analysis using generalized linear models, Biometrika 73, 1986), times d / (d - 1), with
    Student's quantile of d - 1 degrees of freedom, d being the deals that agent was compared in.
    The model need not be true for that: where agents suit each other well or badly, a rating is an
    average over the line-ups that were played.

    Args:
        players: int [N, S], who sat where in each game; 0 to k - 1, never one agent in all seats.
        payoffs: float [N, S], what each seat won, in kapikia.
        deals: int [N], number of the deal of each game.
        num_agents: k, at least 2.
        confidence: share of such intervals that hold the true rating.

    Raises:
        ValueError: bad shapes or numbers; agents that no chain of games connects with the others,
            or one that was compared in fewer than two deals.
    """
    seated, won = _checked(players, payoffs, num_agents)
    clusters = _clusters(deals, len(seated))
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    num_seats = seated.shape[1]
    # With e the unit vectors of the agents in a game and T their sum, the row of a seat is
    # (S e - T) / (S - 1). The sum of its outer products over the seats of a game is, but for a
    # factor, S diag(T) - T T', the Laplacian of the graph of who met whom; and because payoffs sum
    # to 0, so do residuals, and the sum of row times residual is the sum of S / (S - 1) e residual.
    seats = _by_agent(seated, np.arange(len(seated)), np.ones(seated.shape), num_agents)
    laplacian = num_seats * np.diag(seats.sum(axis=0)) - (seats.T @ seats).toarray()
    _check_connected(laplacian)
    # The Laplacian takes a constant to 0. With the ones added it can be inverted, and as scores
    # sum to 0, so do ratings.
    inverse = (num_seats - 1) * np.linalg.inv(laplacian + 1)
    ratings = inverse @ np.bincount(seated.ravel(), won.ravel(), num_agents)
    own = ratings[seated]
    others = (own.sum(axis=1, keepdims=True) - own) / (num_seats - 1)
    scores = _by_agent(seated, clusters, won - (own - others), num_agents)
    covariance = inverse @ (scores.T @ scores).toarray() @ inverse
    compared = _count_deals(seated, clusters, num_agents)
    variances = np.diag(covariance) * compared / (compared - 1)
    half = stdtrit(compared - 1, (1 + confidence) / 2) * np.sqrt(np.maximum(variances, 0))
    return Ratings(ratings, ratings - half, ratings + half)


def check_openskill() -> None:
    """Raise ModuleNotFoundError, naming the extra, if `fit_openskill` could not work."""
    try:
        import_module("openskill.models")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "OpenSkill ratings need openskill: pip install 'prefa[report]'", name=error.name
        ) from None


def fit_openskill(
    players: npt.ArrayLike, payoffs: npt.ArrayLike, num_agents: int, games: int = 3_000
) -> Skills:
    """OpenSkill ratings (Plackett-Luce) from who won more than whom, game after game.

    Weng and Lin, A Bayesian approximation method for online ranking, JMLR 12 (2011), with the
    defaults of `openskill` but for `tau`, which is 0: agents do not change. It takes games as
    independent and forgets by how much they were won, so look to `fit` for what an agent is worth;
    `sigma` is a belief and no interval over deals. For an agent in several seats the steps of its
    seats are put together.

    Args:
        players: int [N, S], as for `fit`.
        payoffs: float [N, S], what each seat won; equal payoffs are a tie.
        num_agents: k, at least 2.
        games: at most so many games, evenly spaced over all, are used, in order.

    Raises:
        ValueError: bad shapes or numbers.
        ModuleNotFoundError: `openskill` is not installed.
    """
    seated, won = _checked(players, payoffs, num_agents)
    if games < 1:
        raise ValueError(f"games must be at least 1, not {games}")
    check_openskill()
    from openskill.models import PlackettLuce

    model = PlackettLuce(tau=0.0)
    mu, sigma = np.full(num_agents, model.mu), np.full(num_agents, model.sigma)
    used = np.linspace(0, len(seated) - 1, min(games, len(seated))).astype(np.int64)
    ranks = rankdata(-won[used], method="min", axis=1).tolist()
    for agents, ranking in zip(seated[used], ranks, strict=True):
        before = [[model.rating(float(mu[agent]), float(sigma[agent]))] for agent in agents]
        after = [team[0] for team in model.rate(before, ranks=ranking)]
        np.add.at(mu, agents, [seat.mu for seat in after] - mu[agents])
        np.multiply.at(sigma, agents, [seat.sigma for seat in after] / sigma[agents])
    return Skills(mu, sigma)


def _by_agent(
    players: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    num_agents: int,
) -> csr_array:
    """Sums of values [N, S] by the row [N] of their game and the agent of their seat."""
    row = np.repeat(rows, players.shape[1])
    shape = (int(rows.max()) + 1, num_agents)
    return csr_array((values.ravel(), (row, players.ravel())), shape=shape)


def _count_deals(
    players: npt.NDArray[np.int64], clusters: npt.NDArray[np.int64], num_agents: int
) -> npt.NDArray[np.int64]:
    """int64 [k]: the deals that each agent was compared in, two or more."""
    presence = _by_agent(players, clusters, np.ones(players.shape), num_agents)
    counts = np.bincount(presence.indices, minlength=num_agents)
    if (counts < 2).any():
        raise ValueError(
            f"intervals need at least 2 deals for each agent; fewer: {_names(counts < 2)}"
        )
    return counts


def _checked(
    players: npt.ArrayLike, payoffs: npt.ArrayLike, num_agents: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    seated, won = np.asarray(players), np.asarray(payoffs, np.float64)
    if seated.ndim != 2 or seated.dtype.kind not in "iu" or len(seated) < 1:
        raise ValueError(
            f"players must be integers [games, seats], not {seated.dtype} {seated.shape}"
        )
    if won.shape != seated.shape:
        raise ValueError(f"payoffs must have the shape of players {seated.shape}, not {won.shape}")
    if num_agents < 2 or seated.min() < 0 or seated.max() >= num_agents:
        raise ValueError(
            f"players must be numbers of 2 or more agents, 0 to {num_agents - 1}; "
            f"found {seated.min()} to {seated.max()}"
        )
    is_alone = (seated == seated[:, :1]).all(axis=1)
    if is_alone.any():
        game = int(is_alone.argmax())
        raise ValueError(f"agent {seated[game, 0]} holds all seats of game {game}: leave it out")
    with np.errstate(invalid="ignore"):  # infinite payoffs sum to nan, which is not close to 0
        is_balanced = np.isclose(won.sum(axis=1), 0, atol=1e-6)
    if not is_balanced.all():
        game = int((~is_balanced).argmax())
        raise ValueError(f"payoffs must sum to 0 in every game; game {game} has {won[game]}")
    return seated.astype(np.int64), won


def _clusters(deals: npt.ArrayLike, num_games: int) -> npt.NDArray[np.int64]:
    numbers = np.asarray(deals)
    if numbers.shape != (num_games,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"deals must be an integer for each of {num_games} games, "
            f"not {numbers.dtype} {numbers.shape}"
        )
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _check_connected(laplacian: npt.NDArray[np.float64]) -> None:
    """Refuse a league that falls apart: nothing compares one part with another."""
    num_parts, part = connected_components(csr_array(laplacian != 0), directed=False)
    if num_parts > 1:
        parts = ", ".join(_names(part == number) for number in range(num_parts))
        raise ValueError(f"no chain of games connects these agents: {parts}; let them meet")


def _names(is_named: npt.NDArray[np.bool_]) -> str:
    return str(np.flatnonzero(is_named).tolist())
