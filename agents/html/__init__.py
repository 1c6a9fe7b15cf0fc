"""Results of an evaluation as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["check_installed", "render"]


def check_installed() -> None:
    """Raise ModuleNotFoundError, naming the extra, if the page could not be made."""
    for name in ("jinja2", "matplotlib"):
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"the HTML report needs {name}: pip install 'prefa[report]'", name=name
            ) from error


def render(results: Mapping[str, Any]) -> str:
    """The page, the same text for the same results.

    Args:
        results: what `evaluate.py --json` writes (`schema.Results`); a part whose data is missing,
            None or empty is left out of the page.

    Raises:
        ValueError: a key is missing or holds something else than it should; it is named.
        ModuleNotFoundError: jinja2 or matplotlib is missing.
    """
    check_installed()
    from .page import build_page
    from .schema import check_results

    return build_page(check_results(results))
