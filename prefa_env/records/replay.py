"""Records played again through the rules, to the identical end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, cast

import msgspec
import numpy as np
import numpy.typing as npt

from .._jit import announce_compilation, specialise
from ..doors import check_standings, find_game
from ..game import Deck, Game, GameRules
from .files import FilePath, scan_records
from .formats import DealRecord, MatchDeal, MatchRecord, Option, Record, RecordError

_TOLERANCE = 1e-6
"""Of numbers that are thirds: other writers may round."""

game: Any = None
"""In `play`, the game that it is compiled for."""


def play(table: Any, actions: Any, ends: Any) -> int:
    """Do actions, int8 [N], as long as they are legal; how many that were.

    Writes changes of kapikia and kassa, and settled thirds, to int64 [3, S].
    """
    done = 0
    while done < actions.shape[0] and game.legal_actions(table) >> actions[done] & 1 != 0:
        game.step(table, actions[done])
        done += 1
    for seat in range(game.NUM_SEATS):
        ends[0, seat] = table.kapikia_change[seat]
        ends[1, seat] = table.kassa_change[seat]
        ends[2, seat] = table.settled_thirds[seat]
    return done


def replay(record: Record, on_deal: Callable[[Any], object] | None = None) -> Any:
    """Play a deal or a match again through the rules; the finished table (`game.DTYPE`).

    Args:
        record: what to play.
        on_deal: called with the table after each deal; it is dealt anew for the next one.

    Raises:
        RecordError: names the deal of a match, and the field that cannot be played, or whose end is
            another one.
    """
    variant: Game = _attempt("game", find_game, record.game)
    rules = rules_of(record)
    if len(record.agents) != variant.NUM_SEATS:
        raise RecordError(
            f"field 'agents' must have {variant.NUM_SEATS} entries: {list(record.agents)}"
        )
    table = np.zeros(1, variant.DTYPE)[0]
    if isinstance(record, MatchRecord):
        _replay_match(variant, rules, record, table, on_deal)
    else:
        dealer, deck = _attempt("deal", variant.parse_deal, record.deal)
        variant.deal(table, rules.flags, deck, dealer)
        _replay_actions(variant, record, table, "S1-S3")
        if on_deal is not None:
            on_deal(table)
    return table


def replay_deals(record: Record) -> list[Any]:
    """As `replay`: the table after each deal of the record, a copy each."""
    tables: list[Any] = []
    replay(record, lambda table: tables.append(table.copy()))
    return tables


def rules_of(record: Record) -> GameRules:
    """The variant that a record names. Raises RecordError."""
    game = _attempt("game", find_game, record.game)
    # As text: to a cache of values, true and 1 would be the same.
    options = msgspec.json.encode(record.rules)
    rules: GameRules = _attempt("rules", lambda text: _rules(game, text), options)
    return rules


def check_records(path: FilePath) -> Iterator[tuple[int, Record | RecordError]]:
    """As `scan_records`, with every record replayed."""
    for number, result in scan_records(path):
        try:
            if not isinstance(result, RecordError):
                replay(result)
            yield number, result
        except RecordError as error:
            yield number, RecordError(f"{path}:{number}: {error}")


def _replay_match(
    game: Game,
    rules: GameRules,
    record: MatchRecord,
    table: Any,
    on_deal: Callable[[Any], object] | None,
) -> None:
    game.start_match(table, rules.kassa, record.max_deals or 0)
    if record.start is not None:
        _set_standings(game, record, table)
    if not record.deals:
        raise RecordError("field 'deals' holds no deal")
    for number, deal in enumerate(record.deals, 1):
        try:
            dealer, deck = _attempt("deal", game.parse_deal, deal.deal)
            if number == 1:
                _deal_first(game, rules, record, table, dealer, deck)
            elif game.is_match_over(table):
                raise RecordError("field 'deal': the match was over before it (S6, `max_deals`)")
            else:
                game.deal_next(table, deck)
            if table.dealer != dealer:
                when = "first" if number == 1 else "next"
                raise RecordError(
                    f"field 'deal': P4: player_{table.dealer} deals {when}, not player_{dealer}"
                )
            _replay_actions(game, deal, table, "S1-S4")
            if on_deal is not None:
                on_deal(table)
        except RecordError as error:
            raise RecordError(f"deal {number}: {error}") from None
    if not game.is_match_over(table):
        agreed = "no max_deals" if record.max_deals is None else f"max_deals {record.max_deals}"
        raise RecordError(
            f"field 'deals': the match is not over after {len(record.deals)}: kassas "
            f"{table.kassa.tolist()} (S6), {agreed}"
        )
    score = [int(game.match_thirds(table, seat)) / 3 for seat in range(game.NUM_SEATS)]
    _compare(record, "S6", kapikia=table.kapikia.tolist(), kassa=table.kassa.tolist(), score=score)


def _set_standings(game: Game, record: MatchRecord, table: Any) -> None:
    start = record.start
    assert start is not None
    usual = table.kassa.tolist(), table.kapikia.tolist()
    _attempt("start", lambda given: check_standings(game, given.kassa, given.kapikia), start)
    if (list(start.kassa), list(start.kapikia)) == usual:
        raise RecordError("field 'start' is the usual start of these rules: leave it out")
    table.kassa[:] = start.kassa
    table.kapikia[:] = start.kapikia


def _deal_first(
    game: Game, rules: GameRules, record: MatchRecord, table: Any, dealer: int, deck: Deck
) -> None:
    flags = rules.flags | game.MATCH
    if record.given or record.start is not None:
        game.deal(table, flags, deck, dealer)
    elif not game.deal_first(table, flags, deck, dealer):
        raise RecordError(
            "field 'deal': P4: under these rules such cards are dealt anew; was it given, not "
            'drawn, say so: "given": true'
        )


def _replay_actions(game: Game, deal: DealRecord | MatchDeal, table: Any, rule: str) -> None:
    actions = _attempt("actions", lambda texts: _parse_actions(game, texts), deal.actions)
    ends = np.empty((3, game.NUM_SEATS), np.int64)
    done = _compile(game)(table, actions, ends)
    if done < len(actions):
        legal = game.legal_text(int(game.legal_actions(table)))
        raise RecordError(
            f"field 'actions': number {done + 1}, {deal.actions[done]}, is illegal; legal: {legal}"
        )
    if table.seat >= 0:
        raise RecordError(f"field 'actions': the deal is not over after {len(actions)}")
    kapikia, kassa, thirds = ends.tolist()
    settled = [third / 3 for third in thirds]
    _compare(deal, rule, kapikia=kapikia, kassa=kassa, settled=settled)


def _compare(record: Any, rule: str, **ends: Sequence[float]) -> None:
    for name, end in ends.items():
        said = getattr(record, name)
        if len(said) != len(end) or not _are_close(said, end):
            raise RecordError(
                f"field {name!r} is {list(said)}, the replay ends with {end} ({rule})"
            )


def _are_close(said: Sequence[float], end: Sequence[float]) -> bool:
    # Integers of any size are compared exactly: they may be too large for a float.
    return list(said) == end or all(
        abs(a - b) <= _TOLERANCE for a, b in zip(said, end, strict=True)
    )


def _attempt(name: str, function: Callable[[Any], Any], value: Any) -> Any:
    """The function of a field's value; what it refuses is an error that names the field."""
    try:
        return function(value)
    except (TypeError, ValueError) as error:
        raise RecordError(f"field {name!r}: {error}") from None


@lru_cache(maxsize=64)
def _rules(game: Game, options: bytes) -> GameRules:
    named: dict[str, Option] = msgspec.json.decode(options)
    known = game.Rules().to_dict()
    for name in named:
        if name not in known:
            raise ValueError(f"no such option: {name!r} (there are {', '.join(known)})")
    return game.Rules(**named)


def _parse_actions(game: Game, texts: Sequence[str]) -> npt.NDArray[np.int8]:
    return np.frombuffer(bytes(map(game.parse_action, texts)), np.int8)


@cache
def _compile(game: Game) -> Callable[[Any, npt.NDArray[np.int8], npt.NDArray[np.int64]], int]:
    announce_compilation()
    return cast("Callable[..., int]", specialise(game, play).play)
