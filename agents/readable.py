"""An observation as plain values and as text: for players that are no arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env import prefa
from prefa_env.cards import SUITS
from prefa_env.prefa import OBSERVATION, PACK, Action, Phase, State
from prefa_env.prefa.kernel import left_of, right_of
from prefa_env.prefa.rules import STRAINS
from prefa_env.prefa.state import DTYPE, SAID_DEFENCE_PASS

SEATS = ("me", "next", "after")
"""The seat that looks, the one at its right, the one at its left."""

Fields = dict[str, list[int]]
Said = list[list[str]]
"""Seats and what each said or played, in order: `[["next", "pass"], ["me", "6S"]]`."""

_ANY_DECK = np.arange(prefa.NUM_CARDS, dtype=np.int8)


def read_fields(row: npt.NDArray[np.int8]) -> Fields:
    """Every field of an observation, int8 [O], by its name in `prefa_env.prefa.OBSERVATION`.

    Raises ValueError for an observation of another layout.
    """
    if row.shape != (OBSERVATION.size,):
        raise ValueError(f"an observation is int8 [{OBSERVATION.size}], not {list(row.shape)}")
    return {field.name: row[OBSERVATION[field.name]].tolist() for field in OBSERVATION}


def describe(fields: Fields, flags: int) -> dict[str, Any]:
    """What a seat sees in plain values: texts of cards and actions, names of seats, numbers.

    The keys are explained in `docs/bots.md`. All values are fit for JSON.

    Args:
        fields: the observation (see `read_fields`).
        flags: `Rules.flags`.
    """
    phase = Phase(fields["phase"].index(1))
    bid = _bid(fields)
    cards = _cards_played(fields)
    return {
        "phase": phase.name.lower(),
        "role": _role(fields, phase),
        "hand": _cards(fields["hand"]),
        "talon": _cards(fields["talon"]),
        "discards": _cards(fields["discards"]),
        "unseen": _cards(fields["unseen"]),
        "first_hand": _seat(fields["first_hand"]),
        "auction": _auction(fields, flags),
        "bid": bid,
        "owner": _seat(fields["owner"]),
        "is_held": bool(fields["is_held"][0]),
        "is_written": bool(fields["is_written"][0]),
        "contract": bid if phase > Phase.CONTRACT else None,
        "value": fields["value"][0],
        "defence": _defence(fields),
        "inviter": _seat(fields["inviter"]),
        "is_misere": bool(fields["is_misere"][0]),
        "playing": [seat for seat, plays in _by_seat(fields["playing"]).items() if plays],
        "cards": cards,
        "trick": cards[len(cards) - fields["in_trick"][0] :],
        "winning": _seat(fields["winning"]),
        "tricks": _by_seat(fields["tricks"]),
        "owed": _by_seat(fields["owed"]),
        "owed_together": fields["owed_together"][0],
        "voids": {seat: _chosen(fields[f"voids_{seat}"], SUITS) for seat in SEATS},
        "match": _match(fields),
    }


def _chosen(flags: list[int], names: tuple[str, ...] | str) -> list[str]:
    return [name for name, flag in zip(names, flags, strict=True) if flag]


def _cards(flags: list[int]) -> list[str]:
    return [PACK.card_text(card) for card, flag in enumerate(flags) if flag]


def _seat(one_hot: list[int]) -> str | None:
    return SEATS[one_hot.index(1)] if 1 in one_hot else None


def _by_seat(numbers: list[int]) -> dict[str, int]:
    return dict(zip(SEATS, numbers, strict=True))


def _bid(fields: Fields) -> str | None:
    if 1 not in fields["strain"]:
        return None
    return f"{6 + fields['level'].index(1)}{STRAINS[fields['strain'].index(1)]}"


def _role(fields: Fields, phase: Phase) -> str:
    if fields["is_misere"][0]:
        return "misere"
    if phase == Phase.AUCTION or 1 not in fields["owner"]:
        return "bidder"
    if fields["owner"][0]:
        return "declarer"
    return "invited" if 1 in fields["inviter"] and not fields["inviter"][0] else "defender"


def _auction(fields: Fields, flags: int) -> Said:
    """The calls in order; whose turn each was is for the rules to say, whatever the cards."""
    table: State = np.zeros(1, DTYPE)[0]
    prefa.deal(table, flags, _ANY_DECK, left_of(fields["first_hand"].index(1)))
    calls: Said = []
    for number in filter(None, fields["calls"]):
        action = number + Action.PASS - 1
        calls.append([SEATS[table.seat], prefa.action_text(action)])
        prefa.step(table, action)
    return calls


def _defence(fields: Fields) -> Said:
    """What the defenders said: right of the declarer, left of him, then who chose his company."""
    if 1 not in fields["owner"]:
        return []
    owner = fields["owner"].index(1)
    defenders = [SEATS[right_of(owner)], SEATS[left_of(owner)]]
    first = {Action.PLAY - Action.PASS: Action.PLAY, SAID_DEFENCE_PASS: Action.PASS}
    second = {said - Action.PASS: said for said in (Action.ALONE, Action.INVITE)}
    return [
        [seat, prefa.action_text(said)]
        for columns in (first, second)
        for seat in defenders
        for column, said in columns.items()
        if fields[f"said_{seat}"][column]
    ]


def _cards_played(fields: Fields) -> Said:
    """All cards in the order in which they were played."""
    order = fields["order"]
    played = sorted(filter(order.__getitem__, range(len(order))), key=order.__getitem__)
    return [
        [next(seat for seat in SEATS if fields[f"played_{seat}"][card]), PACK.card_text(card)]
        for card in played
    ]


def _match(fields: Fields) -> dict[str, Any] | None:
    if not fields["is_match"][0]:
        return None

    def number(name: str) -> int:
        return 128 * fields[f"{name}_high"][0] + fields[f"{name}_low"][0]

    shown = fields["shown_card"][0]
    return {
        "kassa": {seat: number(f"kassa_{seat}") for seat in SEATS},
        "kapikia": {seat: number(f"kapikia_{seat}") for seat in SEATS},
        "deals_left": number("deals_left"),
        "shown_card": PACK.card_text(shown - 1) if shown else None,
    }


# -- text -----------------------------------------------------------------------------------------


def describe_text(seen: dict[str, Any], legal: list[str]) -> str:
    """The same for a reader: a line a topic, empty ones left out.

    Args:
        seen: as `describe` returns it.
        legal: texts of the legal actions.
    """
    lines = [
        ("seats", "me; next, at my right, who acts after me; after, at my left"),
        ("phase", f"{seen['phase']}, {seen['first_hand']} is first hand"),
        ("role", seen["role"]),
        ("match", _match_text(seen["match"])),
        ("hand", " ".join(seen["hand"])),
        ("talon", " ".join(seen["talon"])),
        ("discards", " ".join(seen["discards"])),
        ("auction", _said_text(seen["auction"])),
        _bid_text(seen),
        ("defence", _said_text(seen["defence"])),
        ("plays", " ".join(seen["playing"])),
        *_trick_lines(seen),
        ("voids", ", ".join(f"{seat} {''.join(s)}" for seat, s in seen["voids"].items() if s)),
        ("tricks", _numbers_text(seen["tricks"]) if seen["cards"] else ""),
        ("owed", _owed_text(seen)),
        ("unseen", " ".join(seen["unseen"])),
        ("legal", " ".join(legal)),
    ]
    return "\n".join(f"{head:9} {text}" for head, text in lines if text)


def _said_text(said: Said) -> str:
    return ", ".join(f"{seat} {text}" for seat, text in said)


def _numbers_text(numbers: dict[str, int]) -> str:
    return ", ".join(f"{seat} {number}" for seat, number in numbers.items())


def _match_text(match: dict[str, Any] | None) -> str:
    if match is None:
        return ""
    shown = f"; first hand showed {match['shown_card']}" if match["shown_card"] else ""
    kassa, kapikia = _numbers_text(match["kassa"]), _numbers_text(match["kapikia"])
    return f"kassa {kassa}; kapikia {kapikia}; deals left {match['deals_left']}{shown}"


def _bid_text(seen: dict[str, Any]) -> tuple[str, str]:
    if seen["owner"] is None:
        return "bid", ""
    if seen["bid"] is None:
        return "bid", f"{seen['owner']} wrote"
    head = "bid" if seen["contract"] is None else "contract"
    return head, f"{seen['bid']} by {seen['owner']}, value {seen['value']}"


def _trick_lines(seen: dict[str, Any]) -> list[tuple[str, str]]:
    """Finished tricks by number, then the unfinished one."""
    finished = seen["cards"][: len(seen["cards"]) - len(seen["trick"])]
    size = len(seen["playing"]) or 1
    lines = [
        (f"trick {start // size + 1}", _said_text(finished[start : start + size]))
        for start in range(0, len(finished), size)
    ]
    if seen["trick"]:
        lines.append(("on table", f"{_said_text(seen['trick'])}; {seen['winning']} is winning"))
    return lines


def _owed_text(seen: dict[str, Any]) -> str:
    if seen["phase"] != "play" or seen["is_misere"]:
        return ""
    return f"{_numbers_text(seen['owed'])}, the defence together {seen['owed_together']}"
