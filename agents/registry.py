"""Agents by name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from prefa_env.prefa import NAME as PREFA
from prefa_env.prefa import Action, Rules

from . import released
from .agent import Agent
from .composite import combine
from .external import PREFIX, TIME_LIMIT, External
from .simple import FirstLegal, PassAlways, Uniform


def _make_heuristic(rules: Rules, argument: str, time_limit: float) -> Agent:
    from .heuristic import Heuristic

    return Heuristic(rules)


def _make_heuristic_v1(rules: Rules, argument: str, time_limit: float) -> Agent:
    """Before `heuristic` plays otherwise it must be copied for this name; a test tells."""
    agent = _make_heuristic(rules, argument, time_limit)
    agent.name = "heuristic-v1"
    return agent


def _make_pimc(rules: Rules, argument: str, time_limit: float) -> Agent:
    from .search.pimc import Pimc

    if not re.fullmatch("[1-9][0-9]{0,8}", argument):
        raise ValueError(f"pimc needs how many worlds, such as 'pimc:20', not 'pimc:{argument}'")
    return Pimc(int(argument), rules)


def _make_guided(rules: Rules, argument: str, time_limit: float) -> Agent:
    number, _, spec = argument.partition(":")
    if not re.fullmatch("[1-9][0-9]{0,8}", number) or not spec:
        raise ValueError(
            "guided needs how many worlds and a policy, such as 'guided:20:runs/quickstart', not "
            f"'guided:{argument}'"
        )
    from .policy import PolicyAgent
    from .search.guided import Guided

    policy = make_agent(spec, PREFA, rules)
    if not isinstance(policy, PolicyAgent):
        raise ValueError(
            f"guided needs the folder of a checkpoint or run, and {spec!r} is another agent"
        )
    return Guided(int(number), policy, rules)


def _make_open(rules: Rules, argument: str, time_limit: float) -> Agent:
    from .search.open import Open

    return Open(rules)


def _make_released(name: str) -> Callable[[Rules, str, float], Agent]:
    def make(rules: Rules, argument: str, time_limit: float) -> Agent:
        from .policy import load_agent

        return load_agent(name, PREFA, rules)

    return make


_MAKERS: dict[str, Callable[[Rules, str, float], Agent]] = {
    "uniform": lambda *_: Uniform(),
    "first-legal": lambda *_: FirstLegal(),
    "pass-always": lambda *_: PassAlways(Action.PASS),
    "heuristic": _make_heuristic,
    "heuristic-v1": _make_heuristic_v1,
    "pimc": _make_pimc,
    "guided": _make_guided,
    "open": _make_open,
    **{name: _make_released(name) for name in released.NAMES},
    "exec": lambda rules, argument, time_limit: External(argument, rules, time_limit),
}
"""Makers of the agents of Prefa, from rules, what stands after the colon, and seconds a move."""

_WITH_ARGUMENT = {"pimc": "N", "guided": "N:SPEC", "exec": "COMMAND"}

AGENT_NAMES = tuple(
    f"{name}:{_WITH_ARGUMENT[name]}" if name in _WITH_ARGUMENT else name for name in _MAKERS
)


def wrapped(spec: str) -> tuple[str, str]:
    """A name that takes a policy, with all up to it, and the policy's own spec; or "" and all."""
    found = re.match("guided:[^:+]*:", spec)
    return (found[0], spec[found.end() :]) if found else ("", spec)


def is_checkpoint(spec: str) -> bool:
    """Whether a spec means the folder of a checkpoint or run, not a name."""
    if spec.startswith(PREFIX) or wrapped(spec)[0]:
        return False
    separators = [os.sep, *([os.altsep] if os.altsep else [])]
    has_separator = any(separator in spec for separator in separators)
    return has_separator or (spec != "" and Path(spec).is_dir())


def parts(spec: str) -> tuple[str, ...]:
    """The two specs that a plus joins, or the spec itself."""
    if "+" not in spec or spec.startswith(PREFIX) or Path(wrapped(spec)[1]).is_dir():
        return (spec,)
    bidder, _, card_player = spec.partition("+")
    return bidder, card_player


def make_agent(
    spec: str, game: str = PREFA, rules: Rules | None = None, time_limit: float = TIME_LIMIT
) -> Agent:
    """The agent that a spec names.

    Args:
        spec: one of `AGENT_NAMES`, with a number for N, the folder of a checkpoint or run for SPEC,
            and a command for COMMAND; such a folder; or two of these joined by a plus: who bids and
            defends, then who plays the cards. From `exec:` on all is the command.
        game: name of the game it shall play.
        rules: the variant; default rules if None.
        time_limit: seconds that a program (`exec:`) has for a move.

    Raises:
        ValueError: no such agent, or none of that name for the game.
    """
    joined = parts(spec)
    if len(joined) == 2:
        bidder, card_player = (make_agent(part, game, rules, time_limit) for part in joined)
        return combine(bidder, card_player)
    name, colon, argument = spec.partition(":")
    is_name = name in _MAKERS and bool(colon) == (name in _WITH_ARGUMENT)
    if not is_name and name not in _MAKERS and is_checkpoint(spec):
        from .policy import load_agent

        return load_agent(spec, game, rules)
    known = ", ".join(AGENT_NAMES)
    if game != PREFA:
        raise ValueError(
            f"no agent {spec!r} for the game {game!r}: {known} and checkpoints play {PREFA!r}"
        )
    if not is_name:
        raise ValueError(
            f"no such agent: {spec!r} (known: {known}, or the folder of a checkpoint or run)"
        )
    return _MAKERS[name](rules if rules is not None else Rules(), argument, time_limit)
