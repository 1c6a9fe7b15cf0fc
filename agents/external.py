"""A player in any language: a program that speaks JSON lines on stdin and stdout.

The protocol is described in `docs/bots.md`.
"""

from __future__ import annotations

import json
import logging
import shlex
import shutil
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env.prefa import (
    NAME,
    NUM_ACTIONS,
    OBSERVATION,
    Rules,
    action_text,
    parse_action,
)

from .agent import Actions, Keys, Masks, Observations
from .line_process import LineProcess
from .readable import describe, describe_text, read_fields

PREFIX = "exec:"
"""What the spec of such a player begins with; the command follows."""

VERSION = 1
"""Of the protocol."""

TIME_LIMIT = 10.0
"""Seconds for a move."""

START_LIMIT = 60.0
"""Seconds until a program that was started has answered the hello."""

_ACTION_TEXTS = [action_text(action) for action in range(NUM_ACTIONS)]

_logger = logging.getLogger(__name__)


class External:
    """Asks a program for each decision; it runs from the first one on.

    A copy in another process starts a program of its own. After an error the program is ended, and
    the next decision starts it again.
    """

    def __init__(
        self,
        command: str,
        rules: Rules | None = None,
        time_limit: float = TIME_LIMIT,
        start_limit: float = START_LIMIT,
    ) -> None:
        """Find the program; nothing is started yet.

        Args:
            command: the program and its arguments, quoted as in a shell; no shell runs it. Paths
                are relative to the current folder.
            rules: the variant that is played; default rules if None.
            time_limit: seconds for a move.
            start_limit: seconds from the start until the hello is answered.

        Raises:
            ValueError: no command, one that cannot be parsed, no such program, or no such limit.
        """
        self.name = PREFIX + command
        self._command = _parse_command(command)
        self._rules = rules or Rules()
        for limit in (time_limit, start_limit):
            if not limit > 0:
                raise ValueError(f"agent {self.name!r}: a time limit must be positive, not {limit}")
        self._time_limit = time_limit
        self._start_limit = start_limit
        self._process: LineProcess | None = None
        self._number = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_process": None}

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`; an action that is illegal is returned like any other.

        Raises:
            TimeoutError: the program took too long.
            BotError: the program failed or did not keep to the protocol.
        """
        actions = np.empty(len(keys), np.int64)
        try:
            process = self._process = self._process or self._start()
            for i, key in enumerate(keys):
                actions[i] = self._decide(process, observations[i], action_masks[i], int(key))
        except BaseException:  # it may still answer what nobody waits for any more
            self.close()
            raise
        return actions

    def close(self) -> None:
        """End the program at once; the next decision starts it again."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _start(self) -> LineProcess:
        process = LineProcess(f"agent {self.name!r}", self._command)
        hello = {
            "v": VERSION,
            "type": "hello",
            "game": NAME,
            "rules": self._rules.to_dict(),
            "time_limit": self._time_limit,
            "actions": _ACTION_TEXTS,
            "layout": OBSERVATION.fingerprint,
        }
        answer = _ask(process, hello, self._start_limit, "to start")
        version, name = answer.get("v"), answer.get("name")
        if type(version) is not int or version != VERSION or not isinstance(name, str):
            wanted = f'{{"v":{VERSION},"name":"..."}}'
            raise process.failure(f"answered the hello with {_short(answer)}, not {wanted}")
        _logger.info("%s runs %r", self.name, name)
        return process

    def _decide(
        self,
        process: LineProcess,
        observation: npt.NDArray[np.int8],
        action_mask: npt.NDArray[np.int8],
        key: int,
    ) -> int:
        fields = read_fields(observation)
        seen = describe(fields, self._rules.flags)
        legal = [_ACTION_TEXTS[action] for action in np.flatnonzero(action_mask)]
        self._number += 1
        request = {
            "type": "act",
            "id": self._number,
            "legal": legal,
            "key": f"{key:016x}",
            "observation": seen,
            "text": describe_text(seen, legal),
            "raw": fields,
        }
        answer = _ask(process, request, self._time_limit, "for a move")
        number, action = answer.get("id"), answer.get("action")
        if type(number) is not int or number != self._number:
            raise process.failure(
                f"answered {_short(answer)} to the request with id {self._number}"
            )
        if not isinstance(action, str):
            raise process.failure(f"answered {_short(answer)}: 'action' must be text")
        try:
            return parse_action(action)
        except ValueError as error:
            raise process.failure(f"answered {_short(answer)}: {error}") from None


def _parse_command(command: str) -> list[str]:
    """The program and its arguments. Raises ValueError if there is no such program."""
    spec = PREFIX + command
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: the command cannot be parsed: {error}") from None
    if not words:
        raise ValueError(f"{spec!r} needs a command, such as '{PREFIX}./mybot --fast'")
    if shutil.which(words[0]) is None:
        raise ValueError(
            f"agent {spec!r}: there is no program {words[0]!r} that may be executed "
            f"(all that follows '{PREFIX}' is the command, a plus sign too)"
        )
    return words


def _ask(
    process: LineProcess, request: dict[str, Any], seconds: float, purpose: str
) -> dict[str, Any]:
    """The JSON object with which the program answers a request."""
    line = json.dumps(request, separators=(",", ":")).encode()
    answer = process.ask(line, seconds, purpose)
    try:
        values = json.loads(answer)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise process.failure(f"answered {_short(answer)}, which is no JSON object")
    return values


def _short(answer: Any) -> str:
    """An answer for a message, cut where it is long."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else json.dumps(answer)
    return repr(text if len(text) <= 100 else text[:100] + "...")
