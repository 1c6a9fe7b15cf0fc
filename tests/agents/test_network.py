"""The networks: one policy made of two, and how their gradients are kept apart."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from agents.network import Critic, NetworkConfig, Policy
from agents.policy import PolicyAgent
from agents.ppo import Learner, PPOConfig
from prefa_env import VectorEnv, prefa

TWO = NetworkConfig(width=16, blocks=1, card_body=True)


def new_policy(config: NetworkConfig = TWO) -> Policy:
    torch.manual_seed(1)
    policy = Policy(prefa, config)
    for network in policy.networks():  # the last layers start at zero; here actions shall differ
        layer = list(network.children())[-1]
        assert isinstance(layer, torch.nn.Linear)
        torch.nn.init.normal_(layer.weight)
    return policy


@pytest.fixture(scope="module")
def seen() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations and masks of tables in all phases, and whether a card is to be played."""
    env = VectorEnv("prefa", 40, auto_reset=False, seed=3)
    rows, masks, in_play = [], [], []
    while not env.dones.all():
        live = np.flatnonzero(~env.dones)
        rows.append(env.observations[live])
        masks.append(env.action_masks[live])
        in_play.append(env.tables["phase"][live] == prefa.Phase.PLAY)
        env.step(env.random_actions(1))
    order = np.random.default_rng(1).permutation(sum(map(len, rows)))
    return np.concatenate(rows)[order], np.concatenate(masks)[order], np.concatenate(in_play)[order]


def ask(policy: Policy, rows: np.ndarray, masks: np.ndarray) -> Tensor:
    with torch.no_grad():
        answer: Tensor = policy(torch.from_numpy(rows), torch.from_numpy(masks != 0))
    return answer


def test_cards_are_played_by_one_network_and_all_else_is_said_by_the_other(
    seen: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    rows, masks, in_play = seen
    assert 0 < in_play.sum() < len(rows)
    policy = new_policy()
    before = ask(policy, rows, masks)
    for number, mine in ((0, ~in_play), (1, in_play)):
        other = new_policy()
        with torch.no_grad():
            for parameter in other.networks()[number].parameters():
                parameter.add_(torch.ones_like(parameter) * 0.1)
        is_same = (ask(other, rows, masks) == before).all(dim=1).numpy()
        assert is_same[~mine].all()
        assert not is_same[mine & (masks.sum(1) > 1)].any()
    for kind in (in_play, ~in_play):  # alone as in company
        alone = ask(policy, rows[kind], masks[kind])
        torch.testing.assert_close(alone, before[torch.from_numpy(kind)], atol=1e-5, rtol=1e-5)


def test_moves_do_not_depend_on_the_company(
    seen: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    rows, masks, _ = seen
    agent = PolicyAgent("two", new_policy(), prefa)
    together, _ = agent.log_probs(rows, masks)
    alone = np.concatenate(
        [agent.log_probs(rows[i : i + 1], masks[i : i + 1])[0] for i in range(60)]
    )
    np.testing.assert_array_equal(together[:60], alone)  # to the last digit
    assert agent.log_probs(rows[:0], masks[:0])[0].shape == (0, prefa.NUM_ACTIONS)


@pytest.mark.parametrize("card_body", [False, True])
def test_long_gradients_of_the_cards_leave_the_rest_alone(card_body: bool) -> None:
    config = NetworkConfig(width=16, blocks=1, card_body=card_body)
    critic = Critic(prefa, config)
    learner = Learner(new_policy(config), critic, PPOConfig(max_grad_norm=0.5), slice(0, 1))
    networks = [*learner.policy.networks(), critic]
    for network, length in zip(networks, (0.3, 40.0, 0.4)[-len(networks) :], strict=True):
        parameters = list(network.parameters())
        for parameter in parameters:
            parameter.grad = torch.zeros_like(parameter)
        assert parameters[0].grad is not None
        parameters[0].grad.view(-1)[0] = length
    norm = learner._shorten_gradients()
    lengths = [
        sum(float(p.grad.square().sum()) for p in n.parameters() if p.grad is not None) ** 0.5
        for n in networks
    ]
    if card_body:
        assert norm == pytest.approx(np.hypot(40, 0.5))
        assert lengths == pytest.approx([0.3, 0.5, 0.4], rel=1e-4)
    else:  # one length for both
        assert norm == pytest.approx(np.hypot(40, 0.4))
        assert lengths == pytest.approx([0.5, 0.5 * 0.4 / 40], rel=1e-3)


def test_a_network_without_gradients_has_length_zero() -> None:
    critic = Critic(prefa, TWO)
    learner = Learner(new_policy(), critic, PPOConfig(), slice(0, 1))
    for parameter in learner.policy.networks()[0].parameters():
        parameter.grad = torch.zeros_like(parameter)
    assert float(learner._shorten_gradients()) == 0
