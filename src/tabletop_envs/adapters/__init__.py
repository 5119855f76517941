"""Adapters for training stacks, one file each, imported only on use; each needs an extra.

==============  ==============================  ===================================================
module          stack                           what it gives
==============  ==============================  ===================================================
`sb3`           Stable-Baselines3, sb3-contrib  a `VecEnv` on the batch engine, for MaskablePPO
`rllib`         RLlib, the new API stack        vector environments, a `MultiAgentEnv`
`tianshou`      Tianshou 2                      a vector environment, self-play with its buffer
`torchrl`       TorchRL                         a batched `EnvBase`
`pufferlib`     PufferLib                       a native `PufferEnv`
`open_spiel`    OpenSpiel                       the games as OpenSpiel games
`jax`           JAX                             a step by `pure_callback`, for mctx
==============  ==============================  ===================================================

Each module's docstring has the shortest complete script. Without the extra, importing one raises an
ImportError that says how to install it.
"""
