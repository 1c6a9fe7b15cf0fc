"""What a game module exports, so that batches, environments, arenas and trainers need no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .cards import Pack
from .records import Layout


class GameRules(Protocol):
    """A rule variant: immutable, checked when made."""

    @property
    def flags(self) -> int:
        """The options as the kernel reads them."""

    def to_dict(self) -> dict[str, Any]:
        """Field names and values."""


class Game(Protocol):
    """A game: sizes, layouts, texts, and its compiled kernel over one record per table.

    The record has the fields `seat` (to act; -1 when the deal is over) and, each with one entry a
    seat, `kassa_change`, `kapikia_change` and `settled_thirds`.
    """

    NAME: str
    NUM_SEATS: int
    NUM_CARDS: int
    NUM_ACTIONS: int
    PACK: Pack
    DTYPE: np.dtype[Any]
    OBSERVATION: Layout
    STATE: Layout
    Rules: Callable[..., GameRules]

    deal: Callable[[Any, int, Any, int], None]
    """`deal(table, flags, deck, dealer)` begins a deal; deck is int8 [cards]."""
    legal_actions: Callable[[Any], int]
    """`legal_actions(table)`: an int64 bit set; 0 when the deal is over."""
    step: Callable[[Any, int], None]
    """`step(table, action)`: the action must be legal."""
    observe: Callable[[Any, int, Any], None]
    """`observe(table, seat, words)`: words is int64 [O / 8]."""
    observe_all: Callable[[Any, Any], None]
    """`observe_all(table, words)`: words is int64 [P / 8]."""
    beneficiary: Callable[[Any], int]
    """`beneficiary(table)`: the seat whose payment the seat to act plays for."""
    redeal_hidden: Callable[[Any, int, Any], bool]
    """`redeal_hidden(table, seat, deck)`: False if the deck did not fit."""

    action_text: Callable[[int], str]
    parse_action: Callable[[str], int]
    deal_text: Callable[[int, Any], str]
    parse_deal: Callable[[str], tuple[int, Any]]
    legal_text: Callable[[int], str]
    deck_of: Callable[[Any], list[int]]
