"""Options: their values, their errors, and the one number the kernel reads."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from prefa_env.prefa import NUM_ACTIONS, NUM_CARDS, PACK, Action, Phase, Rules
from prefa_env.prefa.rules import Flag
from tests import reference
from tests.helpers import RULES, options_of

# The table of options in the rule book, defaults first.
OPTIONS: dict[str, list[Any]] = {
    "ten_nt_value": [11, 10],
    "hold": ["earlier_position", "any_after_first_round"],
    "hold_excludes_raise": [False, True],
    "write_bid": [True, False],
    "all_pass": ["redeal", "misere"],
    "partner_paid_single": [False, True],
    "invite_penalty": ["collective", "sum_of_individuals"],
    "half_rounding": ["right", "left"],
    "first_bid": ["dealer", "seven_of_diamonds"],
    "aces_bonus": [False, True],
}


def test_defaults() -> None:
    assert Rules().to_dict() == {"kassa": 31, **{name: row[0] for name, row in OPTIONS.items()}}
    assert [field.name for field in fields(Rules)] == ["kassa", *OPTIONS]


def test_site() -> None:
    assert Rules.site() == Rules(
        ten_nt_value=10,
        hold="any_after_first_round",
        partner_paid_single=True,
        invite_penalty="sum_of_individuals",
        aces_bonus=True,
    )
    assert options_of(Rules.site()) == reference.SITE


def test_every_option_is_its_own_flag() -> None:
    assert Rules().flags == 0
    assert Rules(kassa=5).flags == 0
    singles = []
    for name, (_, other) in OPTIONS.items():
        changes: dict[str, Any] = {name: other}
        flags = Rules(**changes).flags
        assert flags == Flag(flags)  # exactly one
        singles.append(flags)
    assert len(set(singles)) == len(OPTIONS)
    assert set(singles) == {*map(int, Flag)} - {int(Flag.MATCH)}
    everything: dict[str, Any] = {name: row[1] for name, row in OPTIONS.items()}
    assert Rules(**everything).flags == sum(singles)


def test_each_option_has_a_variant_in_the_tests() -> None:
    assert set(OPTIONS) - {"all_pass"} <= set(RULES)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("bad", ["x", 12, None, 1, 0, 1.0, 11.0, "True", []])
def test_bad_values(name: str, bad: Any) -> None:
    changes: dict[str, Any] = {name: bad}
    with pytest.raises(ValueError, match=f"rules: {name} must be one of ") as error:
        Rules(**changes)
    for allowed in OPTIONS[name]:
        assert repr(allowed) in str(error.value)
    assert str(error.value).endswith(f"not {bad!r}")


@pytest.mark.parametrize("bad", [0, -1, 16384, 31.0, "31", True, None])
def test_bad_kassas(bad: Any) -> None:
    with pytest.raises(ValueError, match="rules: kassa must be an integer of 1 to") as error:
        Rules(kassa=bad)
    assert str(error.value).endswith(f"not {bad!r}")


def test_good_kassas() -> None:
    assert [Rules(kassa=points).kassa for points in (1, 31, 16383)] == [1, 31, 16383]


def test_rules_are_values() -> None:
    rules = Rules(kassa=20)
    assert rules == replace(Rules(), kassa=20)
    assert hash(rules) == hash(Rules(kassa=20))
    with pytest.raises(FrozenInstanceError):
        rules.kassa = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        Rules(colour="red")  # type: ignore[call-arg]


def test_numbers_of_the_interface() -> None:
    assert (NUM_CARDS, NUM_ACTIONS) == (32, 62)
    assert PACK.talon_size == 2
    assert [*map(int, Action)] == [32, 33, 34, 59, 60, 61]
    assert [phase.name.lower() for phase in Phase] == [
        *("auction", "discard", "contract", "defence", "invite", "play", "over"),
    ]
