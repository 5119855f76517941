"""docs/add-a-game.md, as a reader would follow it: every block into its file, every command run,
its output compared.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.docs.afternoon import FOLDER, PAGE, file_of, files
from tests.docs.pages import ROOT, blocks


def test_every_block_is_code_a_command_or_its_output():
    before = ""
    for block in blocks(PAGE):
        assert block.language in ("python", "bash", "text", "toml"), block.place
        assert block.language != "text" or before == "bash", f"{block.place}: of what command?"
        before = block.language


def run(command: str, folder: Path, paths: list[Path]) -> str:
    """The output of the commands of a block, errors included; not that something is being compiled."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(
            (str(folder.parent), str(Path(sys.executable).parent), os.environ["PATH"])
        ),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
        check=False,
    )
    # A slow machine is told that something is compiled, anywhere between the other lines.
    return re.sub(r"^compiling .*\n", "", done.stdout, flags=re.MULTILINE)


# The command, where the package is not installed.
COMMAND = """#!/bin/sh
exec python -m tabletop_envs.cli "$@"
"""
# Blocks that other tests run: tests/custom, tests/examples/test_custom_game.py.
ELSEWHERE = ("--web", "ppo_selfplay.py")
MODULES = """
import importlib
for folder in ("kernels", "envs", "evaluation", "render.svg"):
    importlib.import_module(f"tabletop_envs.{folder}.connect_four")
from tabletop_envs import connect_four_v0, registry
assert registry.get_game("connect_four") is connect_four_v0.GAME
assert registry.module_of("connect_four") == "tabletop_envs.connect_four_v0"
env = connect_four_v0.env()
env.reset(seed=1)
print(env.svg().count('class="field"'), "squares")
"""
# What a game of the library without a heuristic and a drawing is asked for.
WITHOUT_THE_OPTIONAL = """
import numpy as np
from tabletop_envs import agents, connect_four_v0
from tabletop_envs import evaluation
from tabletop_envs.arena import replay
from tabletop_envs.play.session import HUMAN, Session
from tabletop_envs.play.web.page import WebGame

connect_four_v0.split_observation(np.zeros(84))
env = connect_four_v0.env(render_mode="rgb_array")
env.reset(seed=1)
print(env._repr_svg_().count(". . . . . . .".replace(" ", "\\xa0")), "empty rows")
try:
    env.render()
except ValueError as error:
    print(error)
session = Session("connect_four", [HUMAN, "greedy"], 1, {})
page = WebGame(session)
page.play(0, 3)
page.advance(1)
print(page.hint(2)[0] in range(7), len(page.state()["legal"]), "buttons")
print("svg" in replay.page(session.record()), evaluation.value(env))
"""
WHAT_IT_SAYS = """\
6 empty rows
render_mode must be 'ansi' or None: connect_four has no drawing for 'rgb_array', only its text
True 7 buttons
"""


def test_the_page_works_from_top_to_bottom(tmp_path):
    folder, clone = tmp_path / FOLDER, tmp_path / "clone"
    folder.mkdir()
    command = tmp_path / "tabletop-envs"
    command.write_text(COMMAND, encoding="utf-8")
    command.chmod(0o755)
    written = files()
    begun: set[str] = set()
    output = ""
    for block in blocks(PAGE):
        if block.language == "python":
            name = file_of(block)
            # Half a file is no use to a command, so it is written whole, at its first block.
            if name not in begun:
                (folder / name).write_text(written[name], encoding="utf-8")
                begun.add(name)
        elif block.language == "bash" and "../afternoon" in block.code:
            shutil.copytree(
                ROOT / "src", clone / "src", ignore=shutil.ignore_patterns("__pycache__")
            )
            output = run(block.code, clone, [clone / "src"])
        elif block.language == "bash" and not any(words in block.code for words in ELSEWHERE):
            output = run(block.code, folder, [ROOT / "src"])
            assert "pytest" not in block.code or "passed" in output, f"{block.place}: {output}"
        elif block.language == "text":
            assert block.code.strip() in output, f"{block.place}: the output is\n{output}"
    assert begun == written.keys()
    (clone / "modules.py").write_text(MODULES, encoding="utf-8")
    assert run("python modules.py", clone, [clone / "src"]) == "42 squares\n"
    # What the page calls optional is.
    registry = clone / "src" / "tabletop_envs" / "registry.py"
    lines = registry.read_text(encoding="utf-8").splitlines(keepends=True)
    optional = ("evaluation.connect_four", "render.svg.connect_four")
    kept = [line for line in lines if not any(module in line for module in optional)]
    assert len(lines) - len(kept) == 2
    registry.write_text("".join(kept), encoding="utf-8")
    (clone / "optional.py").write_text(WITHOUT_THE_OPTIONAL, encoding="utf-8")
    output = run("python optional.py", clone, [clone / "src"])
    assert output.startswith(WHAT_IT_SAYS), output
    assert output.endswith(" [0.0, 0.0]\n"), output


def without_docstring(tree: ast.Module) -> list[str]:
    """The statements of a file after its docstring, as text."""
    return [ast.unparse(statement) for statement in tree.body[1:]]


def parsed(code: str) -> ast.Module:
    return ast.parse(code)


def test_the_page_s_kernel_is_the_benchmarks_yardstick():
    kernel = (ROOT / "benchmarks" / "connect_four.py").read_text(encoding="utf-8")
    assert without_docstring(parsed(files()["connect_four.py"])) == without_docstring(
        parsed(kernel)
    )


def test_the_page_s_game_is_the_benchmarks_yardstick():
    game = (ROOT / "benchmarks" / "connect_four_game.py").read_text(encoding="utf-8")
    classes = [
        next(ast.unparse(one) for one in parsed(code).body if isinstance(one, ast.ClassDef))
        for code in (files()["connect_four_game.py"], game)
    ]
    assert classes[0] == classes[1]
