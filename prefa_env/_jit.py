"""The one `njit` of the project, and the folder where its machine code is kept.

Numba's own disk cache looks at the file of a function only, so a function would go on calling the
old code of a helper that changed in another file. Here the folder is named after a hash of all
sources of this package and of the function's own: a change anywhere gives a new, empty folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, TypeVar, cast

import numba
import numpy
import platformdirs

F = TypeVar("F", bound=Callable[..., Any])


def _package_folder(module: str) -> Path | None:
    """The folder of the top-level package that a module belongs to."""
    file = getattr(sys.modules.get(module.partition(".")[0]), "__file__", None)
    return Path(file).parent if file and Path(file).name == "__init__.py" else None


@functools.cache
def _cache_folder(package: Path | None) -> Path:
    """Where functions of a package go: named after all sources and the compiler's version."""
    digest = hashlib.sha256(f"{numba.__version__} {numpy.__version__} {sys.version}".encode())
    for root in filter(None, (Path(__file__).parent, package)):
        for path in sorted(root.rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or platformdirs.user_cache_dir("prefa_env", False)
    return Path(base) / digest.hexdigest()[:16]


IS_COMPILED = not numba.config.DISABLE_JIT
_announced = False


def announce_compilation() -> None:
    """Say once on the console, before the first compiled call, that a cold cache takes a while."""
    global _announced  # noqa: PLW0603
    folder = _cache_folder(_package_folder(__name__))
    if not _announced and IS_COMPILED and not any(folder.glob("**/*.nbi")):
        print(
            "prefa_env: compiling the rules for this machine (once; up to a minute) ...",
            file=sys.stderr,
            flush=True,
        )
    _announced = True


def _compile(function: F, *, is_cached: bool, is_inlined: bool = True) -> F:
    before = numba.config.CACHE_DIR
    folder = _cache_folder(_package_folder(function.__module__))
    numba.config.CACHE_DIR = str(folder)  # read while decorating, so it can be put back
    try:
        # Inlining is forced: a call hands over arrays with atomic reference counts, and in a batch
        # that took as long as the rules.
        options = {"cache": is_cached, "error_model": "numpy", "nogil": True}
        options["forceinline"] = is_inlined
        return cast(F, numba.njit(**options)(function))
    finally:
        numba.config.CACHE_DIR = before


def njit(function: F) -> F:
    """Compile `function` with Numba on its first call; keep the result in a disk cache.

    It releases the GIL. With `NUMBA_DISABLE_JIT=1` the function stays plain Python and gives the
    same results.
    """
    return _compile(function, is_cached=True)


def njit_called(function: F) -> F:
    """As `njit`, but callers call it: for long functions, where one call costs nothing."""
    return _compile(function, is_cached=True, is_inlined=False)


def specialise(game: Any, *functions: Callable[..., Any]) -> SimpleNamespace:
    """Compile copies of functions of one module for one game.

    The functions call the kernel through their module's global `game`, and one another by name; in
    the copies both mean what belongs to this game. Unlike closures such copies are found in the
    disk cache (only for games of this package: others may change without changing its folder).

    Args:
        game: a game module.
        functions: of one module, each after those that it calls.
    """
    is_cached = game.__name__.startswith(f"{__package__}.")
    namespace = {**functions[0].__globals__, "game": game}
    for function in functions:
        copy = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__)
        copy.__qualname__ = f"{game.NAME}.{function.__name__}"  # names the file in the cache
        namespace[function.__name__] = _compile(copy, is_cached=is_cached)
    return SimpleNamespace(**{f.__name__: namespace[f.__name__] for f in functions})
