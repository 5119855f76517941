"""A game in the terminal: the board, the moves, and what a player may type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tabletop_envs.agents.naming import AgentSpec
from tabletop_envs.checks import nearest
from tabletop_envs.files import fault_text
from tabletop_envs.play.background import Compiling
from tabletop_envs.play.reader import Reader
from tabletop_envs.play.session import (
    HINT_AGENT,
    HUMAN,
    NOTHING_TO_UNDO,
    Session,
    choose_at_once,
    load,
    new_path,
    save,
)

# How many moves are listed at every turn at most.
MAX_LISTED = 30
COMMANDS = {
    "moves [TEXT]": "list the legal moves, or those with a text in their names",
    "undo": "go back to your last choice, but not behind chance such as a roll of dice",
    "hint [AGENT]": f"what an agent would do, by default {HINT_AGENT}",
    "save [FILE]": "save the game",
    "resume FILE": "resume a saved game",
    "quit": "save the game and end; Ctrl-C and Ctrl-D do the same",
    "help": "this list",
}
COMMAND_WORDS = [command.split()[0] for command in COMMANDS]


class End(Exception):  # noqa: N818 (nothing has gone wrong)
    """The player has asked to end."""


class Terminal:
    """The dialogue of a game, on standard output.

    Args:
        session: The game.
        read: Asks for a line.
        path: The file to save to; None: a new one.
        compiling: Compiles the agents in the background.
        given: The agents that a game to be resumed may name, besides the library's own.
    """

    def __init__(
        self,
        session: Session,
        read: Reader,
        path: Path | None,
        compiling: Compiling,
        given: Sequence[AgentSpec] = (),
    ) -> None:
        from rich.console import Console

        self.session = session
        self._compiling = compiling
        self.path = path
        self._given = [*given, *session.named.items()]
        self._read = read
        self._console = Console(markup=False, highlight=False, emoji=False)
        self._colour = self._console.is_terminal and not self._console.no_color
        # After a command the position is still on the screen.
        self._shown = False

    # Saying

    def _say(self, text: str = "") -> None:
        self._console.print(text, soft_wrap=True)

    def _who(self, player: int) -> str:
        name = self.session.agents[player]
        people = [agent for agent in self.session.agents if agent == HUMAN]
        if name == HUMAN:
            return f"player_{player} (you)" if len(people) == 1 else f"player_{player}"
        return f"player_{player} ({name})"

    def _show_board(self) -> None:
        env, viewer = self.session.env, self.session.viewer
        eyes = None if viewer is None else env.possible_agents[viewer]
        board = env.render(viewer=eyes, colour=self._colour)
        # Not by Rich, which would take the board's own colours for text.
        print(f"\n{str(board).rstrip()}", flush=True)

    def _list_moves(self, text: str = "") -> None:
        from rich.columns import Columns

        names = list(self.session.legal_moves())
        width = len(str(len(names)))
        lines = [
            f"{number:>{width}} {name}"
            for number, name in enumerate(names, 1)
            if text.lower() in name.lower()
        ]
        if not lines:
            self._say(f"no legal move has {text!r} in its name")
            return
        self._console.print(Columns(lines, padding=(0, 3), equal=True))

    def _show_turn(self) -> None:
        self._show_board()
        moves = self.session.legal_moves()
        self._say(f"\n{self._who(self.session.player)} to move, {len(moves)} legal moves:")
        if len(moves) <= MAX_LISTED:
            self._list_moves()
        else:
            self._say("  `moves` lists them, `moves TEXT` those with a text in their names")

    def _show_result(self) -> None:
        self._show_board()
        outcome = self.session.env.snapshot()["outcome"]
        scores, rewards = outcome["scores"], outcome["rewards"]
        first = [self._who(player) for player in range(len(rewards)) if rewards[player] > 0]
        points = ", ".join(f"{self._who(player)} {score}" for player, score in enumerate(scores))
        cut = " (ended by max_plies)" if outcome["by_limit"] else ""
        verdict = f"{' and '.join(first)} won" if first else "a draw"
        self._say(f"\nThe game is over{cut}: {verdict}. Scores: {points}")

    # Playing

    def run(self) -> None:
        """Play until the player ends it, by End, EOFError or KeyboardInterrupt."""
        self._say(
            "Moves are typed by number, by name, or by the beginning of a name; "
            "`help` lists commands."
        )
        self._compile()
        while True:
            session = self.session
            if session.over:
                if not self._shown:
                    self._show_result()
                self._shown = True
                self._command(self._read("undo, save, resume, quit> ", COMMAND_WORDS))
            elif not session.human_to_move:
                self._let_agent_play()
            elif len(session.legal_moves()) == 1:
                # Undo does not stop at such moves.
                (action,) = session.legal_moves().values()
                self._say(f"{self._who(session.player)}: {session.play(action)} (the only move)")
            else:
                if not self._shown:
                    self._show_turn()
                self._shown = True
                self._turn()

    def _compile(self) -> None:
        self._compiling.behind(self.session.agents, self.session.env, choose_at_once)

    def _let_agent_play(self) -> None:
        player = self.session.player
        self._compiling.wait()
        # Shown on a terminal only.
        with self._console.status(f"{self._who(player)} thinks ..."):
            name = self.session.play_agent()
        self._say(f"{self._who(player)}: {name}")
        self._shown = False

    def _turn(self) -> None:
        moves = self.session.legal_moves()
        text = self._read("> ", [*moves, *COMMAND_WORDS])
        if text.split()[:1] and text.split()[0].lower() in COMMAND_WORDS and text not in moves:
            self._command(text)
            return
        found = find_move(list(moves), text)
        if isinstance(found, str):
            player = self._who(self.session.player)
            self._say(f"{player}: {self.session.play(moves[found])}")
            self._shown = False
        elif not text:
            return
        elif found:
            self._say(f"{text!r} may be {len(found)} moves:")
            self._list_some(found)
        else:
            hint = nearest(text, [*moves, *COMMAND_WORDS])
            self._say(
                f"{text!r} is neither a legal move nor a command{hint}; `help` lists commands"
            )

    def _list_some(self, names: list[str]) -> None:
        for name in names[:MAX_LISTED]:
            self._say(f"  {name}")
        if len(names) > MAX_LISTED:
            self._say(f"  and {len(names) - MAX_LISTED} more")

    def _command(self, text: str) -> None:
        command, _, argument = text.partition(" ")
        argument = argument.strip()
        match command.lower():
            case "":
                # Enter after the end ends it.
                if self.session.over:
                    raise End
            case "quit":
                raise End
            case "help":
                for form, meaning in COMMANDS.items():
                    self._say(f"  {form:<14}{meaning}")
            case "moves":
                self._list_moves(argument)
            case "undo":
                if self.session.undo():
                    self._shown = False
                else:
                    self._say(NOTHING_TO_UNDO)
            case "hint":
                self._hint(argument or HINT_AGENT)
            case "save":
                self.save(Path(argument) if argument else None)
            case "resume":
                self._resume(argument)
            case _:
                self._say(f"{text!r} is no command; `help` lists them")

    def _hint(self, agent: str) -> None:
        self._compiling.wait()
        try:
            self._say(f"{agent} would choose: {self.session.hint(agent)}")
        except (ValueError, ImportError) as error:
            self._say(str(error))

    # Files

    def save(self, path: Path | None = None) -> bool:
        """Save to the file given, to that of the game, or to a new one; whether it was written."""
        path = path or self.path or new_path(self.session.record())
        try:
            if path.exists() and path != self.path:
                self._say(f"{path} is there already: name another file")
                return False
            save(path, self.session.record())
        except (OSError, ValueError) as error:  # ValueError: a name with a NUL
            self._say(f"{path} cannot be written: {fault_text(error)}")
            return False
        self.path = path
        self._say(f"saved: {path}")
        return True

    def _resume(self, name: str) -> None:
        if not name:
            self._say("resume takes a file's name")
            return
        try:
            self.session = Session.resume(load(name), given=self._given)
        except OSError as error:
            self._say(f"{name} cannot be read: {fault_text(error)}")
        except ValueError as error:
            self._say(str(error))
        else:
            self.path = Path(name)
            self._shown = False
            self._compile()

    def finish(self) -> None:
        """Save what would be lost, and say how to resume it."""
        unfinished = not self.session.over and bool(self.session.actions)
        if (unfinished or (self.session.over and self.path is not None)) and not self.save():
            # The file of the game cannot be written: better another one than none.
            self.path = None
            self.save()
        if unfinished and self.path is not None:
            self._say(f"resume with: tabletop-envs play --resume {self.path}")


def find_move(names: list[str], text: str) -> str | list[str]:
    """The move that a text means: a number from 1, a name, or the beginning of a single name.

    Otherwise the names that begin with the text. Case does not matter.
    """
    if text.isascii() and text.isdigit():
        return names[int(text) - 1] if 1 <= int(text) <= len(names) else []
    words = " ".join(text.lower().split())
    exact = [name for name in names if name.lower() == words]
    begun = exact or [name for name in names if words and name.lower().startswith(words)]
    return begun[0] if len(begun) == 1 else begun
