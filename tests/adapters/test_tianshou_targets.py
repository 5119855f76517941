"""What Tianshou's algorithms learn from: ends, results, and whose view follows whose."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tianshou", reason="Tianshou is not installed: the extra tianshou")
import torch
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.ppo import PPO
from tianshou.algorithm.multiagent.marl import (
    MultiAgentOffPolicyAlgorithm,
    MultiAgentOnPolicyAlgorithm,
)
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.utils.net.common import Net

from tabletop_envs.adapters import tianshou
from tests.adapters.common import ENDING, guarded, run_script, scripts

GAMMA = 0.99


def dqn(env: Any, n_step: int = 1) -> DQN:
    """A DQN that explores at random and values all positions differently, far above any result."""
    net = Net(state_shape=env.state_shape, action_shape=env.action_shape, hidden_sizes=[])
    layer = net.model.model[-1]
    layer.weight.data.zero_()
    layer.bias.data = torch.arange(100, 100 + env.action_shape, dtype=torch.float32)
    policy = DiscreteQLearningPolicy(
        model=net, action_space=env.action_space[0], eps_training=1.0, eps_inference=1.0
    )
    optim = AdamOptimizerFactory(lr=1e-3)
    return DQN(policy=policy, optim=optim, gamma=GAMMA, n_step_return_horizon=n_step)


def targets(transitions: Any, rewards: Any) -> Any:
    """What `dqn` must learn from transitions: the result at an end, elsewhere the best legal action
    of what follows.
    """
    mask = transitions.obs_next.mask
    best = np.where(mask, np.arange(100, 100 + mask.shape[1]), 0).max(axis=1)
    return np.where(transitions.terminated, rewards, rewards + GAMMA * best)


@pytest.mark.parametrize(("name", "options"), ENDING)
def test_dqn_bootstraps_from_legal_actions_and_never_beyond_an_end(name, options):
    env = tianshou.make_vector_env(name, 4, seed=1, on_illegal="raise", **options)
    algorithm = dqn(env)
    buffer = VectorReplayBuffer(4000, 4)
    collector = Collector(algorithm, env, buffer, exploration_noise=True)
    collector.reset()
    with guarded():
        collector.collect(n_episode=8)
    batch, indices = buffer.sample(0)
    assert (batch.done == batch.terminated).all() and batch.done.sum() >= 8
    assert (batch.done == (batch.info.by_limit | (batch.rew != 0))).sum() >= 8
    if "max_plies" in options:
        assert batch.info.by_limit.any()
    assert np.abs(batch.rew).max() <= 1 and not batch.rew[~batch.done].any()
    # The learner's own views, in the learner's own order.
    assert (batch.obs.agent_id == batch.obs_next.agent_id).all()
    expected = targets(batch, batch.rew)
    returns = algorithm._preprocess_batch(batch, buffer, indices).returns.flatten()
    np.testing.assert_allclose(returns, expected, rtol=1e-5)


class Diary:
    """What each player of each game saw, did and got, written down step by step beside a collector."""

    def __init__(self, lanes: int, players: int) -> None:
        self.players = players
        # For each player of each game: view, action, next view, rewards, end.
        self.transitions: list[list[list[Any]]] = [[] for _ in range(lanes * players)]
        self.open: dict[tuple[int, int], list[Any]] = {}

    def look(self, _: Any, step: Any) -> None:
        """The collector's hook: one action of each game."""
        for place, lane in enumerate(step.info.env_id.tolist()):
            actor = int(step.obs.agent_id[place][-1])
            view = step.obs.obs[place]
            if (lane, actor) in self.open:
                self.close(lane, actor, view, np.zeros(self.players), False)
            self.open[lane, actor] = [view.copy(), step.act[place]]
            if step.done[place]:
                for player in [of for at, of in self.open if at == lane]:
                    self.close(lane, player, None, step.rew[place], True)

    def close(self, lane: int, player: int, view: Any, rewards: Any, end: bool) -> None:
        """A player's transition is complete."""
        started = self.open.pop((lane, player))
        following = None if view is None else view.copy()
        part = self.transitions[lane * self.players + player]
        part.append([*started, following, rewards, end])


def assert_parts_are(buffer: Any, diary: Diary) -> int:
    """The buffer's parts hold what the diary says (and a last one not acted upon); ends."""
    ends = 0
    for part, transitions in zip(buffer.buffers, diary.transitions, strict=True):
        kept = part[: len(part)]
        assert len(transitions) <= len(part) <= len(transitions) + 1
        for place, (view, action, following, rewards, end) in enumerate(transitions):
            np.testing.assert_array_equal(kept.obs.obs[place], view)
            assert kept.act[place] == action
            assert kept.terminated[place] == kept.done[place] == end
            np.testing.assert_array_equal(kept.rew[place], rewards)
            if end:
                ends += 1
                continue
            np.testing.assert_array_equal(kept.obs_next.obs[place], following)
            assert kept.obs_next.agent_id[place] == kept.obs.agent_id[place]
    return ends


@pytest.mark.parametrize(("name", "options"), ENDING)
def test_self_play_pairs_each_player_with_its_own_next_view(name, options):
    env = tianshou.make_vector_env(name, 3, "self", seed=1, on_illegal="raise", **options)
    players = len(env.agents)
    algorithms = [dqn(env) for _ in env.agents]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=algorithms, env=env)
    buffer = tianshou.SelfPlayReplayBuffer(9000, env)
    collector = Collector(algorithm, env, buffer, exploration_noise=True)
    diary = Diary(3, players)
    collector.set_on_step_hook(diary.look)
    collector.reset()
    with guarded():
        collector.collect(n_episode=4)
        assert assert_parts_are(buffer, diary) == 4 * players
        # Games that are given up leave nothing behind.
        collector.reset_env()
        diary.open.clear()
        collector.collect(n_step=60)
    batch, indices = buffer.sample(0)
    results = batch.rew[batch.terminated]
    assert np.abs(results).max() <= 1 and not batch.rew[~batch.terminated].any()
    assert results.min() < 0
    learned = algorithm._preprocess_batch(batch, buffer, indices)
    for player, agent in enumerate(env.agents):
        own = batch[batch.obs.agent_id == agent]
        expected = targets(own, own.rew[:, player])
        np.testing.assert_allclose(learned[agent].returns.flatten(), expected, rtol=1e-5)


def test_games_that_are_given_up_leave_nothing_behind():
    env = tianshou.make_vector_env("tuerme", 1, "self", seed=1)
    buffer = tianshou.SelfPlayReplayBuffer(100, env)

    def play(plies: int) -> None:
        observation, _ = env.reset()
        for _ in range(plies):
            actions = observation.mask.argmax(axis=1)
            following, rewards, terminated, truncated, infos = env.step(actions)
            buffer.add(
                Batch(
                    obs=observation,
                    act=actions,
                    rew=rewards,
                    terminated=terminated,
                    truncated=truncated,
                    obs_next=following,
                    info=Batch(infos),
                )
            )
            observation = following

    play(3)
    assert len(buffer) == 2  # the first player's second action waits
    play(2)  # now the second player's waits, which the next game must not complete
    play(2)
    assert sorted(buffer.info.ply[buffer.sample_indices(0)]) == [2, 2, 2, 3]
    buffer.reset()
    play(1)
    assert len(buffer) == 0


def test_self_play_advantages_are_each_players_own():
    env = tianshou.make_vector_env("meeples", 4, "self", seed=1, num_players=3, max_plies=50)

    def ppo() -> PPO:
        names = run_script(scripts(tianshou)[1], ("[128, 128]", "[8]"), env=env)
        for parameter in names["critic"].parameters():
            parameter.data.zero_()
        optim = AdamOptimizerFactory(lr=1e-3)
        return PPO(
            policy=names["policy"], critic=names["critic"], optim=optim, gae_lambda=1.0, gamma=GAMMA
        )

    algorithm = MultiAgentOnPolicyAlgorithm(algorithms=[ppo() for _ in env.agents], env=env)
    buffer = tianshou.SelfPlayReplayBuffer(4000, env)
    collector = Collector(algorithm, env, buffer)
    collector.reset()
    with guarded():
        collector.collect(n_step=448)
    batch, indices = buffer.sample(0)
    learned = algorithm._preprocess_batch(batch, buffer, indices)
    for player, agent in enumerate(env.agents):
        own = batch[batch.obs.agent_id == agent]
        assert own.terminated.sum() * len(env.agents) == batch.terminated.sum() > 0
        returns = learned[agent].returns.numpy()
        # Backwards from each end, nothing where a game has not ended; another lane's game begins
        # with another ply.
        expected, result = np.zeros(len(own)), 0.0
        for place in reversed(range(len(own))):
            last = place == len(own) - 1
            other_lane = last or own.info.env_id[place] != own.info.env_id[place + 1]
            if own.terminated[place]:
                result = own.rew[place, player]
            else:
                result = 0.0 if other_lane else GAMMA * result
            expected[place] = result
        np.testing.assert_allclose(returns, expected, atol=1e-6)
        assert np.abs(returns).max() <= 1 and (returns < 0).any()
    algorithm._update_with_batch(learned, 64, 1)


def test_normalized_observations_keep_agent_and_mask():
    env = tianshou.make_vector_env("kirche", 4, seed=1)
    normalized = tianshou.VectorEnvNormObs(tianshou.make_vector_env("kirche", 4, seed=1))
    plain, same = env.reset()[0], normalized.reset()[0]
    for _ in range(8):
        assert (plain.mask == same.mask).all() and (plain.agent_id == same.agent_id).all()
        assert same.obs.dtype == np.float32 and (plain.obs != same.obs).any()
        actions = plain.mask.argmax(axis=1)
        plain, same = env.step(actions)[0], normalized.step(actions)[0]
    algorithm = dqn(env)
    collector = Collector(algorithm, normalized, VectorReplayBuffer(400, 4))
    collector.reset()
    with guarded():
        collector.collect(n_step=40)
    evaluation = tianshou.VectorEnvNormObs(env, update_obs_rms=False)
    evaluation.set_obs_rms(normalized.get_obs_rms())
    seen = env.reset(seed=5)[0].obs
    statistics = normalized.get_obs_rms()
    np.testing.assert_allclose(
        evaluation.reset(seed=5)[0].obs,
        np.clip((seen - statistics.mean) / np.sqrt(statistics.var + statistics.eps), -10, 10),
        atol=1e-4,
    )


def test_illegal_actions_are_told_and_warned_of_once(recwarn):
    env = tianshou.make_vector_env("kirche", 3, seed=1)
    env.reset()
    for _ in range(2):
        actions = env.get_masks().argmax(axis=1)
        actions[1] = env.get_masks()[1].argmin()
        _, rewards, terminated, _, infos = env.step(actions)
        assert [info["illegal_action"] for info in infos] == [False, True, False]
        assert rewards[1] == -1 and terminated[1] and not infos[1]["by_limit"]
        env.reset([1])
    messages = [str(one.message) for one in recwarn if "illegal action" in str(one.message)]
    assert len(messages) == 1 and "use DQN or heed the mask" in messages[0]


def test_an_old_version_is_named():
    code = """
import sys, types
sys.modules["tianshou"] = old = types.ModuleType("tianshou")
old.__version__ = "1.2.0"
try:
    import tabletop_envs.adapters.tianshou
except ImportError as error:
    print(error)
"""
    run = [sys.executable, "-c", code]
    message = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert "Tianshou 2.0 or newer, not 1.2.0" in message and "tabletop-envs[tianshou]" in message
