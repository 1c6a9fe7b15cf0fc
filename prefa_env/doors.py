"""What the environments check in the same way: games, settings, seeds, actions."""

from __future__ import annotations

import secrets
from operator import index
from typing import Literal, NoReturn

import numpy as np

from . import prefa
from .game import Game, GameRules

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


def check_settings(game: Game, rules: GameRules | None, episode: str, reward: str) -> GameRules:
    """The rules, default ones if None. Raises ValueError naming what an argument may be."""
    default = game.Rules()
    if rules is not None and type(rules) is not type(default):
        raise ValueError(f"rules must be Rules of {game.NAME}, not {rules!r}")
    if episode == "match":
        raise ValueError("episode='match': match episodes are not available yet; use 'deal'")
    if episode != "deal":
        raise ValueError(f"episode must be 'deal' or 'match', not {episode!r}")
    if reward not in {"settled", "kapikia"}:
        raise ValueError(f"reward must be 'settled' or 'kapikia', not {reward!r}")
    return default if rules is None else rules


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
