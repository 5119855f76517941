"""The Gymnasium vector environment of every game: many learners against opponents, stepped in
compiled loops.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error, logger
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tabletop_envs import checks
from tabletop_envs.checks import INT64_MAX
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.board import Board
from tabletop_envs.envs.drawing import RENDER_MODES, draws_pictures
from tabletop_envs.envs.learner import LearnerView, OpponentLanes, positions_of
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.game import Game, lane_seeds
from tabletop_envs.kernels import BY_LIMIT
from tabletop_envs.lanes import Indices
from tabletop_envs.threads import Turn, one_at_a_time

__all__ = ["TabletopVectorEnv"]

Observation = npt.NDArray[np.float32]
Info = dict[str, Any]
_NO_LANES = np.zeros(0, np.int64)


class TabletopVectorEnv(
    LearnerView, VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]
):
    """`num_envs` Gymnasium environments of one game (`TabletopGymEnv`), stepped together in
    compiled loops.

    Made by `gymnasium.make_vec("tabletop_envs/Kirche-v0", num_envs=…, …)`. Lane i after
    `reset(seed=s)` plays what the single environment plays after `reset(seed=s + i)`, and what the
    environments in a `SyncVectorEnv` play.

    Args:
        game: The game, or its name or id (the registry gives it).
        num_envs: How many lanes.
        opponents, seat, render_mode, on_illegal: As of the single environment. Only callables among
            the opponents are called lane by lane.
        autoreset_mode: What happens to a game that is over (`gymnasium.vector.AutoresetMode`, or
            its value). `NEXT_STEP`: the lane's next step ignores its action and starts a new game,
            with the reward 0. `SAME_STEP`: a new game starts in the same step; the last observation
            and info are in `info["final_obs"]` and `info["final_info"]`. `DISABLED`: the user
            resets, by `reset(options={"reset_mask": bool[num_envs]})`.
        copy: Whether observations and masks are fresh arrays at every call; False: the same ones,
            overwritten, which saves their allocation.
        max_episode_steps: After so many of a learner's steps its episode is truncated, as the
            wrapper `TimeLimit` of `gymnasium.make` does it: `truncated` is True, whether the game
            is over or not. None or −1: no limit.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown or invalid argument or option, naming it and what is
            allowed.

    Observations are `float32 (num_envs, L)`. `info` has `action_mask` (`int8 (num_envs, n)`),
    always valid for the returned observations, all ones where a game is over; `score`, `ply` and
    `seat` (`int64 (num_envs,)`); `by_limit` and `illegal_action` (`bool (num_envs,)`), as of the
    single environment; and for each the array `_action_mask`, … that tells who has it: every lane.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        opponents: OpponentsLike = "random",
        seat: int | None = None,
        render_mode: str | None = None,
        on_illegal: str = "lose",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        max_episode_steps: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.num_envs = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
        if not isinstance(autoreset_mode, AutoresetMode):
            modes = [mode.value for mode in AutoresetMode]
            autoreset_mode = AutoresetMode(checks.choice("autoreset_mode", autoreset_mode, modes))
        self.autoreset_mode = autoreset_mode
        self.copy = checks.boolean("copy", copy)
        self._max_steps = INT64_MAX
        # Gymnasium's registry has −1 for none.
        unlimited = isinstance(max_episode_steps, int) and max_episode_steps == -1
        if max_episode_steps is not None and not unlimited:
            self._max_steps = checks.integer("max_episode_steps", max_episode_steps, 1, INT64_MAX)
        self._steps = np.zeros(self.num_envs, np.int64)
        self._lanes = OpponentLanes(
            game,
            self.num_envs,
            options,
            opponents=opponents,
            seat=seat,
            on_illegal=on_illegal,
            remember=draws_pictures(render_mode) or self.num_envs == 1,
        )
        self._board = Board(self._lanes, render_mode)
        self.game = self._lanes.game
        self.render_mode = render_mode
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": 2,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space, self.single_action_space = self._lanes.spaces()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._turn = Turn()
        self._buffers: tuple[Observation, npt.NDArray[np.int8]] | None = None

    @one_at_a_time
    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Start new games in all lanes, or in those of `options["reset_mask"]` (bool, one a lane,
        at least one True).

        Args:
            seed: A number `s` (lane i gets `s + i`, modulo 2^64), one for each lane (None: the
                lane's streams continue), or None.
            options: `reset_mask`, and `positions`, a list of snapshots of running games with this
                environment's options: from then on every new game, automatic resets included,
                starts from one of them, drawn from the lane's own stream (`BatchEnv.reset` says
                more). A `reset_mask` alone leaves the list as it is, as an automatic reset does; a
                reset without either goes back to the start of the rules. Nothing else has a meaning
                here.

        Raises:
            TypeError, ValueError: For an invalid seed, mask or position (naming its place in the
                list and the field), with nothing changed; and where the learner's turn never comes,
                because `max_plies` is too small or the positions too near to the end.
        """
        lanes = self._parse_reset_mask(options)
        positions = positions_of(options)
        starts = self._lanes.starts
        if positions is not None or not (options and "reset_mask" in options):
            starts = self._lanes.parse_starts(positions)
        if seed is None and not self._lanes.started.any():
            # So that `np_random_seed` tells how to play this again.
            seed = secrets.randbits(64)
        seeded, seeds = _parse_seeds(seed, self.num_envs)
        if seed is not None and np.ndim(seed) == 0:
            super().reset(seed=int(seed))
        # All lanes are shown, so all must have a game.
        unstarted = np.flatnonzero(~self._lanes.started)
        chosen = np.isin(seeded, lanes)
        with self._lanes.rollback_on_error():
            self._lanes.start_from(starts)
            self._lanes.seed(seeded[chosen], seeds[chosen])
            starting = np.union1d(lanes, unstarted)
            self._lanes.start(starting)
            self._steps[starting] = 0
        return self._show()

    def _parse_reset_mask(self, options: dict[str, Any] | None) -> Indices:
        if options is None or "reset_mask" not in checks.mapping("options", options):
            return self._lanes.all_lanes
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(
                f"options['reset_mask']={checks.shown(mask)} must be a NumPy array of bool"
            )
        if mask.shape != (self.num_envs,):
            raise ValueError(
                f"options['reset_mask'] has the shape {mask.shape}, not ({self.num_envs},)"
            )
        if not mask.any():
            raise ValueError("options['reset_mask'] chooses no lane: at least one must be True")
        return np.flatnonzero(mask)

    @one_at_a_time
    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[
        Observation,
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        Info,
    ]:
        """Play every learner's action (integers `(num_envs,)`) and the opponents' replies.

        Raises:
            gymnasium.error.ResetNeeded: Before the first `reset`; with `DISABLED` where a lane's
                episode has ended.
            TypeError: Where the actions are not integers.
            ValueError: For a wrong shape, for an action outside the action space, with
                `on_illegal="raise"` for an illegal one, naming the lane, and for an illegal answer
                of an opponent. No game has changed then.
        """
        lanes = self._lanes
        if not lanes.started.all():
            raise error.ResetNeeded("there are no games to step in: call reset() first")
        over = lanes.over() | (self._steps >= self._max_steps)
        playing, resetting = lanes.all_lanes, _NO_LANES
        if over.any():
            if self.autoreset_mode != AutoresetMode.NEXT_STEP:
                raise error.ResetNeeded(
                    f"the games of lanes {np.flatnonzero(over).tolist()} are over: "
                    "call reset(options={'reset_mask': …}) first"
                )
            playing, resetting = np.flatnonzero(~over), np.flatnonzero(over)
        numbers = self._parse_actions(actions, playing)
        final: Info = {}
        steps = self._steps.copy()
        steps[playing] += 1
        steps[resetting] = 0
        truncated = steps >= self._max_steps
        with lanes.rollback_on_error():
            lanes.step(playing, numbers)
            if resetting.size:
                lanes.start(resetting)
            rewards = lanes.seat_rewards()
            terminated = lanes.over()
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                ended = np.flatnonzero(terminated | truncated)
                if ended.size:
                    final = self._final(ended)
                    lanes.start(ended)
                    steps[ended] = 0
        self._steps = steps
        observation, info = self._show()
        return observation, rewards, terminated, truncated, {**final, **info}

    def _parse_actions(self, actions: npt.ArrayLike, playing: Indices) -> npt.NDArray[np.int64]:
        array = checks.integers("actions", actions, (self.num_envs,))
        last = self._lanes.num_actions - 1
        outside = playing[(array[playing] < 0) | (array[playing] > last)]
        if outside.size:
            lane = int(outside[0])
            raise ValueError(
                f"lane {lane}: action {array[lane]} is outside the action space 0 … {last}"
            )
        return array

    # Showing

    def _show(self) -> tuple[Observation, Info]:
        lanes = self._lanes
        observation, mask = lanes.observe(out=self._buffers)
        self._buffers = None if self.copy else (observation, mask)
        if self.render_mode == "human":
            self.render()
        # Views: making one read-only does not keep the next step from writing.
        return observation.view(), self._info(lanes.all_lanes, mask.view())

    def _info(self, of: Indices, mask: npt.NDArray[np.int8]) -> Info:
        """The info of the lanes in `of`; `mask` has a row for every lane."""
        has = np.zeros(self.num_envs, np.bool_)
        has[of] = True
        lanes, info = self._lanes, {"action_mask": mask, "_action_mask": has}
        numbers = {
            "score": lanes.seat_scores(),
            "ply": lanes.states["ply"].astype(np.int64),
            "seat": lanes.seats.copy(),
            "by_limit": lanes.states["status"] == BY_LIMIT,
            "illegal_action": lanes.offended.copy(),
        }
        for name, array in numbers.items():
            array[~has] = 0
            info |= {name: array, f"_{name}": has.copy()}
        return info

    def _final(self, ended: Indices) -> Info:
        """`final_obs` and `final_info` of the lanes whose games have just ended, as Gymnasium lays
        them out.
        """
        observations, masks = self._lanes.observe(ended)
        final_obs = np.full(self.num_envs, None, object)
        for lane, observation in zip(ended.tolist(), observations, strict=True):
            final_obs[lane] = observation
        mask = np.zeros((self.num_envs, self._lanes.num_actions), np.int8)
        mask[ended] = masks
        has = np.zeros(self.num_envs, np.bool_)
        has[ended] = True
        return {
            "final_obs": final_obs,
            "_final_obs": has,
            "final_info": self._info(ended, mask),
            "_final_info": has.copy(),
        }

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The learners' masks `bool (num_envs, n)`; all ones where a game is over."""
        if not self._lanes.started.all():
            raise error.ResetNeeded("there are no games yet: call reset() first")
        _, mask = self._lanes.observe()
        return mask.astype(np.bool_)

    def legal_actions(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The learners' legal actions as lists (`BatchEnv.legal_actions`); a lane whose game is
        over has none.
        """
        if not self._lanes.started.all():
            raise error.ResetNeeded("there are no games yet: call reset() first")
        return self._lanes.legal_lists()

    def to_aec(self, lane: int) -> TabletopEnv:
        """A lane's game as an AEC environment of its own, for snapshots, names of actions and
        search.

        TypeError or ValueError for what is no lane; a negative one counts from the end.
        """
        lane = checks.integer("lane", lane, -self.num_envs, self.num_envs - 1)
        return self._board.to_aec(lane % self.num_envs)

    def render(self) -> tuple[Any, ...] | None:
        """What the single environment's `render` gives, for every lane; with `"human"` the window
        shows lane 0.
        """
        if self.render_mode is None:
            logger.warn("render() was called without a render_mode: make the environment with one")
            return None
        return self._board.render_all()

    # What `SyncVectorEnv` offers for its single environments

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute of this environment, or the result of a method, lane by lane.

        An array or tuple with an entry for every lane (`action_masks`, `render`) gives these;
        anything else is the same for all lanes.
        """
        value = getattr(self, name)
        if callable(value):
            value = value(*args, **kwargs)
        if isinstance(value, np.ndarray | tuple) and len(value) == self.num_envs:
            return tuple(value)
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute, lane by lane (`call`)."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute for all lanes: a value, or a list of the same one for each lane.

        ValueError for a list with different values: the lanes share their attributes.
        """
        if isinstance(values, list | tuple):
            if len(values) != self.num_envs or any(value != values[0] for value in values):
                raise ValueError(
                    f"{name} is shared by all lanes: give one value, or a list of "
                    f"{self.num_envs} equal ones"
                )
            values = values[0]
        setattr(self, name, values)

    def close_extras(self, **_: Any) -> None:
        """Release what rendering holds."""
        # Gymnasium 1.2 also closes what its constructor has not finished.
        if hasattr(self, "_board"):
            self._board.close()


def _parse_seeds(seed: Any, num_lanes: int) -> tuple[Indices, npt.NDArray[np.uint64]]:
    """Which lanes get which seeds: `s` gives lane i `s + i` (modulo 2^64), a list one each (None:
    the lane's streams continue).

    TypeError or ValueError for an invalid seed.
    """
    if seed is None:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    listed = checks.seed_list(seed, num_lanes)
    if listed is None:
        return np.arange(num_lanes), lane_seeds(seed, num_lanes)
    seeds = {
        lane: checks.seed(f"seed[{lane}]", one)
        for lane, one in enumerate(listed)
        if one is not None
    }
    return np.array(list(seeds), np.int64), np.array(list(seeds.values()), np.uint64)
