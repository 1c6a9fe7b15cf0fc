"""Outside programs as players: they play like others, and whatever they do wrong is one error."""

from __future__ import annotations

import fcntl
import json
import pickle
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.benchmarks import SeedSet
from agents.cli import parse_config
from agents.comparison import Comparison, compare
from agents.evaluation import EvaluateConfig
from agents.external import External
from agents.line_process import BotError
from prefa_env import VectorEnv, prefa
from prefa_env.prefa import Action, Rules

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "bots.md").read_text("utf-8")
EXAMPLE = ROOT / "examples" / "bot.py"
PYTHON = f"{shlex.quote(sys.executable)} -IS"

HELLO = """
import json, os, random, sys, time
def say(**answer): print(json.dumps(answer), flush=True)
sys.stdin.readline()
say(v=1, name="test")
"""
DRAW = """
for line in sys.stdin:
    request = json.loads(line)
    action = random.Random(request["key"]).choice(request["legal"])
    say(id=request["id"], action=action)
"""

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a Python program and returns the command that runs it."""

    def write(code: str, name: str = "bot.py") -> str:
        (tmp_path / name).write_text(code, "utf-8")
        return f"{PYTHON} {shlex.quote(str(tmp_path / name))}"

    return write


def asked(agent: Any, size: int = 3, seed: int = 5) -> list[int]:
    """What it answers at the start of some deals."""
    env = VectorEnv("prefa", size, seed=seed)
    keys = np.arange(size, dtype=np.uint64) * np.uint64(2**60 + 1)
    actions = agent.act(env.observations, env.action_masks, keys)
    assert actions.dtype == np.int64 and actions.shape == (size,)
    return [*map(int, actions)]


def run(candidate: Any, deals: int = 6, **options: Any) -> Comparison:
    field = make_agent("uniform")
    return compare(prefa, Rules(), candidate, field, SeedSet("bots"), deals, **options)


# -- playing --------------------------------------------------------------------------------------


def test_example_plays_the_same_in_any_batch() -> None:
    agent = make_agent(f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLE))}")
    results = [run(agent, batch_size=size) for size in (1, 64)]
    assert results[0] == results[1]
    assert results[0].illegal == results[0].nonzero == 0


def test_chance_comes_from_the_key(write: Write) -> None:
    agent = make_agent(f"exec:{write(HELLO + DRAW)}")
    one, many = run(agent, 12, batch_size=1), run(agent, 12, batch_size=64)
    assert one == many and one.illegal == 0 and one.sd > 0


def test_workers_start_their_own(write: Write) -> None:
    agent = make_agent(f"exec:{write(HELLO + DRAW)}")
    assert run(agent, 4, workers=2) == run(agent, 4)


def test_shell_bot_of_the_docs_is_first_legal(tmp_path: Path) -> None:
    script = re.findall(r"^```sh\n(#!.*?)^```$", DOC, re.M | re.S)[0]
    path = tmp_path / "my bot"
    path.write_text(script, "utf-8")
    path.chmod(0o755)
    agent = make_agent(f"exec:'{path}'")
    field = make_agent("first-legal")
    result = compare(prefa, Rules(), agent, field, SeedSet("bots"), 10)
    assert result.mean == result.sd == result.illegal == 0
    assert asked(agent, 20) == asked(field, 20)


def test_docs_show_the_example() -> None:
    assert f"```py\n{EXAMPLE.read_text('utf-8')}```" in DOC


def test_illegal_moves_are_counted(write: Write) -> None:
    code = HELLO + 'for line in sys.stdin: say(id=json.loads(line)["id"], action="10NT")'
    result = run(make_agent(f"exec:{write(code)}"), 2)
    assert result.illegal_candidate > 0 and result.illegal_field == 0


def test_requests(write: Write, tmp_path: Path) -> None:
    code = f"""
import json, sys
log = open({str(tmp_path / "log")!r}, "w", buffering=1)
for line in sys.stdin:
    log.write(line)
    request = json.loads(line)
    answer = {{"v": 1, "name": "x", "id": request.get("id"), "action": "pass"}}
    print(json.dumps(answer), flush=True)
"""

    rules = Rules(kassa=40)
    assert asked(External(write(code), rules, time_limit=3.5)) == [Action.PASS] * 3
    hello, *requests = map(json.loads, (tmp_path / "log").read_text("utf-8").splitlines())
    assert (hello["v"], hello["type"], hello["game"]) == (1, "hello", "prefa")
    assert hello["rules"] == rules.to_dict() and hello["time_limit"] == 3.5
    assert [prefa.parse_action(text) for text in hello["actions"]] == list(range(62))
    assert hello["layout"] == prefa.OBSERVATION.fingerprint
    assert [request["id"] for request in requests] == [1, 2, 3]
    assert [request["key"] for request in requests] == [
        "0000000000000000", "1000000000000001", "2000000000000002",
    ]  # fmt: skip
    for request in requests:
        assert request["type"] == "act" and request["legal"][0] == "pass"
        assert len(request["observation"]["hand"]) == sum(request["raw"]["hand"]) == 10
        assert request["text"].splitlines()[-1].split() == ["legal", *request["legal"]]
    for message in (hello, requests[0]):  # all keys in the docs, in this order
        assert "> {" + ",".join(f'"{key}":...' for key in message) in re.sub(
            r'":("[^"]*"|\[[^]]*\]|\{\.*\}|[\d.]+)', '":...', DOC
        )


# -- specs ----------------------------------------------------------------------------------------


def test_specs(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(HELLO + DRAW, "a+b.py")
    monkeypatch.chdir(tmp_path)
    name = f"exec:{PYTHON} ./a+b.py --x '1 2'"
    agent = make_agent(name)
    assert agent.name == name and len(asked(agent)) == 3
    composite = make_agent(f"first-legal+{name}")
    assert composite.name == f"first-legal+{name}"
    assert run(composite, 2).illegal == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "needs a command, such as 'exec:./mybot"),
        ("  ", "needs a command"),
        ("./no-such-bot --x", "agent 'exec:./no-such-bot --x': there is no program"),
        ("./plain", "there is no program './plain' that may be executed"),
        (".", "there is no program '.'"),
        ("sh+heuristic", r"there is no program 'sh\+heuristic'.*a plus sign too"),
        ("sh 'x", "the command cannot be parsed: No closing quotation"),
    ],
)
def test_bad_commands(
    command: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").touch(mode=0o644)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        make_agent(f"exec:{command}")


@pytest.mark.parametrize("limits", [(0.0, 1.0), (1.0, -1.0)])
def test_bad_limits(limits: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="'exec:sh': a time limit must be positive"):
        External("sh", None, *limits)


def test_specs_on_a_command_line() -> None:
    def candidates(text: str) -> tuple[str, ...]:
        return parse_config(EvaluateConfig, "", ["--candidates", text]).candidates

    assert candidates("exec:python bot.py --x,open") == ("exec:python bot.py --x", "open")
    assert candidates('["exec:./mybot --sizes 1,2"]') == ("exec:./mybot --sizes 1,2",)


# -- failures -------------------------------------------------------------------------------------

FAILURES = {
    "no start": ("import no_such_module", "ended with exit code 1.*no_such_module"),
    "silent end": ("", "ended with exit code 0$"),
    "other hello": ('print("[1]", flush=True); input()', "no JSON object"),
    "version": ('print(\'{"v":2,"name":"x"}\'); input()', "answered the hello with .*, not"),
    "no name": ("print('{\"v\":1}', flush=True); input()", "answered the hello with"),
    "crash": (HELLO + "sys.stdin.readline(); 1/0", "exit code 1.*stderr:.*ZeroDivisionError"),
    "exit code": (HELLO + "sys.stdin.readline(); sys.exit(7)", "ended with exit code 7$"),
    "signal": (HELLO + "os.kill(os.getpid(), 11)", "was ended by signal 11 "),
    "closed output": (HELLO + "os.close(1); time.sleep(99)", "closed its output$"),
    "closed input": (
        HELLO.replace("say(v", "os.close(0); say(v") + "time.sleep(99)",
        "closed its input$",
    ),
    "no JSON": (HELLO + 'print("pass", flush=True); input()', "answered 'pass', which is no JSON"),
    "not UTF-8": (HELLO + r'os.write(1, b"\xff\n"); input()', "which is no JSON object"),
    "deep JSON": (HELLO + 'print("[" * 60000, flush=True); input()', "which is no JSON object"),
    "no object": (HELLO + 'print("7", flush=True); input()', "answered '7', which is no JSON obj"),
    "other id": (HELLO + 'say(id=9, action="pass"); input()', "to the request with id 1"),
    "id is a truth": (HELLO + 'say(id=True, action="pass"); input()', "to the request with id 1"),
    "no action": (HELLO + "say(id=1); input()", "'action' must be text"),
    "a number": (HELLO + "say(id=1, action=32); input()", "'action' must be text"),
    "no such action": (HELLO + 'say(id=1, action="6X"); input()', "no such action: '6X'"),
    "flood": (HELLO + 'while True: print("x" * 999, end="")', "wrote more than 65536 bytes"),
    "lines": (HELLO + 'while True: print("{}")', "wrote more than 65536 bytes|to the request"),
    "last words": (
        HELLO + r'sys.stderr.write("x\n" * 10**5 + "help"); sys.exit(3)',
        r"exit code 3; it last wrote to stderr:\n  x\n  x\n  x\n  x\n  help$",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures(name: str, write: Write) -> None:
    code, message = FAILURES[name]
    command = write(code)
    with pytest.raises(BotError, match=f"(?s){message}") as caught:
        asked(External(command))
    assert str(caught.value).startswith(f"agent {'exec:' + command!r} ")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "bot"
    path.write_text("no program", "utf-8")
    path.chmod(0o755)
    agent = External(shlex.quote(str(path)))
    with pytest.raises(BotError, match=r"cannot be started: .*Exec format error"):
        asked(agent)


def test_late_moves(write: Write) -> None:
    command = write(HELLO + 'print("thinking", file=sys.stderr); time.sleep(99)')
    with pytest.raises(TimeoutError) as caught:
        asked(External(command, time_limit=0.25))
    assert str(caught.value) == (
        f"agent {'exec:' + command!r} took longer than 0.25 s for a move; "
        "it last wrote to stderr:\n  thinking"
    )


@pytest.mark.parametrize("code", ["import time; time.sleep(99)", "while True: print(end='{')"])
def test_late_start(code: str, write: Write) -> None:
    with pytest.raises((TimeoutError, BotError), match=r"0\.25 s to start|more than 65536 bytes"):
        asked(External(write(code), start_limit=0.25))


def test_the_limit_is_for_one_move(write: Write) -> None:
    code = DRAW.replace("    say", "    time.sleep(0.1)\n    say")
    assert len(asked(External(write(HELLO + code), time_limit=1.5), 20)) == 20


def test_late_while_it_floods_stderr(write: Write) -> None:
    code = HELLO + 'while True: sys.stderr.write("x" * 99999)'
    with pytest.raises(TimeoutError, match=r"took longer than 0\.5 s for a move"):
        asked(External(write(code), time_limit=0.5))


def test_stderr_does_not_block(write: Write) -> None:
    code = DRAW.replace("    say", '    sys.stderr.write("x" * 10**6)\n    say')
    assert len(asked(External(write(HELLO + code)))) == 3


def test_it_starts_again_after_a_failure(write: Write, tmp_path: Path) -> None:
    code = f"""
import os, time
if not os.path.exists({str(tmp_path / "was here")!r}):
    open({str(tmp_path / "was here")!r}, "w")
    sys.stdin.readline()
    time.sleep(99)
"""
    agent = External(write(HELLO + code + DRAW), time_limit=2)
    with pytest.raises(TimeoutError):
        asked(agent)
    assert asked(agent) == asked(External(write(HELLO + DRAW, "good.py")))


# -- processes ------------------------------------------------------------------------------------

STAYS = """
import fcntl
lock = open({path!r}, "w")
fcntl.flock(lock, fcntl.LOCK_EX)  # held while this process or a child of it lives
"""


def is_free(path: Path) -> bool:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_nothing_is_started_before_the_first_decision(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    agent = External(write(STAYS.format(path=str(path)) + HELLO + DRAW))
    assert not path.exists()
    asked(agent)
    assert not is_free(path)


@pytest.mark.parametrize("stays", ["", "time.sleep(99)"], ids=["ends", "stays"])
@pytest.mark.parametrize("close", [True, False], ids=["close", "delete"])
def test_it_ends_with_the_agent(stays: str, close: bool, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    agent = External(write(STAYS.format(path=str(path)) + HELLO + DRAW + stays))
    asked(agent)
    assert not is_free(path)
    if close:
        agent.close()
    else:
        del agent
    assert is_free(path)


def test_its_children_end_after_a_failure(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = STAYS.format(path=str(path)) + HELLO + "os.fork(); time.sleep(99)"
    with pytest.raises(TimeoutError):
        asked(External(write(code), time_limit=0.5))
    assert is_eventually_free(path)


def is_eventually_free(path: Path) -> bool:
    deadline = time.monotonic() + 60
    while not is_free(path):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), 9)", "raise KeyboardInterrupt"])
def test_it_ends_with_its_parent(end: str, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = write(STAYS.format(path=str(path)) + HELLO + DRAW)
    code = f"""
import os
from agents.external import External
from tests.agents.test_external import asked, is_free
from pathlib import Path
agent = External({command!r})
asked(agent)
assert not is_free(Path({str(path)!r}))
{end}
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode in {0, 1, -signal.SIGKILL, -signal.SIGINT}
    assert b"AssertionError" not in done.stderr
    assert path.exists() and is_eventually_free(path)


def test_a_copy_starts_its_own(write: Write, tmp_path: Path) -> None:
    code = f"open({str(tmp_path)!r} + f'/{{os.getpid()}}.pid', 'w')\n"
    agent = External(write(HELLO + code + DRAW), time_limit=7.0)
    first = asked(agent)
    copy = pickle.loads(pickle.dumps(agent))
    assert copy.name == agent.name and asked(copy) == first == asked(agent)
    assert len(list(tmp_path.glob("*.pid"))) == 2


def test_no_file_is_left_open(write: Write) -> None:
    agent = External(write(HELLO + "sys.stdin.readline(); sys.exit(1)"))
    for _ in range(3):
        with pytest.raises(BotError):
            asked(agent)
    descriptors = Path("/dev/fd")
    before = len(list(descriptors.iterdir()))
    for _ in range(5):
        with pytest.raises(BotError):
            asked(agent)
    assert len(list(descriptors.iterdir())) <= before
