"""The games in the stacks that people train with. Each adapter is imported only on use, and needs an extra.

==============  ==============================  ===============================================================
module          stack                           what it gives
==============  ==============================  ===============================================================
`sb3`           Stable-Baselines3, sb3-contrib  a `VecEnv` on the batch engine, masks for MaskablePPO
`rllib`         RLlib, the new API stack        environments on the batch engine, a `MultiAgentEnv`, masking
`tianshou`      Tianshou 2                      a vector environment on the batch engine, self-play, masking
`torchrl`       TorchRL                         a batched `EnvBase`
`pufferlib`     PufferLib                       a native `PufferEnv`
`open_spiel`    OpenSpiel                       the games as OpenSpiel games
`jax`           JAX                             a step by `pure_callback`, for mctx
==============  ==============================  ===============================================================

Each module's docstring has the shortest complete script. Without the extra, importing one raises an ImportError that says
how to install it.
"""
