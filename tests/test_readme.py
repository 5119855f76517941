"""The README's examples run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_run(number, capsys):
    exec(compile(EXAMPLES[number], f"README example {number}", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out.strip()


def test_the_test_command_is_the_one_of_ci():
    script = (Path(__file__).parent.parent / ".ci" / "run").read_text(encoding="utf-8")
    commands = re.findall(r"```bash\n(.*?)\n```", README, re.DOTALL)
    assert commands[1] in script.splitlines()
