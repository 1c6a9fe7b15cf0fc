"""Plays agents against each other on duplicate deals and prints what a deal was worth to them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from pathlib import Path

if __name__ == "__main__":
    # Read by OpenMP when torch is imported: threads that spin while they wait starve each other.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from rich.console import Console

from agents.cli import fail, parse_config
from agents.evaluation import EvaluateConfig, Evaluation
from agents.html import check_installed, render
from agents.journal import Journal
from agents.records import open_records, show
from agents.report import make_console, make_progress, print_results, write_json
from agents.results import results
from prefa_env.atomic import atomic_write, check_writable
from prefa_env.records import RecordError

PROGRAM = Path(__file__).name
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code.

    0; 1 if a move was illegal, a deal's payments did not sum to zero, or an agent is out; 2 for bad
    input, a full disk or a killed worker; 130 after an interruption.
    """
    out = None
    try:
        config = parse_config(EvaluateConfig, __doc__ or "", argv, PROGRAM)
        if config.replay:
            print(show(config.replay))
            return 0
        out = config.out
        return _evaluate(config)
    except KeyboardInterrupt:
        rest = "the same command goes on" if out else "unfinished results were not written"
        print(f"interrupted; {rest}", file=sys.stderr)
        return INTERRUPTED
    except MemoryError as error:
        fail(f"not enough memory: {error}; lower batch_size", PROGRAM)
    except BrokenProcessPool:
        rest = "; the same command goes on" if out else ""
        fail(f"a worker was killed; too little memory for so many workers?{rest}", PROGRAM)
    except (OSError, RecordError) as error:  # a full disk, a closed pipe
        rest = "; the same command goes on" if out and isinstance(error, OSError) else ""
        fail(f"{error}{rest}", PROGRAM)


def _evaluate(config: EvaluateConfig) -> int:
    console = make_console()
    try:
        evaluation = Evaluation(config)
        paths = _play(evaluation, console)
        found = results(evaluation)
        if "json" in paths:
            write_json(paths["json"], found)
        if "html" in paths:
            with atomic_write(paths["html"]) as file:
                file.write(render(found))
    except (ValueError, ModuleNotFoundError) as error:
        fail(str(error), PROGRAM)
    print_results(console, found)
    console.print(
        f"deals {config.seeds!r} ({found['seeds']['hash']}): {evaluation.games} games, "
        f"{evaluation.seconds:.1f} s",
        highlight=False,
        markup=False,
    )
    return 0 if evaluation.is_clean else 1


def _paths(config: EvaluateConfig) -> dict[str, Path]:
    """Where results go: as the config says, else into its folder."""
    paths = {name: getattr(config, name) for name in ("json", "html", "records")}
    for path in filter(None, paths.values()):
        check_writable(path)
    if config.out:
        folder = Path(config.out)
        paths["json"] = paths["json"] or folder / "results.json"
        paths["html"] = paths["html"] or folder / "report.html"
    if paths["html"]:
        check_installed()
    return {name: Path(path) for name, path in paths.items() if path}


def _play(evaluation: Evaluation, console: Console) -> dict[str, Path]:
    """Play what is to be played; where results go."""
    config = evaluation.config
    with ExitStack() as stack:
        journal = None
        if config.out:
            journal = stack.enter_context(Journal(config.out, evaluation.setup()))
            evaluation.restore(journal.entries)
        paths = _paths(config)
        writer = None
        if "records" in paths:
            kept = evaluation.records_size if journal else None
            writer = stack.enter_context(
                open_records(
                    paths["records"],
                    evaluation.game,
                    config.rules,
                    kept,
                    config.episode,
                    evaluation.max_deals,
                    is_begun=evaluation.is_begun,
                )
            )
        progress = stack.enter_context(make_progress(console))
        try:
            evaluation.run(progress, journal, writer)
        except KeyboardInterrupt:
            progress.stop()
            if journal is not None:
                print_results(console, results(evaluation))
            raise
    return paths


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # cleans up first
    sys.exit(main())
