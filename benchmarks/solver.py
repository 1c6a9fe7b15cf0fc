"""Time of the open-card solver for one question, on one thread, over random deals."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env import solver

from .table import Row

SEED = 7
REPEATS = 3
SECONDS = 30
NO_TRUMP = solver.STRAINS.index("NT")
MISERE: dict[str, Any] = {"trump": NO_TRUMP, "fewest": True}
Question = Callable[[solver.Memory, int], Any]


@dataclass(frozen=True)
class Deals:
    """Random hands, each with a trump, a leader and a declarer."""

    hands: npt.NDArray[np.int64]
    trumps: npt.NDArray[np.int64]
    leaders: npt.NDArray[np.int64]
    sides: npt.NDArray[np.int64]
    width: int = 8

    @classmethod
    def draw(cls, number: int, cards: int, seats: int = 3, width: int = 8) -> Deals:
        """`number` deals of `seats` hands of `cards` from a pack of four suits; always the same."""
        rng = np.random.default_rng([SEED, cards, seats])
        hands = np.zeros((number, seats), np.int64)
        for deal in hands:
            pack = rng.permutation(4 * width)[: seats * cards].reshape(seats, cards)
            deal[:] = (np.int64(1) << pack).sum(axis=1)
        trumps, leaders = rng.integers(4, size=number), rng.integers(seats, size=number)
        return cls(hands, trumps, leaders, 1 << rng.integers(seats, size=number), width)

    def solve(
        self,
        memory: solver.Memory,
        i: int,
        trump: int | None = None,
        side: int | None = None,
        fewest: bool = False,
    ) -> int:
        """Tricks of the declarer, or of a side, in deal `i`; with its own trump or another."""
        strain = solver.STRAINS[self.trumps[i] if trump is None else trump]
        side = int(self.sides[i]) if side is None else side
        return solver.solve(
            self.hands[i].tolist(),
            strain,
            side,
            int(self.leaders[i]),
            fewest=fewest,
            width=self.width,
            memory=memory,
        )


@dataclass(frozen=True)
class Times:
    """Milliseconds of CPU time and nodes of each question, and what the mean should be at most."""

    name: str
    times: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]
    target: float | None = None


@dataclass(frozen=True)
class Growth:
    """Mean times of full values by cards in a hand."""

    cards: list[int] = field(default_factory=list)
    rows: dict[str, list[Times]] = field(default_factory=dict)


def measure(name: str, ask: Question, number: int, target: float | None = None) -> Times:
    """Time `ask(memory, i)` for i from 0 to `number`: the best of some runs of each.

    Fewer are asked, and once only, where that takes longer than `SECONDS`.
    """
    times, nodes = _ask_all(ask, number)
    if times.sum() < 1000 * SECONDS:
        others = [_ask_all(ask, number)[0] for _ in range(REPEATS - 1)]
        times = np.minimum.reduce([times, *others])
    return Times(name, times, nodes, target)


def _ask_all(ask: Question, number: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Milliseconds and nodes of each; memory, empty at first, is kept from one to the next."""
    memory = solver.Memory()
    rows: list[tuple[float, int]] = []
    begun = time.process_time()
    while len(rows) < number and time.process_time() - begun < SECONDS:
        before, start = memory.nodes, time.process_time()
        ask(memory, len(rows))
        rows.append((1000 * (time.process_time() - start), memory.nodes - before))
    times, nodes = zip(*rows, strict=True)
    return np.array(times), np.array(nodes)


def null_window(deals: Deals) -> Question:
    """The nearest two bounds in turn: whether the declarer takes his tricks, or one more."""
    memory = solver.Memory()
    bounds = [deals.solve(memory, i) + i % 2 for i in range(len(deals.hands))]

    def ask(memory: solver.Memory, i: int) -> bool:
        return solver.at_least(
            bounds[i],
            deals.hands[i].tolist(),
            solver.STRAINS[deals.trumps[i]],
            int(deals.sides[i]),
            int(deals.leaders[i]),
            memory=memory,
        )

    return ask


def table_of_15(deals: Deals) -> Question:
    """All strains and declarers of a deal, with one leader."""
    trumps, declarers = (axis.ravel() for axis in np.indices((len(solver.STRAINS), 3)))

    def ask(memory: solver.Memory, i: int) -> npt.NDArray[np.int64]:
        hands = np.tile(deals.hands[i], (trumps.size, 1))
        sides = 1 << declarers
        return solver.solve_many(hands, trumps, sides, deals.leaders[i], memory=memory)

    return ask


def run(number: int = 1000) -> list[Times]:
    """Measure all questions: `number` deals of the cheap ones, fewer of the others."""
    deals = Deals.draw(number, 10)
    nearest, table = null_window(deals), table_of_15(deals)
    for ask in (deals.solve, nearest, table):
        ask(solver.Memory(), 0)  # compiles
    four = Deals.draw(max(number // 50, 1), 13, seats=4, width=13)
    of_pair = partial(four.solve, side=0b0101)
    return [
        measure("full value, trump", deals.solve, number, 0.5),
        measure("full value, NT", partial(deals.solve, trump=NO_TRUMP), number, 0.5),
        measure("full value, misère", partial(deals.solve, **MISERE), number, 2),
        measure("null window, trump", nearest, number, 0.2),
        measure("table of 15", table, number // 4, 8),
        measure("4 x 13 cards, pair, trump", of_pair, len(four.hands)),
        measure("4 x 13 cards, pair, NT", partial(of_pair, trump=NO_TRUMP), len(four.hands)),
    ]


def growth(number: int = 300) -> Growth:
    """Full values of hands of 5 to 10 cards."""
    found = Growth([5, 6, 7, 8, 9, 10], {"trump": [], "NT": [], "misère": []})
    for cards in found.cards:
        deals = Deals.draw(number, cards)
        questions: dict[str, Question] = {
            "trump": deals.solve,
            "NT": partial(deals.solve, trump=NO_TRUMP),
            "misère": partial(deals.solve, **MISERE),
        }
        for name, ask in questions.items():
            found.rows[name].append(measure(f"{name}, {cards} cards", ask, number))
    return found


def print_table(results: list[Times], loop: Row) -> None:
    """Print times with their targets, and the mean in iterations of the yardstick."""
    print(
        f"{'open cards, ms of CPU time':28} {'number':>6} {'mean':>9} {'median':>9} {'p99':>9} "
        f"{'nodes':>9} {'target':>7} {'loops':>10}"
    )
    for row in results:
        mean = row.times.mean()
        target = "" if row.target is None else f"{row.target:g}"
        is_above = row.target is not None and mean > row.target
        print(
            f"{row.name:28} {row.times.size:6} {mean:9.3f} {np.median(row.times):9.3f} "
            f"{np.percentile(row.times, 99):9.3f} {row.nodes.mean():9,.0f} {target:>7} "
            f"{mean / 1000 * loop.rate.median:10,.0f}{'  above target' if is_above else ''}"
        )


def print_growth(found: Growth) -> None:
    """Print mean milliseconds and mean nodes by cards in a hand."""
    print(f"{'full value, mean by cards':28}" + "".join(f"{n:10}" for n in found.cards))
    for name, row in found.rows.items():
        print(f"{name + ', ms':28}" + "".join(f"{times.times.mean():10.3f}" for times in row))
        print(f"{name + ', nodes':28}" + "".join(f"{times.nodes.mean():10,.0f}" for times in row))
