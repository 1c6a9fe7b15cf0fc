"""Where a result comes from: version, commit, processor, date, and what exactly an agent was."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from . import released
from .registry import is_checkpoint, parts, wrapped

_ROOT = Path(__file__).parent.parent


def package_version() -> str:
    """Version of the installed package; `unknown` in a checkout that is not installed."""
    try:
        return metadata.version("prefa")
    except metadata.PackageNotFoundError:
        return "unknown"


def run() -> dict[str, Any]:
    """Version, commit (None if unknown; `-dirty` with changes), processor, cores, date."""
    return {
        "version": package_version(),
        "commit": _commit(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def identity(spec: str) -> str:
    """What tells an agent from others of the same spec: the hash of a checkpoint's weights."""
    joined = parts(spec)
    if len(joined) == 2:
        return "+".join(identity(part) for part in joined)
    name, inner = wrapped(spec)
    if name:
        return name + identity(inner)
    if not is_checkpoint(spec) and spec not in released.NAMES:
        return spec
    from . import checkpoint

    folder = checkpoint.resolve(spec)
    weights: str = checkpoint.load_meta(folder)["sha256"][checkpoint.MODEL_FILE]
    return f"{folder.name}:{weights[:16]}"


def _commit() -> str | None:
    if not (_ROOT / ".git").exists():  # installed somewhere in another repository
        return None
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"],
            cwd=_ROOT,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None


def _processor() -> str:
    """The name of the processor; `platform` knows it on some systems only."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
