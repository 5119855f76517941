"""Fixtures that every test file may use, and a fresh Numba cache for each run."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

# The engine's cached loops do not see edits in the kernels' files, so tests never use an old cache.
# Set before Numba is imported; whoever knows that no kernel has changed may set the variable to
# keep a cache between runs.
_FRESH_CACHE = "NUMBA_CACHE_DIR" not in os.environ
if _FRESH_CACHE:
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="tabletop_envs_numba_")

# A shell's background job ignores SIGINT, and so would all that the tests of Ctrl-C start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

from numba.core.dispatcher import _FunctionCompiler  # noqa: E402

from tests.registered import (  # noqa: E402, F401 (fixtures)
    custom_folder,
    registered_game,
    unregistered_game,
)
from tests.rules.implementations import Starter  # noqa: E402

IMPLEMENTATIONS = ("reference", "kernel")
# The file to which `.ci/run` wants the number of passed tests added; runs that a test starts are
# not to add theirs.
_TESTS_PASSED = os.environ.pop("TESTS_PASSED", None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests have passed where `.ci/run` adds them up."""
    if _TESTS_PASSED:
        with open(_TESTS_PASSED, "a", encoding="utf-8") as file:
            print(len(terminalreporter.getreports("passed")), file=file)


def _untraced(compile_function: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's compiler without the tracer of coverage, which would make it half as slow again, and
    sees nothing there.
    """

    def compile_untraced(*arguments: Any) -> Any:
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            return compile_function(*arguments)
        finally:
            sys.settrace(tracer)

    return compile_untraced


if "COVERAGE_PROCESS_START" in os.environ:
    _FunctionCompiler.compile = _untraced(_FunctionCompiler.compile)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the run's own cache."""
    if _FRESH_CACHE:
        shutil.rmtree(os.environ["NUMBA_CACHE_DIR"], ignore_errors=True)


@pytest.fixture(params=IMPLEMENTATIONS)
def kirche(request: pytest.FixtureRequest) -> Starter:
    """Starts games of kirche: once on the reference, once on the kernel."""
    return Starter("kirche", request.param)


@pytest.fixture(params=IMPLEMENTATIONS)
def tuerme(request: pytest.FixtureRequest) -> Starter:
    """Starts games of tuerme: once on the reference, once on the kernel."""
    return Starter("tuerme", request.param)


@pytest.fixture(params=IMPLEMENTATIONS)
def meeples(request: pytest.FixtureRequest) -> Starter:
    """Starts games of meeples: once on the reference, once on the kernel."""
    return Starter("meeples", request.param)
