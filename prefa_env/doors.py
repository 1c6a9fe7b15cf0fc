"""What the environments check in the same way: games, settings, seeds, actions."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from operator import index
from typing import Any, Literal, NoReturn

import numpy as np

from . import prefa
from .game import Game, GameRules
from .prefa.rules import MOST_SHOWN

GAMES: dict[str, Game] = {"prefa": prefa}

Episode = Literal["deal", "match"]
Reward = Literal["settled", "kapikia"]


class IllegalActionError(ValueError):
    """An action that the rules do not allow; no table was changed."""


def find_game(game: str | Game) -> Game:
    """A game by its name; a game module is returned as it is. Raises ValueError."""
    if isinstance(game, str) and game in GAMES:
        return GAMES[game]
    if isinstance(game, str) or not hasattr(game, "legal_actions"):
        raise ValueError(f"no such game: {game!r} (known: {', '.join(GAMES)})")
    return game


def check_settings(
    game: Game, rules: GameRules | None, episode: str, reward: str, max_deals: int | None
) -> GameRules:
    """The rules, default ones if None. Raises ValueError naming what an argument may be."""
    default = game.Rules()
    if rules is not None and type(rules) is not type(default):
        raise ValueError(f"rules must be Rules of {game.NAME}, not {rules!r}")
    if episode not in {"deal", "match"}:
        raise ValueError(f"episode must be 'deal' or 'match', not {episode!r}")
    if reward not in {"settled", "kapikia"}:
        raise ValueError(f"reward must be 'settled' or 'kapikia', not {reward!r}")
    if max_deals is not None:
        if episode != "match":
            raise ValueError(f"max_deals is for episode='match', not {episode!r}")
        if type(max_deals) is not int or not 1 <= max_deals <= MOST_SHOWN:
            raise ValueError(
                f"max_deals must be None or an integer of 1 to {MOST_SHOWN}, not {max_deals!r}"
            )
    return default if rules is None else rules


def episode_flags(game: Game, rules: GameRules, episode: str) -> int:
    """The options as the kernel reads them, for deals or for matches."""
    return rules.flags | (game.MATCH if episode == "match" else 0)


def check_standings(
    game: Game, kassas: Sequence[int] | None = None, kapikia: Sequence[int] | None = None
) -> dict[str, list[int]]:
    """Standings that a match may begin from, by field of the table; those left out are as usual.

    Args:
        game: the game module.
        kassas: points left to each seat, 0 or more, not all 0.
        kapikia: what each seat has won so far; they add up to 0.

    Raises:
        ValueError: names what is wrong.
    """
    found: dict[str, list[int]] = {}
    for name, field, values, lowest in (
        ("kassas", "kassa", kassas, 0),
        ("kapikia", "kapikia", kapikia, -MOST_SHOWN),
    ):
        if values is None:
            continue
        if field not in (game.DTYPE.names or ()):
            raise ValueError(f"{game.NAME} knows no {name}")
        found[field] = _integers(name, values, game.NUM_SEATS, lowest)
    if "kassa" in found and not any(found["kassa"]):
        raise ValueError("kassas are all 0: such a match is over")
    if sum(found.get("kapikia", [])) != 0:
        raise ValueError(f"kapikia must add up to 0, not {sum(found['kapikia'])}: {kapikia!r}")
    return found


def _integers(name: str, values: Any, count: int, lowest: int) -> list[int]:
    """So many integers of `lowest` to `MOST_SHOWN`."""
    try:
        numbers = [index(value) for value in values]
    except TypeError:
        numbers = []
    if len(numbers) != count or not all(lowest <= number <= MOST_SHOWN for number in numbers):
        raise ValueError(
            f"{name} must be {count} integers of {lowest} to {MOST_SHOWN}, not {values!r}"
        )
    return numbers


def key_of(seed: int | None) -> np.uint64:
    """The key of a seed; of a random one if None. Raises ValueError."""
    if seed is None:
        return np.uint64(secrets.randbits(64))
    try:
        return np.uint64(index(seed))
    except (TypeError, OverflowError):
        raise ValueError(f"seed must be an integer of 0 to 2**64 - 1, not {seed!r}") from None


def raise_illegal(game: Game, action: int, legal: int, where: str = "") -> NoReturn:
    """Raise IllegalActionError naming the action and what was legal."""
    if 0 <= action < game.NUM_ACTIONS:
        name = f"action {action} ({game.action_text(action)})"
    else:
        name = f"action {action} (there are 0 to {game.NUM_ACTIONS - 1})"
    raise IllegalActionError(f"{where}{name} is illegal; legal: {game.legal_text(legal)}")
