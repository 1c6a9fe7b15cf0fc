"""What the rule player expects of a hand: tricks by points a suit, money by tables over tricks.

Expected tricks are a sum over the four suits of what a holding is worth. Money follows from a
normal spread of tricks around that and the payments of the rules, worked out once for each variant.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from prefa_env.prefa.rules import NUM_RUNGS, Defence, Rules
from prefa_env.prefa.scoring import DECLINE_KAPIKIA, DECLINE_KASSA, payments

Floats = npt.NDArray[np.float64]

NUM_BINS = 101
"""Expected tricks in tenths, 0.0 to 10.0."""

# What a holding is worth in tricks: least-squares fits to about 100,000 deals of this player's own
# card play with the contract given. The residual deviation is 0.8 tricks, 1.4 without trumps.
# `long` counts cards above three, `longer` above five; Q and J need two cards beside them, K one.
#                 count long longer void single  A     K     Q     J    AK    KQ    AQ
_POINTS = {
    "declare": (
        (1.12, -0.27, -0.52, 0.00, 0.00, 1.08, 0.51, 0.17, 0.07, 0.23, 0.18, 0.11),  # trumps
        (-0.45, 0.58, -0.51, 0.55, 0.27, 1.03, 0.54, 0.23, 0.21, 0.30, 0.40, 0.17),  # side suits
        (-0.11, 0.75, 0.16, -0.31, 0.16, 1.10, 0.73, 0.13, 0.15, 0.78, 0.53, 0.24),  # NT
    ),
    "bid": (  # ten cards, the talon to come
        (0.84, 0.19, -0.47, -0.01, 0.09, 1.00, 0.50, 0.16, 0.06, 0.18, 0.14, 0.08),
        (0.02, 0.41, 0.19, 0.18, 0.14, 0.80, 0.33, 0.10, 0.12, 0.38, 0.41, 0.19),
        (0.11, 0.39, 0.34, -0.04, 0.10, 1.01, 0.56, 0.09, 0.10, 0.72, 0.51, 0.19),
    ),
    "defend": (  # own tricks with the other defender in play
        (0.46, 0.56, 0.00, 0.61, 0.31, 0.85, 0.91, 0.48, 0.14, -0.03, -0.12, 0.58),
        (-0.09, -0.11, -0.06, -0.13, -0.07, 0.68, 0.50, 0.24, 0.10, -0.36, -0.13, -0.04),
        (-0.02, -0.01, -0.24, -0.43, -0.22, 1.33, 0.90, 0.48, 0.18, -0.57, -0.29, -0.20),
    ),
    "alone": (
        (0.56, 0.48, 0.00, 0.80, 0.26, 0.65, 0.64, 0.38, 0.08, -0.04, -0.13, 0.53),
        (0.01, -0.26, -0.14, -0.34, -0.23, 0.59, 0.46, 0.27, 0.10, -0.39, -0.15, -0.07),
        (0.08, 0.05, -0.34, -0.73, -0.40, 1.23, 0.83, 0.66, 0.19, -0.80, -0.39, -0.36),
    ),
}
DECLARE, BID, DEFEND, ALONE = 0, 3, 6, 9
"""Rows of the table of points: trumps first, then side suits, then a suit in NT."""


def _features(holding: int) -> list[float]:
    count = holding.bit_count()
    ace, king, queen, jack = (holding >> bit & 1 for bit in (7, 6, 5, 4))
    return [
        count,
        max(count - 3, 0),
        max(count - 5, 0),
        count == 0,
        count == 1,
        ace,
        king * (count > 1),
        queen * (count > 2),
        jack * (count > 2),
        ace * king,
        king * queen,
        ace * queen * (1 - king),
    ]


def make_points() -> Floats:
    """float64 [12, 256]: tricks that a holding (a byte of ranks) is worth; rows as above."""
    weights = np.array([row for rows in _POINTS.values() for row in rows])
    points: Floats = weights @ np.array([_features(holding) for holding in range(256)]).T
    return points


class Style(NamedTuple):
    """The numbers that make the player what he is; tuned by measured kapikia a deal."""

    deviation: float = 0.8
    """Of the declarer's tricks around what he expects."""
    deviation_nt: float = 1.2
    deviation_talon: float = 0.8
    """Of what he expects after the talon around what he expected before."""
    deviation_defence: float = 0.8
    deviation_partner: float = 0.9
    deviation_alone: float = 0.95
    conceded_from: tuple[float, ...] = (6.2, 5.3, 6.8, 8.0, 9.0)
    """With so many tricks expected at levels 6 to 10 both defenders begin to pass."""
    conceded_slope: float = 0.23
    """Share of contracts conceded, for each trick more."""
    both_play: tuple[float, ...] = (0.35, 0.3, 0.15, 0.5, 1.0)
    """Share of played contracts of levels 6 to 10 against which both defend; else one alone."""
    gain_alone: float = 0.45
    """Tricks that the declarer has more against one defender."""
    own: tuple[float, ...] = (1.08, 0.9, 0.55, 0.5, 0.5)
    """Share of a defender's tricks that he really makes against levels 6 to 10."""
    partner_playing: tuple[float, ...] = (3.2, 2.4, 1.2, 0.7, 0.4)
    """Tricks of the other defender, who chose to play, had I none to expect."""
    partner_passing: tuple[float, ...] = (2.1, 1.7, 0.6, 0.3, 0.2)
    """The same, if he passed."""
    partner_slope: float = -0.5
    """The same, for each trick that I expect."""
    partner_alone: tuple[float, ...] = (2.2, 1.8, 1.3, 0.9, 0.5)
    """Tricks of the other defender if he plays without me."""
    partner_plays: float = 0.5
    """How often the other defender will play."""
    limit: float = 0.0
    """Tricks added to what the hand is worth in the auction."""
    pass_open: float = -6.0
    """Kapikia expected of a pass while nobody has bid."""
    pass_last: float = 0.0
    """The same, after two passes."""
    pass_bid: float = -12.0
    """The same, over a bid."""
    write_below: float = 4.0
    """With less than so many kapikia expected of 6♠ he rather writes."""
    play_bonus: float = 0.0
    """Kapikia added to playing against passing in the defence."""


class Tables(NamedTuple):
    """What the compiled decisions look things up in; kapikia unless said otherwise."""

    points: Floats  # tricks [12, 256], see `make_points`
    declare: Floats  # [rung, bin]: naming a contract
    bid: Floats  # [rung, strain, bin]: before the talon, contracts of a strain from a rung on
    write: Floats  # [strain, bin]: the same after a *write*, where he may decline
    defend: Floats  # [mode, rung, side, bin]
    idle: Floats  # [rung]: the other one defends without me
    conceded: Floats  # [rung]: both defenders pass
    decline: float


@functools.cache
def _spread(mean: float, deviation: float) -> Floats:
    """Chances of 0..10 tricks: a normal curve cut into whole numbers."""
    edges = [(n + 0.5 - mean) / (deviation * math.sqrt(2)) for n in range(10)]
    steps = [0.0, *(0.5 * (1 + math.erf(edge)) for edge in edges), 1.0]
    return np.diff(steps)


@functools.cache
def _spreads(deviation: float, factor: float = 1.0) -> Floats:
    """[bin, tricks]."""
    return np.array([_spread(factor * i / 10, deviation) for i in range(NUM_BINS)])


def _settled(flags: int, rung: int, defence: int, right: int, left: int) -> tuple[float, ...]:
    """Settled kapikia of declarer, right and left."""
    kassa, *kapikia = payments(flags, rung, defence, 10 - right - left, right, left, 0)
    return (kapikia[0] - 20 * kassa / 3, kapikia[1] + 10 * kassa / 3, kapikia[2] + 10 * kassa / 3)


def _declare_row(flags: int, style: Style, rung: int) -> Floats:
    """Kapikia of a contract as named, over expected tricks."""
    level, is_nt = rung // 5, rung % 5 == 4
    spreads = _spreads(style.deviation_nt if is_nt else style.deviation)
    both = np.empty(11)
    alone = np.empty(11)
    for tricks in range(11):
        more, less = (11 - tricks) // 2, (10 - tricks) // 2
        both[tricks] = 0.5 * _settled(flags, rung, Defence.BOTH, more, less)[0]
        both[tricks] += 0.5 * _settled(flags, rung, Defence.BOTH, less, more)[0]
        alone[tricks] = _settled(flags, rung, Defence.RIGHT_ALONE, 10 - tricks, 0)[0]
    shift = round(10 * style.gain_alone)
    shifted = spreads[np.minimum(np.arange(NUM_BINS) + shift, NUM_BINS - 1)]
    share = style.both_play[level]
    played = share * (spreads @ both) + (1 - share) * (shifted @ alone)
    given_up = _settled(flags, rung, Defence.NOBODY, 0, 0)[0]
    excess = np.arange(NUM_BINS) / 10 - style.conceded_from[level]
    conceded = np.clip(style.conceded_slope * excess, 0, 0.9)
    return conceded * given_up + (1 - conceded) * played


def _auction_tables(declare: Floats, decline: float, deviation: float) -> tuple[Floats, Floats]:
    """`Tables.bid` and `Tables.write`: the best contract after the talon, averaged over it."""
    steps = np.arange(-20, 21)
    weights = np.exp(-0.5 * (steps / (10 * deviation)) ** 2)
    weights /= weights.sum()
    bins = np.clip(np.arange(NUM_BINS)[:, None] + steps, 0, NUM_BINS - 1)
    bid = np.full((NUM_RUNGS, 5, NUM_BINS), -np.inf)
    best = np.full((5, NUM_BINS), -np.inf)
    for rung in reversed(range(NUM_RUNGS)):
        best[rung % 5] = np.maximum(best[rung % 5], declare[rung])
        bid[rung] = [row[bins] @ weights for row in np.maximum(best, -1000)]
    write = np.array([np.maximum(row, decline)[bins] @ weights for row in best])
    return bid, write


BOTH, INVITE, ONLY = 0, 1, 2
"""Modes of `Tables.defend`."""
_DEFENCES = (
    (Defence.BOTH, Defence.BOTH),
    (Defence.RIGHT_INVITES, Defence.LEFT_INVITES),
    (Defence.RIGHT_ALONE, Defence.LEFT_ALONE),
)


def _defend_row(flags: int, style: Style, rung: int, side: int, mode: int) -> Floats:
    """`Tables.defend` of one rung, side and mode."""
    deviation = style.deviation_alone if mode == ONLY else style.deviation_defence
    own = _spreads(deviation, style.own[rung // 5])
    if mode == ONLY:
        return own @ [_own_pay(flags, rung, side, mode, mine, 0) for mine in range(11)]
    pay = np.array(
        [[_own_pay(flags, rung, side, mode, mine, his) for his in range(11)] for mine in range(11)]
    )
    partner = (style.partner_playing if mode == BOTH else style.partner_passing)[rung // 5]
    row = np.zeros(NUM_BINS)
    for place in range(NUM_BINS):
        mean = partner + style.partner_slope * place / 10
        row[place] = own[place] @ pay @ _spread(max(mean, 0.0), style.deviation_partner)
    return row


def _own_pay(flags: int, rung: int, side: int, mode: int, mine: int, his: int) -> float:
    """Settled kapikia of the defender at one side for the tricks of both."""
    his = min(his, 10 - mine)
    tricks = (mine, his) if side == 0 else (his, mine)
    return _settled(flags, rung, _DEFENCES[mode][side], *tricks)[1 + side]


def _idle(flags: int, style: Style, rung: int) -> float:
    """Settled kapikia of a defender who passed while the other one plays alone."""
    pay = [_settled(flags, rung, Defence.RIGHT_ALONE, n, 0)[2] for n in range(11)]
    return float(_spread(style.partner_alone[rung // 5], style.deviation_alone) @ pay)


def make_tables(rules: Rules, style: Style) -> Tables:
    """Everything that depends on the variant and the style."""
    flags = rules.flags
    decline = -2 * DECLINE_KAPIKIA - 20 * DECLINE_KASSA / 3
    declare = np.array([_declare_row(flags, style, rung) for rung in range(NUM_RUNGS)])
    bid, write = _auction_tables(declare, decline, style.deviation_talon)
    rungs = range(NUM_RUNGS)
    defend = [
        [[_defend_row(flags, style, rung, side, mode) for side in range(2)] for rung in rungs]
        for mode in (BOTH, INVITE, ONLY)
    ]
    idle = [_idle(flags, style, rung) for rung in rungs]
    conceded = [_settled(flags, rung, Defence.NOBODY, 0, 0)[1] for rung in rungs]
    return Tables(
        make_points(),
        declare,
        bid,
        write,
        np.array(defend),
        np.array(idle),
        np.array(conceded),
        decline,
    )
