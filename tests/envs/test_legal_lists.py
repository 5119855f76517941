"""Legal actions as lists: what the masks say."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from tabletop_envs import make_batch, registry
from tests.envs.learners import legal_action, make
from tests.games import each_case, each_game, module, over


def assert_lists(lists: Any, masks: Any) -> None:
    """The lists are those of the masks."""
    actions, offsets = lists
    assert (actions.dtype, offsets.dtype) == (np.int32, np.int64)
    lanes, expected = np.nonzero(masks)
    np.testing.assert_array_equal(actions, expected)
    np.testing.assert_array_equal(offsets, np.searchsorted(lanes, np.arange(len(masks) + 1)))


@each_case
def test_a_batch_lists_what_its_masks_allow(name, options):
    batch = make_batch(name, 5, seed=1, **options)
    kept = batch.legal_actions()
    first = [array.copy() for array in kept]
    for _ in range(150):
        assert_lists(batch.legal_actions(), batch.action_mask)
        batch.step(batch.sample_actions())
    # The arrays are fresh ones.
    for array, values in zip(kept, first, strict=True):
        np.testing.assert_array_equal(array, values)


@each_case
def test_an_environment_lists_what_its_masks_allow(name, options):
    env = module(name).env(**options)
    with pytest.raises(ResetNeeded):
        env.unwrapped.legal_actions()
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(80):
        if over(env):
            break
        legal = env.legal_actions()
        assert legal.dtype == np.int32
        np.testing.assert_array_equal(legal, np.flatnonzero(env.action_mask()))
        for agent in env.possible_agents:
            own = env.legal_actions(agent)
            assert own.tolist() == (legal.tolist() if agent == env.agent_selection else [])
        env.step(rng.choice(legal))
    if not over(env):
        env.step(int(np.flatnonzero(env.action_mask() == 0)[0]))  # loses the game
    assert env.legal_actions().tolist() == []
    with pytest.raises(ValueError, match="there is no agent 'nobody'"):
        env.legal_actions("nobody")


@each_game
def test_learners_have_lists_too(name):
    vector = gymnasium.make_vec(registry.gym_id(name), num_envs=3, max_plies=40)
    single = make(name, max_plies=40)
    for env in (vector, single):
        with pytest.raises(ResetNeeded):
            env.legal_actions()
    _, info = vector.reset(seed=1)
    _, alone = single.reset(seed=1)
    rng, ended = np.random.default_rng(1), 0
    for _ in range(60):
        over = np.array([vector.to_aec(lane).terminations["player_0"] for lane in range(3)])
        assert_lists(vector.legal_actions(), info["action_mask"].astype(bool) & ~over[:, None])
        ended += int(over.sum())
        actions = [legal_action({"action_mask": mask}, rng) for mask in info["action_mask"]]
        *_, info = vector.step(np.array(actions))
    assert ended
    terminated = False
    while not terminated:
        np.testing.assert_array_equal(single.legal_actions(), np.flatnonzero(alone["action_mask"]))
        _, _, terminated, _, alone = single.step(int(single.legal_actions()[-1]))
    assert single.legal_actions().size == 0
