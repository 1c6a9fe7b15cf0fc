"""Lays out a report: what is plotted, which parts there are, and the template around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import plots, words
from .schema import AgentResults, League, Level, Results, Row, Speed

_TEMPLATE = "report.html.jinja"

_NAME_WIDTH = 18
"""Longer names are cut in plots that have two of them on a line; tables show them in full."""

_LINE_WIDTH = 36
"""The same for plots with one name on a line."""


class Plot(NamedTuple):
    """A plot in the page, with what stands above it."""

    svg: Markup
    title: str


class _Plots:
    """Makes plots, and numbers them so that their ids differ."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, svg: str, title: str, label: str) -> Plot:
        self._count += 1
        return Plot(Markup(plots.embed(svg, f"plot{self._count}", label)), title)


_MOST_PICTURED = 60
"""Rows that are told and drawn one by one; of more, as a large league has, there is a table."""


def build_page(results: Results) -> str:
    """The page of results that have been checked."""
    unit = results["unit"].removeprefix("settled_").replace("_", " ")
    episode = results.get("episode") or "deal"
    worth = f"{unit} a {episode}"
    made = _Plots()
    rows, agents = results["rows"], results.get("agents") or {}
    pictured = rows if len(rows) <= _MOST_PICTURED else []
    context: dict[str, Any] = {
        "results": results,
        "unit": unit,
        "episode": episode,
        "worth": worth,
        "design": words.DESIGNS.get(results["design"], results["design"]),
        "rows": rows,
        "pictured": pictured,
        "alarms": [row for row in rows if row["illegal"] or row["nonzero"]],
        "failures": results.get("failures") or [],
        "differing": {
            name: count for name, agent in agents.items() if (count := agent.get("differing"))
        },
        "command": words.command(results["config"]),
        "forest": _forest(made, pictured, worth),
        "histograms": _histograms(made, pictured, worth),
        "cross": results.get("cross") or [],
        "league": _league(made, results.get("league"), worth),
        "roles": _roles(made, pictured, unit),
        "behaviour": _behaviour(pictured),
        **_by_agent(made, agents),
    }
    return _environment(worth).get_template(_TEMPLATE).render(context)


def _environment(worth: str) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "signed": words.signed,
        "plain": words.plain,
        "percent": words.percent,
        "p_value": words.p_value,
        "milliseconds": words.milliseconds,
        "tone": words.tone,
        "word": words.word,
        "verdict": lambda row: words.verdict(row, worth),
        "share": lambda name: words.BEHAVIOUR.get(name, name),
        "number": lambda count: f"{count:,}",
    }
    environment.filters.update(filters)
    return environment


def _forest(made: _Plots, rows: Sequence[Row], worth: str) -> Plot | None:
    if not rows:
        return None
    svg = plots.forest(
        _pairs(rows),
        [row["mean"] for row in rows],
        [row["low"] for row in rows],
        [row["high"] for row in rows],
        worth,
    )
    label = "Means with 95 % intervals: " + "; ".join(_in_short(row) for row in rows)
    return made.add(svg, "What the candidate won, with 95 % intervals", label)


def _pairs(rows: Sequence[Row]) -> list[str]:
    """`candidate vs field` of each row, for a plot."""
    short = words.short_names(
        (name for row in rows for name in (row["candidate"], row["field"])), _NAME_WIDTH
    )
    return [
        ("2 × " if row["design"] == "xxy" else "")
        + f"{short[row['candidate']]} vs {short[row['field']]}"
        for row in rows
    ]


def _in_short(row: Row) -> str:
    low, high = words.signed(row["low"]), words.signed(row["high"])
    return f"{row['candidate']} vs {row['field']} {words.signed(row['mean'])} ({low} to {high})"


def _histograms(made: _Plots, rows: Sequence[Row], worth: str) -> list[Plot]:
    shown = [(row, row.get("histogram")) for row in rows]
    limits = plots.histogram_limits([histogram for _, histogram in shown if histogram])
    return [
        made.add(
            plots.histogram(histogram, row["mean"], limits, worth),
            f"{row['candidate']} vs {row['field']}",
            f"Histogram of what the candidate won: {_in_short(row)}, sd {row['sd']:.1f}",
        )
        for row, histogram in shown
        if histogram
    ]


def _league(made: _Plots, league: League | None, worth: str) -> dict[str, Any] | None:
    if not league or not league["agents"]:
        return None
    names = league["agents"]
    payoffs = np.array(
        [
            [0.0 if i == j else _or_nan(league["payoffs"][i][j][j]) for j in range(len(names))]
            for i in range(len(names))
        ]
    )
    short = words.short_names(names, 16)
    heat_map = made.add(
        plots.heat_map([f"{i}  {short[name]}" for i, name in enumerate(names, 1)], payoffs),
        "What the agent of a row wins, alone against two of the column's",
        "Heat map of the pairwise payoffs; the same numbers stand in the table below it",
    )
    ratings = sorted(league["ratings"], key=lambda rating: -rating["rating"])
    return {
        "names": names,
        "payoffs": [[None if np.isnan(v) else float(v) for v in row] for row in payoffs],
        "heat_map": heat_map,
        "ratings": ratings,
        "rating_plot": ratings
        and made.add(
            plots.forest(
                list(words.short_names((r["agent"] for r in ratings), _LINE_WIDTH).values()),
                [rating["rating"] for rating in ratings],
                [rating["low"] for rating in ratings],
                [rating["high"] for rating in ratings],
                f"rating, {worth}",
            ),
            "Ratings, with 95 % intervals",
            "Ratings with 95 % intervals; the same numbers stand in the table below",
        ),
    }


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def _roles(made: _Plots, rows: Sequence[Row], unit: str) -> dict[str, Any] | None:
    lines = [
        (row[who], who, roles)  # type: ignore[literal-required]
        for row in rows
        for who, roles in (row.get("roles") or {}).items()
        if roles
    ]
    shown = [(row, roles) for row in rows if (roles := (row.get("roles") or {}).get("candidate"))]
    if not lines:
        return None
    return {
        "names": list(dict.fromkeys(name for _, _, roles in lines for name in roles)),
        "lines": lines,
        "plot": shown
        and made.add(
            plots.role_bars(
                _pairs([row for row, _ in shown]),
                [{name: r["contribution"] for name, r in roles.items()} for _, roles in shown],
                f"{unit} a deal",
            ),
            f"What each role contributed to the candidate's mean, {unit} a deal",
            "Contributions by role; the same numbers stand in the table below",
        ),
    }


def _behaviour(rows: Sequence[Row]) -> dict[str, Any] | None:
    lines = [
        (row[who], who, shares)  # type: ignore[literal-required]
        for row in rows
        for who, shares in (row.get("behaviour") or {}).items()
        if shares
    ]
    names = list(dict.fromkeys(name for _, _, shares in lines for name in shares))
    return {"names": names, "lines": lines} if lines else None


def _by_agent(made: _Plots, agents: dict[str, AgentResults]) -> dict[str, Any]:
    """The parts about single agents; each is empty where nobody has it."""
    levels = {name: part for name, agent in agents.items() if (part := _named(agent))}
    speeds = {name: phases for name, agent in agents.items() if (phases := agent.get("ms"))}
    regrets = {name: sides for name, agent in agents.items() if (sides := agent.get("regret"))}
    return {
        "calibration": _calibration(made, levels),
        "speed": _speed(made, speeds),
        "regret": regrets,
        "curves": _curves(made, agents),
    }


def _named(agent: AgentResults) -> list[Level]:
    """The levels at which an agent named a contract."""
    return [level for level in agent.get("calibration") or () if level["contracts"]]


def _calibration(made: _Plots, levels: dict[str, list[Level]]) -> dict[str, Any]:
    shown = [
        made.add(plots.calibration(found), name, f"Tricks taken by the level named: {name}")
        for name, found in levels.items()
    ]
    return {"plots": shown, "levels": levels} if levels else {}


def _speed(made: _Plots, speeds: dict[str, dict[str, Speed]]) -> dict[str, Any]:
    if not speeds:
        return {}
    known = [speed for phases in speeds.values() for speed in phases.values()]
    fastest = max(min(speed["p50"] for speed in known), 1e-3)
    slowest = max(fastest, *(speed["p95"] for speed in known))
    shown = [
        made.add(
            plots.speed_bars(phases, (fastest / 2, slowest * 2)), name, f"Speed of {name} by phase"
        )
        for name, phases in speeds.items()
    ]
    return {"plots": shown, "speeds": speeds}


def _curves(made: _Plots, agents: dict[str, AgentResults]) -> list[Plot]:
    curves = {name: found for name, agent in agents.items() if (found := agent.get("curves"))}
    names = dict.fromkeys(name for found in curves.values() for name in found)
    labels = list(words.short_names(curves, _LINE_WIDTH).values())
    return [
        made.add(
            plots.learning_curves(labels, [found.get(name, []) for found in curves.values()]),
            name,
            f"{name} over the decisions of training, for {', '.join(curves)}",
        )
        for name in names
    ]
