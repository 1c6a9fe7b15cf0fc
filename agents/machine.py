"""What the machine has: a device to learn on, and memory for a batch of deals."""

from __future__ import annotations

import os

import torch

from prefa_env.game import Game

_DECISIONS_A_DEAL = 30
"""More than a batch of deals has on average, forced moves left out."""


def find_device(name: str) -> torch.device:
    """The device of a name: `cpu`, `cuda`, or `auto` for CUDA if there is one. ValueError."""
    has_cuda = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if has_cuda else "cpu")
    if name == "cuda" and not has_cuda:
        raise ValueError("device cuda: PyTorch finds no CUDA device here; use cpu or auto")
    if name not in {"cpu", "cuda"}:
        raise ValueError(f"device must be cpu, cuda or auto, not {name!r}")
    return torch.device(name)


def check_memory(deals: int, game: Game, device: torch.device) -> None:
    """Raise ValueError if a batch of deals would hardly fit into this machine's memory."""
    on_device = _DECISIONS_A_DEAL * (game.STATE.size + 4 * 4 * game.NUM_ACTIONS)
    sample = 3 * game.STATE.size + 4 * 4 * game.NUM_ACTIONS + game.DTYPE.itemsize
    here = _DECISIONS_A_DEAL * sample + game.DTYPE.itemsize + 8 * game.STATE.size
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _compare(deals, deals * here, there, "this machine")
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        _compare(deals, deals * on_device, free, "the CUDA device")


def _compare(deals: int, needed: int, there: int, place: str) -> None:
    if needed > 0.8 * there:
        raise ValueError(
            f"too little memory: deals {deals:,} need about {needed / 1e9:,.0f} GB, and {place} "
            f"has {there / 1e9:,.0f} GB; lower deals"
        )
