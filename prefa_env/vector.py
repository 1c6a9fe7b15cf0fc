"""Many tables of one game, stepped together; buffers allocated once and written in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .batch import Buffers, Settings, make_loops
from .doors import (
    Episode,
    Reward,
    check_settings,
    episode_flags,
    find_game,
    key_of,
    raise_illegal,
)
from .game import Game, GameRules


@dataclass(frozen=True)
class Snapshot:
    """A copy of everything that changes in a `VectorEnv`; belongs to environments made alike."""

    arrays: tuple[npt.NDArray[Any], ...]
    settings: Settings


class VectorEnv:
    """B independent tables of one game.

    The public arrays are views of the buffers: `reset`, `step` and `restore` overwrite them, so
    copy what must last.

    Attributes:
        game: the game module.
        rules: the rule variant.
        episode: `"deal"` or `"match"`.
        observations: int8 [B, O], what the seat to act sees (`game.OBSERVATION`); zeros with
            `observe=False`.
        action_masks: int8 [B, A], 1 for legal actions of the seat to act; all 0 at a table that
            is over (only with `auto_reset=False`).
        legal_actions: int64 [B], the same as bit sets.
        seats: int8 [B], who is to act; -1 at a table that is over.
        rewards: float32 [B, S], kapikia paid when a deal ends in this step, else 0.
        dones: bool [B], whether the episode ended in the last step (or earlier, where tables are
            not dealt anew).
        deal_dones: bool [B], whether a deal ended in the last step; a match goes on with the next.
        finished: game records [B], each table as it was when its last deal ended.
        kapikia, kassa: int32 [B, S], changes of the deal that ended in this step, else 0.
        decks: int8 [B, cards] and dealers int8 [B]: the deals on the tables.
    """

    def __init__(
        self,
        game: str | Game = "prefa",
        num_envs: int = 1,
        rules: GameRules | None = None,
        episode: Episode = "deal",
        reward: Reward = "settled",
        seed: int | None = 0,
        observe: bool = True,
        auto_reset: bool = True,
        max_deals: int | None = None,
    ) -> None:
        """Allocate the tables and deal.

        Args:
            game: name or module.
            num_envs: number of tables B.
            rules: default rules if None.
            episode: `"deal"`, or `"match"`: deals until all kassas are empty.
            reward: `"settled"` kapikia or bare `"kapikia"`, paid when a deal ends. Those of a match
                add up to its result (settled ones up to a rounding of thirds); the last reward in
                kapikia contains what kassas that are left are worth.
            seed: deals are keyed by (seed, table, deal); None draws one.
            observe: whether observations are written at each step.
            auto_reset: whether a table whose episode ended begins anew in the same step; if not,
                it stays over, takes any action, and pays nothing more.
            max_deals: deals after which a match ends, whatever the kassas; None for no cap.

        Raises:
            ValueError: for an unknown game or choice, `num_envs` below 1, or `max_deals` that is no
                cap or not of a match.
        """
        if type(num_envs) is not int or num_envs < 1:
            raise ValueError(f"num_envs must be an integer of at least 1, not {num_envs!r}")
        self.game = find_game(game)
        self.rules = check_settings(self.game, rules, episode, reward, max_deals)
        self.episode = episode
        self.num_envs = num_envs
        self._loops = make_loops(self.game)
        self._settings = Settings(
            flags=episode_flags(self.game, self.rules, episode),
            kassa=self.rules.kassa,
            max_deals=max_deals or 0,
            key=key_of(seed),
            is_observing=observe,
            in_kapikia=reward == "kapikia",
            auto_reset=auto_reset,
        )
        self._buffers = _allocate(self.game, num_envs)
        self._states = np.zeros((num_envs, self.game.STATE.size // 8), np.int64)
        self._are_states_current = False
        b = self._buffers
        self.observations: npt.NDArray[np.int8] = b.observations.view(np.int8)
        self.action_masks: npt.NDArray[np.int8] = b.masks.view(np.int8)[:, : self.game.NUM_ACTIONS]
        self.legal_actions = b.legal
        self.seats = b.seats
        self.rewards = b.rewards
        self.dones = b.dones
        self.deal_dones = b.deal_dones
        self.finished: npt.NDArray[Any] = b.finished
        self.kapikia = b.kapikia
        self.kassa = b.kassa
        self.decks = b.decks
        self.dealers = b.dealers
        self.tables: npt.NDArray[Any] = b.tables
        self.reset()

    def reset(
        self,
        decks: npt.ArrayLike | None = None,
        dealers: npt.ArrayLike | None = None,
        seed: int | None = None,
        streams: npt.ArrayLike | None = None,
    ) -> None:
        """Begin an episode at every table: with the next random deals, or those given.

        Args:
            decks: int8 [B, cards], each card once: hands in seat order, then the talon. The later
                deals of a match are random ones.
            dealers: int8 [B]; must be given with `decks`.
            seed: begin the random deals of this seed.
            streams: int64 [B], begin the random deals of these tables: tables with the same number
                get the same ones. Until it is given each table gets its own.

        Raises:
            ValueError: wrong shapes, a deck that is not a permutation, a dealer out of range, or
                one of decks and dealers without the other. The tables stay as they were.
        """
        if (decks is None) != (dealers is None):
            raise ValueError("decks and dealers must be given together")
        key = self._settings.key if seed is None else key_of(seed)
        numbers = None if streams is None else self._check_streams(streams)
        if decks is not None:
            checked_decks, checked_dealers = self._check_deals(decks, dealers)
            self.decks[:] = checked_decks
            self.dealers[:] = checked_dealers
        if numbers is not None:
            self._buffers.streams[:] = numbers
        if seed is not None or numbers is not None:
            self._settings = self._settings._replace(key=key)
            self._buffers.deals[:] = 0
        self.dones[:] = False
        self.deal_dones[:] = False
        self.rewards[:] = 0
        self.kapikia[:] = 0
        self.kassa[:] = 0
        self._loops.start(self._buffers, self._settings, decks is None)
        self._are_states_current = False

    def _check_streams(self, streams: Any) -> Any:
        streams = np.asarray(streams)
        if streams.shape != (self.num_envs,) or streams.dtype.kind not in "iu":
            raise ValueError(
                f"streams must be integers of shape ({self.num_envs},), "
                f"not {streams.dtype} {streams.shape}"
            )
        if (streams < 0).any() or (streams >= 2**63).any():
            raise ValueError(f"streams must be 0 to 2^63 - 1, not {streams.min()}..{streams.max()}")
        return streams

    def _check_deals(self, decks: Any, dealers: Any) -> tuple[Any, Any]:
        game = self.game
        decks, dealers = np.asarray(decks), np.asarray(dealers)
        shape = (self.num_envs, game.NUM_CARDS)
        if decks.shape != shape or decks.dtype.kind not in "iu":
            raise ValueError(
                f"decks must be integers of shape {shape}, not {decks.dtype} {decks.shape}"
            )
        is_deck = (np.sort(decks, axis=1) == np.arange(game.NUM_CARDS)).all(axis=1)
        if not is_deck.all():
            raise ValueError(
                f"deck {int(np.argmin(is_deck))} must hold each card 0 to "
                f"{game.NUM_CARDS - 1} exactly once"
            )
        if dealers.shape != (self.num_envs,) or dealers.dtype.kind not in "iu":
            raise ValueError(
                f"dealers must be integers of shape ({self.num_envs},), "
                f"not {dealers.dtype} {dealers.shape}"
            )
        in_range = (dealers >= 0) & (dealers < game.NUM_SEATS)
        if not in_range.all():
            table = int(np.argmin(in_range))
            raise ValueError(
                f"dealer {dealers[table]} of deal {table} must be 0 to {game.NUM_SEATS - 1}"
            )
        return decks, dealers

    def step(self, actions: npt.ArrayLike) -> None:
        """Let the seat to act at each table do its action.

        Args:
            actions: int [B]; any value at a table that is over.

        Raises:
            IllegalActionError: names the first table whose action is illegal; no table changes.
            ValueError: wrong shape or type.
        """
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape ({self.num_envs},), "
                f"not {array.dtype} {array.shape}"
            )
        array = np.ascontiguousarray(array, np.int64)
        table = self._loops.first_illegal(self.legal_actions, array)
        if table >= 0:
            legal = int(self.legal_actions[table])
            raise_illegal(self.game, int(array[table]), legal, f"table {table}: ")
        self._loops.advance(self._buffers, self._settings, array)
        self._are_states_current = False

    @property
    def states(self) -> npt.NDArray[np.int8]:
        """int8 [B, P]: the whole tables, relative to the seat to act (`game.STATE`).

        Written when first asked for after a step.
        """
        if not self._are_states_current:
            self._loops.observe_all(self._buffers.tables, self._states)
            self._are_states_current = True
        return self._states.view(np.int8)

    def beneficiaries(self) -> npt.NDArray[np.int8]:
        """int8 [B]: the seat whose payment the seat to act plays for (`game.beneficiary`)."""
        out = np.empty(self.num_envs, np.int8)
        self._loops.beneficiaries(self._buffers.tables, out)
        return out

    def random_actions(self, key: int) -> npt.NDArray[np.int64]:
        """int64 [B]: uniformly chosen legal actions; same key and tables, same actions.

        Raises ValueError for a key outside 0 to 2**64 - 1.
        """
        out = np.empty(self.num_envs, np.int64)
        self._loops.random_actions(self.legal_actions, key_of(key), out)
        return out

    def _arrays(self) -> tuple[npt.NDArray[Any], ...]:
        return tuple(self._buffers)

    def snapshot(self) -> Snapshot:
        """Everything needed to come back to this very moment."""
        return Snapshot(tuple(array.copy() for array in self._arrays()), self._settings)

    def restore(self, snapshot: Snapshot) -> None:
        """Come back to the moment of a snapshot. Raises ValueError if it is of another kind."""
        pairs = list(zip(self._arrays(), snapshot.arrays, strict=True))
        for mine, theirs in pairs:
            if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
                raise ValueError(
                    f"the snapshot is of another environment: an array of {theirs.dtype} "
                    f"{theirs.shape} where here is {mine.dtype} {mine.shape}"
                )
        settings = snapshot.settings._replace(key=self._settings.key)
        for name, here, there in zip(Settings._fields, self._settings, settings, strict=True):
            if here != there:
                raise ValueError(
                    f"the snapshot is of another environment: {name} is {there} there, {here} here"
                )
        self._settings = snapshot.settings
        for mine, theirs in pairs:
            mine[...] = theirs
        self._are_states_current = False


def _allocate(game: Game, num_envs: int) -> Buffers:
    seats = (num_envs, game.NUM_SEATS)
    return Buffers(
        tables=np.zeros(num_envs, game.DTYPE),
        decks=np.zeros((num_envs, game.NUM_CARDS), np.int8),
        dealers=np.zeros(num_envs, np.int8),
        streams=np.arange(num_envs),
        deals=np.zeros(num_envs, np.int64),
        legal=np.zeros(num_envs, np.int64),
        seats=np.zeros(num_envs, np.int8),
        masks=np.zeros((num_envs, 8), np.int64),
        observations=np.zeros((num_envs, game.OBSERVATION.size // 8), np.int64),
        finished=np.zeros(num_envs, game.DTYPE),
        deal_dones=np.zeros(num_envs, np.bool_),
        dones=np.zeros(num_envs, np.bool_),
        rewards=np.zeros(seats, np.float32),
        kapikia=np.zeros(seats, np.int32),
        kassa=np.zeros(seats, np.int32),
    )
