"""The colours of drawings, in a light and a dark theme.

Players' colours are those of Okabe and Ito, which colour-blind readers can tell apart; besides, a
letter, a shape or a number always says the same as a colour.
"""

from __future__ import annotations

from dataclasses import dataclass

from tabletop_envs import checks


@dataclass(frozen=True)
class Paint:
    """A player's colours: of faces in the light and in the shade, of outlines, of marks upon it."""

    face: str
    side: str
    outline: str
    ink: str


@dataclass(frozen=True)
class Theme:
    """All colours of a drawing."""

    page: str
    board: str
    inner: str  # a part of the board that differs in the rules: inside the edge, a city
    line: str
    ink: str
    muted: str
    last: str  # the fields of the last action: filled …
    last_line: str  # … and framed
    legal: str
    shadow: str
    stone: str
    stone_back: str
    stone_line: str
    pip: str
    gold: str
    robe: str
    robe_line: str
    woods: tuple[Paint, Paint]  # the bright and the dark one
    tints: tuple[Paint, Paint, Paint, Paint]  # red, blue, green, yellow

    def of_player(self, palette: str, player: int) -> tuple[str, str]:
        """The colours of a player's faces and outlines; `palette` is that of the `Game`."""
        paint: Paint = getattr(self, palette)[player]
        return paint.face, paint.outline


_DARK_INK, _LIGHT_INK = "#1d1d1f", "#ffffff"
THEMES = {
    "light": Theme(
        page="#ffffff",
        board="#e9e2d3",
        inner="#f6f1e7",
        line="#c6bca7",
        ink="#26282d",
        muted="#7d7869",
        last="#f4da7a",
        last_line="#a87c00",
        legal="#a23b7c",
        shadow="#000000",
        stone="#fffdf6",
        stone_back="#8d8776",
        stone_line="#6c6655",
        pip="#26282d",
        gold="#e6b800",
        robe="#1f2126",
        robe_line="#1f2126",
        woods=(
            Paint("#f5deb0", "#ddb570", "#6b4718", "#7a5017"),
            Paint("#85593a", "#5f3b24", "#2a170b", "#f0d6b0"),
        ),
        tints=(
            Paint("#d55e00", "#9c4500", "#5c2900", _LIGHT_INK),
            Paint("#0072b2", "#00517f", "#002f4a", _LIGHT_INK),
            Paint("#009e73", "#007252", "#00412f", _LIGHT_INK),
            Paint("#f0e442", "#bfb31e", "#6b6308", _DARK_INK),
        ),
    ),
    "dark": Theme(
        page="#17191e",
        board="#262a31",
        inner="#31363f",
        line="#474d58",
        ink="#eceae4",
        muted="#979ba4",
        last="#75611c",
        last_line="#f0c808",
        legal="#e58fc0",
        shadow="#000000",
        stone="#e9e5d8",
        stone_back="#6f7480",
        stone_line="#14161a",
        pip="#1d1f24",
        gold="#f0c808",
        robe="#0c0d10",
        robe_line="#eceae4",
        woods=(
            Paint("#f5deb0", "#ddb570", "#4f340f", "#7a5017"),
            Paint("#9a6a47", "#704829", "#0f0804", "#f7e2c2"),
        ),
        tints=(
            Paint("#e06a0c", "#a34a00", "#160a00", _LIGHT_INK),
            Paint("#1683c6", "#005a8e", "#000f18", _LIGHT_INK),
            Paint("#0aa77c", "#007555", "#00140e", _LIGHT_INK),
            Paint("#f0e442", "#b8ac1c", "#191701", _DARK_INK),
        ),
    ),
}


def get_theme(name: str) -> Theme:
    """The theme of that name; TypeError or ValueError, naming the themes, for any other."""
    return THEMES[checks.choice("theme", name, list(THEMES))]
