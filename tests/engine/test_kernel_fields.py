"""A typo in the name of a state's field is reported with file and line, at the first use."""

import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from benchmarks import connect_four
from tabletop_envs.kernels import engine
from tabletop_envs.kernels.fields import check_fields
from tests.scripts import load_script

NAMES = ("board", "ply")


@njit
def helper(number, game):
    return game.bord + number


@njit
def calls_a_helper(state):
    return helper(1, state)


module = SimpleNamespace(helper=helper)


def calls_a_helper_of_a_module(state):
    return module.helper(1, state)


def calls_a_helper_by_keyword(state):
    return helper(number=1, game=state)


def calls_a_helper_by_another_name(state):
    other = state
    return helper(1, other)


def calls_itself(state):
    state.ply = 1
    return calls_itself(state)


def no_state(state, other):
    return state.ply + other.bord


def uses_a_name_again(state):
    other = state
    other = other.board
    return other.bord


HELPED = [
    *(calls_a_helper, calls_a_helper_of_a_module),
    *(calls_a_helper_by_keyword, calls_a_helper_by_another_name),
]
RIGHT = [calls_itself, no_state, uses_a_name_again, abs, eval("lambda state: state.x")]


@pytest.mark.parametrize("function", HELPED)
def test_a_typo_in_a_helper_is_found_with_its_line(function):
    line = inspect.getsourcelines(helper.py_func)[1] + 2
    message = rf"test_kernel_fields\.py, line {line}: the state has no field 'bord' \(did you mean 'board'"
    with pytest.raises(TypeError, match=message):
        check_fields(function, NAMES)


@pytest.mark.parametrize("function", RIGHT)
def test_what_cannot_be_read_or_is_right_passes(function):
    check_fields(function, NAMES)


def test_the_first_use_of_a_kernel_names_file_and_line(tmp_path):
    source = Path(connect_four.__file__).read_text(encoding="utf-8")
    file = tmp_path / "typo.py"
    file.write_text(source.replace("state.ply + 1", "state.plyy + 1"), encoding="utf-8")
    kernel = load_script(file).KERNEL
    states, result = np.zeros(1, kernel.state), np.zeros(3 + engine.MAX_PLAYERS, np.int64)
    line = source[: source.index("state.ply + 1")].count("\n") + 1
    with pytest.raises(TypeError, match=rf"typo\.py, line {line}: .*'plyy'"):
        engine.advance_one(states, engine.new_legal(kernel), engine.START, 0, result)
