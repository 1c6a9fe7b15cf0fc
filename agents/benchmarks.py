"""Named sets of deals. Some are benchmarks: of fixed size, pinned by a hash, barred from training.

Decks and dealers are keyed by (name of the set, number of the deal), chance inside an agent by
(name, deal, seat, decision).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.doors import Episode
from prefa_env.game import Game
from prefa_env.streams import derive_key, draw_deck, mix
from prefa_env.words import int64

from .agent import Keys

_DEALS, _AGENTS, _MATCHES = 0, 1, 1 << 32
"""Sub-streams of a set: its deals; the agent in seat 0, those in other seats follow; matches."""


_HASHED = 10
"""Deals of a match that go into its hash."""


@njit
def _draw_deals(
    key: np.uint64,
    numbers: npt.NDArray[np.int64],
    decks: npt.NDArray[np.int8],
    dealers: npt.NDArray[np.int8],
    n: int,
) -> None:
    """Write the deals of these numbers for `n` seats."""
    for i in range(numbers.shape[0]):
        dealers[i] = draw_deck(decks[i], key, _DEALS, int64(numbers[i]), n)


def _match_deals(key: np.uint64, match: int, game: Game) -> bytes:
    """The first ten deals that are drawn for a match, each as its dealer and its deck."""
    decks = np.empty((_HASHED, game.NUM_CARDS), np.int8)
    dealers = [
        draw_deck(deck, key, match, number, game.NUM_SEATS) for number, deck in enumerate(decks)
    ]
    return np.column_stack([np.array(dealers, np.int8), decks]).tobytes()


@njit
def _derive_agent_keys(
    key: np.uint64,
    deals: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int8],
    decision: int,
    rows: npt.NDArray[np.int64],
    keys: Keys,
) -> None:
    for k in range(rows.shape[0]):
        i = rows[k]
        seat_key = derive_key(key, _AGENTS + seats[i])
        keys[k] = derive_key(derive_key(seat_key, deals[i]), decision)


@dataclass(frozen=True)
class SeedSet:
    """An endless row of deals with a name; the name is all that decides about it."""

    name: str

    @property
    def key(self) -> np.uint64:
        """The key that the set's streams derive from: a hash of the name."""
        return np.uint64(int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "little"))

    @property
    def match_key(self) -> np.uint64:
        """The seed of the set's matches; the number of a match is that of its stream of deals."""
        with np.errstate(over="ignore"):  # interpreted, numpy would warn of what is intended
            return np.uint64(derive_key(self.key, _MATCHES))

    def deals(
        self, game: Game, numbers: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Decks int8 [D, cards] and dealers int8 [D] of the deals with numbers int64 [D]."""
        decks = np.empty((len(numbers), game.NUM_CARDS), np.int8)
        dealers = np.empty(len(numbers), np.int8)
        _draw_deals(self.key, np.ascontiguousarray(numbers), decks, dealers, game.NUM_SEATS)
        return decks, dealers

    def agent_keys(
        self,
        deals: npt.NDArray[np.int64],
        seats: npt.NDArray[np.int8],
        decision: int,
        rows: npt.NDArray[np.int64],
    ) -> Keys:
        """Keys of agents, uint64 [N].

        Args:
            deals: int64 [T], number of the deal at each table.
            seats: int8 [T], who is to act there.
            decision: actions done before at all of them.
            rows: int64 [N], the tables asked for.
        """
        keys = np.empty(len(rows), np.uint64)
        _derive_agent_keys(self.key, deals, seats, decision, rows, keys)
        return keys

    def decision_key(self, deal: int, seat: int, decision: int) -> np.uint64:
        """The key of one decision; `agent_keys` has those of many."""
        numbers, seats = np.array([deal], np.int64), np.array([seat], np.int8)
        key: np.uint64 = self.agent_keys(numbers, seats, decision, np.zeros(1, np.int64))[0]
        return key

    def fingerprint(self, game: Game, count: int, episode: Episode = "deal") -> str:
        """Hash of the first `count` deals: for each its dealer, then its deck, a byte a number.

        Of matches, of the first ten deals that are drawn for each.
        """
        digest = hashlib.sha256()
        if episode == "match":
            for match in range(count):
                digest.update(_match_deals(self.match_key, match, game))
            return digest.hexdigest()[:16]
        for first in range(0, count, 4096):
            decks, dealers = self.deals(game, np.arange(first, min(first + 4096, count)))
            digest.update(np.column_stack([dealers, decks]).tobytes())
        return digest.hexdigest()[:16]


# -- benchmarks -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Benchmark:
    """A set of deals that everyone measures on."""

    size: int  # deals; a result may use the first of them only
    purpose: str
    hashes: dict[str, str]  # game: fingerprint of all its deals


BENCHMARKS = {
    "report-v1": Benchmark(
        10_000, "reporting results, and nothing else", {"prefa": "1827bce4b100de36"}
    ),
    "select-v1": Benchmark(
        10_000,
        "choosing between players, settings and checkpoints",
        {"prefa": "8dad354487f9e7cb"},
    ),
    "smoke": Benchmark(500, "a quick look", {"prefa": "587ce5fbe263f548"}),
}


class BenchmarkError(ValueError):
    """Deals that are not those of a benchmark, or that must not be."""


def benchmark_hash(game: Game, name: str, deals: int) -> str | None:
    """The hash of a game's benchmark of that name, checked; None if there is none.

    Args:
        game: the game module.
        name: of a set of deals.
        deals: how many of its first deals are asked for.

    Raises:
        BenchmarkError: the benchmark has fewer deals, or deals are drawn otherwise than when it
            was made.
    """
    if name not in _names(game):
        return None
    benchmark = BENCHMARKS[name]
    if deals > benchmark.size:
        raise BenchmarkError(
            f"the benchmark {name!r} has {benchmark.size} deals, not {deals}: ask for fewer, or "
            "name another set of deals"
        )
    pinned = benchmark.hashes[game.NAME]
    found = SeedSet(name).fingerprint(game, benchmark.size)
    if found != pinned:
        raise BenchmarkError(
            f"the deals of {name!r} hash to {found}, not to {pinned}: this program draws other "
            "deals than those the benchmark stands for; its results could not be compared"
        )
    return found


def refuse_benchmark_deals(
    game: Game, decks: npt.NDArray[np.int8], dealers: npt.NDArray[np.int8], source: str
) -> None:
    """Raise BenchmarkError if a deal is one of a benchmark's, in whatever seats.

    Args:
        game: the game module.
        decks: int8 [B, cards].
        dealers: int8 [B].
        source: what drew them, for the error.
    """
    if not _names(game):
        return
    barred = _benchmark_deals(game)
    deals = _identify(game, decks, dealers)
    places = np.minimum(np.searchsorted(barred, deals), len(barred) - 1)
    is_barred = barred[places] == deals
    if is_barred.any():
        names = [name for name in _names(game) if np.isin(deals, _deals_of(game, name)).any()]
        raise BenchmarkError(
            f"{source} drew {int(is_barred.sum())} deals of the benchmark {', '.join(names)}: "
            "what learns from them cannot be measured on it; take another seed"
        )


def _names(game: Game) -> list[str]:
    """The benchmarks that a game has."""
    return [name for name, benchmark in BENCHMARKS.items() if game.NAME in benchmark.hashes]


@cache
def _benchmark_deals(game: Game) -> npt.NDArray[np.uint64]:
    """Sorted identities of all deals of all benchmarks."""
    return np.sort(np.concatenate([_deals_of(game, name) for name in _names(game)]))


def _deals_of(game: Game, name: str) -> npt.NDArray[np.uint64]:
    return _identify(game, *SeedSet(name).deals(game, np.arange(BENCHMARKS[name].size)))


def _identify(
    game: Game, decks: npt.NDArray[np.int8], dealers: npt.NDArray[np.int8]
) -> npt.NDArray[np.uint64]:
    """A hash a deal, uint64 [B]: of who holds what, counted from the dealer, in any order."""
    hashes = np.empty(len(decks), np.uint64)
    _hash_deals(
        np.ascontiguousarray(decks, np.int8), np.ascontiguousarray(dealers, np.int8),
        game.PACK.hand_size, game.NUM_SEATS, hashes,
    )  # fmt: skip
    return hashes


@njit
def _hash_deals(
    decks: npt.NDArray[np.int8],
    dealers: npt.NDArray[np.int8],
    hand_size: int,
    num_seats: int,
    hashes: npt.NDArray[np.uint64],
) -> None:
    for i in range(decks.shape[0]):
        total = np.uint64(0)
        for place in range(decks.shape[1]):
            holder = place // hand_size
            if holder < num_seats:
                holder = (holder + num_seats - dealers[i]) % num_seats
            total += mix(np.uint64(holder << 8 | decks[i, place]))
        hashes[i] = total
