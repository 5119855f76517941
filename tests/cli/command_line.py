"""The command line as tests run it: in this process, and its words without Rich's looks."""

from __future__ import annotations

import json
import re
from typing import Any

from typer.testing import CliRunner

from tabletop_envs import cli


def run(*words: str, lines: str = "", exit_code: int = 0) -> Any:
    """The result of a command that is given lines to read, which must end with the exit code."""
    result = CliRunner().invoke(cli.make_app(), words, input=lines, prog_name="tabletop-envs")
    assert result.exit_code == exit_code, result.output
    # Code 1 may also come from an error that nobody has caught.
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def run_json(*words: str) -> dict[str, Any]:
    """The document that a command writes with `--json`."""
    document: dict[str, Any] = json.loads(run(*words, "--json").stdout)
    return document


def plain(text: str) -> str:
    """The words of a text, without the colours, frames and line breaks that Rich adds."""
    return " ".join(re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[^\x00-\x7f]", " ", text).split())
