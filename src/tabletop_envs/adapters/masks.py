"""Masks where stacks look for them: in observations, and in what action spaces sample."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

__all__ = [
    "IllegalActionWarning",
    "LegalActions",
    "MaskInObservation",
    "MaskInObservations",
    "VectorLegalActions",
]


ADVICE = "Choose by the mask."


class IllegalActionWarning:
    """Warns once that an illegal action has lost a game, as policies without masks lose nearly all.

    Args:
        advice: What to do about it in this stack.
    """

    def __init__(self, advice: str = ADVICE) -> None:
        self._message = (
            "an illegal action has lost a game, as infos say by `illegal_action`: "
            f"a policy that ignores masks loses nearly all games so. {advice}"
        )
        self._given = False

    def __call__(self, illegal: Any) -> None:
        """Warn if something in `illegal` (a bool or an array of them) is True, the first time."""
        if not self._given and np.any(illegal):
            self._given = True
            warnings.warn(self._message, stacklevel=3)


class LegalActions(spaces.Discrete):
    """`Discrete(n)` whose samples are legal at present.

    Some stacks try an environment out, or explore at random, by sampling without a mask.

    Args:
        num_actions: n.
        action_mask: Gives the present mask, `int8[n]`.
    """

    def __init__(self, num_actions: int, action_mask: Callable[[], npt.NDArray[np.int8]]) -> None:
        super().__init__(num_actions)
        self._action_mask = action_mask

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """A legal action, uniformly; with `mask` or `probability` as `Discrete.sample`."""
        if mask is None and probability is None:
            mask = self._action_mask()
        return super().sample(mask=mask, probability=probability)

    def __reduce__(self) -> Any:
        # Copies go into saved models, which need no environment.
        return spaces.Discrete, (int(self.n),)


class VectorLegalActions(spaces.MultiDiscrete):
    """The actions of N environments, whose samples are legal at present.

    Args:
        num_actions: n, of each environment.
        action_masks: Gives the present masks `bool (N, n)`.
    """

    def __init__(
        self, num_envs: int, num_actions: int, action_masks: Callable[[], npt.NDArray[np.bool_]]
    ) -> None:
        super().__init__(np.full(num_envs, num_actions))
        self._action_masks = action_masks

    def sample(self, mask: Any = None, probability: Any = None) -> npt.NDArray[np.int64]:
        """As `LegalActions.sample`, for each environment."""
        if mask is None and probability is None:
            mask = tuple(self._action_masks().astype(np.int8))
        return super().sample(mask=mask, probability=probability)

    def __reduce__(self) -> Any:
        return spaces.MultiDiscrete, (self.nvec,)


class _MovesMask:
    """What the two wrappers share: the mask is moved from `info` into the observation."""

    env: Any

    def _prepare(self, observation: Any, actions: Any, keys: tuple[str, str], advice: str) -> Any:
        """The space of one environment's observations with their masks, under the two keys."""
        self.keys = keys
        self._warn = IllegalActionWarning(advice)
        mask = spaces.Box(0, 1, (int(actions.n),), np.int8)
        return spaces.Dict(dict(zip(keys, (observation, mask), strict=True)))

    def _move(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        info.pop("_action_mask", None)
        return dict(zip(self.keys, (observation, info.pop("action_mask")), strict=True)), info

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """See the environment's `reset`."""
        return self._move(*self.env.reset(seed=seed, options=options))

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """See the environment's `step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._warn(info["illegal_action"])
        observation, info = self._move(observation, info)
        return observation, reward, terminated, truncated, info


class MaskInObservation(_MovesMask, gymnasium.Wrapper[Any, Any, Any, Any]):
    """One environment with observations `{observation_key: float32[L], mask_key: int8[n]}`.

    `info` keeps the other keys. `advice`: what to do about illegal actions
    (`IllegalActionWarning`).
    """

    def __init__(self, env: Any, observation_key: str, mask_key: str, advice: str = ADVICE) -> None:
        super().__init__(env)
        keys = (observation_key, mask_key)
        self.observation_space = self._prepare(
            env.observation_space, env.action_space, keys, advice
        )


class MaskInObservations(_MovesMask, gymnasium.vector.VectorWrapper):
    """N environments with observations `{observation_key: float32 (N, L), mask_key: int8 (N, n)}`.

    For the autoreset modes that give one observation a step: not `SAME_STEP`. Samples of
    `action_space` are legal. `advice`: what to do about illegal actions (`IllegalActionWarning`).
    """

    def __init__(self, env: Any, observation_key: str, mask_key: str, advice: str = ADVICE) -> None:
        super().__init__(env)
        num_actions = int(env.single_action_space.n)
        self.action_space = VectorLegalActions(env.num_envs, num_actions, env.action_masks)
        keys = (observation_key, mask_key)
        self.single_observation_space = self._prepare(
            env.single_observation_space, env.single_action_space, keys, advice
        )
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
