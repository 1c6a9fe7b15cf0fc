"""Draws the pictures of the README: `python docs/pictures.py`."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from agents import make_agent
from prefa_env import prefa_v0

FOLDER = Path(__file__).parent
SEED = 4
STEPS = 27


def table_text() -> str:
    """A table of rule players in mid-play, as the environment renders it."""
    env = prefa_v0.env(render_mode="ansi")
    env.reset(seed=SEED)
    agent = make_agent("heuristic")
    keys = np.zeros(1, np.uint64)  # the rule player needs no chance
    for _ in range(STEPS):
        seen = env.last()[0]
        action = agent.act(seen["observation"][None], seen["action_mask"][None], keys)[0]
        env.step(int(action))
    return str(env.render())


def main() -> None:
    """Write `table.svg`."""
    text = Text(table_text())
    text.highlight_regex("[♦♥]", "red")
    text.highlight_regex(r"(?m)^\w+", "bold cyan")
    console = Console(record=True, width=96, file=io.StringIO())
    console.print(text)
    svg = console.export_svg(title="prefa_v0, render_mode='ansi'")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # fetched from elsewhere
    svg = svg.replace("Fira Code, monospace", "DejaVu Sans Mono, Menlo, Consolas, monospace")
    (FOLDER / "table.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
