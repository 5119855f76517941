"""Reading what a player types: with completion on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from tabletop_envs.extras import require

# Asks with a prompt and completes with words; EOFError at the end of the input.
Reader = Callable[[str, Sequence[str]], str]


def make_reader() -> Reader:
    """A reader of standard input; on a terminal ImportError, naming the extra, if it is missing."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _completing_reader()
    return read_plainly


def read_plainly(prompt: str, words: Sequence[str]) -> str:
    """The next line of standard input."""
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        print()
        raise EOFError
    if not sys.stdin.isatty():
        # A terminal shows what is typed; here the answer stands beside its question all the same.
        print(line.rstrip("\n"))
    return line.strip()


def _completing_reader() -> Reader:
    completion = require("prompt_toolkit.completion", "cli")
    session = require("prompt_toolkit", "cli").PromptSession()

    def read(prompt: str, words: Sequence[str]) -> str:
        # A name has several words, so a whole line is completed.
        completer = completion.WordCompleter(list(words), ignore_case=True, sentence=True)
        return str(session.prompt(prompt, completer=completer)).strip()

    return read
