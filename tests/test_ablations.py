"""Ablations differ from the whole recipe in what their names say, and in nothing else."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ablations import ABLATIONS, main, stages


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            result |= flat(value, f"{prefix}{name}.")
        else:
            result[prefix + name] = value
    return result


def test_each_leaves_out_what_it_says() -> None:
    whole, *others = (stages(ablation, Path("x"), 1_000) for ablation in ABLATIONS)
    expected = {
        "without clone": {"start", "anchor", "warm_up", "ppo.anchor", "ppo.final_anchor"},
        "critic sees no hidden cards": {"network.open_critic", "start", "anchor"},
        "without league": {"opponents", "past_share"},
        "suits as dealt": {"network.relabel", "start", "anchor"},
        "one network": {"network.card_body", "start", "anchor"},
        "without hindsight": {
            f"ppo.{n}"
            for n in ("hindsight", "final_hindsight", "hindsight_words", "final_hindsight_words")
        },
    }
    expected["without clone and hindsight"] = (
        expected["without clone"] | expected["without hindsight"]
    )
    expected["Monte Carlo"] = expected["without clone and hindsight"] | {"method"}
    recipe = flat(asdict(whole[-1]))
    for ablation, found in zip(ABLATIONS[1:], others, strict=True):
        here = flat(asdict(found[-1]))
        assert {name for name in recipe if here[name] != recipe[name]} == expected[
            ablation.name
        ] | {"run"}
        assert len({stage.run for stage in found}) == len(found)
        for clone in found[:-1]:
            assert found[-1].start == found[-1].anchor == clone.run
            assert clone.network == found[-1].network


def test_what_is_wrong_is_said_before_the_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, words in (
        (["--fields", "best"], "no such agent: 'best'"),
        (["--deals", "1"], "deals must be 2"),
        (["--json", str(tmp_path / "no" / "x.json")], "no"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["--folder", str(tmp_path / "runs"), *arguments])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
