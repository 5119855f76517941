"""What the drawings call the players, and their colours: for what pages say around the drawings."""

from __future__ import annotations

from tabletop_envs.render.svg.themes import Theme

NAMES = {
    "kirche": ("light", "dark"),
    "tuerme": ("red", "blue", "green", "yellow"),
    "meeples": ("A", "B", "C", "D"),
}
# The games whose players have the theme's woods; the others have its tints.
OF_WOOD = ("kirche",)


def player_name(game: str, player: int) -> str:
    """The name of a player of a game (`"kirche"`, …); a number in games that nothing is known of."""
    return NAMES[game][player] if game in NAMES else f"player {player}"


def player_colours(game: str, player: int, theme: Theme) -> tuple[str, str]:
    """A player's colour and its outline."""
    if game in OF_WOOD:
        return theme.woods[player].bright, theme.woods[player].outline
    return theme.tints[player].face, theme.tints[player].outline
