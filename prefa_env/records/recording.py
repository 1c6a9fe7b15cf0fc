"""Records of what has just been played at a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..game import Game, GameRules
from .formats import DealRecord, MatchDeal, MatchRecord, Start


def record_deal(
    game: Game,
    rules: GameRules,
    table: Any,
    actions: Sequence[int],
    agents: Sequence[str],
    seed: str | int,
) -> DealRecord:
    """The record of a single deal that is over.

    Args:
        game: the game module.
        rules: the variant.
        table: the record of the table, `game.DTYPE`.
        actions: all that were done at it, in order.
        agents: who sat in seat 0, 1, ...
        seed: where the cards come from.
    """
    return DealRecord(
        game=game.NAME,
        rules=rules.to_dict(),
        agents=tuple(agents),
        seed=seed,
        **_played(game, table, actions),
    )


def record_match_deal(game: Game, table: Any, actions: Sequence[int]) -> MatchDeal:
    """The record of a deal of a match, to be taken before the next one is dealt."""
    return MatchDeal(**_played(game, table, actions))


def _played(game: Game, table: Any, actions: Sequence[int]) -> dict[str, Any]:
    """The fields of a deal that say what was played."""
    return {
        "deal": game.deal_text(table.dealer, game.deck_of(table)),
        "actions": tuple(map(game.action_text, actions)),
        "kapikia": tuple(table.kapikia_change.tolist()),
        "kassa": tuple(table.kassa_change.tolist()),
        "settled": tuple((table.settled_thirds / 3).tolist()),
    }


def record_match(
    game: Game,
    rules: GameRules,
    table: Any,
    deals: Sequence[MatchDeal],
    agents: Sequence[str],
    seed: str | int,
    *,
    max_deals: int | None = None,
    start: Start | None = None,
    given: bool = False,
) -> MatchRecord:
    """The record of a match that is over.

    Args:
        game: the game module.
        rules: the variant.
        table: the record of the table after the last deal, `game.DTYPE`.
        deals: all deals, each by `record_match_deal`.
        agents: who sat in seat 0, 1, ...
        seed: where the cards come from.
        max_deals: deals agreed on; None: until all kassas are 0.
        start: where the match began; None: at `rules.kassa` points and 0 kapikia.
        given: whether the first deal was given (`game.deal`), not drawn (`game.deal_first`).
    """
    return MatchRecord(
        game=game.NAME,
        rules=rules.to_dict(),
        agents=tuple(agents),
        max_deals=max_deals,
        deals=tuple(deals),
        kapikia=tuple(table.kapikia.tolist()),
        kassa=tuple(table.kassa.tolist()),
        score=tuple(int(game.match_thirds(table, seat)) / 3 for seat in range(game.NUM_SEATS)),
        seed=seed,
        start=start,
        given=given,
    )
