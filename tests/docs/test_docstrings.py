"""The examples in the package's docstrings run, and the adapters' scripts are run by the adapters'
tests.
"""

from __future__ import annotations

import ast
import doctest
import re
from typing import Any

import pytest

from tests.docs.pages import ROOT

SOURCE = ROOT / "src" / "tabletop_envs"


def documented() -> list[Any]:
    """Every docstring of the package that has examples."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                if ">>>" in text:
                    name = f"{path.relative_to(SOURCE)}:{getattr(node, 'name', '')}"
                    found.append(pytest.param(text, id=name))
    return found


@pytest.mark.parametrize("docstring", documented())
def test_examples_print_what_they_show(docstring, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(docstring, {}, "docstring", None, None)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert results.attempted
    assert not results.failed, "".join(report)


def test_the_adapters_scripts_are_run_by_their_tests():
    tested = set()
    for path in (SOURCE / "adapters").rglob("*.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if re.search(r"\n {4}(from|import) ", docstring):
            name = path.parent.name if path.stem == "__init__" else path.stem
            test = ROOT / "tests" / "adapters" / f"test_{name}.py"
            assert re.search(r"\bscripts\((adapter|\w*)\)", test.read_text(encoding="utf-8")), test
            tested.add(name)
    assert len(tested) >= 7
