"""The kernel of meeples, from the table up.

- `table`: the 24×24 fields as a bitboard.
- `material`: actions and stones by number, the state record, and how pieces move (M1–M6).
- `stones`: where stones may lie (M7, M11, M21).
- `rules`: the phases of the game, and what is decided in each (M7–M29).
- `observation`: what a player sees.
"""

from tabletop_envs.kernels.meeples.rules import KERNEL

__all__ = ["KERNEL"]
