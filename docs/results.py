"""Writes docs/results.md from docs/results/*.json, files of `evaluate.py --json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from agents.html import words

DOCS = Path(__file__).parent
OPTIONS = ("design", "candidates", "fields", "deals", "sample", "seeds", "workers")


def command(results: dict[str, Any]) -> str:
    """The command line that makes the results again."""
    config = results["config"]
    options = [name for name in OPTIONS if config[name] is not None]
    if results["design"] in ("trio", "league"):
        options.remove("fields")
    values = [config[name] for name in options]
    arguments = [
        f"--{name} {','.join(value) if isinstance(value, list) else value}"
        for name, value in zip(options, values, strict=True)
    ]
    return " \\\n    ".join(["python evaluate.py", *arguments])


def speed(times: dict[str, float] | None) -> str:
    """Median and 95th percentile; a dash where there was no such move."""
    return "–" if times is None else f"{times['p50']:.2g} / {times['p95']:.2g}"


def page() -> str:
    """The page as text."""
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((DOCS / "results").glob("*.json"))
    }
    by_role = [row["roles"]["candidate"] for row in found["report"]["rows"]]
    roles = [role for role in by_role[0] if any(one[role]["contribution"] for one in by_role)]
    players = [row["roles"]["candidate"] for row in found.get("player", {"rows": []})["rows"]]
    league = found.get("league", {}).get("league", {"ratings": []})

    def payoff(one: str, other: str) -> float | None:
        i, j = league["agents"].index(one), league["agents"].index(other)
        value: float | None = league["payoffs"][i][j][j]
        return value

    environment = Environment(
        loader=FileSystemLoader(DOCS), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    filters = (command, speed, words.signed, words.plain, words.percent, words.p_value)
    environment.filters.update({function.__name__: function for function in filters})
    return environment.get_template("results.md.jinja").render(
        dict.fromkeys(("cross", "league", "player", "player_cross", "ablations")) | found,
        roles=roles,
        player_roles=[r for r in roles if any(one[r]["contribution"] for one in players)],
        ratings=sorted(league["ratings"], key=lambda rating: -rating["rating"]),
        payoff=payoff,
    )


if __name__ == "__main__":
    (DOCS / "results.md").write_text(page(), encoding="utf-8")
