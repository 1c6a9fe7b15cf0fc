"""Draws how the solver's time grows with the cards: `python -m docs.solver_growth`.

Run it from the root of the repository; nothing else should be running.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from benchmarks.solver import Growth, growth

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 540, 52, 300
COLOURS = ("#0072b2", "#d55e00", "#009e73")  # told apart by the colour-blind too (Okabe and Ito)
TITLE = "Open cards: mean time of a full value, three hands, one thread"


def text(x: float, y: float, words: str, anchor: str = "middle", colour: str = "#333") -> str:
    """A text element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """A straight line."""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}"/>'


def picture(found: Growth) -> Iterator[str]:
    """The elements of the picture: time on a logarithmic scale over cards in a hand."""
    means = {name: [row.times.mean() for row in rows] for name, rows in found.rows.items()}
    every = [mean for row in means.values() for mean in row]
    steps = [digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5)]
    low = max(step for step in steps if step <= min(every))
    high = min(step for step in steps if step >= max(every))

    def x_of(cards: int) -> float:
        first, last = found.cards[0], found.cards[-1]
        return LEFT + (RIGHT - LEFT) * (cards - first) / (last - first)

    def y_of(mean: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * math.log(mean / low) / math.log(high / low)

    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="none">'
    )
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    yield text(LEFT, 28, TITLE, "start")
    for step in steps:
        if low <= step <= high:
            yield line(LEFT, y_of(step), RIGHT, y_of(step), "#ddd")
            yield text(LEFT - 8, y_of(step) + 4, f"{step:g} ms", "end")
    for cards in found.cards:
        yield line(x_of(cards), BOTTOM, x_of(cards), BOTTOM + 5, "#333")
        yield text(x_of(cards), BOTTOM + 20, str(cards))
    yield line(LEFT, BOTTOM, RIGHT, BOTTOM, "#333")
    yield text((LEFT + RIGHT) / 2, BOTTOM + 42, "cards in a hand")
    label = math.inf  # labels from the lowest curve up, none on top of another
    for (name, row), colour in sorted(
        zip(means.items(), COLOURS, strict=True), key=lambda curve: curve[0][1][-1]
    ):
        points = [(x_of(cards), y_of(mean)) for cards, mean in zip(found.cards, row, strict=True)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        yield f'<path d="M{path}" stroke="{colour}" stroke-width="2"/>'
        for x, y in points:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
        label = min(points[-1][1], label - 16)
        yield text(RIGHT + 12, label + 4, f"{name}, {row[-1]:.2g}", "start", colour)
    yield "</svg>"


def main() -> None:
    """Measure, and write `solver_growth.svg`."""
    svg = "\n".join(picture(growth())) + "\n"
    (FOLDER / "solver_growth.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
