"""How an AEC environment shows itself: as text, SVG, pixels and in a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger

from tabletop_envs import checks
from tabletop_envs.game import Game, Snapshot, State

if TYPE_CHECKING:
    from tabletop_envs.render.window import Window

RENDER_MODES = ("ansi", "rgb_array", "human")
# The longer side of `rgb_array` and of the window.
PIXELS = 640


def require_render_mode(render_mode: Any) -> None:
    """Raise TypeError or ValueError for what is neither a render mode nor None."""
    checks.choice("render_mode", render_mode, (*RENDER_MODES, None))


def draws_pictures(render_mode: Any) -> bool:
    """Whether a render mode draws pictures, which mark the last action; errors as above."""
    require_render_mode(render_mode)
    return render_mode in ("rgb_array", "human")


class Drawing:
    """The part of `TabletopEnv` that draws. Nothing here changes a game, and graphics are imported
    only on use.
    """

    game: Game
    options: dict[str, Any]
    metadata: dict[str, Any]
    render_mode: str | None
    # The bytes of the state before the last action, for drawings that show what it changed.
    _before: bytes | None
    _window: Window | None
    _states: State
    _started: bool

    if TYPE_CHECKING:
        # What the environment has and drawings need.
        @property
        def _over(self) -> bool: ...
        def _player(self, agent: str) -> int: ...
        def _require_started(self) -> None: ...
        def action_mask(self, agent: str | None = None) -> npt.NDArray[np.int8]: ...
        def snapshot(self) -> Snapshot: ...

    def render(
        self,
        viewer: str | None = None,
        colour: bool = False,
        *,
        theme: str = "light",
        size: int = PIXELS,
    ) -> str | npt.NDArray[np.uint8] | None:
        """The position as `render_mode` says: a text, pixels, or None once the window shows it.

        Without a render mode a warning and None.

        Args:
            viewer: The agent for whose eyes it is; None: a spectator, who sees everything.
            colour: Whether a text has the terminal's colours.
            theme: `"light"` or `"dark"`, for pixels and the window.
            size: The longer side of pixels and window.

        Raises:
            TypeError, ValueError: For an unknown agent or theme, an invalid size, and for pixels
                and the window of a game that has no drawing but its text.
            ImportError: For pixels and the window without the extra `render`.
            RuntimeError: For the window where there is no display.
        """
        player = None if viewer is None else self._player(viewer)
        colour = checks.boolean("colour", colour)
        self._require_started()
        if self.render_mode is None:
            logger.warn("render() was called without a render_mode: make the environment with one")
            return None
        if self.render_mode == "ansi":
            return self.game.text(self.snapshot(), player, colour)
        from tabletop_envs.render import svg
        from tabletop_envs.render.pixels import rasterise

        if not svg.has_drawing(self.game):
            raise ValueError(
                f"render_mode must be 'ansi' or None: {self.game.name} has no drawing for "
                f"{self.render_mode!r}, only its text"
            )
        pixels = rasterise(self._draw(viewer, theme, size, fields=False))
        if self.render_mode == "rgb_array":
            return pixels
        if self._window is None:
            from tabletop_envs.render.window import Window

            self._window = Window(self.game.name)
        self._window.show(pixels, self.metadata["render_fps"])
        return None

    def svg(
        self,
        viewer: str | None = None,
        theme: str = "light",
        size: float | None = None,
        legal: bool = False,
        last_action: bool = True,
    ) -> str:
        """The position as an SVG document (`tabletop_envs.render.svg` says what is in it), whatever
        the render mode.

        Args:
            viewer: The agent for whose eyes it is; None: a spectator, who sees everything.
            theme: `"light"` or `"dark"`.
            size: The longer side in pixels; None: 48 for a field.
            legal: Whether the legal actions are marked.
            last_action: Whether what the last action has changed is marked.

        Raises:
            TypeError, ValueError: For an unknown agent or theme, or an invalid size.
            ImportError: Without the extra `render`.
        """
        return self._draw(viewer, theme, size, legal=legal, last_action=last_action)

    def _draw(
        self,
        viewer: str | None,
        theme: str,
        size: float | None,
        *,
        legal: bool = False,
        last_action: bool = True,
        fields: bool = True,
    ) -> str:
        player = None if viewer is None else self._player(viewer)
        legal = checks.boolean("legal", legal)
        last_action = checks.boolean("last_action", last_action)
        self._require_started()
        from tabletop_envs.render import svg

        if not svg.has_drawing(self.game):
            text = self.game.text(self.snapshot(), player, False)
            return svg.draw_text(self.game.name, text, theme, size)
        previous = None
        if last_action and self._before is not None:
            states = np.frombuffer(self._before, self._states.dtype)
            previous = self.game.snapshot(states, self.options)
        return svg.draw(
            self.snapshot(),
            viewer=player,
            theme=theme,
            size=size,
            legal=np.flatnonzero(self.action_mask()).tolist() if legal and not self._over else (),
            previous=previous,
            fields=fields,
        )

    def _repr_svg_(self) -> str | None:
        """The drawing that notebooks show; None before the first `reset` and without the extra
        `render`.
        """
        try:
            return self.svg() if self._started else None
        except ImportError:
            return None

    def close(self) -> None:
        """Release what rendering holds; any number of times."""
        if self._window is not None:
            self._window.close()
