"""The one `njit` of the project, and the folder where its machine code is kept.

Numba's own disk cache looks at the file of a function only, so a function would go on calling the
old code of a helper that changed in another file. Here the folder is named after a hash of all
kernel sources: a change anywhere gives a new, empty folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy
import platformdirs

F = TypeVar("F", bound=Callable[..., Any])


def _sources_hash() -> str:
    """Hash of every source file of this package and of the versions that compile it."""
    digest = hashlib.sha256(f"{numba.__version__} {numpy.__version__} {sys.version}".encode())
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    base = os.environ.get("NUMBA_CACHE_DIR") or platformdirs.user_cache_dir("prefa_env", False)
    return Path(base) / _sources_hash()


CACHE_FOLDER = _cache_folder()
IS_COMPILED = not numba.config.DISABLE_JIT
_announced = False


def announce_compilation() -> None:
    """Say once on the console, before the first compiled call, that a cold cache takes a while."""
    global _announced  # noqa: PLW0603
    if not _announced and IS_COMPILED and not any(CACHE_FOLDER.glob("**/*.nbi")):
        print(
            "prefa_env: compiling the rules for this machine (once; up to a minute) ...",
            file=sys.stderr,
            flush=True,
        )
    _announced = True


def njit(function: F) -> F:
    """Compile `function` with Numba on its first call; keep the result in `CACHE_FOLDER`.

    With `NUMBA_DISABLE_JIT=1` the function stays plain Python and gives the same results.
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)  # read while decorating, so it can be put back
    try:
        return cast(F, numba.njit(cache=True, error_model="numpy")(function))
    finally:
        numba.config.CACHE_DIR = before


def njit_closure(function: F) -> F:
    """Compile a function that closes over other compiled ones: never found in a disk cache.

    The GIL is released while it runs.
    """
    return cast(F, numba.njit(cache=False, error_model="numpy", nogil=True)(function))
