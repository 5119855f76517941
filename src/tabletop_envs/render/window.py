"""A window on the screen that shows drawings (pygame-ce); several can be open at once."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabletop_envs.extras import require


class Window:
    """A window that opens with the first picture.

    Once its user has closed it, it stays closed until `close`.

    Copies and pickles of a window are windows not opened yet.

    Args:
        title: What stands above it.
    """

    _open: ClassVar[dict[int, Window]] = {}

    def __init__(self, title: str) -> None:
        self.title = title
        self._window: Any = None
        self._dismissed = False
        self._next = 0.0

    def __reduce__(self) -> tuple[type[Window], tuple[str]]:
        return Window, (self.title,)

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self._window is not None

    def show(self, pixels: npt.NDArray[np.uint8], fps: float) -> None:
        """Show a picture `uint8[height, width, 3]`, at least 1/`fps` seconds after the last.

        Raises:
            ImportError: Without pygame-ce (extra `render`).
            RuntimeError: Where there is no display.
        """
        if self._dismissed:
            return
        pygame = _pygame()
        height, width, _ = pixels.shape
        if self._window is None:
            self._window = _open_window(pygame, self.title, (width, height))
            Window._open[self._window.id] = self
        self._wait(pygame)
        if self._window is None:
            return
        surface = pygame.image.frombuffer(pixels.tobytes(), (width, height), "RGB")
        self._window.get_surface().blit(surface, (0, 0))
        self._window.flip()
        self._next = time.monotonic() + 1 / fps
        _pump(pygame)

    def _wait(self, pygame: Any) -> None:
        """Let time pass until the next picture is due, while the window answers its user."""
        _pump(pygame)
        while self._window is not None and (left := self._next - time.monotonic()) > 0:
            time.sleep(min(left, 0.03))
            _pump(pygame)

    def _dismiss(self) -> None:
        self.close()
        self._dismissed = True

    def close(self) -> None:
        """Take it off the screen and free what it holds; any number of times."""
        window, self._window = self._window, None
        self._dismissed = False
        self._next = 0.0
        if window is None:
            return
        Window._open.pop(window.id, None)
        window.destroy()
        if not Window._open:
            _pygame().display.quit()


def _pygame() -> Any:
    pygame = require("pygame", "render")
    if not hasattr(pygame, "Window"):
        raise ImportError(
            "this needs pygame-ce, but pygame is installed, which has no windows of its own: "
            'pip uninstall pygame, then pip install "tabletop-envs[render]"'
        )
    return pygame


def _open_window(pygame: Any, title: str, size: tuple[int, int]) -> Any:
    try:
        pygame.display.init()
        driver = pygame.display.get_driver()
        if driver == "offscreen":
            # SDL's last resort, which shows nothing on a screen.
            pygame.display.quit()
            raise pygame.error("SDL found only its offscreen driver")
        return pygame.Window(title, size)
    except pygame.error as error:
        raise RuntimeError(
            'render_mode="human" needs a display to open a window on, and there is none '
            f'({error}): use render_mode="rgb_array" or svg()'
        ) from error


def _pump(pygame: Any) -> None:
    """Answer what has happened to any of the windows."""
    for event in pygame.event.get((pygame.WINDOWCLOSE, pygame.QUIT)):
        if event.type == pygame.QUIT:
            closed = list(Window._open.values())
        else:
            identity = getattr(event.window, "id", None)
            closed = [window for key, window in Window._open.items() if key == identity]
        for window in closed:
            window._dismiss()
        if not Window._open:
            return
    pygame.event.clear()
