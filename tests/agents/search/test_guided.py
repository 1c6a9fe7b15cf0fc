"""A policy with search: legal, the same in company, and the policy wherever no gain is clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

import agents
from agents import make_agent
from agents.agent import Agent, ValuingAgent
from agents.benchmarks import SeedSet
from agents.comparison import compare
from agents.exploiter import frozen
from agents.network import NetworkConfig, Policy
from agents.policy import PolicyAgent
from agents.provenance import identity
from agents.registry import is_checkpoint, parts
from agents.search import model
from agents.search.guided import Guided
from agents.search.history import MAX_ACTIONS, initial_deck, past_actions
from agents.search.likelihood import UNIFORM, Likelihood
from agents.search.recall import recall_tables
from agents.search.sampling import Sampler
from agents.search.worlds import draw_worlds, enter_world
from prefa_env import prefa
from prefa_env.prefa import Action, Rules
from prefa_env.prefa.rules import Phase
from tests.agents.search.positions import positions, turned
from tests.agents.search.test_players import rows
from tests.agents.search.test_worlds import MODEL
from tests.helpers import RULES, deal_table, do, legal_of, observation_of

RELEASED = str(Path(agents.__file__).parent / "released" / "prefa-v1")
ACE_OF_SPADES = 7


def make_policy(seed: int = 0) -> PolicyAgent:
    """Has an opinion on everything, for no reason."""
    torch.manual_seed(seed)
    policy = Policy(prefa, NetworkConfig(width=8, blocks=0))
    head = policy.body[-1]
    assert isinstance(head, torch.nn.Linear)
    torch.nn.init.normal_(head.weight)
    return PolicyAgent("random", policy, prefa)


POLICY = make_policy()


def test_legal_everywhere_and_alone_as_in_company() -> None:
    for name in ("default", "site", "misere"):
        rules = RULES[name]
        tables = [table.copy() for table, _ in positions(f"guided {name}", 1, rules)][::5]
        _, observations, masks, keys = rows(tables)
        player = Guided(3, POLICY, rules, caution=0.5)
        assert isinstance(player, ValuingAgent)
        actions, values = player.assess(observations, masks, keys)
        assert (masks[np.arange(len(tables)), actions] == 1).all()
        assert (np.isfinite(values) <= (masks == 1)).all() and np.isfinite(values).any()
        for i in np.random.default_rng(0).permutation(len(tables))[:4]:
            one = slice(i, i + 1)
            again = Guided(3, POLICY, rules, caution=0.5).assess(
                observations[one], masks[one], keys[one]
            )
            assert again[0] == actions[i] and again[1].tobytes() == values[one].tobytes()


def test_whole_games_are_legal_and_better_than_the_policy_alone() -> None:
    field: Agent = make_agent("heuristic")
    means = []
    for player in (POLICY, Guided(4, POLICY)):
        found = compare(prefa, Rules(), player, field, SeedSet("guided"), 8)
        assert found.illegal == found.nonzero == 0
        means.append(found.mean)
    assert means[1] > means[0] + 5


@pytest.fixture(scope="module")
def asked() -> tuple[Any, ...]:
    tables = [table.copy() for table, _ in positions("asked", 12, Rules())][::4]
    return rows(tables)[1:]


def test_infinitely_cautious_it_is_the_policy(asked: tuple[Any, ...]) -> None:
    player = Guided(3, POLICY, caution=np.inf, margin=-np.inf, bidding_margin=-np.inf)
    assert (player.act(*asked) == POLICY.act(*asked)).all()


def test_only_a_clear_gain_overrules_the_policy(asked: tuple[Any, ...]) -> None:
    """By more than the margin, whatever that is; and otherwise nothing does."""
    observations, masks, _ = asked
    is_play = observations[:, prefa.OBSERVATION["phase"].start + Phase.PLAY] == 1
    favourites = POLICY.act(*asked)
    each = np.arange(len(masks))
    overruled = []
    for caution, margin in ((1e-9, 2.0), (1e-9, 20.0), (3.0, 2.0)):
        player = Guided(6, POLICY, caution=caution, margin=margin, bidding_margin=2 * margin)
        actions, values = player.assess(*asked)
        is_other = actions != favourites
        gains = values - values[each, favourites][:, None]
        needed = np.where(is_play, margin, 2 * margin)
        assert (gains[each, actions][is_other] > needed[is_other]).all()
        if caution < 1:
            best = np.nanmax(np.where(np.isnan(gains), -1.0, gains), axis=1)
            assert (is_other == (best > needed)).all()
            assert (gains[each, actions] == best)[is_other].all()
        overruled.append((int((is_other & is_play).sum()), int((is_other & ~is_play).sum())))
    bold, demanding, cautious = overruled
    assert min(bold) > 0 and sum(demanding) < sum(bold) and sum(cautious) < sum(bold)


def test_bidding_is_left_to_the_policy_if_wanted(asked: tuple[Any, ...]) -> None:
    observations, masks, _ = asked
    is_play = observations[:, prefa.OBSERVATION["phase"].start + Phase.PLAY] == 1
    is_free = masks.sum(axis=1) > 1
    actions, values = Guided(3, POLICY, bidding_margin=None).assess(*asked)
    assert (actions == POLICY.act(*asked))[~is_play].all()
    assert (np.isfinite(values).any(axis=1) == is_play & is_free).all()


# -- how likely worlds are ------------------------------------------------------------------------


def log_weight(table: Any) -> float:
    """Of what seats 1 and 2 did on the way to a table with all cards known, one step at a time."""
    deck, past = np.zeros(32, np.int8), np.zeros(MAX_ACTIONS, np.int8)
    initial_deck(table, deck)
    count = past_actions(table, past)
    replayed: Any = deal_table(int(table.dealer), deck)
    total = 0.0
    for action in past[:count].tolist():
        legal = legal_of(replayed)
        is_kept = replayed.phase in (Phase.DISCARD, Phase.CONTRACT)
        if replayed.seat != 0 and not is_kept and len(legal) > 1:
            mask = np.zeros((1, prefa.NUM_ACTIONS), np.int8)
            mask[0, legal] = 1
            row = observation_of(replayed, int(replayed.seat))[None]
            log_probs, meant = POLICY.log_probs(row, mask)
            chance = float(np.exp(log_probs[meant == action][0]))
            total += np.log((1 - UNIFORM) * chance + UNIFORM / len(legal))
        prefa.step(replayed, action)
    return total


@pytest.mark.parametrize("trust", [0.0, 0.5, 1.0])
def test_weights_are_the_policys_probabilities_of_what_others_did(trust: float) -> None:
    checked = differing = 0
    for table in [table.copy() for table, _ in positions("weights", 12, Rules())][::5]:
        seen = recall_tables(observation_of(table, int(table.seat))[None], Rules().flags)[0]
        worlds = np.zeros((3, 4), np.int64)
        assert draw_worlds(seen, np.uint64(3), worlds)
        tables = np.array([seen] * 4)
        for other, world in zip(tables, worlds, strict=False):
            enter_world(other, world)
        tables[3] = turned(table, int(table.seat))
        logs = np.array([log_weight(other) for other in tables])
        weights = Likelihood(POLICY, trust)(seen, tables)
        np.testing.assert_allclose(weights, np.exp(trust * (logs - logs.max())), rtol=1e-4)
        checked += 1
        differing += int(np.ptp(weights) > 0.01)
    assert checked > 30 and (differing > 20) == (trust > 0)


class BidsWithTheAce(PolicyAgent):
    """Sure that who holds the ace of spades bids and nobody else does."""

    def __init__(self) -> None:
        super().__init__("ace", POLICY.policy, prefa)

    def log_probs(
        self,
        observations: npt.NDArray[np.int8],
        action_masks: npt.NDArray[np.int8],
        block: int = 0,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        has_ace = observations[:, prefa.OBSERVATION["hand"].start + ACE_OF_SPADES] == 1
        is_pass = np.arange(prefa.NUM_ACTIONS) == Action.PASS
        is_done = (action_masks == 1) & np.where(has_ace[:, None], ~is_pass, is_pass)
        shares = is_done / np.maximum(is_done.sum(axis=1, keepdims=True), 1)
        meant = np.broadcast_to(np.arange(prefa.NUM_ACTIONS, dtype=np.int8), shares.shape)
        return np.log(np.maximum(shares, 1e-9)).astype(np.float32), meant


@pytest.mark.parametrize(("call", "has_bid"), [("pass", False), ("6S", True)])
def test_a_policy_that_is_sure_decides_which_worlds_are_drawn(call: str, has_bid: bool) -> None:
    deck = np.roll(np.arange(32), 16).tolist()  # seat 1, who looks, lacks the ace
    table = deal_table(dealer=2, deck=deck)
    do(table, call)
    seen = recall_tables(observation_of(table, int(table.seat))[None], Rules().flags)[0]
    assert not int(seen.hands[0]) >> ACE_OF_SPADES & 1
    sampler = Sampler(MODEL.tables, MODEL.style, Likelihood(BidsWithTheAce(), 1.0), 8, redraw=True)
    worlds, counts = sampler.draw(seen, np.uint64(1), 60)
    caller = worlds[:, 1]  # seat 0, the one after the next
    share = counts @ (caller >> ACE_OF_SPADES & 1) / counts.sum()
    assert share > 0.9 if has_bid else share < 0.1


def test_another_declarers_discards_are_what_he_would_discard() -> None:
    """Random pairs would cost him much more, and the model says what they cost."""
    tried = 0
    for table, _ in positions("kept", 30, Rules()):
        if table.phase != Phase.PLAY or table.owner in (-1, table.seat) or table.num_played > 3:
            continue
        seen = recall_tables(observation_of(table, int(table.seat))[None], Rules().flags)[0]
        key = np.uint64(tried)
        drawn = [
            Sampler(MODEL.tables, MODEL.style, Likelihood(POLICY, 0.0), 1, redraw=redraw).draw(
                seen, key, 20
            )[0]
            for redraw in (False, True)
        ]
        aces = [np.bitwise_count(worlds[:, 3] & 0x80808080).mean() for worlds in drawn]
        assert aces[1] <= aces[0]
        tried += aces[1] < aces[0]
    assert tried > 5


# -- specs ----------------------------------------------------------------------------------------


def test_specs_make_the_same_player_again() -> None:
    spec = f"guided:20:{RELEASED}"
    for whole in (spec, f"heuristic+{spec}", f"{spec}+pimc:2", f"{RELEASED}+{spec}"):
        assert make_agent(whole).name == whole
        assert not is_checkpoint(whole) or "+" in whole
    assert parts(f"heuristic+{spec}") == ("heuristic", spec)


def test_a_path_with_a_plus_is_one_path(tmp_path: Path) -> None:
    folder = tmp_path / "a+b"
    folder.mkdir()
    assert parts(f"guided:20:{folder}") == (f"guided:20:{folder}",)


@pytest.mark.parametrize(
    "number", ["", "0", "x", "-3", "1e9", "²", "999999"]
)  # fmt: skip
def test_bad_numbers_of_worlds(number: str) -> None:
    with pytest.raises(ValueError, match="guided needs how many worlds"):
        make_agent(f"guided:{number}:{RELEASED}")


def test_what_is_no_policy_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="such as 'guided:20:runs/quickstart'"):
        make_agent("guided:20")
    for other in ("heuristic", "pimc:2", f"guided:2:{RELEASED}"):
        with pytest.raises(ValueError, match=f"'{other}' is another agent"):
            make_agent(f"guided:20:{other}")
    with pytest.raises(ValueError, match="no checkpoint at"):
        make_agent(f"guided:20:{tmp_path / 'none'}")
    with pytest.raises(ValueError, match="caution"):
        Guided(2, POLICY, caution=0)
    with pytest.raises(ValueError, match="trust"):
        Guided(2, POLICY, trust=-1)


def test_the_checkpoint_within_is_known_and_frozen(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run).mkdir()
    newest = run / "checkpoint-000000000007"
    newest.symlink_to(RELEASED)
    weights = identity(str(run))
    assert weights.startswith(f"{newest.name}:")
    assert identity(f"heuristic+guided:9:{run}") == f"heuristic+guided:9:{weights}"
    kept = frozen(f"heuristic+guided:9:{run}", "prefa", Rules())
    assert kept == f"heuristic+guided:9:{newest}"


def test_the_model_redraws_as_before() -> None:
    """Where nobody else has discarded nothing changes, and all worlds count the same."""
    table = deal_table()
    seen = recall_tables(observation_of(table, int(table.seat))[None], Rules().flags)[0]
    worlds, weights = np.zeros((5, 4), np.int64), np.zeros(5)
    assert draw_worlds(seen, np.uint64(3), worlds)
    before = worlds.copy()
    model.redraw_discards(MODEL.tables, seen, np.uint64(1), worlds, weights, np.array([seen]))
    assert (worlds == before).all() and (weights == 1).all()
