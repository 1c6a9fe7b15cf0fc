"""What a results object holds, and the check that one does.

Keys that are `NotRequired` may be missing or None; further keys are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from types import UnionType
from typing import (
    Any,
    NotRequired,
    TypedDict,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)


class Seeds(TypedDict):
    """The deals that were played."""

    name: str
    hash: str
    deals: int
    benchmark: NotRequired[str | None]


class Histogram(TypedDict):
    """How often a deal's value lay between two edges."""

    edges: list[float]  # [n + 1], ascending
    counts: list[float]  # [n]


class Role(TypedDict):
    """What a player won in one role; `contribution` is `share` times `mean`."""

    games: int
    share: float
    contribution: float
    mean: NotRequired[float | None]


class MatchShares(TypedDict):
    """How often a seat of the candidate wins a match, and how many deals one takes."""

    wins: float
    wins_low: float
    wins_high: float
    length: float
    longest: int
    unfinished: float


class Row(TypedDict):
    """A candidate against a field; money in the results' unit, a deal."""

    candidate: str
    field: str
    design: str
    deals: int
    mean: float
    low: float
    high: float
    sd: float
    per_seat: list[float]
    illegal: int
    illegal_candidate: int
    illegal_field: int
    nonzero: int
    bootstrap_low: NotRequired[float | None]
    bootstrap_high: NotRequired[float | None]
    p: NotRequired[float | None]
    p_holm: NotRequired[float | None]
    behaviour: NotRequired[dict[str, dict[str, float | None]] | None]  # of candidate, field
    roles: NotRequired[dict[str, dict[str, Role]] | None]  # of candidate, field
    histogram: NotRequired[Histogram | None]
    match: NotRequired[MatchShares | None]  # where whole matches were played


class Rating(TypedDict):
    """An agent's place in a league."""

    agent: str
    rating: float
    low: float
    high: float
    mu: NotRequired[float | None]
    sigma: NotRequired[float | None]


class League(TypedDict):
    """Agents that all met each other."""

    agents: list[str]
    ratings: list[Rating]
    payoffs: list[list[list[float | None]]]  # [i][j][l], what i wins with j and l


class Arm(TypedDict):
    """A mean with its interval."""

    mean: float
    low: float
    high: float


class Cross(TypedDict):
    """What bidding and cards win by themselves."""

    candidate: str
    field: str
    both: Arm
    bidding: Arm
    cards: Arm
    interaction: Arm


class Speed(TypedDict):
    """Milliseconds a move in one phase."""

    moves: int
    p50: float
    p95: float


class Level(TypedDict):
    """Contracts of one level: the tricks named, taken, and those with open cards."""

    level: int
    contracts: int
    tricks: NotRequired[float | None]
    open: NotRequired[float | None]
    made: NotRequired[float | None]


class Regret(TypedDict):
    """Tricks that card play gave away, compared with open cards."""

    cards: int
    per_card: float | None  # None: there was no card to choose
    per_deal: float | None
    perfect: float | None


class AgentResults(TypedDict):
    """What was measured of one agent by itself."""

    ms: NotRequired[dict[str, Speed] | None]
    differing: NotRequired[int | None]  # moves that were others when asked alone
    calibration: NotRequired[list[Level] | None]
    regret: NotRequired[dict[str, Regret] | None]
    curves: NotRequired[dict[str, list[list[float]]] | None]  # of [decisions, value]


class Failure(TypedDict):
    """An agent that could not play on."""

    agent: str
    message: str
    candidate: str
    field: str


class Results(TypedDict):
    """All of an evaluation."""

    unit: str
    episode: NotRequired[str | None]  # "match" where whole matches were played
    game: str
    rules: dict[str, Any]
    design: str
    seeds: Seeds
    config: dict[str, Any]
    version: str
    rows: list[Row]
    commit: NotRequired[str | None]
    processor: NotRequired[str | None]
    date: NotRequired[str | None]
    seconds: NotRequired[float | None]
    cross: NotRequired[list[Cross] | None]
    league: NotRequired[League | None]
    agents: NotRequired[dict[str, AgentResults] | None]
    failures: NotRequired[list[Failure] | None]


def check_results(values: Any) -> Results:
    """The values as results. Raises ValueError, naming the key that is wrong."""
    _check(values, Results, "")
    results = cast(Results, values)
    for i, row in enumerate(results["rows"]):
        histogram = row.get("histogram")
        if histogram and len(histogram["edges"]) != len(histogram["counts"]) + 1:
            raise ValueError(f"rows[{i}].histogram needs one edge more than counts")
    league = results.get("league")
    if league:
        _check_size(league["payoffs"], len(league["agents"]), 3, "league.payoffs")
    for name, agent in (results.get("agents") or {}).items():
        for curve, points in (agent.get("curves") or {}).items():
            if any(len(point) != 2 for point in points):
                raise ValueError(f"agents.{name}.curves.{curve} must hold pairs [decisions, value]")
    return results


def _check_size(values: Any, size: int, depth: int, where: str) -> None:
    """Raise unless a nested list has `size` entries down to `depth`."""
    if len(values) != size:
        raise ValueError(f"{where} must hold {size} entries, one an agent, not {len(values)}")
    if depth > 1:
        for i, inner in enumerate(values):
            _check_size(inner, size, depth - 1, f"{where}[{i}]")


def _check(value: Any, hint: Any, where: str) -> None:
    """Raise ValueError unless the value is what a type of this module says."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return
    if origin is NotRequired:
        _check(value, arguments[0], where)
    elif origin is UnionType:
        if value is not None:
            _check(value, arguments[0], where)
    elif is_typeddict(hint):
        _check_keys(value, hint, where)
    elif origin is dict:
        _expect(isinstance(value, Mapping), "an object", value, where)
        for key, inner in value.items():
            _check(inner, arguments[1], _join(where, key))
    elif origin is list:
        _expect(isinstance(value, Sequence) and not isinstance(value, str), "a list", value, where)
        for i, inner in enumerate(value):
            _check(inner, arguments[0], f"{where}[{i}]")
    else:
        _check_plain(value, hint, where)


def _check_keys(value: Any, hint: Any, where: str) -> None:
    _expect(isinstance(value, Mapping), "an object", value, where)
    for key, inner in get_type_hints(hint, include_extras=True).items():
        if key in value:
            _check(value[key], inner, _join(where, key))
        elif get_origin(inner) is not NotRequired:
            raise ValueError(f"{_join(where, key)} is missing")


def _check_plain(value: Any, hint: Any, where: str) -> None:
    if hint is str:
        _expect(isinstance(value, str), "text", value, where)
        return
    kind, what = (Integral, "an integer") if hint is int else (Real, "a finite number")
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    _expect(is_number and math.isfinite(cast(float, value)), what, value, where)


def _expect(is_right: bool, what: str, value: Any, where: str) -> None:
    if not is_right:
        shown = repr(value)
        shown = shown if len(shown) <= 40 else f"{shown[:39]}…"
        raise ValueError(f"{where or 'the whole'} must be {what}, not {shown}")


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
