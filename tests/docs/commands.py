"""Commands of the pages' shell blocks: told apart, made small, and run as a reader would run them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tests.docs.accounts import BUDGETS, INPUTS, NAMED, PROGRAMS, SERVERS, SMALLER
from tests.docs.pages import ROOT, Block

# What a checkout has beside the project's files.
NOT_COPIED = (".git", ".venv*", ".*_cache", "__pycache__", ".hypothesis", "runs", "_build", "dist")
ENVIRONMENTS = (".venv", ".venv-peers", ".venv-stacks", ".venv-rllib")
INSTALL = re.compile(
    r"(\w+=\S+ )*(\S*/)?(python[\d.]* -m venv|(python[\d.]* -m )?pip install|apt-get install)\b"
)
TIME_LIMIT = 1800


def commands(block: Block) -> list[tuple[int, str]]:
    """The commands of a shell block with their lines: `&&` and lines part them, loops and
    here-documents stay whole.
    """
    found: list[tuple[int, str]] = []
    whole, begun, end = "", 0, ""
    for number, text in enumerate(block.code.splitlines(), block.line):
        bare = re.sub(r"(^|\s+)#(\s.*)?$", "", text) if not end.isupper() else text
        if not whole:
            if not bare.strip():
                continue
            begun = number
            here = re.search(r"<<-?\s*'?(\w+)'?", bare)
            end = here[1] if here else "done" if bare.startswith(("for ", "while ")) else ""
        whole = f"{whole}\n{bare}" if whole else bare.strip()
        if whole.endswith("\\") or (end and bare.strip() != end):
            continue
        whole = re.sub(r"\s*\\\n\s*", " ", whole)
        found += [(begun, part) for part in ([whole] if end else whole.split(" && "))]
        whole, end = "", ""
    assert not whole, f"{block.place}: a command without an end: {whole}"
    return found


def smaller(command: str) -> str:
    """The command as the tests run it: with less to do."""
    command = SMALLER.get(command, command)
    options = BUDGETS
    for program, added in PROGRAMS.items():
        if program not in command:
            continue
        options = {**options, **added}
        missing = [f"{name} {added[name]}" for name in added if f" {name} " not in f"{command} "]
        # After the words that follow the program: some of the options take several values.
        for named in set(re.findall(rf"{re.escape(program)}((?: [\w$][\w.:]*)*)", command)):
            words = [program, named.strip() or NAMED.get(program, ""), *missing]
            command = command.replace(f"{program}{named}", " ".join(words))
    for option, value in options.items():
        command = re.sub(rf"(?<= ){option} \S+(?: [\d.]+)*", f"{option} {value}", command)
    return re.sub(" +", " ", command)


def is_installation(command: str) -> bool:
    """Whether it makes an environment or installs something."""
    return INSTALL.match(command) is not None


def is_checked_only(command: str) -> bool:
    """Whether what it names is checked, and it is not run again: installations, and the steps of CI
    that run these tests.
    """
    return is_installation(command) or command.startswith(".ci/run")


def workspace(folder: Path) -> dict[str, str]:
    """Make `folder` look like a checkout with its environments; the variables to run commands with
    there.
    """
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), dirs_exist_ok=True)
    for name in ENVIRONMENTS:
        (folder / name).symlink_to(sys.prefix, target_is_directory=True)
    path = os.pathsep.join([str(folder / ".venv" / "bin"), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "COLUMNS": "200", "NO_COLOR": "1"}


def run(command: str, folder: Path, variables: dict[str, str]) -> str:
    """Run a command, made smaller, in a workspace; what it prints. AssertionError with its output
    where it fails.
    """
    if command in SERVERS:
        return _run_server(command, folder, variables)
    finished = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", smaller(command)],
        cwd=folder,
        env=variables,
        input=INPUTS.get(command, ""),
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    assert finished.returncode == 0, (
        f"{command}\nrun as\n{smaller(command)}\nends with {finished.returncode}:\n"
        f"{finished.stdout[-3000:]}\n{finished.stderr[-3000:]}"
    )
    return finished.stdout


def _run_server(command: str, folder: Path, variables: dict[str, str]) -> str:
    """Start a command that serves until Ctrl-C, and press Ctrl-C once it says that it is ready."""
    with subprocess.Popen(
        ["bash", "-c", f"exec {smaller(command)}"],
        cwd=folder,
        env={**variables, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        watchdog = threading.Timer(TIME_LIMIT, server.kill)
        watchdog.start()
        assert server.stdout is not None
        printed = ""
        for line in server.stdout:
            printed += line
            if SERVERS[command] in line:
                server.send_signal(signal.SIGINT)
        watchdog.cancel()
    assert SERVERS[command] in printed, f"{command} does not start:\n{printed}"
    assert server.returncode == 0, f"{command} ends with {server.returncode}:\n{printed}"
    return printed
