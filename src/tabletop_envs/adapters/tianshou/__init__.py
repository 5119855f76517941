"""Tianshou 2: vector environments on the batch engine, self-play, and a masked actor for its policy-gradient algorithms.

The shortest complete script (`DQN` honours masks by itself; its observations are
`Batch(agent_id, obs, mask)`)::

    from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.trainer import OffPolicyTrainerParams
    from tianshou.utils.net.common import Net
    from tabletop_envs.adapters import tianshou

    env = tianshou.make_vector_env("kirche-v0", 16, opponents="random", seed=1, num_houses=1)
    net = Net(state_shape=env.state_shape, action_shape=env.action_shape, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space[0], eps_training=0.1)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=200)
    buffer = VectorReplayBuffer(20_000, 16)
    collector = Collector(algorithm, env, buffer, exploration_noise=True)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=5,
            epoch_num_steps=5_000,
            collection_step_num_env_steps=160,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=256,
        )
    )

Tianshou's policy-gradient algorithms ignore masks. `MaskedActor` honours them, and `ObservationNet`
gives critics the observation without the mask::

    policy = DiscreteActorPolicy(actor=tianshou.MaskedActor(net), action_space=env.action_space[0])
    critic = DiscreteCritic(preprocess_net=tianshou.ObservationNet(other_net))
    algorithm = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=3e-4))

In self-play all players learn, by Tianshou's multi-agent algorithms; `SelfPlayReplayBuffer` pairs
each player's view with that player's next one::

    env = tianshou.make_self_play_vector_env("kirche-v0", 16, seed=1, num_houses=1)
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[make_dqn(), make_dqn()], env=env)
    buffer = tianshou.SelfPlayReplayBuffer(20_000, env)
    collector = Collector(algorithm, env, buffer, exploration_noise=True)

`VectorEnvNormObs` is Tianshou's normalization of observations, which leaves mask and agent alone.
"""

from __future__ import annotations

from tabletop_envs.extras import require

_tianshou = require("tianshou", "tianshou")
if str(_tianshou.__version__).startswith(("0.", "1.")):
    raise ImportError(
        f"this needs Tianshou 2.0 or newer, not {_tianshou.__version__}: "
        'pip install "tabletop-envs[tianshou]"'
    )

from tabletop_envs.adapters.tianshou.buffer import SelfPlayReplayBuffer  # noqa: E402
from tabletop_envs.adapters.tianshou.environment import (  # noqa: E402
    TabletopVenv,
    VectorEnvNormObs,
    make_self_play_vector_env,
    make_vector_env,
)
from tabletop_envs.adapters.tianshou.networks import MaskedActor, ObservationNet  # noqa: E402

__all__ = [
    "MaskedActor",
    "ObservationNet",
    "SelfPlayReplayBuffer",
    "TabletopVenv",
    "VectorEnvNormObs",
    "make_self_play_vector_env",
    "make_vector_env",
]
