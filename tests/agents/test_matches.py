"""Agents in whole matches: the same players, the arena, and what an evaluation says of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

import evaluate
from agents import make_agent
from agents.arena import play
from agents.benchmarks import SeedSet
from agents.designs import rotations
from agents.network import Critic, NetworkConfig, Policy
from agents.played import Played
from agents.policy import load_agent
from agents.train_config import TrainConfig
from agents.trainer import train
from prefa_env import VectorEnv, prefa
from prefa_env.game import Game
from prefa_env.prefa import OBSERVATION, STATE, Rules

GAME: Game = prefa
SHORT = Rules(kassa=4)
SEEDS = SeedSet("matches")


def matches(
    agents: Sequence[Any], count: int = 12, batch_size: int = 64, rules: Rules = SHORT, **more: Any
) -> Played:
    (played,) = play(
        GAME, rules, agents, rotations(3), SEEDS, count, batch_size, episode="match", **more
    )
    return played


# -- players that know single deals ---------------------------------------------------------------


def filled(rows: npt.NDArray[np.int8], layout: Any) -> npt.NDArray[np.int8]:
    """The same rows as a match may have them."""
    rows = rows.copy()
    for field in layout:
        if field.in_match:
            rows[:, layout[field.name]] = field.high
    return rows


def test_fields_of_a_match_are_named() -> None:
    env, match = (
        VectorEnv("prefa", 300, seed=1, episode=episode, auto_reset=False)
        for episode in ("deal", "match")
    )
    in_match = filled(np.zeros((1, OBSERVATION.size), np.int8), OBSERVATION)[0] != 0
    for key in range(40):
        going = ~env.dones  # in their first deal, in both
        assert (env.seats == match.seats)[going].all()
        is_same = env.observations[going] == match.observations[going]
        assert is_same[:, ~in_match].all()
        assert not env.observations[:, in_match].any()
        assert match.observations[going][:, OBSERVATION["is_match"]].all()
        actions = env.random_actions(key)
        env.step(actions)
        match.step(np.where(going, actions, match.random_actions(key)))
    assert env.dones.any() and not env.dones.all()


def test_a_network_begins_blind_to_the_match() -> None:
    torch.manual_seed(0)
    env = VectorEnv("prefa", 50)
    policy = Policy(prefa, NetworkConfig(width=32, blocks=1))
    critic = Critic(prefa, NetworkConfig(width=32, blocks=1))
    for network in (policy, critic):
        torch.nn.init.normal_(network.body[-1].weight)  # type: ignore[arg-type]
    masks = torch.ones((50, prefa.NUM_ACTIONS), dtype=torch.bool)
    rows = [torch.from_numpy(r) for r in (env.observations, filled(env.observations, OBSERVATION))]
    assert torch.equal(policy(rows[0], masks), policy(rows[1], masks))
    states = [torch.from_numpy(r) for r in (env.states, filled(env.states, STATE))]
    assert torch.equal(critic(states[0]), critic(states[1]))


def test_a_player_trained_on_deals_plays_matches_unchanged(tmp_path: Path) -> None:
    size = NetworkConfig(width=16, blocks=1)
    train(TrainConfig(str(tmp_path / "run"), decisions=2000, deals=64, network=size, threads=1))
    agent = load_agent(tmp_path / "run")
    rules = Rules(kassa=2)
    (alone,) = play(GAME, rules, [agent], np.zeros((1, 3), np.int64), SEEDS, 40, 40)
    match = matches([agent, agent], 30, rules=rules, max_deals=6)
    assert not match.illegal.any()
    assert not alone.illegal.any()
    # The policy is deterministic: each deal of a match goes as the same cards would by themselves.
    deals = match.deals
    env = VectorEnv("prefa", len(deals), rules, auto_reset=False)
    env.reset(deals.decks, deals.dealers)
    for step in range(deals.actions.shape[1]):
        if env.dones.all():
            break
        keys = np.zeros(len(deals), np.uint64)
        actions = agent.act(env.observations, env.action_masks, keys)
        going = ~env.dones
        assert (deals.actions[going, step] == actions[going]).all()
        env.step(np.where(going, actions, 0))


@pytest.mark.parametrize(
    "spec", ["heuristic", "pimc:2", "heuristic+pimc:2", "open", "uniform", "pass-always"]
)
@pytest.mark.parametrize(
    "rules", [SHORT, replace(Rules.site(), kassa=3, first_bid="seven_of_diamonds")]
)
def test_every_player_plays_matches(spec: str, rules: Rules) -> None:
    agents = [make_agent(spec, "prefa", rules), make_agent("heuristic", "prefa", rules)]
    played = matches(agents, 2, rules=rules, max_deals=3)
    assert not played.illegal.any()
    assert not played.settled_thirds.sum(axis=-1).any()


# -- the arena ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules", [SHORT, Rules(kassa=3, first_bid="seven_of_diamonds", all_pass="misere")]
)
def test_matches_are_chains_of_deals(rules: Rules) -> None:
    """Played again deal by deal through the rules alone."""
    played = matches([make_agent("heuristic"), make_agent("uniform")], rules=rules, max_deals=25)
    deals = played.deals
    assert (np.diff(deals.games) >= 0).all()
    assert played.lengths.sum() == len(deals) and played.lengths.max() > 5
    row = 0
    firsts = set()
    for game in range(played.lengths.size):
        d, r = divmod(game, 3)
        table: Any = np.zeros(1, prefa.DTYPE)[0]
        prefa.start_match(table, rules.kassa, 25)
        for number in range(played.lengths[d, r]):
            assert deals.games[row] == game
            deck, dealer = deals.decks[row], int(deals.dealers[row])
            if number == 0:
                assert prefa.deal_first(table, rules.flags | prefa.MATCH, deck, dealer)
                firsts.add(int(table.shown_card))
            else:
                assert not prefa.is_match_over(table)
                prefa.deal_next(table, deck)
            assert table.dealer == dealer
            for action, seat in zip(deals.actions[row], deals.seats[row], strict=True):
                assert (action < 0) == (seat < 0)
                if action >= 0:
                    assert table.seat == seat
                    prefa.step(table, int(action))
            assert table == deals.tables[row]
            row += 1
        assert prefa.is_match_over(table)
        assert played.is_unfinished[d, r] == bool(table.kassa.any())
        for seat in range(3):
            assert played.settled_thirds[d, r, seat] == prefa.match_thirds(table, seat)
            assert played.kapikia[d, r, seat] == table.kapikia[seat]
            assert played.kassa[d, r, seat] == table.kassa[seat] - rules.kassa
    assert row == len(deals)
    assert played.is_unfinished.any() and not played.is_unfinished.all()
    assert firsts == ({0} if rules is SHORT else {17, 18} & firsts)


def test_seatings_share_their_cards_as_long_as_they_go_on() -> None:
    played = matches([make_agent("uniform"), make_agent("heuristic")], max_deals=10)
    deals = played.deals
    begins = np.searchsorted(deals.games, np.arange(36))
    for d in range(12):
        shared = played.lengths[d].min()
        decks = [deals.decks[b : b + shared] for b in begins[3 * d : 3 * d + 3]]
        assert (decks[0] == decks[1]).all() and (decks[0] == decks[2]).all()
    assert len(np.unique(deals.decks, axis=0)) >= played.lengths.max(axis=1).sum()


def test_batches_and_parts_change_nothing() -> None:
    agents = [make_agent("uniform"), make_agent("heuristic")]
    whole = matches(agents, 9, max_deals=8)
    parts = list(play(GAME, SHORT, agents, rotations(3), SEEDS, 9, 2, episode="match", max_deals=8))
    assert [len(part) for part in parts] == [2, 2, 2, 2, 1]
    for part in (*parts, whole.select(slice(4, 7)), whole.select(slice(0, 9))):
        first = int(part.numbers[0])
        same = slice(first, first + len(part))
        for name in ("settled_thirds", "kapikia", "kassa", "lengths", "is_unfinished", "illegal"):
            assert (getattr(part, name) == getattr(whole, name)[same]).all(), name
        rows = (whole.deals.games >= 3 * first) & (whole.deals.games < 3 * (first + len(part)))
        assert (part.deals.tables == whole.deals.tables[rows]).all()
        assert (part.deals.games == whole.deals.games[rows] - 3 * first).all()
        length = part.deals.actions.shape[1]
        assert (part.deals.actions == whole.deals.actions[rows][:, :length]).all()


# -- evaluations ----------------------------------------------------------------------------------


def results(tmp_path: Path, *options: str) -> dict[str, Any]:
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
    arguments = ["--episode", "match", "--deals", "12", "--seeds", "matches", "--timed", "1"]
    arguments += ["--rules.kassa", "5", "--max_deals", "20", "--json", str(path)]
    assert evaluate.main([*arguments, *options]) == 0
    return json.loads(path.read_text())  # type: ignore[no-any-return]


def test_an_evaluation_of_matches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = ("--candidates", "uniform,heuristic", "--fields", "heuristic-v1")
    found = results(tmp_path, *pair, "--examine", "40", "--html", str(tmp_path / "page.html"))
    assert (found["unit"], found["episode"]) == ("kapikia", "match")
    uniform, same = found["rows"]
    assert uniform["mean"] < -20 and uniform["deals"] == 12
    assert same["mean"] == 0 and same["match"]["wins"] == pytest.approx(1 / 3)
    played = matches(
        [make_agent("uniform"), make_agent("heuristic-v1")], rules=Rules(kassa=5), max_deals=20
    )
    seats = np.arange(3)
    won = played.settled_thirds[:, seats, seats] / 3
    assert uniform["mean"] == pytest.approx(won.mean())
    assert uniform["sd"] == pytest.approx(won.mean(axis=1).std(ddof=1))
    match = uniform["match"]
    assert match["length"] == pytest.approx(played.lengths.mean())
    assert match["longest"] == played.lengths.max()
    assert match["unfinished"] == pytest.approx(played.is_unfinished.mean())
    best = played.settled_thirds.max(axis=-1, keepdims=True) == played.settled_thirds
    wins = (best / best.sum(axis=-1, keepdims=True))[:, seats, seats]
    assert match["wins"] == pytest.approx(wins.mean())
    assert match["wins_low"] <= match["wins"] <= match["wins_high"]
    printed = capsys.readouterr().out
    assert "kapikia per match" in printed and "wins, %" in printed
    page = (tmp_path / "page.html").read_text()
    assert "12 matches of" in page and "kapikia a match" in page and "wins, %" in page
    assert uniform["behaviour"]["candidate"]["declared"] > 0
    assert found["agents"]["heuristic"]["regret"]


def test_results_do_not_depend_on_how_they_are_played(tmp_path: Path) -> None:
    pair = ("--candidates", "heuristic", "--fields", "uniform", "--design", "xxy")
    plain = results(tmp_path, *pair)
    for options in (("--batch_size", "1"), ("--workers", "2"), ("--out", str(tmp_path / "out"))):
        other = results(tmp_path, *pair, *options)
        assert other["rows"] == plain["rows"]
        assert other["seeds"] == plain["seeds"]
    # A larger number goes on where the folder stopped.
    more = results(tmp_path, *pair, "--out", str(tmp_path / "out"), "--deals", "15")
    assert more["rows"] == results(tmp_path, *pair, "--deals", "15")["rows"]
    assert more["seeds"]["hash"] != plain["seeds"]["hash"]


def test_a_folder_of_deals_is_none_of_matches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--candidates", "heuristic", "--fields", "uniform", "--timed", "0", "--deals", "4"]
    arguments += ["--out", str(tmp_path / "out")]
    assert evaluate.main(arguments) == 0
    for options, name in (
        (["--episode", "match"], "episode was 'deal' and is now 'match'"),
        (["--episode", "week"], "episode"),
        (["--episode", "match", "--max_deals", "0"], "max_deals must be 1 to"),
        (["--max_deals", "5"], "max_deals is for the episode match, not deal"),
    ):
        with pytest.raises(SystemExit):
            evaluate.main([*arguments, *options])
        assert name in capsys.readouterr().err


@pytest.mark.parametrize("episode", ["deal", "match"])
def test_an_evaluation_stopped_in_its_first_lot_goes_on(tmp_path: Path, episode: str) -> None:
    out, records = tmp_path / "out", tmp_path / "records"
    arguments = ["--candidates", "uniform", "--fields", "heuristic", "--timed", "0", "--examine"]
    arguments += ["0", "--deals", "6", "--episode", episode, "--batch_size", "2", "--out", str(out)]
    arguments += ["--records", str(records)]
    assert evaluate.main(arguments) == 0
    whole = records.read_bytes()
    journal = (out / "journal.jsonl").read_bytes().splitlines(keepends=True)
    # As it is when the records of the first lot are there, and its journal is not yet.
    (out / "journal.jsonl").write_bytes(journal[0])
    records.write_bytes(whole[: len(whole) // 3])
    assert evaluate.main(arguments) == 0
    assert records.read_bytes() == whole
    # Nor is a file taken that was there before.
    with pytest.raises(SystemExit):
        evaluate.main([*arguments[:-3], str(tmp_path / "other"), *arguments[-2:]])
    assert records.read_bytes() == whole
