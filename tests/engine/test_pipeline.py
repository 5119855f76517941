"""What only compiled code calls is optimized as a part of loops: the same results, compiled once."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numba.extending import register_jitable

from tabletop_envs.kernels import pipeline
from tabletop_envs.kernels.bits import jitable
from tabletop_envs.kernels.compiling import CALLEE, compile_loop


@jitable
def add_one(number):
    return number + 1


@jitable
def add_two(number):
    return add_one(add_one(number))


@jitable
def refuse_negative(number):
    if number < 0:
        raise ValueError("a negative number")
    return add_one(number)


@register_jitable(**CALLEE, _nrt=True)
def sum_of(numbers):
    return sum([number for number in numbers])  # noqa: C416 (a closure, to Numba)


def library_of(loop):
    (compiled,) = loop.overloads.values()
    return compiled.library


def test_a_callee_becomes_a_part_of_all_that_call_it():
    @compile_loop
    def one_and_two(number):
        return add_one(number) + add_two(number)

    @compile_loop
    def two_and_one(number):
        return add_two(number) - add_one(number)

    @njit
    def of_a_user(number):
        return add_two(number) * 10

    assert [one_and_two(3), two_and_one(3), of_a_user(3)] == [9, 1, 50]
    assert [one_and_two(3.5), two_and_one(3.5), of_a_user(3.5)] == [10.0, 1.0, 55.0]


def test_callees_are_not_optimized_by_themselves():
    @compile_loop
    def add_three(number):
        return add_one(add_two(number))

    assert add_three(np.int16(4)) == 7
    library = library_of(add_three)
    assert isinstance(library, pipeline.Library)
    defined = [name for name in library._defined() if "add_" in name and "add_three" not in name]
    assert not defined


def test_what_the_short_way_does_not_know_is_compiled_all_the_same():
    @compile_loop
    def check(number):
        return refuse_negative(number)

    @compile_loop
    def add_up(numbers):
        return sum_of(numbers)

    assert check(4) == 5
    with pytest.raises(ValueError, match="a negative number"):
        check(-1)
    assert add_up(np.arange(5)) == 10


def test_a_numba_with_another_inside_compiles_the_slow_way(monkeypatch):
    monkeypatch.setattr(pipeline, "_NEEDED", ("_of_another_version",))

    @compile_loop
    def add_four(number):
        return add_two(add_two(number))

    assert add_four(np.int32(1)) == 5
    assert not isinstance(library_of(add_four), pipeline.Library)
