"""Agents by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from prefa_env.prefa import NAME as PREFA
from prefa_env.prefa import Action, Rules

from .agent import Agent
from .simple import FirstLegal, PassAlways, Uniform


def _make_heuristic(rules: Rules) -> Agent:
    from .heuristic import Heuristic

    return Heuristic(rules)


_MAKERS: dict[str, Callable[[Rules], Agent]] = {
    "uniform": lambda rules: Uniform(),
    "first-legal": lambda rules: FirstLegal(),
    "pass-always": lambda rules: PassAlways(Action.PASS),
    "heuristic": _make_heuristic,
}
"""Makers of the agents of Prefa."""

AGENT_NAMES = tuple(_MAKERS)


def is_checkpoint(spec: str) -> bool:
    """Whether a spec means the folder of a checkpoint or run, not a name."""
    separators = [os.sep, *([os.altsep] if os.altsep else [])]
    has_separator = any(separator in spec for separator in separators)
    return has_separator or (spec != "" and Path(spec).is_dir())


def make_agent(spec: str, game: str = PREFA, rules: Rules | None = None) -> Agent:
    """The agent that a spec names.

    Args:
        spec: one of `AGENT_NAMES`, or the folder of a checkpoint or run.
        game: name of the game it shall play.
        rules: the variant; default rules if None.

    Raises:
        ValueError: no such agent, or none of that name for the game.
    """
    if spec not in _MAKERS and is_checkpoint(spec):
        from .policy import load_agent

        return load_agent(spec, game, rules)
    known = ", ".join(AGENT_NAMES)
    if game != PREFA:
        raise ValueError(
            f"no agent {spec!r} for the game {game!r}: {known} and checkpoints play {PREFA!r}"
        )
    if spec not in _MAKERS:
        raise ValueError(
            f"no such agent: {spec!r} (known: {known}, or the folder of a checkpoint or run)"
        )
    return _MAKERS[spec](rules if rules is not None else Rules())
