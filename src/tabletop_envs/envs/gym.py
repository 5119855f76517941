"""The Gymnasium environment of every game: one learner against opponents."""

from __future__ import annotations

import secrets
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import error, logger

from tabletop_envs import checks
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.board import Board
from tabletop_envs.envs.drawing import RENDER_MODES
from tabletop_envs.envs.learner import LearnerView, OpponentLanes, positions_of
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.game import Game
from tabletop_envs.kernels import BY_LIMIT, RUNNING
from tabletop_envs.threads import Turn, one_at_a_time

__all__ = ["TabletopGymEnv"]

Observation = npt.NDArray[np.float32]


class TabletopGymEnv(LearnerView, gymnasium.Env[Observation, int]):
    """A game as a Gymnasium environment: the learner plays one seat, opponents play the others.

    Made by `gymnasium.make("tabletop_envs/Kirche-v0", …)`; the game's module
    (`tabletop_envs.kirche_v0`) has the manual.

    A step is the learner's action and all that the opponents play until the learner is to move
    again. The reward is the learner's, zero before the end; where an opponent ends the game it
    arrives on the learner's last step.

    Args:
        game: The game, or its name or id (the registry gives it).
        opponents: Who plays the other seats: a name (`agents.naming` has all: `"greedy"`,
            `"mcts:200"`, `"mine.py:policy"`, `"runs/kirche/checkpoint.pt"`), a game agent
            (`agents.GameAgent`), a callable `(observation, action_mask, rng) -> action`, or a list
            of `num_players − 1` of these, in turn order after the learner. `opponents` may be
            written at any time.
        seat: The learner's player index, or None: drawn at every reset.
        render_mode: None or one of `metadata["render_modes"]`.
        on_illegal: What an illegal action of the learner does. `"lose"`: the game ends with the
            reward −1. `"raise"`: `ValueError`, nothing is changed. An illegal action of an opponent
            always raises.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown or invalid argument or option, naming it and what is
            allowed.

    Observations are `float32[L]` in fresh arrays, seen from the learner's seat. `info` has the
    numbers `score` (the learner's), `ply` and `seat`, the bools `by_limit` (whether `max_plies` has
    ended the game) and `illegal_action` (whether an illegal action of the learner has), and
    `action_mask` (`int8[n]`, all ones once the game is over). Every end of a game is a termination;
    `truncated` is for limits from outside, such as `TimeLimit`. What is not an action at all (a
    number outside the action space, `3.5`, None) raises `ValueError` whatever `on_illegal` says.

    >>> import gymnasium, tabletop_envs
    >>> env = gymnasium.make("tabletop_envs/Kirche-v0", opponents="random", num_houses=1)
    >>> observation, info = env.reset(seed=1)
    >>> over = False
    >>> while not over:
    ...     action = env.action_space.sample(info["action_mask"])
    ...     observation, reward, terminated, truncated, info = env.step(action)
    ...     over = terminated or truncated
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        game: Game | str,
        *,
        opponents: OpponentsLike = "random",
        seat: int | None = None,
        render_mode: str | None = None,
        on_illegal: str = "lose",
        **options: Any,
    ) -> None:
        self._lanes = OpponentLanes(
            game,
            1,
            options,
            opponents=opponents,
            seat=seat,
            on_illegal=on_illegal,
            remember=True,
        )
        self._board = Board(self._lanes, render_mode)
        self.game = self._lanes.game
        # Not the class's own: vector environments write into it.
        self.metadata = {**self.metadata, "render_modes": list(RENDER_MODES)}
        self.render_mode = render_mode
        self.observation_space, self.action_space = self._lanes.spaces()
        self._actions = np.zeros(1, np.int64)
        self._turn = Turn()

    @one_at_a_time
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game and play on to the learner's first turn.

        With a `seed` (0 … 2^64 − 1) everything that follows is reproducible, opponents and seats
        included; without one, the streams continue (at the first reset: from fresh entropy,
        `np_random_seed`).

        Args:
            seed: As above.
            options: `positions`, a list of snapshots of running games with this environment's
                options: the game starts from one of them, drawn from the stream of the seed
                (`BatchEnv.reset` says more). The next reset without them starts as the rules say. A
                list is checked at every reset. Nothing else has a meaning here: a game's options
                belong to the constructor.

        Raises:
            TypeError, ValueError: For an invalid seed or position (naming its place in the list and
                the field), with nothing changed; and where the learner's turn never comes, because
                `max_plies` is too small or the positions too near to the end.
        """
        if seed is not None:
            seed = checks.seed("seed", seed)
        elif not self._lanes.started[0]:
            # So that `np_random_seed` tells how to play this again.
            seed = secrets.randbits(64)
        lanes = self._lanes
        starts = lanes.parse_starts(positions_of(options))
        super().reset(seed=seed)
        with lanes.rollback_on_error():
            lanes.start_from(starts)
            if seed is not None:
                lanes.seed(lanes.all_lanes, np.array([seed], np.uint64))
            lanes.start(lanes.all_lanes)
        return self._show()

    @one_at_a_time
    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play the learner's action and the opponents' replies.

        Raises:
            gymnasium.error.ResetNeeded: Before the first `reset`, and after the game's end.
            ValueError: For what is no action of the action space; with `on_illegal="raise"` for an
                illegal one; and for an illegal answer of an opponent. The game is as it was then.
        """
        lanes = self._lanes
        status = lanes.states["status"]
        if status[0] != RUNNING:
            raise error.ResetNeeded("there is no game to step in: call reset() first")
        self._actions[0] = checks.action(action, lanes.num_actions)
        with lanes.rollback_on_error():
            lanes.step(lanes.all_lanes, self._actions)
        observation, info = self._show()
        reward = float(lanes.rewards[0, info["seat"]])
        return observation, reward, bool(status[0] != RUNNING), False, info

    def _show(self) -> tuple[Observation, dict[str, Any]]:
        lanes = self._lanes
        observation, mask = lanes.observe()
        state, seat = lanes.states[0], int(lanes.seats[0])
        info = {
            "action_mask": mask[0],
            "score": int(state["scores"][seat]),
            "ply": int(state["ply"]),
            "seat": seat,
            "by_limit": bool(state["status"] == BY_LIMIT),
            "illegal_action": bool(lanes.offended[0]),
        }
        if self.render_mode == "human":
            self.render()
        return observation[0], info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The mask `bool[n]` of the learner (the name that MaskablePPO looks for); all ones once
        the game is over.
        """
        if not self._lanes.started[0]:
            raise error.ResetNeeded("there is no game yet: call reset() first")
        _, mask = self._lanes.observe()
        masks: npt.NDArray[np.bool_] = mask[0].astype(np.bool_)
        return masks

    def legal_actions(self) -> npt.NDArray[np.int32]:
        """The learner's legal actions `int32[K]`, ascending; none once the game is over."""
        if not self._lanes.started[0]:
            raise error.ResetNeeded("there is no game yet: call reset() first")
        actions, _ = self._lanes.legal_lists()
        return actions

    def to_aec(self) -> TabletopEnv:
        """The game as an AEC environment of its own, for snapshots, names of actions and search."""
        return self._board.to_aec(0)

    def render(self) -> Any:
        """The position as a spectator sees it, as the AEC environment's `render` gives it; None
        without a mode.
        """
        if self.render_mode is None:
            logger.warn("render() was called without a render_mode: make the environment with one")
            return None
        return self._board.render(0)

    def svg(self, **arguments: Any) -> str:
        """The position as an SVG document: arguments and errors are those of `TabletopEnv.svg`."""
        return self.to_aec().svg(**arguments)

    def _repr_svg_(self) -> str | None:
        """The drawing that notebooks show; None before the first `reset` and without the extra
        `render`.
        """
        return self.to_aec()._repr_svg_() if self._lanes.started[0] else None

    def close(self) -> None:
        """Release what rendering holds; any number of times."""
        self._board.close()
