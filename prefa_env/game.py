"""What a game module exports, so that batches, environments, arenas and trainers need no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .cards import Pack
from .layout import Layout
from .words import Words

Deck = npt.NDArray[np.int8]


class GameRules(Protocol):
    """A rule variant: immutable, checked when made."""

    @property
    def flags(self) -> int:
        """The options as the kernel reads them; without `game.MATCH`."""

    @property
    def kassa(self) -> int:
        """Points that a match begins with; 0 where a game knows none."""

    def to_dict(self) -> dict[str, Any]:
        """Field names and values."""


class Game(Protocol):
    """A game: sizes, layouts, texts, and its compiled kernel over one record per table.

    The record has the fields `dealer`, `seat` (to act; -1 when the deal is over) and, each with one
    entry a seat, `kassa_change`, `kapikia_change` and `settled_thirds` of the deal, and `kapikia`
    of the match. Both layouts begin 64-bit words where the kernel writes words, and the observation
    has a field `phase`.
    """

    def __hash__(self) -> int: ...

    @property
    def NAME(self) -> str:
        """Its name in configs and records."""

    @property
    def NUM_SEATS(self) -> int:
        """Seats, in turn order 0, 1, ..."""

    @property
    def NUM_CARDS(self) -> int:
        """Cards of the pack."""

    @property
    def NUM_ACTIONS(self) -> int:
        """Actions, at most 63."""

    @property
    def PACK(self) -> Pack:
        """The pack and how it is dealt."""

    @property
    def DTYPE(self) -> np.dtype[Any]:
        """The record of a table."""

    @property
    def OBSERVATION(self) -> Layout:
        """What a seat sees."""

    @property
    def STATE(self) -> Layout:
        """The observation of the seat to act, then what it does not see."""

    @property
    def IN_PLAY(self) -> int:
        """Column of the observation that is not 0 when the seat is to play a card."""

    @property
    def MATCH(self) -> int:
        """What is added to `Rules.flags` at a table that plays a match."""

    @property
    def Rules(self) -> Callable[..., GameRules]:
        """Makes a rule variant; without arguments the default one."""

    # -- compiled ---------------------------------------------------------------------------------

    def deal(self, table: Any, flags: int, deck: Deck, dealer: int, /) -> None:
        """Begin a deal; deck is int8 [cards]."""

    def start_match(self, table: Any, kassa: int, max_deals: int, /) -> None:
        """Begin a match; 0 deals: no cap."""

    def deal_first(self, table: Any, flags: int, deck: Deck, dealer: int, /) -> bool:
        """Begin a drawn deal, the first one of a match; False if another one must be drawn."""

    def deal_next(self, table: Any, deck: Deck, /) -> None:
        """Begin the next deal of a match."""

    def is_match_over(self, table: Any, /) -> bool:
        """Whether the deal is over and no other follows; a single deal is a match of its own."""

    def match_thirds(self, table: Any, seat: int, /) -> int:
        """Three times what the match has brought a seat so far."""

    def legal_actions(self, table: Any, /) -> int:
        """An int64 bit set; 0 when the deal is over."""

    def step(self, table: Any, action: int, /) -> None:
        """Do a legal action."""

    def observe(self, table: Any, seat: int, words: Words, /) -> None:
        """Write what a seat sees; words is int64 [O / 8]."""

    def observe_all(self, table: Any, words: Words, /) -> None:
        """Write the whole table; words is int64 [P / 8]."""

    def beneficiary(self, table: Any, /) -> int:
        """The seat whose payment the seat to act plays for."""

    def redeal_hidden(self, table: Any, seat: int, deck: Deck, talon_deck: Deck, /) -> bool:
        """Deal what a seat cannot see anew; False, and nothing done, if the decks do not fit."""

    # -- what looks different and is not ---------------------------------------------------------

    def relabel(
        self, rows: npt.NDArray[np.int8], masks: npt.NDArray[np.int8], /
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Rows and masks with names that mean nothing made the same, and what actions stand for.

        From int8 [B, O] or [B, P] and [B, A]: new ones, and int8 [B, A], the action that each of
        the new ones stands for.
        """

    # -- text -------------------------------------------------------------------------------------

    def action_text(self, action: int, /) -> str:
        """An action as text."""

    def parse_action(self, text: str, /) -> int:
        """The action of a text; ValueError."""

    def legal_text(self, legal: int, /) -> str:
        """A bit set of actions as text."""

    def deal_text(self, dealer: int, deck: Sequence[int], /) -> str:
        """A deal in one line."""

    def parse_deal(self, text: str, /) -> tuple[int, Deck]:
        """Dealer and deck of a text; ValueError."""

    def deck_of(self, table: Any, /) -> list[int]:
        """The cards of a table as they were dealt."""
