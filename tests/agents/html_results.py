"""Made-up results of an evaluation, as `evaluate.py --json` writes them."""

from __future__ import annotations

import math
from typing import Any

LONG = "runs/2026-11-20_heads4_entropy0.01_pool8/checkpoints/step_00052428800"

EIGHT = [
    "heuristic", "pimc:10", "uniform", "pass-always", LONG, LONG.replace("5242", "3145"),
    "heuristic+pimc:20", "runs/quickstart",
]  # fmt: skip

_ROLES = ("declarer", "defender alone", "inviter", "guest", "co-defender", "passer", "passed out")


def row(candidate: str, field: str, mean: float = 2.3, design: str = "xyy") -> dict[str, Any]:
    """A row whose numbers hang together."""
    half = 0.4 + 0.1 * abs(mean)
    p = 1e-9 if abs(mean) > half else 0.2
    edges = [-120 + 12.0 * i for i in range(21)]
    counts = [round(900 * math.exp(-(((e + 6 - mean) / 25) ** 2))) for e in edges[:-1]]
    shares = {
        "passed_out": 0.11, "declared": 0.31, "made": 0.74, "one_short": 0.18, "two_short": 0.05,
        "declined": 0.03, "mean_level": 6.42, "play": 0.55, "pass": 0.45, "alone": 0.2,
        "invite": 0.8, "wrote": 0.04, "held": None,
    }  # fmt: skip
    parts = [mean * 0.9 + 3, mean / 2, mean / 4 - 1, -0.8, 0.4, -1.4, 0.0]
    parts[-1] = mean - sum(parts)
    roles = {
        name: {"games": 1200, "share": 1 / 7, "mean": 7 * part, "contribution": part}
        for name, part in zip(_ROLES, parts, strict=True)
    }
    return {
        "candidate": candidate, "field": field, "design": design, "deals": 3000,
        "mean": mean, "low": mean - half, "high": mean + half, "sd": 12.3,
        "bootstrap_low": mean - half + 0.02, "bootstrap_high": mean + half + 0.03,
        "p": p, "p_holm": 3 * p, "per_seat": [mean + 0.3, mean - 0.5, mean + 0.2],
        "illegal": 0, "illegal_candidate": 0, "illegal_field": 0, "nonzero": 0,
        "behaviour": {"candidate": shares, "field": {**shares, "wrote": 0.0}},
        "roles": {"candidate": roles, "field": dict(roles)},
        "histogram": {"edges": edges, "counts": counts},
    }  # fmt: skip


def agent(speed: float = 1.0, has_curves: bool = False) -> dict[str, Any]:
    """What is measured of an agent by itself."""
    phases = ("auction", "discard", "contract", "defence", "card")
    regret = {"cards": 24000, "per_card": 0.031, "per_deal": 0.29, "perfect": 0.94}
    rise = 10 + 3 * math.log10(speed + 1)
    curve = [[1e5 * i, -20 + rise * (1 - math.exp(-i / 30)) + math.sin(i)] for i in range(200)]
    return {
        "ms": {
            phase: {"moves": 900 * i, "p50": speed * 0.01 * i, "p95": speed * 0.05 * i}
            for i, phase in enumerate(phases, 1)
        },
        "calibration": [
            {"level": n, "contracts": 3000 >> 2 * (n - 6), "tricks": 0.8 * n + 1.7,
             "open": 0.85 * n + 1.6 if n < 9 else None, "made": 0.95 - 0.05 * n / 6}
            for n in range(6, 11)
        ],
        "regret": {"declarer": regret, "defender": {**regret, "per_deal": 0.41}},
        "curves": {"rollout/ep_rew_mean": curve, "rollout/made": curve[:50]} if has_curves else {},
    }  # fmt: skip


def league(names: list[str]) -> dict[str, Any]:
    """Payoffs that sum to 0 at every table, from strengths that fall with the index."""
    size = range(len(names))
    strengths = [7.5 - 2.4 * i for i in size]
    payoffs = [
        [[strengths[i] - (strengths[i] + strengths[j] + strengths[l]) / 3 for l in size]  # noqa: E741
         for j in size]
        for i in size
    ]  # fmt: skip
    ratings = [
        {"agent": name, "rating": s, "low": s - 0.6, "high": s + 0.6, "mu": 25 + s, "sigma": 1.2}
        for name, s in zip(names, strengths, strict=True)
    ]
    return {"agents": names, "ratings": ratings, "payoffs": payoffs}


def results(design: str = "xyy", **changes: Any) -> dict[str, Any]:
    """Whole results of a design; keyword arguments replace keys."""
    names = EIGHT if design == "league" else EIGHT[:5]
    fields = {"trio": "pimc:10, uniform"}
    rows = [
        row(name, fields.get(design, "heuristic"), mean, design)
        for name, mean in zip(names[1:], (4.7, -79.2, -16.4, 0.1, -1.3, 0.45, 2.0), strict=False)
    ]
    values: dict[str, Any] = {
        "unit": "settled_kapikia", "game": "prefa", "design": design,
        "rules": {"ten_nt_value": 11, "hold": "earlier_position", "write_bid": True},
        "seeds": {"name": "report-v1", "hash": "0123456789abcdef", "deals": 3000,
                  "benchmark": "fedcba9876543210"},
        "config": {"candidates": names[1:], "fields": ["heuristic"], "deals": 3000,
                   "seeds": "report-v1", "records": None, "rules": {"write_bid": True}},
        "version": "0.1.0", "commit": "abcdef0", "processor": "AMD EPYC 7763",
        "date": "2026-12-01", "seconds": 123.4, "rows": rows,
        "league": league(names) if design == "league" else None,
        "agents": {name: agent(10.0**i / 10, name.startswith("runs/"))
                   for i, name in enumerate(names)},
        "failures": [],
    }  # fmt: skip
    return values | changes
