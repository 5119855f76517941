"""`examples/reinforce_lists.py`: lists and masks are the same policy, with the same gradient."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tabletop_envs import make_batch, registry
from tests.games import each_game
from tests.scripts import EXAMPLES, load_script

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra train")


@pytest.fixture(scope="module")
def example():
    """The example as a module."""
    return load_script(EXAMPLES / "reinforce_lists.py")


@each_game
def test_lists_give_the_probabilities_and_gradients_of_masks(name, example):
    torch.manual_seed(1)
    policy = example.Policy(registry.get_game(name), width=8)
    torch.nn.init.normal_(policy.actions.weight)
    batch = make_batch(name, 16, seed=1)
    batch.rollout(40)
    actions, offsets = map(torch.from_numpy, batch.legal_actions())
    observation = torch.from_numpy(batch.observation)
    lists = policy.lists(observation, actions, offsets)
    dense = policy.dense(observation, torch.from_numpy(batch.action_mask))
    places = offsets[:-1] + torch.arange(16) % offsets.diff()
    gradients = []
    for distribution, outcomes in ((lists, places), (dense, actions[places])):
        policy.zero_grad()
        loss = (distribution.log_prob(outcomes) * torch.arange(16)).sum()
        (loss + distribution.entropy().sum()).backward()
        gradients.append([weight.grad for weight in policy.parameters()])
        torch.testing.assert_close(distribution.log_prob(outcomes), lists.log_prob(places))
        torch.testing.assert_close(distribution.entropy(), lists.entropy())
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_draws_have_the_probabilities(example):
    torch.manual_seed(1)
    offsets = torch.tensor([0, *([1, 3, 2] * 2000)]).cumsum(0)
    logits = torch.tensor([0.0, *map(np.log, (1, 2, 5)), -40.0, 40.0]).repeat(2000).float()
    distribution = example.ListCategorical(logits, offsets)
    drawn = (distribution.sample() - offsets[:-1]).view(2000, 3)
    assert (drawn[:, 0] == 0).all() and (drawn[:, 2] == 1).all()
    shares = torch.bincount(drawn[:, 1]) / 2000
    torch.testing.assert_close(shares, torch.tensor([1, 2, 5]) / 8, atol=0.04, rtol=0)


@pytest.mark.parametrize("dense", [False, True])
def test_a_rollout_credits_every_player_with_the_result(dense, example):
    run = example.Reinforce("kirche", dense, games=4, plies=60)
    observation, *legal, chosen, outcome = run.play()
    assert len(observation) == len(chosen) == len(outcome) == 4 * 60
    policy = run.distribution(observation, tuple(legal))
    assert policy.log_prob(chosen).isfinite().all()
    # Games end after 60 plies at most: all have results, by halves won and lost.
    assert set(outcome.tolist()) <= {-1.0, 0.0, 1.0}
    if dense:
        assert legal[0][torch.arange(240), chosen].all()
    entropies = [run.update()[0] for _ in range(2)]
    assert all(0 < entropy < np.log(1323) for entropy in entropies)


def test_the_command(example, capsys, monkeypatch):
    words = ["reinforce_lists.py", "kirche", "--games", "2", "--plies", "4"]
    monkeypatch.setattr(sys, "argv", [*words, "--updates", "2"])
    example.main()
    said = capsys.readouterr().out
    assert "update 2: entropy" in said and "mean reward against random play: " in said
    monkeypatch.setattr(sys, "argv", [*words, "--compare"])
    example.main()
    assert "times as fast" in capsys.readouterr().out
