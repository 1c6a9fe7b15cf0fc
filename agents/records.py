"""Records of deals, version 1: one JSON object a line, readable and replayable.

| field | what |
|---|---|
| `v` | 1 |
| `game` | name of the game |
| `rules` | all options of the variant, by name |
| `deal` | the deal as text |
| `actions` | the actions as texts, in order |
| `agents` | who sat in seat 0, 1, ... |
| `kapikia`, `kassa` | changes of the deal, an integer a seat |
| `settled` | settled kapikia, a number a seat: a count of thirds as the nearest float |
| `seed` | where the deal comes from, `set:number`; any text or number, not needed for a replay |
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from prefa_env.doors import find_game
from prefa_env.game import Game, GameRules
from prefa_env.prefa import NAME as PREFA
from prefa_env.render import table_text

from .atomic import atomic_write
from .benchmarks import SeedSet
from .played import Played

VERSION = 1

_TOLERANCE = 1e-6
"""Of settled kapikia, in a replay: other writers may round."""

_TYPES: dict[str, tuple[type, ...]] = {
    "game": (str,),
    "rules": (dict,),
    "deal": (str,),
    "actions": (list,),
    "agents": (list,),
    "kapikia": (list,),
    "kassa": (list,),
    "settled": (list,),
    "seed": (str, int),
}
_ITEMS: dict[str, tuple[type, ...]] = {
    "actions": (str,),
    "agents": (str,),
    "kapikia": (int,),
    "kassa": (int,),
    "settled": (int, float),
}


class RecordError(ValueError):
    """A record that cannot be read, or that its replay contradicts."""


@dataclass(frozen=True)
class Record:
    """One deal as it was played."""

    game: str
    rules: dict[str, Any]
    deal: str
    actions: tuple[str, ...]
    agents: tuple[str, ...]
    kapikia: tuple[int, ...]
    kassa: tuple[int, ...]
    settled: tuple[float, ...]
    seed: str | int

    def to_json(self) -> str:
        """The record in one line."""
        return json.dumps({"v": VERSION, **vars(self)}, ensure_ascii=False)


def parse_record(text: str) -> Record:
    """The record of a line. Raises RecordError that names the field."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordError(f"is no JSON: {error}") from None
    if not isinstance(values, dict):
        raise RecordError(f"must be a JSON object, not {type(values).__name__}")
    version = values.get("v")
    if type(version) is not int or version != VERSION:
        raise RecordError(f"field 'v': version {version!r} cannot be read, only {VERSION}")
    arguments: dict[str, Any] = {}
    for name, types in _TYPES.items():
        if name not in values:
            raise RecordError(f"field {name!r} is missing")
        value = values[name]
        if not _is_of(value, types):
            raise RecordError(f"field {name!r} must be {_words(types)}, not {value!r}")
        for item in value if name in _ITEMS else ():
            if not _is_of(item, _ITEMS[name]):
                raise RecordError(f"field {name!r} must hold {_words(_ITEMS[name])}, not {item!r}")
        arguments[name] = tuple(value) if isinstance(value, list) else value
    return Record(**arguments)


def _is_of(value: Any, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)


def _words(types: tuple[type, ...]) -> str:
    names = {str: "text", int: "integer", float: "number", dict: "object", list: "list"}
    return " or ".join(names[kind] for kind in types)


def read_records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a file, one after the other.

    Raises:
        RecordError: names file, line and field.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield parse_record(line.decode("utf-8"))
            except (RecordError, UnicodeDecodeError, RecursionError) as error:
                raise RecordError(f"{os.fspath(path)}:{number}: {error}") from None


def replay(record: Record) -> Any:
    """Play a record again through the rules; the finished table.

    Raises:
        RecordError: names the field that cannot be played, or whose end is another one.
    """
    game = _attempt("game", find_game, record.game)
    rules = _attempt("rules", lambda options: game.Rules(**options), record.rules)
    dealer, deck = _attempt("deal", game.parse_deal, record.deal)
    table = np.zeros(1, game.DTYPE)[0]
    game.deal(table, rules.flags, deck, dealer)
    for number, text in enumerate(record.actions, 1):
        action = _attempt("actions", game.parse_action, text)
        legal = int(game.legal_actions(table))
        if not legal >> action & 1:
            raise RecordError(
                f"field 'actions': number {number}, {text}, is illegal; "
                f"legal: {game.legal_text(legal)}"
            )
        game.step(table, action)
    if table.seat >= 0:
        raise RecordError(f"field 'actions': the deal is not over after {len(record.actions)}")
    if len(record.agents) != game.NUM_SEATS:
        raise RecordError(f"field 'agents' must have {game.NUM_SEATS} entries: {record.agents}")
    ends = {
        "kapikia": table.kapikia_change.tolist(),
        "kassa": table.kassa_change.tolist(),
        "settled": (table.settled_thirds / 3).tolist(),
    }
    for name, end in ends.items():
        said = getattr(record, name)
        if len(said) != len(end) or not _are_close(said, end):
            raise RecordError(f"field {name!r} is {list(said)}, the replay ends with {end}")
    return table


def _are_close(said: Sequence[float], end: Sequence[float]) -> bool:
    # Integers of any size are compared exactly: they may be too large for a float.
    return all(abs(a - b) <= _TOLERANCE for a, b in zip(said, end, strict=True))


def _attempt(name: str, function: Any, value: Any) -> Any:
    """The function of a field's value; what it refuses is an error that names the field."""
    try:
        return function(value)
    except (TypeError, ValueError) as error:
        raise RecordError(f"field {name!r}: {error}") from None


class RecordWriter:
    """Writes finished deals as records to an open text file."""

    def __init__(self, file: IO[str], game: Game, rules: GameRules) -> None:
        self._file = file
        self._game = game
        self._rules = rules.to_dict()
        self._texts = [game.action_text(action) for action in range(game.NUM_ACTIONS)]

    def write(self, played: Played, seeds: SeedSet, agents: Sequence[str]) -> None:
        """Write all seatings of all deals, deal by deal.

        Args:
            played: the finished deals.
            seeds: the set they are of.
            agents: names of the players, as the seatings number them.
        """
        deals = played.deals
        for k, game in enumerate(deals.games):
            d, r = divmod(int(game), len(played.seatings))
            table = deals.tables[k]
            record = Record(
                game=self._game.NAME,
                rules=self._rules,
                deal=self._game.deal_text(int(deals.dealers[k]), deals.decks[k].tolist()),
                actions=self._actions(deals.actions[k]),
                agents=tuple(agents[index] for index in played.seatings[r]),
                kapikia=tuple(table["kapikia_change"].tolist()),
                kassa=tuple(table["kassa_change"].tolist()),
                settled=tuple((table["settled_thirds"] / 3).tolist()),
                seed=f"{seeds.name}:{played.numbers[d]}",
            )
            self._file.write(record.to_json() + "\n")

    def position(self) -> int:
        """Bytes written so far; they are in the file."""
        try:
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._file.name) from error
        return self._file.tell()

    def _actions(self, actions: npt.NDArray[np.int8]) -> tuple[str, ...]:
        return tuple(self._texts[action] for action in actions.tolist() if action >= 0)


@contextmanager
def open_records(
    path: str | os.PathLike[str], game: Game, rules: GameRules, kept: int | None = None
) -> Iterator[RecordWriter]:
    """A writer of records.

    Args:
        path: the file.
        game: the game module.
        rules: the variant.
        kept: go on after so many bytes of the file. If None the file is written anew and takes its
            name when the block ends without error (`atomic_write`).

    Raises:
        RecordError: the file is shorter than `kept`, or nothing of it is to be kept.
        OSError: the file cannot be written.
    """
    if kept is None:
        with atomic_write(path) as file:
            yield RecordWriter(file, game, rules)
        return
    name = os.fspath(path)
    if Path(path).exists() and not Path(path).is_file():
        raise RecordError(f"{name} is no regular file: records could not go on there")
    with Path(path).open("a", encoding="utf-8") as file:
        size = file.tell()
        if size < kept:
            raise RecordError(
                f"{name} has lost records: {size} bytes, there were {kept}; bring the file back, "
                "or choose another folder"
            )
        if size > kept == 0:
            raise RecordError(f"{name} is there already: name another file, or remove it")
        file.truncate(kept)
        yield RecordWriter(file, game, rules)


def show(place: str) -> str:
    """A record played again, as text.

    Args:
        place: a file of records, and after a colon the number of a line, from 1; without it the
            first one.

    Raises:
        RecordError: no such line, or the record is broken or contradicts its replay.
        OSError: the file cannot be read.
    """
    path, colon, number = place.rpartition(":")
    if not (colon and number.isdecimal()):
        path, number = place, "1"
    for line, record in enumerate(read_records(path), 1):
        if line == int(number):
            try:
                table = replay(record)
            except RecordError as error:
                raise RecordError(f"{place}: {error}") from None
            return _describe(record, table)
    raise RecordError(f"{path} has no line {number}")


def _describe(record: Record, table: Any) -> str:
    lines = [f"{record.game}, deal {record.seed}: {record.deal}"]
    lines += [f"player_{seat:<2} {agent}" for seat, agent in enumerate(record.agents)]
    if record.game == PREFA:
        lines += ["", table_text(table)]
    settled = ", ".join(f"{value:+.2f}" for value in record.settled)
    return "\n".join([*lines, f"settled   {settled}", "the replay agrees with the record"])
