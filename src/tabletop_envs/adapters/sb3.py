"""Stable-Baselines3 and sb3-contrib: a `VecEnv` on the batch engine, a learner against opponents.

The shortest complete script::

    from sb3_contrib import MaskablePPO
    from tabletop_envs.adapters import sb3

    env = sb3.make_vec_env("kirche-v0", num_envs=64, opponents="random", seed=1, num_houses=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=128, batch_size=1024, verbose=1)
    model.learn(100_000)

MaskablePPO finds the masks by itself. What ignores them loses by its first illegal action: the
algorithms of plain Stable-Baselines3, but also its `evaluate_policy` and `EvalCallback`, which call
MaskablePPO without masks and report −1.0 ± 0.0. Take `evaluate_policy` of
`sb3_contrib.common.maskable.evaluation` and `MaskableEvalCallback` of
`sb3_contrib.common.maskable.callbacks`. The environment warns at the first game that is lost so.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from tabletop_envs import checks
from tabletop_envs.adapters.masks import IllegalActionWarning
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.envs.vector import TabletopVectorEnv
from tabletop_envs.extras import require
from tabletop_envs.game import Game

require("stable_baselines3", "sb3")

from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import VecEnv  # noqa: E402

__all__ = ["TabletopVecEnv", "make_vec_env"]

Indices = None | int | Iterable[int]
Infos = list[dict[str, Any]]
NUMBERS = ("score", "ply", "seat", "by_limit", "illegal_action")
ADVICE = (
    "Use MaskablePPO, and for evaluation sb3_contrib.common.maskable.evaluation.evaluate_policy or "
    "sb3_contrib.common.maskable.callbacks.MaskableEvalCallback."
)


def make_vec_env(
    game: Game | str,
    num_envs: int,
    opponents: OpponentsLike = "random",
    seat: int | None = None,
    seed: int | None = None,
    **options: Any,
) -> TabletopVecEnv:
    """`num_envs` games as a `VecEnv`.

    Args:
        game: The game, or its name or id.
        num_envs: How many games.
        opponents: Who plays the other seats: a name (`agents.naming` has all: `"greedy"`,
            `"mcts:200"`, `"mine.py:policy"`, `"runs/kirche/checkpoint.pt"`), a game agent, a
            callable `(observation, action_mask, rng) -> action`, or a list of `num_players − 1` of
            these.
        seat: The learner's player index, or None: drawn in every game.
        seed: A number `s` (game i gets `s + i`), for the first `reset`; None: fresh entropy.
        **options: `on_illegal`, `render_mode`, and the game's options.

    Raises:
        TypeError, ValueError: For an unknown game, or an unknown or impossible option, naming it
            and what it must be.
    """
    env = TabletopVectorEnv(
        game,
        num_envs,
        opponents=opponents,
        seat=seat,
        autoreset_mode=AutoresetMode.SAME_STEP,
        **options,
    )
    adapted = TabletopVecEnv(env)
    if seed is not None:
        adapted.seed(seed)
    return adapted


class TabletopVecEnv(VecEnv):
    """The games of a `TabletopVectorEnv` as Stable-Baselines3 wants them.

    Observations are `float32 (num_envs, L)`, rewards `float32 (num_envs,)`; the learner's losses
    are among them. A game that is over restarts in the same step; its `infos` entry then has

    - `terminal_observation` (`float32[L]`) and `TimeLimit.truncated`: False, since every end is a
      termination, one by `max_plies` included: nothing may be bootstrapped beyond it,
    - `episode`: the return `r`, the learner's steps `l` and the seconds `t` since the environment
      was made, as `Monitor` writes them, so that no monitor is needed and `ep_rew_mean` is logged,
    - `score` (the learner's), `ply`, `seat`, and the bools `by_limit` (`max_plies` ended it) and
      `illegal_action` (an illegal action of the learner did).

    The entries of running games are empty. `env_is_wrapped(Monitor)` is True, since evaluation asks
    for that. The lanes share their attributes: what is set for some of them must be set for all.

    Args:
        env: A vector environment with the autoreset mode `SAME_STEP` and `copy=True`.

    Raises:
        ValueError: For another mode, or for shared arrays.
    """

    actions: npt.NDArray[Any]

    def __init__(self, env: TabletopVectorEnv) -> None:
        if env.autoreset_mode != AutoresetMode.SAME_STEP or not env.copy:
            raise ValueError(
                "Stable-Baselines3 needs autoreset_mode=AutoresetMode.SAME_STEP and copy=True, "
                f"not autoreset_mode={env.autoreset_mode} and copy={env.copy}"
            )
        self.env = env
        self._masks: npt.NDArray[np.bool_] | None = None
        self._returns = np.zeros(env.num_envs, np.float64)
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._start = time.perf_counter()
        self._warn = IllegalActionWarning(ADVICE)
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    # Playing

    def reset(self) -> npt.NDArray[np.float32]:
        """Start new games in all lanes, with the seeds that `seed` has left."""
        seeds = None if all(seed is None for seed in self._seeds) else list(self._seeds)
        observation, info = self.env.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        self._masks = info["action_mask"].view(np.bool_)
        self._returns[:] = 0
        self._lengths[:] = 0
        numbers = {name: info[name].tolist() for name in NUMBERS}
        self.reset_infos = [
            {name: values[lane] for name, values in numbers.items()}
            for lane in range(self.num_envs)
        ]
        return observation

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next `reset`: game i gets `seed + i`; None draws by NumPy's global generator.

        Returns:
            The seeds. Games continue their streams from there, so one `seed` makes a whole training
            reproducible.
        """
        seeds: Sequence[int | None] = super().seed(
            None if seed is None else checks.seed("seed", seed)
        )
        return seeds

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take the learners' actions, integers `(num_envs,)`."""
        self.actions = actions

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.bool_], Infos]:
        """Play the actions and the opponents' replies; errors as in `TabletopVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(self.actions)
        self._masks = info["action_mask"].view(np.bool_)
        self._returns += rewards
        self._lengths += 1
        done = terminated | truncated
        infos: Infos = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(done)
        if ended.size:
            seconds = round(time.perf_counter() - self._start, 6)
            final = info["final_info"]
            self._warn(final["illegal_action"])
            for lane in ended.tolist():
                infos[lane] = {
                    "terminal_observation": info["final_obs"][lane],
                    "TimeLimit.truncated": bool(truncated[lane]),
                    "episode": {
                        "r": float(self._returns[lane]),
                        "l": int(self._lengths[lane]),
                        "t": seconds,
                    },
                    **{name: final[name][lane].item() for name in NUMBERS},
                }
            self._returns[ended] = 0
            self._lengths[ended] = 0
        return observation, rewards.astype(np.float32), done, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The learners' masks `bool (num_envs, n)`, of the observations returned last."""
        return self.env.action_masks() if self._masks is None else self._masks

    def close(self) -> None:
        """Release what rendering holds; any number of times."""
        self.env.close()

    # Rendering

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """The pictures of all lanes, without `render_mode="rgb_array"` a warning and Nones."""
        if self.render_mode != "rgb_array":
            warnings.warn(
                f"there are no pictures with render_mode={self.render_mode!r}: "
                "make the environment with 'rgb_array'",
                stacklevel=2,
            )
            return [None] * self.num_envs
        return list(self.env.render() or ())

    # Attributes and methods of the lanes

    def _of(self, attribute: str) -> Any:
        """An attribute of this environment's own (`action_masks`), or of the vector environment."""
        return self.action_masks if attribute == "action_masks" else getattr(self.env, attribute)

    def _lane(self, value: Any, lane: int) -> Any:
        # Arrays and tuples with an entry for each lane are the lanes' own.
        per_lane = isinstance(value, np.ndarray | tuple) and len(value) == self.num_envs
        return value[lane] if per_lane else value

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of the games in `indices` (all by default); methods are each game's own.

        AttributeError if there is none.
        """
        value = self._of(attr_name)
        if callable(value) and not isinstance(value, type):
            return [self._method(attr_name, lane) for lane in self._get_indices(indices)]
        return [self._lane(value, lane) for lane in self._get_indices(indices)]

    def _method(self, name: str, lane: int) -> Callable[..., Any]:
        def method(*args: Any, **kwargs: Any) -> Any:
            return self.env_method(name, *args, indices=lane, **kwargs)[0]

        return method

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute (`opponents` for instance) of all games.

        Raises:
            ValueError: Where `indices` leave games out, since the games share their attributes;
                nothing is set then.
        """
        if len(set(self._get_indices(indices))) != self.num_envs:
            raise ValueError(
                f"{attr_name} is shared by all {self.num_envs} games: "
                "it cannot be set for some of them only"
            )
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """What a method gives for each of the games in `indices`.

        `action_masks` and `render` give each game's own, `to_aec` is asked for each game; any other
        method is called once: its result is the same for all games.
        """
        lanes = list(self._get_indices(indices))
        method = self._of(method_name)
        if method_name == "to_aec":
            return [method(lane, *method_args, **method_kwargs) for lane in lanes]
        value = method(*method_args, **method_kwargs)
        return [self._lane(value, lane) for lane in lanes]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Whether the games are wrapped by a class: by none, but they do what `Monitor` does."""
        return [issubclass(Monitor, wrapper_class) for _ in self._get_indices(indices)]
