"""Results of comparisons as a table for the console and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from prefa_env.game import Game, GameRules

from .arena import Comparison, SeedSet
from .atomic import atomic_write

UNITS = {"prefa": "settled_kapikia"}
"""What a deal is counted in, by game."""

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


def unit(game: Game) -> str:
    """Name of the unit of a deal's worth."""
    return UNITS.get(game.NAME, "points")


def make_console() -> Console:
    """The console of the process; wide enough for the tables where it is no terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, _NARROWEST))
    return console


def print_results(console: Console, game: Game, results: Sequence[Comparison]) -> None:
    """Print what was won, then what was done."""
    table = Table(title=f"{unit(game).replace('_', ' ')} per deal", **_style(console))
    for header, names in (
        ("candidate", [result.candidate for result in results]),
        ("field", [result.field for result in results]),
    ):
        longest = max(map(len, [header, *names]))
        table.add_column(header, overflow="fold", min_width=min(longest, _NAME_WIDTH))
    for header in ("deals", "mean", "95 %", "sd", "by seat", "illegal", "nonzero"):
        table.add_column(header, justify="right", no_wrap=True)
    between = " " if _is_wide(console) else "\n"
    for result in results:
        table.add_row(
            escape(result.candidate),
            escape(result.field),
            str(result.deals),
            f"{result.mean:+.2f}",
            f"{result.low:+.2f}{between}{result.high:+.2f}",
            f"{result.sd:.1f}",
            between.join(f"{mean:+.1f}" for mean in result.per_seat),
            _alarm(result.illegal),
            _alarm(result.nonzero),
        )
    console.print(table)
    if any(shares for result in results for shares in result.behaviour.values()):
        _print_behaviour(console, results)


def _is_wide(console: Console) -> bool:
    return console.width >= 110


def _style(console: Console) -> Any:
    """Few lines, and narrow gaps where the console is narrow."""
    gap = (0, 1, 0, 0) if _is_wide(console) else (0, 0)
    return {"box": box.SIMPLE_HEAD, "title_justify": "left", "pad_edge": False, "padding": gap}


def _alarm(count: int) -> str:
    return f"[bold red]{count}[/]" if count else "0"


def _print_behaviour(console: Console, results: Sequence[Comparison]) -> None:
    table = Table(
        title="what they did, in %", caption=_LEGEND, caption_justify="left", **_style(console)
    )
    longest = max(len(name) for result in results for name in (result.candidate, result.field))
    table.add_column("player", overflow="fold", min_width=min(longest + 1, _NAME_WIDTH))
    for header in _BEHAVIOUR.values():
        table.add_column(header, justify="right", no_wrap=True)
    for result in results:
        for player, who in ((result.candidate, "candidate"), (f" {result.field}", "field")):
            shares = result.behaviour[who]
            cells = [_cell(name, shares.get(name)) for name in _BEHAVIOUR]
            table.add_row(escape(player), *cells)
    console.print(table)


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if name == "mean_level" else f"{100 * value:.1f}"


def results_json(
    game: Game,
    rules: GameRules,
    seeds: SeedSet,
    deals: int,
    config: dict[str, Any],
    results: Sequence[Comparison],
) -> dict[str, Any]:
    """All results and what they came from, as plain values.

    Args:
        game: the game module.
        rules: the variant.
        seeds: the deals.
        deals: how many of them.
        config: the resolved config.
        results: one a row.
    """
    return {
        "unit": unit(game),
        "game": game.NAME,
        "rules": rules.to_dict(),
        "seeds": {"name": seeds.name, "hash": seeds.fingerprint(game, deals)},
        "config": config,
        "version": package_version(),
        "rows": [asdict(result) for result in results],
    }


def write_json(path: str | os.PathLike[str], values: dict[str, Any]) -> None:
    """Write values as an indented JSON file, whole or not at all. Raises OSError."""
    with atomic_write(path) as file:
        json.dump(values, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def package_version() -> str:
    """Version of the installed package; `unknown` in a checkout that is not installed."""
    try:
        return metadata.version("prefa")
    except metadata.PackageNotFoundError:
        return "unknown"
