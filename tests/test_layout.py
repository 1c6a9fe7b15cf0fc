"""Records and layouts: declared once, and refused where they would be wrong."""

from __future__ import annotations

import copy
import pickle
from typing import Annotated, Any

import numpy as np
import pytest

from prefa_env import prefa
from prefa_env.layout import Field, Ints3, Layout, Record, record_dtype
from prefa_env.prefa import State
from prefa_env.prefa.state import DTYPE
from tests.helpers import bytes_of, deal_table, do


class Small(Record):
    count: int
    seats: Ints3
    marks: Annotated[Any, "u1", 8]


LAYOUT = Layout(
    Field("first", 8, 1, "eight flags"),
    Field("second", 3, 30, "three numbers"),
    Field("third", 5, 127, "signed", -128),
)


def test_dtype_of_an_annotated_class() -> None:
    dtype = record_dtype(Small)
    assert dtype.names == ("count", "seats", "marks")
    assert [dtype[name].base.name for name in dtype.names] == ["int64", "int64", "uint8"]
    assert [dtype[name].shape for name in dtype.names] == [(), (3,), (8,)]
    assert dtype.itemsize == 40
    one: Any = np.zeros(2, dtype)[1]
    one.count = 3
    one.seats[2] = 4
    assert (one["count"], one["seats"].tolist()) == (3, [0, 0, 4])
    assert isinstance(one, Small)


@pytest.mark.parametrize("name", ["copy", "sort", "item", "dtype", "T", "all"])
def test_fields_that_would_hide_attributes(name: str) -> None:
    hiding = type("Hiding", (), {"__annotations__": {name: int}, "__module__": __name__})
    with pytest.raises(ValueError, match=f"field '{name}' would hide an attribute"):
        record_dtype(hiding)


def test_records_pickle_and_copy() -> None:
    table = deal_table()
    do(table, "6S pass pass S7 S8 6S play play")
    for other in (
        pickle.loads(pickle.dumps(table)),
        copy.deepcopy(table),
        copy.copy(table),
        table.copy(),
        pickle.loads(pickle.dumps(np.array([table], DTYPE)))[0],
    ):
        assert bytes_of(other) == bytes_of(table)
        assert isinstance(other, State)
        before = bytes_of(table)
        prefa.step(other, 2)
        assert bytes_of(table) == before != bytes_of(other)
    tables = np.zeros(2, DTYPE)
    tables[1] = table
    prefa.step(tables[1], 2)
    tables[0] = tables[1]
    assert bytes_of(tables[0]) == bytes_of(tables[1]) != bytes_of(table)


def test_spans() -> None:
    assert LAYOUT.size == 16
    assert (LAYOUT["first"], LAYOUT["second"], LAYOUT["third"]) == (
        *(slice(0, 8), slice(8, 11), slice(11, 16)),
    )
    assert [field.name for field in LAYOUT] == ["first", "second", "third"]
    with pytest.raises(KeyError):
        LAYOUT["fourth"]


def test_words() -> None:
    assert LAYOUT.word("second") == 1
    with pytest.raises(ValueError, match="'third' does not begin a 64-bit word"):
        LAYOUT.word("third")


def test_a_field_declared_twice() -> None:
    with pytest.raises(ValueError, match="'hand' is declared twice"):
        Layout(Field("hand", 8, 1, ""), Field("talon", 8, 1, ""), Field("hand", 8, 1, ""))


def test_fingerprint_follows_names_sizes_and_ranges() -> None:
    def fingerprint(**changes: Any) -> str:
        values: dict[str, Any] = {"name": "hand", "size": 8, "high": 1, "doc": "cards", "low": 0}
        return Layout(Field(**(values | changes))).fingerprint

    assert fingerprint(doc="my cards") == fingerprint()
    changed = [fingerprint(name="talon"), fingerprint(size=9), fingerprint(high=2)]
    changed.append(fingerprint(low=-1))
    assert len({fingerprint(), *changed}) == 5
    assert LAYOUT.description() == [
        ["first", 8, 0, 1],
        ["second", 3, 0, 30],
        ["third", 5, -128, 127],
    ]


def test_table() -> None:
    lines = LAYOUT.table().splitlines()
    assert lines[2:] == [
        "| 0–7 | `first` | 0..1 | eight flags |",
        "| 8–10 | `second` | 0..30 | three numbers |",
        "| 11–15 | `third` | -128..127 | signed |",
    ]
    assert "| 3 | `d` |" in Layout(Field("abc", 3, 1, ""), Field("d", 1, 1, "")).table()
