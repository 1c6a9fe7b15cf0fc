"""Numbers and rows of results in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from os.path import commonprefix
from typing import Any

from .schema import Row

DESIGNS = {
    "xyy": "X-Y-Y: one candidate among two of a field agent, in each seat in turn",
    "xxy": "X-X-Y: two of a candidate against one field agent, in each seat in turn",
    "trio": "three agents at one table, in all seatings",
    "cross": "X-Y-Y with the bidding, the cards, or both of a candidate",
    "league": "every choice of agents for the three seats, in all seatings",
}
"""What was seated, by the name of the design."""

BEHAVIOUR = {
    "passed_out": "passed out",
    "declared": "declared",
    "made": "made",
    "one_short": "one short",
    "two_short": "two short",
    "declined": "declined",
    "mean_level": "mean level",
    "play": "play",
    "pass": "pass",
    "alone": "alone",
    "invite": "invite",
    "wrote": "wrote",
    "held": "held",
}
"""Headers of the shares of behaviour; one that is not listed keeps its name."""

_NONE = "–"
"""Stands where there was nothing to measure."""

_SPACE = "\u00a0"
"""A space at which a line does not end."""

SIGNIFICANT = 0.05
"""Below this a p-value says that a mean is not 0."""


def signed(value: float | None, digits: int = 2) -> str:
    """`+1.50`, `−1.50`; 0 has no sign."""
    if value is None:
        return _NONE
    text = f"{value:+,.{digits}f}"
    return text[1:] if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def plain(value: float | None, digits: int = 2) -> str:
    """A number without a plus."""
    return signed(value, digits).removeprefix("+")


def percent(share: float | None) -> str:
    """A share from 0 to 1 in percent, without the sign."""
    return _NONE if share is None else f"{100 * share:.1f}"


def p_value(p: float | None) -> str:
    """`0.012`, `< 0.001` (with a space that does not break)."""
    if p is None:
        return _NONE
    return f"<{_SPACE}0.001" if p < 0.001 else f"{p:.3f}"


def milliseconds(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def shorten(name: str, width: int) -> str:
    """The beginning and, longer, the end of a name that has more than `width` characters."""
    if len(name) <= width:
        return name
    start = width // 3
    return f"{name[:start]}…{name[start + 1 - width :]}"


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Names cut to `width`; those that would then be the same, without what they begin with."""
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(shorten(name, width), []).append(name)
    short = {}
    for cut, group in alike.items():
        start = len(commonprefix(group))  # noqa: RUF071 (names, not only paths)
        for name in group:
            short[name] = cut if len(group) == 1 else shorten(f"…{name[start:]}", width)
    return short


def verdict(row: Row, worth: str) -> str:
    """Who won, how much, and how sure that is, in a sentence."""
    mean, low, high = row["mean"], row["low"], row["high"]
    candidate, field = row["candidate"], row["field"]
    if row["design"] == "xxy":
        candidate = f"each of two {candidate}"
    is_told = tone(row) != "even"
    if is_told:
        low, high = sorted((abs(low), abs(high)))
        verb = "wins" if mean > 0 else "loses"
        to = "with" if row["design"] == "trio" else "from" if mean > 0 else "to"
        text = f"{candidate} {verb} {plain(abs(mean))} {worth} {to} {field}"
        text += f" (95{_SPACE}%: {plain(low)} to {plain(high)})"
    else:
        text = f"{candidate} is not told apart from {field}: {signed(mean)} {worth}"
        text += f" (95{_SPACE}%: {signed(low)} to {signed(high)})"
    p_holm = row.get("p_holm")
    if p_holm is not None:
        shown = p_value(p_holm)
        shown = shown if shown.startswith("<") else f"={_SPACE}{shown}"
        text += f"; Holm{_SPACE}p{_SPACE}{shown}"
    return f"{text}."


def tone(row: Row) -> str:
    """`plus`, `minus` or `even`: on which side of 0 the interval lies, all rows counted."""
    p_holm = row.get("p_holm")
    if p_holm is not None and p_holm >= SIGNIFICANT:
        return "even"
    return "plus" if row["low"] > 0 else "minus" if row["high"] < 0 else "even"


def command(config: Mapping[str, Any]) -> str:
    """The command line of a config, an option a line; options that are None are left out."""
    lines = ["python evaluate.py", *_options(config, "")]
    return " \\\n    ".join(lines)


def _options(config: Mapping[str, Any], prefix: str) -> list[str]:
    options = []
    for name, value in config.items():
        if isinstance(value, Mapping):
            options += _options(value, f"{prefix}{name}.")
        elif value is not None and value not in ([], ()):
            options.append(f"--{prefix}{name} {shlex.quote(word(value))}")
    return options


def word(value: Any) -> str:
    """A value of a config as a command line takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
