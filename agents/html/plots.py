"""The plots of a report, each as a piece of SVG for the middle of a page.

Sizes are in points. A phone shows them about as large as that, a wide screen larger. Text stays
text, so that it can be searched and takes the page's font.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
import numpy.typing as npt
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from .schema import Histogram, Level, Speed
from .words import milliseconds, signed

P = ParamSpec("P")

WIDE, NARROW = 320, 260

BLUE, RED, GREY = "#0072B2", "#D55E00", "#6b6b6b"
COLOURS = (BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", RED, "#000000", "#B8A800")
"""Those of Okabe and Ito, which colour-blind eyes tell apart; yellow darker, for a white ground."""

_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.")

_STYLE: list[str | dict[str, Any]] = [
    "default",  # whatever the user's matplotlibrc says
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "prefa",
        "text.parse_math": False,  # a `$` in a name is a `$`
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": GREY,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#e4e4e4",
        "legend.frameon": False,
        "legend.fontsize": 9,
        "savefig.transparent": True,
    },
]


def _plot(draw: Callable[P, Figure]) -> Callable[P, str]:
    """A function that draws as one that returns SVG, in the style of the report alone."""

    @wraps(draw)
    def as_svg(*args: P.args, **kwargs: P.kwargs) -> str:
        file = io.StringIO()
        with style.context(_STYLE):
            draw(*args, **kwargs).savefig(file, format="svg")
        return file.getvalue()

    return as_svg


def embed(svg: str, prefix: str, label: str) -> str:
    """SVG made fit to stand in a page.

    Args:
        svg: a file of matplotlib.
        prefix: what its ids begin with, so that they are unique in the page.
        label: what it shows, for those who cannot see it.
    """
    body = svg[svg.index("<svg") :]
    # The metadata hold the date; the style is in the page once.
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    view = re.search(r'viewBox="[^"]*"', body)
    assert view is not None
    head = f'<svg {view[0]} role="img" aria-label="{html.escape(label)}">'
    body = body[body.index(">") + 1 :]

    def rename(tag: re.Match[str]) -> str:
        return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}-", tag[0])

    return head + re.sub(r"<[^>]*>", rename, body)


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
    return figure, figure.add_subplot()


def _label_lines(axes: Axes, labels: Sequence[str], values: Sequence[float]) -> npt.NDArray[Any]:
    """Write a label and a value above each of the lines, the first on top; their heights."""
    heights = np.arange(len(labels))[::-1]
    axes.set_ylim(-0.5, len(labels) - 0.2)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    across = axes.get_yaxis_transform()
    halo = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # no line through a name
    for y, label, value in zip(heights, labels, values, strict=True):
        axes.text(0, y + 0.28, label, transform=across, bbox=halo)
        axes.text(1.17, y + 0.28, signed(value), transform=across, ha="right")
    return heights


@_plot
def forest(
    labels: Sequence[str],
    means: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    unit: str,
) -> Figure:
    """Means with their intervals, one below the other; colours say on which side of 0."""
    figure, axes = _figure(WIDE, 40 + 32 * len(labels))
    heights = _label_lines(axes, labels, means)
    colours = [
        BLUE if low > 0 else RED if high < 0 else GREY
        for low, high in zip(lows, highs, strict=True)
    ]
    axes.axvline(0, color=GREY, linewidth=1)
    axes.hlines(heights, lows, highs, colors=colours, linewidth=2.5)
    axes.scatter(means, heights, c=colours, s=34, zorder=3)
    axes.margins(x=0.06)
    axes.set_xlabel(unit)
    return figure


def histogram_limits(histograms: Sequence[Histogram]) -> tuple[float, float]:
    """Where the bins lie that hold at least a five-hundredth of their deals, over all of them."""
    lows, highs = [], []
    for histogram in histograms:
        counts = np.asarray(histogram["counts"])
        kept = np.flatnonzero(counts >= max(1, counts.sum() / 500))
        if kept.size:
            lows.append(histogram["edges"][kept[0]])
            highs.append(histogram["edges"][kept[-1] + 1])
    return (min(lows), max(highs)) if lows else (-1.0, 1.0)


@_plot
def histogram(values: Histogram, mean: float, limits: tuple[float, float], unit: str) -> Figure:
    """How a row's deals were spread, in percent, with 0 and the mean."""
    figure, axes = _figure(NARROW, 112)
    counts = np.asarray(values["counts"])
    shares = 100 * counts / max(1, counts.sum())
    axes.stairs(shares, values["edges"], fill=True, color="#9ecae1")
    axes.axvline(0, color=GREY, linewidth=1)
    axes.axvline(mean, color=RED, linewidth=1.5, linestyle="--")
    axes.set_xlim(limits)
    axes.set_ylabel("% of deals")
    axes.set_xlabel(unit)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    return figure


@_plot
def heat_map(labels: Sequence[str], payoffs: npt.NDArray[np.float64]) -> Figure:
    """What the agent of a row wins against two of the column's; NaN where nothing was played.

    Args:
        labels: [k], of the rows; columns have numbers.
        payoffs: float64 [k, k].
    """
    size = len(labels)
    figure, axes = _figure(WIDE, 70 + 26 * size)
    known = np.abs(payoffs[np.isfinite(payoffs)])
    most = max(float(known.max(initial=0)), 1e-9)
    axes.grid(visible=False)
    axes.pcolormesh(
        np.ma.masked_invalid(payoffs), cmap="RdBu", vmin=-most, vmax=most,
        edgecolors="white", linewidth=1.5,
    )  # fmt: skip
    axes.invert_yaxis()
    axes.set_xticks(np.arange(size) + 0.5, [str(i + 1) for i in range(size)])
    axes.set_yticks(np.arange(size) + 0.5, labels)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("against two of")
    for spine in axes.spines.values():
        spine.set_visible(False)
    if size <= 10:  # more numbers than that would not fit
        for (i, j), value in np.ndenumerate(payoffs):
            text = signed(value, 0 if most >= 99.5 else 1) if np.isfinite(value) else "·"
            is_dark = np.isfinite(value) and abs(value) > 0.6 * most
            axes.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=8,
                      color="white" if is_dark else "black")  # fmt: skip
    return figure


@_plot
def role_bars(
    labels: Sequence[str], contributions: Sequence[Mapping[str, float]], unit: str
) -> Figure:
    """What each role contributes to a mean: losses to the left of 0, gains to the right."""
    roles = list(dict.fromkeys(role for parts in contributions for role in parts))
    figure, axes = _figure(WIDE, 56 + 16 * -(-len(roles) // 3) + 34 * len(labels))
    values = np.array([[parts.get(role, 0.0) for role in roles] for parts in contributions])
    means = values.sum(axis=1)
    heights = _label_lines(axes, labels, [float(mean) for mean in means])
    gained, lost = np.zeros(len(labels)), np.zeros(len(labels))
    for i, role in enumerate(roles):
        column = values[:, i]
        start = np.where(column > 0, gained, lost)
        axes.barh(
            heights, column, 0.4, start, color=COLOURS[i % len(COLOURS)], label=role,
            hatch="//" if i >= len(COLOURS) else None, edgecolor="white", linewidth=0.5,
        )  # fmt: skip
        gained += np.maximum(column, 0)
        lost += np.minimum(column, 0)
    axes.axvline(0, color=GREY, linewidth=1)
    axes.scatter(means, heights, marker="D", s=30, c="black", edgecolors="white", zorder=3)
    axes.set_xlabel(unit)
    figure.legend(loc="outside upper left", ncols=3, handlelength=1, columnspacing=1)
    return figure


@_plot
def calibration(levels: Sequence[Level]) -> Figure:
    """Tricks taken, and tricks with open cards, by the level that was named."""
    figure, axes = _figure(NARROW, 190)
    named = [level["level"] for level in levels]
    span = [min(named) - 0.4, max(named) + 0.4]
    axes.plot(span, span, color=GREY, linewidth=1, linestyle="--", label="as named")
    for key, marker, colour, label in (
        ("tricks", "o", BLUE, "taken"),
        ("open", "^", RED, "open cards"),
    ):
        points = [(level["level"], level.get(key)) for level in levels]
        known = [(x, float(str(y))) for x, y in points if y is not None]
        if known:
            axes.plot(*zip(*known, strict=True), color=colour, marker=marker, label=label)
    axes.set_xticks(named)
    axes.set_xlabel("level named")
    axes.set_ylabel("tricks")
    figure.legend(loc="outside upper center", ncols=3, handlelength=1.4, columnspacing=1)
    return figure


@_plot
def speed_bars(phases: Mapping[str, Speed], limits: tuple[float, float]) -> Figure:
    """Milliseconds a move, from the median to the 95th percentile, by phase."""
    figure, axes = _figure(NARROW, 52 + 18 * len(phases))
    heights = np.arange(len(phases))[::-1]
    p50, p95 = (
        np.maximum([speed[key] for speed in phases.values()], limits[0]) for key in ("p50", "p95")
    )
    axes.hlines(heights, p50, p95, colors=BLUE, linewidth=2.5)
    axes.scatter(p50, heights, c=BLUE, s=30, zorder=3, label="p50")
    axes.scatter(p95, heights, c="white", edgecolors=BLUE, s=30, zorder=3, label="p95")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: milliseconds(value)))
    axes.set_xlim(limits)
    axes.set_ylim(-0.6, len(phases) - 0.4)
    axes.set_yticks(heights, list(phases))
    axes.set_xlabel("ms a move")
    return figure


@_plot
def growth(
    labels: Sequence[str],
    decisions: Sequence[float],
    minutes: Sequence[float],
    means: Sequence[Sequence[float]],
    lows: Sequence[Sequence[float]],
    highs: Sequence[Sequence[float]],
    unit: str,
) -> Figure:
    """Strength with its intervals over decisions, below, and minutes, above; a line a field.

    Args:
        labels: of the fields [F].
        decisions, minutes: ascending [T].
        means, lows, highs: [F, T].
    """
    figure, axes = _figure(1.5 * WIDE, 0.75 * WIDE)
    axes.axhline(0, color=GREY, linewidth=1)
    for label, colour, mean, low, high in zip(labels, COLOURS, means, lows, highs, strict=False):
        axes.fill_between(decisions, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(decisions, mean, color=colour, marker="o", markersize=4, label=f"against {label}")
    axes.set_xlabel("decisions")
    axes.set_ylabel(unit)
    axes.xaxis.set_major_formatter(EngFormatter())
    above = axes.twiny()
    above.set_xlim(axes.get_xlim())
    above.grid(visible=False)
    every = np.linspace(0, len(decisions) - 1, min(6, len(decisions))).round().astype(int)
    above.set_xticks([decisions[i] for i in every], [f"{minutes[i]:.0f}" for i in every])
    above.set_xlabel("minutes")
    axes.legend(loc="lower right")
    return figure


@_plot
def learning_curves(labels: Sequence[str], curves: Sequence[Sequence[Sequence[float]]]) -> Figure:
    """One figure of training over decisions, a line an agent; one without points gets none."""
    figure, axes = _figure(WIDE, 190 + 14 * len(labels))
    for i, (label, points) in enumerate(zip(labels, curves, strict=True)):
        if points:
            steps, values = zip(*points, strict=True)
            axes.plot(
                steps, values, label=label, color=COLOURS[i % len(COLOURS)], linewidth=1.6,
                linestyle=_DASHES[i // len(COLOURS) % len(_DASHES)],
            )  # fmt: skip
    axes.set_xlabel("decisions")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.margins(x=0.02)
    figure.legend(loc="outside lower left", ncols=1)
    return figure
