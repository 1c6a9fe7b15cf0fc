"""The PettingZoo environment over one table of a game.

`TableEnv` is made for any `game.Game`; an entry point such as `prefa_v0` names the game.
"""

from __future__ import annotations

from functools import cache
from operator import index
from types import SimpleNamespace
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
import pettingzoo
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo.utils import wrappers

from ._jit import announce_compilation, specialise
from .doors import (
    IllegalActionError,
    check_settings,
    check_standings,
    episode_flags,
    key_of,
    raise_illegal,
)
from .game import Game, GameRules
from .layout import Layout
from .streams import draw_deck
from .words import Words

_INT8 = np.dtype(np.int8)  # found faster by `np.empty` than the type

Bytes = npt.NDArray[np.int8]
Observation = dict[str, Bytes]

# -- compiled: one call each, on a table that travels as int64 words ------------------------------
# Handing a record over from Python would take several times as long as all that is done with it.

game: Any = None
"""In the functions below, the game that `specialise` compiles them for."""


def show(table: Any, seat: int, observation: Bytes, mask: Bytes) -> None:
    """Write what a seat sees, int8 [O], and what it may do, int8 [A]: nothing out of turn."""
    game.observe(table, seat, observation.view(np.int64))
    legal = game.legal_actions(table) if table.seat == seat else 0
    for action in range(mask.shape[0]):
        mask[action] = legal >> action & 1


def look(words: Words, seat: int, observation: Bytes, mask: Bytes) -> None:
    """`show` for a table as words."""
    show(words.view(game.DTYPE)[0], seat, observation, mask)


def begin(
    words: Words,
    flags: int,
    deck: Bytes,
    dealer: int,
    is_first: bool,
    observation: Bytes,
    mask: Bytes,
) -> int:
    """Begin a deal, show the table to the seat to act, and return that seat.

    Returns -2 if a drawn deal that is to be the first one of a match cannot be: draw another.
    """
    table = words.view(game.DTYPE)[0]
    if not is_first:
        game.deal(table, flags, deck, dealer)
    elif not game.deal_first(table, flags, deck, dealer):
        return -2
    show(table, table.seat, observation, mask)
    return int(table.seat)


def begin_match(words: Words, kassa: int, max_deals: int) -> None:
    """Set the table up for a match; then comes `begin`."""
    game.start_match(words.view(game.DTYPE)[0], kassa, max_deals)


def go_on(words: Words, deck: Bytes, observation: Bytes, mask: Bytes) -> int:
    """Begin the next deal of a match, show the table to the seat to act, and return that seat."""
    table = words.view(game.DTYPE)[0]
    game.deal_next(table, deck)
    show(table, table.seat, observation, mask)
    return int(table.seat)


def act(words: Words, action: int, observation: Bytes, mask: Bytes) -> int:
    """Do an action of 0..A-1, show the table to the next seat, and return that seat.

    Returns -1 when that ended the deal (then the table is shown to seat 0), and -2, with nothing
    changed, if the action is illegal.
    """
    table = words.view(game.DTYPE)[0]
    if game.legal_actions(table) >> action & 1 == 0:
        return -2
    game.step(table, action)
    show(table, max(table.seat, 0), observation, mask)
    return int(table.seat)


@cache
def make_calls(game: Game) -> SimpleNamespace:
    """The functions above, compiled for one game."""
    announce_compilation()
    return specialise(game, show, look, begin, begin_match, go_on, act)


# -- the environment ------------------------------------------------------------------------------


class TableEnv(pettingzoo.AECEnv, EzPickle):
    """One table for PettingZoo; agents `player_0`, `player_1`, ... are its seats in turn order.

    A subclass names the game and, where there are render modes, draws it.

    Attributes:
        infos: by agent: `action_mask` (int8 [A]) and, zero until a deal ends, `kapikia` and
            `kassa` (int, changes of the deal that ended last) and `settled` (float, its settled
            kapikia).
        state_space: of `state()`.
    """

    game: ClassVar[Game]
    metadata: ClassVar[dict[str, Any]]

    @staticmethod
    def table_text(table: Any) -> str:
        """A game record as readable text (render mode `"ansi"`)."""
        raise NotImplementedError

    def __init__(
        self,
        rules: GameRules | None = None,
        episode: str = "deal",
        reward: str = "settled",
        render_mode: str | None = None,
        max_deals: int | None = None,
    ) -> None:
        """Set the table up; `reset` deals.

        Args:
            rules: default rules if None.
            episode: `"deal"`, or `"match"`: deals until all kassas are empty.
            reward: what a deal pays when it ends: `"settled"` kapikia or bare `"kapikia"`. Those of
                a match add up to its result (settled ones up to a rounding of thirds, and from
                equal kassas); the last reward in kapikia contains what kassas that are left are
                worth.
            render_mode: one of `metadata["render_modes"]`; None for no `render`.
            max_deals: deals after which a match ends, whatever the kassas; None for no cap.

        Raises:
            ValueError: names the argument and what it may be.
        """
        EzPickle.__init__(self, rules, episode, reward, render_mode, max_deals)
        game = self.game
        self.rules = check_settings(game, rules, episode, reward, max_deals)
        self._flags = episode_flags(game, self.rules, episode)
        self._is_match = episode == "match"
        self._max_deals = max_deals or 0
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            modes = " or ".join(map(repr, self.metadata["render_modes"]))
            raise ValueError(f"render_mode must be None or {modes}, not {render_mode!r}")
        self.render_mode = render_mode
        self._reward = reward
        self._bind_calls()
        self._num_actions = game.NUM_ACTIONS
        self._observation_size = game.OBSERVATION.size
        self._words: Words = np.zeros(game.DTYPE.itemsize // 8, np.int64)
        self._key = key_of(None)
        self._num_deals = 0  # drawn with this key
        # What `step` wrote along with the action, in one call, until someone asks for it.
        self._ready: dict[str, Observation] = {}

        self.possible_agents = [f"player_{seat}" for seat in range(game.NUM_SEATS)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {
            agent: spaces.Dict(
                # Pairs, because a dict would be sorted.
                [
                    ("observation", _box(game.OBSERVATION)),
                    ("action_mask", spaces.Box(0, 1, (game.NUM_ACTIONS,), np.int8)),
                ]
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: spaces.Discrete(game.NUM_ACTIONS) for agent in self.possible_agents
        }
        self.state_space = _box(game.STATE)

    def observation_space(self, agent: str) -> spaces.Dict:
        """`{"observation": int8 [O], "action_mask": int8 [A]}`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """`Discrete(A)`."""
        return self.action_spaces[agent]

    @property
    def table(self) -> Any:
        """The game record; it changes with the environment."""
        return self._words.view(self.game.DTYPE)[0]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode: with the next random deal, or a given one.

        Args:
            seed: starts the stream of random deals anew; the same as the first table of a
                `VectorEnv` with this seed. Without one the stream goes on; it begins anywhere.
            options: `{"deal": text}` for a given first deal, which leaves the stream where it is.
                In a match also `{"kassas": [...]}` and `{"kapikia": [...]}`, an integer a seat, for
                standings to begin from; such a deal is not the first of its match (P4).

        Raises:
            ValueError: a bad seed, option or deal; the running deal stays as it was.
        """
        options = {} if options is None else options
        given, standings = self._parse_deal(options), self._parse_standings(options)
        if seed is not None:
            self._key, self._num_deals = key_of(seed), 0
        if self._is_match:
            self._begin_match(self._words, self.rules.kassa, self._max_deals)
            for name, values in standings.items():
                self.table[name][:] = values
        observation, mask = self._new_arrays()
        seat = -2
        is_first = given is None and not standings  # of a whole match, where a card may be shown
        while seat == -2:
            dealer, deck = self._draw() if given is None else given
            seat = self._begin(self._words, self._flags, deck, dealer, is_first, observation, mask)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._has_paid = False
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._changes = dict.fromkeys(self.agents, _NO_CHANGES)
        self._set_idle_infos()
        self._pass_turn(self.agents[seat], observation, mask)

    def _draw(self) -> tuple[int, Bytes]:
        """Dealer and deck of the next random deal."""
        deck = np.empty(self.game.NUM_CARDS, np.int8)
        with np.errstate(over="ignore"):  # interpreted, numpy would warn of what is intended
            dealer = draw_deck(deck, self._key, 0, self._num_deals, self.game.NUM_SEATS)
        self._num_deals += 1
        return dealer, deck

    def _new_arrays(self) -> tuple[Bytes, Bytes]:
        return np.empty(self._observation_size, _INT8), np.empty(self._num_actions, _INT8)

    def _set_idle_infos(self) -> None:
        """What every agent is told that is not to act."""
        none = np.zeros(self._num_actions, _INT8)
        self._idle_infos = {
            agent: {"action_mask": none.copy(), **changes}
            for agent, changes in self._changes.items()
        }
        self.infos = self._idle_infos.copy()

    def _pass_turn(self, agent: str, observation: Bytes, mask: Bytes) -> None:
        """Let an agent be the one to act."""
        self.agent_selection = agent
        self.infos[agent] = {"action_mask": mask, **self._changes[agent]}
        self._ready = {agent: {"observation": observation, "action_mask": mask}}

    def _parse_deal(self, options: dict[str, Any]) -> tuple[int, Bytes] | None:
        """Dealer and deck of a given deal."""
        if not isinstance(options, dict):
            raise ValueError(f"options must be a dict such as {{'deal': text}}, not {options!r}")
        for name in options:
            # PettingZoo's `api_test` resets with {"options": 1} and wants no error.
            if name not in {"deal", "kassas", "kapikia", "options"}:
                raise ValueError(
                    f"reset knows no option {name!r}, only 'deal', a deal as text, and for a match "
                    "'kassas' and 'kapikia'"
                )
        if "deal" not in options:
            return None
        text = options["deal"]
        if not isinstance(text, str):
            raise ValueError(f"option 'deal' must be a deal as text, not {text!r}")
        return self.game.parse_deal(text)

    def _parse_standings(self, options: dict[str, Any]) -> dict[str, list[int]]:
        """Fields of the table and what a match begins with there."""
        given = {name: options[name] for name in ("kassas", "kapikia") if name in options}
        if given and not self._is_match:
            raise ValueError("options 'kassas' and 'kapikia' are for episode='match'")
        return check_standings(self.game, **given)

    def step(self, action: int | None) -> None:
        """Let `agent_selection` do its action; None for an agent whose episode is over.

        Raises:
            IllegalActionError: names the action and what was legal; nothing has changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        try:
            number = index(action)  # type: ignore[arg-type]
        except TypeError:
            raise IllegalActionError(f"{agent}: an action is an integer, not {action!r}") from None
        observation, mask = self._new_arrays()
        is_in_range = 0 <= number < self._num_actions
        seat = self._act(self._words, number, observation, mask) if is_in_range else -2
        if seat == -2:
            raise_illegal(self.game, number, int(self.game.legal_actions(self.table)), f"{agent}: ")
        self.infos[agent] = self._idle_infos[agent]
        if self._has_paid:
            self._clear_rewards()
            self._has_paid = False
        self._cumulative_rewards[agent] = 0.0  # what it had before, it has been told
        if seat >= 0:
            self._pass_turn(self.possible_agents[seat], observation, mask)
        else:
            self._finish_deal()

    def _finish_deal(self) -> None:
        """Pay what the deal was worth; then the match goes on with the next."""
        table = self.table
        is_over = bool(self.game.is_match_over(table))
        for agent, seat in self._seats.items():
            kapikia = int(table.kapikia_change[seat])
            settled = int(table.settled_thirds[seat]) / 3
            kassa = int(table.kassa_change[seat])
            self._changes[agent] = {"kapikia": kapikia, "kassa": kassa, "settled": settled}
            reward = settled if self._reward == "settled" else float(kapikia)
            if self._reward == "kapikia" and self._is_match and is_over:
                result = int(self.game.match_thirds(table, seat)) / 3
                reward += result - int(table.kapikia[seat])  # the worth of kassas that are left
            self.rewards[agent] = reward
        self._has_paid = True
        self._accumulate_rewards()
        self._set_idle_infos()
        if is_over:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
            self._ready = {}
        else:
            observation, mask = self._new_arrays()
            seat = self._go_on(self._words, self._draw()[1], observation, mask)
            self._pass_turn(self.possible_agents[seat], observation, mask)

    def observe(self, agent: str) -> Observation:
        """What an agent sees, in arrays of its own: `{"observation": [O], "action_mask": [A]}`."""
        written = self._ready.pop(agent, None)
        if written is not None:
            return written
        observation, mask = self._new_arrays()
        self._look(self._words, self._seats[agent], observation, mask)
        return {"observation": observation, "action_mask": mask}

    def state(self) -> Bytes:
        """The whole table, int8 [P], relative to the seat to act (`game.STATE`)."""
        state = np.empty(self.game.STATE.size, np.int8)
        self.game.observe_all(self.table, state.view(np.int64))
        return state

    def render(self) -> str | None:
        """The table as text; None, with a warning, if there is no render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render mode: env(render_mode='ansi')")
            return None
        return self.table_text(self.table)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _bind_calls(self) -> None:
        calls = make_calls(self.game)
        self._begin, self._begin_match, self._go_on = calls.begin, calls.begin_match, calls.go_on
        self._act, self._look = calls.act, calls.look

    def __getstate__(self) -> dict[str, Any]:
        """Everything but compiled code; what EzPickle keeps would forget the running deal."""
        return {name: value for name, value in self.__dict__.items() if name not in _COMPILED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind_calls()


_COMPILED = {"_begin", "_begin_match", "_go_on", "_act", "_look"}

_NO_CHANGES: dict[str, Any] = {"kapikia": 0, "kassa": 0, "settled": 0.0}


def _box(layout: Layout) -> spaces.Box:
    low = np.repeat([field.low for field in layout], [field.size for field in layout])
    high = np.repeat([field.high for field in layout], [field.size for field in layout])
    return spaces.Box(low.astype(np.int8), high.astype(np.int8), dtype=np.int8)


def wrap(env: TableEnv) -> Any:
    """Add PettingZoo's usual checks: an illegal action ends the game, with -1 for its agent."""
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)


def register(env_id: str, entry_point: str) -> None:
    """Enter an environment in PettingZoo's registry, where it has one (from 1.27 on)."""
    if hasattr(pettingzoo, "register") and env_id not in pettingzoo.aec_registry:
        pettingzoo.register("aec", env_id, entry_point)
