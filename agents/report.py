"""Results on the console and in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from prefa_env.atomic import atomic_write

Row = Mapping[str, Any]

_NARROWEST = 120
"""Columns where the output is no terminal."""

_NAME_WIDTH = 16
"""Names up to this long are not folded, however narrow the console."""

_BEHAVIOUR = {
    "passed_out": "out",
    "declared": "took",
    "made": "made",
    "one_short": "−1",
    "two_short": "−2",
    "declined": "quit",
    "mean_level": "level",
    "play": "play",
    "alone": "alone",
    "wrote": "wrote",
    "held": "held",
}
"""Columns of the table of behaviour; `pass` and `invite` are the rest of `play` and `alone`."""

_LEGEND = (
    "Candidate, and below it one of the field. out, took, wrote, held: of all deals, passed out, "
    "declared, with a write, with a hold · made, −1, −2 (tricks short), quit (declined to play): "
    "of those declared · level: mean of the contracts · play: of the defences · alone: of those "
    "that nobody else played"
)

_MATCH_LEGEND = (
    "wins: matches in which a seat of the candidate has won the most, in % · length: deals a match "
    "· cut: matches that ended unfinished, in %; the kassas that were left are counted"
)


def make_console() -> Console:
    """The console of the process; wide enough for the tables where it is no terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, _NARROWEST))
    return console


def make_progress(console: Console) -> Progress:
    """A bar with the time left; silent where the output is no terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def print_results(console: Console, results: Row) -> None:
    """Print an object of results: what was won, by whom, and what was done."""
    rows = results["rows"]
    per = f"{results['unit'].replace('_', ' ')} per {results['episode']}"
    league = results["league"]
    if league is not None:
        _print_ratings(console, league["ratings"], per)
        _print_payoffs(console, league, per)
    elif rows:
        _print_rows(console, rows, per)
        if any(shares for row in rows for shares in row["behaviour"].values()):
            _print_behaviour(console, rows)
    for cross in results["cross"]:
        _print_cross(console, cross, per)
    if any(agent["regret"] or agent.get("ms") for agent in results["agents"].values()):
        _print_agents(console, results["agents"])
    for failure in results["failures"]:
        console.print(
            f"[bold red]out:[/] {escape(failure['agent'])}: {escape(failure['message'])} "
            f"({escape(failure['candidate'])} against {escape(failure['field'])})"
        )


def _print_rows(console: Console, rows: Sequence[Row], title: str) -> None:
    table = Table(title=title, **_style(console))
    for header in ("candidate", "field"):
        longest = max(map(len, [header, *(row[header] for row in rows)]))
        table.add_column(header, overflow="fold", min_width=min(longest, _NAME_WIDTH))
    between = " " if _is_wide(console) else "\n"
    is_match = rows[0]["match"] is not None
    columns: dict[str, Callable[[Row], str]] = {
        "matches" if is_match else "deals": lambda row: str(row["deals"]),
        "mean": lambda row: f"{row['mean']:+.2f}",
        "95 %": lambda row: f"{row['low']:+.2f}{between}{row['high']:+.2f}",
        "p": lambda row: _probability(row["p_holm"]),
        "sd": lambda row: f"{row['sd']:.1f}",
    }
    if is_match:
        columns |= {
            "wins, %": lambda row: f"{100 * row['match']['wins']:.1f}",
            "length": lambda row: f"{row['match']['length']:.1f}",
            "cut": lambda row: f"{100 * row['match']['unfinished']:.0f}",
        }
    else:
        columns["by seat"] = lambda row: between.join(f"{mean:+.1f}" for mean in row["per_seat"])
    columns |= {
        "illegal": lambda row: _alarm(row["illegal"]),
        "nonzero": lambda row: _alarm(row["nonzero"]),
    }
    if not _is_wide(console):
        del columns["p"]
    for header in columns:
        table.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        cells = [cell(row) for cell in columns.values()]
        table.add_row(escape(row["candidate"]), escape(row["field"]), *cells)
    if is_match:
        table.caption, table.caption_justify = _MATCH_LEGEND, "left"
    console.print(table)


def _probability(p: float | None) -> str:
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")


def _print_ratings(console: Console, ratings: Sequence[Row], per: str) -> None:
    table = Table(title=f"ratings: {per} over the average", **_style(console))
    table.add_column("agent", overflow="fold")
    for header in ("rating", "95 %", "openskill"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in sorted(ratings, key=lambda row: -row["rating"]):
        table.add_row(
            escape(row["agent"]),
            f"{row['rating']:+.2f}",
            f"{row['low']:+.2f} {row['high']:+.2f}",
            f"{row['mu']:.1f} ± {row['sigma']:.1f}",
        )
    console.print(table)


def _print_payoffs(console: Console, league: Row, per: str) -> None:
    table = Table(
        title=f"{per} of the agent at the left among copies of the one above",
        **_style(console),
    )
    table.add_column("")
    numbers = range(len(league["agents"]))
    for number in numbers:
        table.add_column(str(number + 1), justify="right", no_wrap=True)
    for i in numbers:
        cells = [_own_payoff(league["payoffs"], i, j) for j in numbers]
        table.add_row(f"{i + 1} {escape(league['agents'][i])}", *cells)
    console.print(table)


def _own_payoff(payoffs: Any, agent: int, others: int) -> str:
    payoff = payoffs[agent]
    while isinstance(payoff, list):
        payoff = payoff[others]
    return "–" if payoff is None or agent == others else f"{payoff:+.1f}"


def _print_cross(console: Console, cross: Row, per: str) -> None:
    console.print(  # a title would be folded to the width of the table
        f"where {cross['candidate']} wins from {cross['field']}: {per}",
        style="italic",
        highlight=False,
        markup=False,
    )
    table = Table(**_style(console))
    for header in ("", "mean", "95 %"):
        table.add_column(header, justify="right" if header else "left", no_wrap=True)
    for name in ("bidding", "cards", "interaction", "both"):
        found = cross[name]
        table.add_row(name, f"{found['mean']:+.2f}", f"{found['low']:+.2f} {found['high']:+.2f}")
    console.print(table)


_AGENT_LEGEND = (
    "ms: per move, asked alone, p50 / p95 of the slowest kind of decision · regret: tricks a card "
    "gave away by open cards, as declarer and as defender · named, took, could: mean level of "
    "contracts played, tricks taken, and tricks with open cards"
)


def _print_agents(console: Console, agents: Mapping[str, Row]) -> None:
    table = Table(
        title="the players", caption=_AGENT_LEGEND, caption_justify="left", **_style(console)
    )
    table.add_column("player", overflow="fold")
    headers = ("ms bidding", "ms cards", "regret decl.", "def.", "named", "took", "could")
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)
    for name, agent in agents.items():
        table.add_row(escape(name), *_agent_cells(agent))
    console.print(table)
    for name, agent in agents.items():
        if agent.get("differing"):
            console.print(
                f"[bold red]{escape(name)} chose otherwise when asked alone, "
                f"{agent['differing']} times:[/] its results depend on batch sizes and processes"
            )


def _agent_cells(agent: Row) -> Iterator[str]:
    times = agent.get("ms", {})
    cards = [times["play"]] if "play" in times else []
    for group in ([time for phase, time in times.items() if phase != "play"], cards):
        slowest = max(group, key=lambda time: time["p50"], default=None)
        yield f"{slowest['p50']:.2g} / {slowest['p95']:.2g}" if slowest else "–"
    for side in ("declarer", "defender"):
        yield _number(agent["regret"].get(side, {}).get("per_card"), 3)
    levels = [level for level in agent["calibration"] if level["played"]]
    played = sum(level["played"] for level in levels)
    for name in ("level", "tricks", "open"):
        total = sum(level["played"] * level[name] for level in levels)
        yield _number(total / played if played else None, 2)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _is_wide(console: Console) -> bool:
    return console.width >= 110


def _style(console: Console) -> Any:
    """Few lines, and narrow gaps where the console is narrow."""
    gap = (0, 1, 0, 0) if _is_wide(console) else (0, 0)
    return {"box": box.SIMPLE_HEAD, "title_justify": "left", "pad_edge": False, "padding": gap}


def _alarm(count: int) -> str:
    return f"[bold red]{count}[/]" if count else "0"


def _print_behaviour(console: Console, rows: Sequence[Row]) -> None:
    table = Table(
        title="what they did, in %", caption=_LEGEND, caption_justify="left", **_style(console)
    )
    longest = max(len(name) for row in rows for name in (row["candidate"], row["field"]))
    table.add_column("player", overflow="fold", min_width=min(longest + 1, _NAME_WIDTH))
    for header in _BEHAVIOUR.values():
        table.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        for player, who in ((row["candidate"], "candidate"), (f" {row['field']}", "field")):
            shares = row["behaviour"][who]
            cells = [_cell(name, shares.get(name)) for name in _BEHAVIOUR]
            table.add_row(escape(player), *cells)
    console.print(table)


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if name == "mean_level" else f"{100 * value:.1f}"


def write_json(path: str | os.PathLike[str], values: dict[str, Any]) -> None:
    """Write values as an indented JSON file, whole or not at all. Raises OSError."""
    with atomic_write(path) as file:
        json.dump(values, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
