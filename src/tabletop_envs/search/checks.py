"""The former place of two checks, for branches that have not been merged yet."""

from tabletop_envs.checks import choice as require_choice
from tabletop_envs.checks import number as require_number

__all__ = ["require_choice", "require_number"]
