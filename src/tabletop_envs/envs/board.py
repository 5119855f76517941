"""The games of lanes as AEC environments, and drawn."""

from __future__ import annotations

from typing import Any

from gymnasium import error

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.lanes import Lanes


class Board:
    """Shows lanes' games as AEC environments; draws them on one of its own.

    Args:
        lanes: The games.
        render_mode: None or one of `drawing.RENDER_MODES`, of all its environments.

    Raises:
        TypeError, ValueError: For an invalid render mode.
    """

    def __init__(self, lanes: Lanes, render_mode: str | None) -> None:
        self.lanes = lanes
        self.render_mode = render_mode
        # The one that draws; making it checks the render mode.
        self._env: TabletopEnv | None = self._new_env()

    def _new_env(self) -> TabletopEnv:
        options: dict[str, Any] = {**self.lanes.options}
        return TabletopEnv(
            self.lanes.game,
            render_mode=self.render_mode,
            on_illegal=self.lanes.on_illegal,
            **options,
        )

    def to_aec(self, lane: int, env: TabletopEnv | None = None) -> TabletopEnv:
        """A lane's game as an AEC environment of its own, or shown by `env`.

        gymnasium.error.ResetNeeded where there is no game yet.
        """
        lanes = self.lanes
        if not lanes.started[lane]:
            raise error.ResetNeeded("there is no game yet: call reset() first")
        env = self._new_env() if env is None else env
        env.put(
            lanes.states[lane : lane + 1],
            offender=int(lanes.states["to_move"][lane]) if lanes.offended[lane] else None,
            before=None if lanes.before is None else lanes.before[lane].tobytes(),
        )
        return env

    def render(self, lane: int) -> Any:
        """What the AEC environment's `render` gives for a lane's game."""
        self._env = self.to_aec(lane, self._env)
        return self._env.render()

    def render_all(self) -> tuple[Any, ...] | None:
        """`render` for every lane; with `"human"` None, and the window shows lane 0."""
        if self.render_mode == "human":
            self.render(0)
            return None
        return tuple(self.render(lane) for lane in range(self.lanes.num_lanes))

    def close(self) -> None:
        """Release what rendering holds; any number of times."""
        if self._env is not None:
            self._env.close()

    def __getstate__(self) -> dict[str, Any]:
        # Copies draw in a window of their own.
        return {**self.__dict__, "_env": None}
