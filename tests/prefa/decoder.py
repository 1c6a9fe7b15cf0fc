"""A slow second writer of the observation: from the declared layout and the history of a deal.

It reads the reference's deal, never the kernel's record, and names every field of
`state.OBSERVATION` and `state.STATE` once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prefa_env.layout import Layout
from prefa_env.prefa.state import OBSERVATION, STATE
from tests import reference
from tests.reference import STRAINS, SUITS, Deal, left_of, right_of, suit_of

PHASES = ["auction", "discard", "contract", "defence", "invite", "play", "over"]
NAMES = ["me", "next", "after"]
TAKES_PART_CALLS = {reference.PLAY, reference.ALONE, reference.INVITE}


@dataclass
class Match:
    """What a match adds to a deal, by seat."""

    kassa: list[int]
    kapikia: list[int]
    deals_left: int
    shown_card: int


@dataclass
class Seen:
    """What the history of the play shows."""

    played: list[list[int]]  # by seat
    order: dict[int, int]  # card -> when, from 1
    voids: list[set[str]]  # by seat, suits shown void


def seen_in_play(deal: Deal) -> Seen:
    """Go through the tricks once more."""
    seen = Seen([[], [], []], {}, [set(), set(), set()])
    if not deal.taking_part:
        return seen
    begins = len(deal.calls)
    for number, (_, action) in enumerate(deal.history):
        if action in TAKES_PART_CALLS:
            begins = number + 1  # all of these come before the first card
    led = None
    for number, (seat, card) in enumerate(deal.history[begins:]):
        if number % len(deal.taking_part) == 0:
            led = suit_of(card)
        elif suit_of(card) != led:
            assert led is not None
            seen.voids[seat].add(led)
            if deal.trump and suit_of(card) != deal.trump:
                seen.voids[seat].add(deal.trump)
        seen.played[seat].append(card)
        seen.order[card] = number + 1
    return seen


def flags(number: int, chosen: Iterable[int]) -> list[int]:
    row = [0] * number
    for index in chosen:
        row[index] = 1
    return row


def two_bytes(name: str, number: int) -> dict[str, list[int]]:
    """High byte times 128 and low byte 0..127."""
    return {f"{name}_high": [number // 128], f"{name}_low": [number % 128]}


def owed(deal: Deal, tricks: list[int]) -> tuple[list[int], int]:
    """Tricks still owed by each seat for itself, and by the defence together (D4)."""
    by_seat = [0, 0, 0]
    if deal.phase != "play" or deal.misere:
        return by_seat, 0
    assert deal.declarer is not None and deal.contract is not None
    level = deal.contract.level
    right, left = right_of(deal.declarer), left_of(deal.declarer)
    by_seat[deal.declarer] = level
    if deal.defence == "both":
        by_seat[right] = reference.OWED_RIGHT[level]
        by_seat[left] = reference.OWED_LEFT[level]
    together = (reference.OWED_ALONE if deal.defence == "alone" else reference.OWED_TOGETHER)[level]
    still = [max(0, number - taken) for number, taken in zip(by_seat, tricks, strict=True)]
    return still, max(0, together - tricks[right] - tricks[left])


def observation_fields(deal: Deal, me: int, match: Match | None) -> dict[str, list[int]]:
    """Every field of the observation of seat `me`."""
    seats = [me, right_of(me), left_of(me)]
    place = {seat: i for i, seat in enumerate(seats)}
    seen = seen_in_play(deal)
    everything_played = [card for cards in seen.played for card in cards]
    mine = deal.declarer == me
    my_discards = deal.discards if mine else []
    known = {*deal.hands[me], *my_discards, *everything_played}
    contract = deal.contract or deal.bid
    owner = deal.declarer if deal.declarer is not None else deal.bid_owner
    if owner is None:
        owner = deal.writer
    by_seat, together = owed(deal, deal.tricks)
    fields = {
        "hand": flags(32, deal.hands[me]),
        "talon": flags(32, deal.talon if mine else []),
        "discards": flags(32, my_discards),
        "unseen": flags(32, set(range(32)) - known),
        "order": [seen.order.get(card, 0) for card in range(32)],
        "calls": ([action - 31 for _, action in deal.calls] + [0] * 56)[:56],
        "phase": flags(7, [PHASES.index(deal.phase)]),
        "is_misere": [int(deal.misere and not deal.over)],
        "level": flags(5, [contract.level - 6] if contract else []),
        "owner": flags(3, [] if owner is None else [place[owner]]),
        "strain": flags(5, [STRAINS.index(contract.strain)] if contract else []),
        "first_hand": flags(3, [place[deal.first_hand]]),
        "turn": flags(3, [] if deal.seat is None else [place[deal.seat]]),
        "playing": flags(3, [place[seat] for seat in deal.taking_part or deal.plays]),
        "is_held": [int(deal.bid_is_a_hold)],
        "is_written": [int(deal.declarer is not None and deal.declarer == deal.writer)],
        "led": flags(4, [deal.trick[0][1] // 8] if deal.trick else []),
        "tricks": [deal.tricks[seat] for seat in seats],
        "owed": [by_seat[seat] for seat in seats],
        "owed_together": [together],
        "num_tricks": [sum(deal.tricks)],
        "inviter": flags(3, [] if deal.inviter is None else [place[deal.inviter]]),
        "winning": flags(3, [place[deal._winner()]] if deal.trick else []),
        "value": [reference.value(contract, deal.options) if contract else 0],
        "in_trick": [len(deal.trick)],
        "is_match": [int(match is not None)],
        "shown_card": [match.shown_card if match else 0],
    }
    fields |= two_bytes("deals_left", match.deals_left if match else 0)
    for name, seat in zip(NAMES, seats, strict=True):
        said = [action - 32 for who, action in deal.calls if who == seat]
        for who, action in deal.history[len(deal.calls) :]:
            if who == seat and action in TAKES_PART_CALLS:
                said.append(action - 32)
            elif who == seat and action == reference.PASS:
                said.append(30)
        fields |= {
            f"played_{name}": flags(32, seen.played[seat]),
            f"trick_{name}": flags(32, [card for who, card in deal.trick if who == seat]),
            f"said_{name}": flags(32, said),
            f"voids_{name}": flags(4, map(SUITS.index, seen.voids[seat])),
        }
        fields |= two_bytes(f"kassa_{name}", match.kassa[seat] if match else 0)
        fields |= two_bytes(f"kapikia_{name}", match.kapikia[seat] if match else 0)
    return fields


def hidden_fields(deal: Deal) -> dict[str, list[int]]:
    """The fields that only the whole table has, from the seat to act."""
    me = deal.seat or 0
    return {
        "hand_next": flags(32, deal.hands[right_of(me)]),
        "hand_after": flags(32, deal.hands[left_of(me)]),
        "hidden_talon": flags(32, deal.talon),
        "hidden_discards": flags(32, deal.discards),
    }


def written(layout: Layout, fields: dict[str, list[int]]) -> npt.NDArray[np.int8]:
    """Fields in their places; every field of the layout must be there, and in its range."""
    assert set(fields) == {field.name for field in layout}
    row = np.zeros(layout.size, np.int8)
    for field in layout:
        values = fields[field.name]
        assert len(values) == field.size
        assert all(field.low <= number <= field.high for number in values)
        row[layout[field.name]] = values
    return row


def expected_observation(deal: Deal, me: int, match: Match | None = None) -> npt.NDArray[np.int8]:
    """Int8 [O]."""
    return written(OBSERVATION, observation_fields(deal, me, match))


def expected_state(deal: Deal, match: Match | None = None) -> npt.NDArray[np.int8]:
    """Int8 [P], from the seat to act; from seat 0 at the end."""
    return written(STATE, observation_fields(deal, deal.seat or 0, match) | hidden_fields(deal))


def differing_fields(
    layout: Layout, one: npt.NDArray[np.int8], other: npt.NDArray[np.int8]
) -> list[str]:
    return [f.name for f in layout if (one[layout[f.name]] != other[layout[f.name]]).any()]
