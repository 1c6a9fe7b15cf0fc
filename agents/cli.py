"""Command lines and config files over frozen dataclasses.

A field of the dataclass is an option, its docstring the help. `--config x.yaml` gives values (also
several files, later ones win), the command line overrides them.
"""

from __future__ import annotations

import difflib
import re
import sys
from argparse import ArgumentError
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_type_hints

import jsonargparse

Config = TypeVar("Config")

USAGE_ERROR = 2
"""Exit code after a bad command line or config."""


class Names(tuple[str, ...]):
    """A list of names, `a,b` on a command line, `[a, b]` in a file."""

    __slots__ = ()


def _parse_names(value: Any) -> Names:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"must be names separated by commas, not {value!r}")
    names = Names(part.strip() for part in parts)
    if not all(names):
        raise ValueError(f"must be names separated by commas, none of them empty, not {value!r}")
    return names


jsonargparse.set_parsing_settings(docstring_parse_attribute_docstrings=True)
jsonargparse.typing.register_type(Names, serializer=list, deserializer=_parse_names)


def fail(message: str, program: str | None = None) -> NoReturn:
    """Print one line on the error stream and exit with `USAGE_ERROR`."""
    name = program or Path(sys.argv[0]).name
    print(f"{name}: error: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(USAGE_ERROR)


def parse_config(
    cls: type[Config],
    description: str,
    argv: Sequence[str] | None = None,
    program: str | None = None,
) -> Config:
    """An instance of a config dataclass from a command line and the config files it names.

    `--help` and `--print_config` print and exit. A bad value, an unknown key, a missing file, or a
    ValueError from `__post_init__` ends the program with one line that names it (see `fail`).

    Args:
        cls: a frozen dataclass whose fields are plain values, `Names`, or dataclasses like it; all
            with defaults, types and docstrings.
        description: what the program does.
        argv: the arguments; those of the process if None.
        program: its name in help and errors; that of the script if None.
    """
    parser = jsonargparse.ArgumentParser(
        prog=program, description=description, exit_on_error=False, allow_abbrev=False
    )
    parser.add_argument(
        "--config",
        action="config",
        help="File with values, in YAML; may be given several times. Other options override it.",
    )
    parser.add_class_arguments(cls, as_group=False)
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        values = parser.parse_args(arguments)
        config: Config = _build(cls, values, "")
    except (ArgumentError, ValueError) as error:
        where, message = _blame(parser, arguments) or ("", str(error))
        fail(where + _explain(message, cls), program)
    return config


def _blame(parser: jsonargparse.ArgumentParser, arguments: Sequence[str]) -> tuple[str, str] | None:
    """The first config file among the arguments that is bad by itself, and what is wrong in it."""
    for i, argument in enumerate(arguments):
        option, equals, path = argument.partition("=")
        if option != "--config" or not (equals or arguments[i + 1 :]):
            continue
        path = path if equals else arguments[i + 1]
        if not Path(path).is_file():
            return "", f"config: no such file: {path!r}"
        try:
            parser.parse_path(path)
        except (ArgumentError, ValueError, OSError) as error:
            return f"{path}: ", str(error)
    return None


def _build(cls: Any, values: Any, prefix: str) -> Any:
    """The dataclass of a tree of values; ValueErrors name the nested dataclass they come from."""
    hints = get_type_hints(cls)
    arguments = {}
    for field in fields(cls):
        value = values[field.name]
        if is_dataclass(hints[field.name]):
            if not isinstance(value, jsonargparse.Namespace):
                raise ValueError(f"{prefix}{field.name}: holds further keys, it is not {value!r}")
            value = _build(hints[field.name], value, f"{prefix}{field.name}.")
        arguments[field.name] = Names(value) if hints[field.name] is Names else value
    try:
        return cls(**arguments)
    except ValueError as error:
        where = prefix.rstrip(".")
        is_named = not where or str(error).startswith(f"{where}:")
        raise ValueError(str(error) if is_named else f"{where}: {error}") from error


def _keys(cls: Any, prefix: str = "") -> list[str]:
    """All keys, nested ones with dots."""
    keys = []
    hints = get_type_hints(cls)
    for field in fields(cls):
        key = prefix + field.name
        keys += _keys(hints[field.name], key + ".") if is_dataclass(hints[field.name]) else [key]
    return keys


_UNKNOWN = (  # as several versions of the parser put it
    re.compile(r"[Uu]nrecognized arguments: --(?P<key>[^\s=]+)"),
    re.compile(r"Group '(?P<group>[^']+)' does not accept (option|nested key) '(?P<key>[^']+)'"),
    re.compile(r"(Option|Key) '(?P<key>[^']+)' is not (accepted|expected)"),
)


def _explain(message: str, cls: Any) -> str:
    """A parser's message in our words; unknown keys with what may have been meant."""
    message = " ".join(message.split())
    for pattern in _UNKNOWN:
        found = pattern.search(message)
        if found:
            parts = found.groupdict()
            key = ".".join(filter(None, [parts.get("group"), parts["key"]]))
            known = ["config", *_keys(cls)]
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            return f"unknown option {key!r} ({hint})"
    if message.startswith("Unexpected config:"):
        return f"must hold keys and values, such as '{_keys(cls)[0]}: ...'"
    message = message.replace('in "<unicode string>", ', "")
    message = re.sub(r'^Parser key "([^"]+)": ', r"\1: ", message)
    message = re.sub(r"Expected an? typing\.Literal\[(.*?)\]\.", r"must be one of \1;", message)
    message = re.sub(r"Expected an? <class '(\w+)'>\.", r"must be of type \1;", message)
    message = re.sub(r"Not of type \w+: ", "", message)
    return message.replace("Got value:", "got")
