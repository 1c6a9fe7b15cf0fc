"""Prefa for PettingZoo: `prefa_v0.env()`, also registered as `prefa/prefa-v0`."""

from __future__ import annotations

from typing import Any, ClassVar

from . import aec, prefa, render
from .game import Game
from .prefa import Rules

__all__ = ["Rules", "env", "raw_env"]


class raw_env(aec.TableEnv):
    """One table of Prefa, without wrappers: an illegal action raises and changes nothing."""

    game: ClassVar[Game] = prefa
    metadata: ClassVar[dict[str, Any]] = {
        "name": "prefa_v0",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
        "render_fps": 1,
    }
    table_text = staticmethod(render.table_text)


def env(
    rules: Rules | None = None,
    episode: str = "deal",
    reward: str = "settled",
    render_mode: str | None = None,
    max_deals: int | None = None,
) -> Any:
    """One table of Prefa with PettingZoo's wrappers; arguments as in `raw_env`.

    An illegal action ends the game instead of raising, with -1 for its agent.
    """
    return aec.wrap(raw_env(rules, episode, reward, render_mode, max_deals))


aec.register("prefa/prefa-v0", "prefa_env.prefa_v0:env")
