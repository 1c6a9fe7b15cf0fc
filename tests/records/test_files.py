"""Files of records: damage of every kind is named, the rest is read, crashes are tolerated."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from prefa_env.records import (
    DealRecord,
    Record,
    RecordError,
    TruncatedError,
    check_records,
    parse_record,
    read_records,
    replay,
    scan_records,
    write_records,
)
from tests.records.played import random_deal, random_match

RNG = random.Random(4)
RECORDS: list[Record] = [random_deal(RNG)[0], random_match(RNG)[0], random_deal(RNG)[0]]
LINES = [record.to_json().encode() for record in RECORDS]
DEAL: dict[str, Any] = json.loads(LINES[2])


def changed(**values: Any) -> bytes:
    return json.dumps({**DEAL, **values}, ensure_ascii=False).encode()


DAMAGE: dict[str, tuple[bytes, str]] = {
    "newer": (changed(v=2), "field 'v': version 2 cannot be read, only 1"),
    "text version": (changed(v="1"), "field 'v': version '1'"),
    "true version": (changed(v=True), "field 'v': version True"),
    "float version": (changed(v=1.0), "field 'v': version 1.0"),
    "game": (changed(game=3), "field 'game': expected `str`, got `int`"),
    "rules": (changed(rules=[]), "field 'rules': expected `object`, got `array`"),
    "option": (changed(rules={"hold": None}), "field 'rules[...]': expected `bool | int | str`"),
    "deal": (changed(deal=None), "field 'deal': expected `str`, got `null`"),
    "actions": (changed(actions="pass"), "field 'actions': expected `array`, got `str`"),
    "action": (changed(actions=["pass", 3]), "field 'actions[1]': expected `str`, got `int`"),
    "agents": (changed(agents=[1, 2, 3]), "field 'agents[0]': expected `str`, got `int`"),
    "kapikia": (changed(kapikia=[1.5, 0, 0]), "field 'kapikia[0]': expected `int`, got `float`"),
    "kassa": (changed(kassa=[0, True, 0]), "field 'kassa[1]': expected `int`, got `bool`"),
    "settled": (changed(settled=["1", 0, 0]), "field 'settled[0]': expected `float`, got `str`"),
    "seed": (changed(seed=None), "field 'seed': expected `int | str`, got `null`"),
    "unknown": (changed(kapikai=[0, 0, 0]), "field 'kapikai' is unknown"),
    "nan": (changed(settled=[float("nan"), 0, 0]), "is no JSON: invalid character"),
    "infinite": (changed(seed=1).replace(b'"seed": 1', b'"seed": 1e999'), "field 'seed'"),
    "huge": (changed(seed="x").replace(b'"x"', b"9" * 5000), "field 'seed': integer value out of"),
    "nested": (b'{"v":1,"x":' + b"[" * 10**5 + b"]" * 10**5 + b"}", "is nested too deeply"),
    "utf-8": (LINES[2].replace(b"uniform", b"unif\xffrm"), "is no JSON: Invalid UTF-8"),
    "utf-16": (LINES[2].decode().encode("utf-16"), "is no JSON"),
    "empty": (b"", "is no JSON: the line is empty"),
    "blank": (b" \t", "is no JSON: the line is empty"),
    "list": (b"[1]", "must be a JSON object: expected `object`, got `array`"),
    "half": (LINES[2][:100], "is no JSON: "),
    "two": (LINES[2] + LINES[2], "is no JSON: trailing characters"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named_and_the_rest_is_read(damage: str, tmp_path: Path) -> None:
    line, message = DAMAGE[damage]
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b"\n".join([LINES[0], line, LINES[1], LINES[2], b""]))
    errors: list[RecordError] = []
    assert list(read_records(path, errors.append)) == RECORDS
    assert len(errors) == 1 and not isinstance(errors[0], TruncatedError)
    assert str(errors[0]).startswith(f"{path}:2: {message}")
    records = read_records(path)
    assert next(records) == RECORDS[0]
    with pytest.raises(RecordError) as error:
        next(records)
    assert str(error.value) == str(errors[0])


@pytest.mark.parametrize("field", ["v", *DealRecord.__struct_fields__])
def test_missing_fields_are_named(field: str) -> None:
    line = json.dumps({name: value for name, value in DEAL.items() if name != field})
    with pytest.raises(RecordError, match=f"field '{field}' is missing"):
        parse_record(line)


def test_every_damage_of_one_character_is_refused_or_harmless() -> None:
    """Names and seeds may be anything; of all the rest no changed line passes as another one."""
    line, record = LINES[2], RECORDS[2]
    free = {"agents", "seed"}
    passed = 0
    for place in range(len(line)):
        for byte in {0, ord(" "), ord('"'), ord("1"), ord("9"), line[place] ^ 1, 0xFF}:
            broken = line[:place] + bytes([byte]) + line[place + 1 :]
            try:
                other = parse_record(broken)
                replay(other)
            except RecordError:
                continue
            passed += broken != line
            for name in set(DealRecord.__struct_fields__) - free - {"rules", "settled"}:
                if name != "deal":
                    assert getattr(other, name) == getattr(record, name), broken
    assert passed > 0


# -- the end of a file ----------------------------------------------------------------------------


def test_a_last_line_that_breaks_off_at_any_byte(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    whole = LINES[0] + b"\n" + LINES[1] + b"\n"
    for size in range(len(LINES[2])):
        path.write_bytes(whole + LINES[2][:size])
        assert list(read_records(path)) == RECORDS[:2]
        errors: list[RecordError] = []
        assert len(list(read_records(path, errors.append))) == 2
        assert [isinstance(error, TruncatedError) for error in errors] == [True] * (size > 0)
        assert all(str(error).startswith(f"{path}:3: the last line breaks") for error in errors)
    path.write_bytes(whole + LINES[2])
    assert list(read_records(path)) == RECORDS


def test_a_last_line_that_is_no_record_at_all_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for text in (b"mine", b'{"v":2}', b"[1"):
        path.write_bytes(text)
        with pytest.raises(RecordError, match=":1: "):
            list(read_records(path))


def test_windows_ends_of_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(line + b"\r\n" for line in LINES))
    assert list(read_records(path)) == RECORDS
    path.write_bytes(b"\n".join([LINES[0], b"\xef\xbb\xbf" + LINES[1]]))
    with pytest.raises(RecordError, match=":2: is no JSON"):
        list(read_records(path))


def test_an_empty_file_and_none(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert list(read_records(tmp_path / "empty")) == []
    with pytest.raises(FileNotFoundError):
        list(read_records(tmp_path / "none"))


def test_a_compressed_file_that_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    write_records(path, RECORDS * 500)
    assert len(gzip.decompress(path.read_bytes())) == 500 * sum(len(line) + 1 for line in LINES)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    *records, (number, error) = scan_records(path)
    assert records and all(not isinstance(record, RecordError) for _, record in records)
    assert str(error).startswith(f"{path}:{number}: the compressed file breaks off")
    path.write_bytes(b"plain")
    with pytest.raises(OSError, match="gzip"):
        list(scan_records(path))


def test_the_same_records_give_the_same_compressed_bytes(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_records(tmp_path / name, RECORDS)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_nothing_is_left_of_a_file_that_could_not_be_finished(tmp_path: Path) -> None:
    def failing() -> Iterator[Record]:
        yield RECORDS[0]
        raise KeyboardInterrupt

    for name in ("x", "x.gz"):
        with pytest.raises(KeyboardInterrupt):
            write_records(tmp_path / name, failing())
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for number in (100, 5000):
        tracemalloc.start()
        write_records(tmp_path / "many", repeat(RECORDS[0], number))
        assert sum(1 for _ in read_records(tmp_path / "many")) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 100_000


def test_checked_records_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"\n".join([LINES[0], changed(kapikia=[9, 9, 9]), b"{}", LINES[1]]))
    found = dict(check_records(path))
    assert found[1] == RECORDS[0] and found[4] == RECORDS[1]
    assert str(found[2]).startswith(f"{path}:2: field 'kapikia' is [9, 9, 9]")
    assert str(found[3]).startswith(f"{path}:3: field 'v' is missing")
