"""Bits, chance, perft, and that compiled loops are cached and of the right types."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from scipy import stats

from tabletop_envs import kernels, registry
from tabletop_envs.kernels import bits, engine, llvm, rng
from tests.games import GAMES, each_game, positions, raw_env
from tests.reference.chance import Chance, state_from_seed

WORDS = [0, 1, 2, 3, 2**63, 2**64 - 1, 0x123456789ABCDEF, 0xF0F0F0F0F0F0F0F0, 1 << 48]


@njit
def count(word):
    return bits.popcount(word)


@njit
def lowest(word):
    return bits.lowest_square(word)


@njit
def nth(word, n):
    return bits.nth_square(word, n)


@njit
def spread(array, offset, word, number):
    bits.write_bytes(array, offset, word, number)


@njit
def compiled_below(state, n):
    return rng.below(state, n)


def draw_below(state, n):
    """The advanced state, wrapped again (Numba gives plain integers back), and the number drawn."""
    state, number = compiled_below(state, np.uint64(n))
    return np.uint64(state), int(number)


@pytest.mark.parametrize("word", WORDS)
def test_counting_and_finding_bits(word):
    squares = [square for square in range(64) if word >> square & 1]
    assert count(np.uint64(word)) == len(squares)
    assert lowest(np.uint64(word)) == (squares[0] if squares else 64)
    assert [nth(np.uint64(word), np.uint64(n)) for n in range(len(squares))] == squares


def test_finding_bits_without_the_processor_s_help():
    clearing = njit(llvm._nth_square_by_clearing)
    for word in WORDS:
        squares = [square for square in range(64) if word >> square & 1]
        found = [clearing(np.uint64(word), np.uint64(n)) for n in range(len(squares))]
        assert found == squares


@pytest.mark.parametrize("number", [1, 7, 8, 9, 49, 63, 64])
@pytest.mark.parametrize("offset", [0, 3, 100])
@pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.uint8])
def test_bits_become_bytes(number, offset, dtype):
    word = np.uint64(0xDEADBEEFCAFEF00D) & np.uint64((1 << number) - 1)
    expected = [int(word) >> place & 1 for place in range(number)]
    for size in (offset + number, offset + number + 1, offset + 64, offset + 200):
        guarded = np.full(size + 16, 5, dtype)
        spread(guarded[:size], offset, word, number)
        assert guarded[offset : offset + number].tolist() == expected
        assert (guarded[:offset] == dtype(5)).all()
        assert (guarded[size:] == dtype(5)).all(), "written behind the array's end"


def test_drawings_and_bitboards():
    drawing = "# . .\n. # .\n. . #"
    board = bits.board(drawing)
    assert board == 0b100010001
    assert bits.draw(board, 3, 3) == drawing
    for wrong in ("# x", "#" * 65):
        with pytest.raises(ValueError, match="fields"):
            bits.board(wrong)


def test_the_generator_is_splitmix64():
    """The first outputs for the state 1234567, as published with the generator's reference code."""
    state, outputs = np.uint64(1234567), []
    for _ in range(5):
        state = np.uint64(rng.advance(state))
        outputs.append(int(rng.output(state)))
    assert outputs == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize("n", [1, 2, 6, 28, 80, 1323, 2**31 + 12345, 2**32 - 1])
def test_bounded_numbers_are_those_of_the_plain_generator(n):
    plain, state = Chance(99), np.uint64(99)
    for _ in range(300):
        state, number = draw_below(state, n)
        assert number == plain.below(n)
        assert int(state) == plain.state
    assert int(rng.from_seed(np.uint64(7))) == state_from_seed(7)


def test_a_game_and_its_sampler_have_different_streams():
    for seed in (0, 1, 2**64 - 1):
        assert rng.sampler_from_seed(np.uint64(seed)) != rng.from_seed(np.uint64(seed))


def test_bounded_numbers_are_fair():
    """Six values, as a die's: the largest deviation that a fair die shows once in a million times."""
    state, counts = np.uint64(1), np.zeros(6, int)
    for _ in range(60_000):
        state, number = draw_below(state, 6)
        counts[number] += 1
    assert stats.chisquare(counts).pvalue > 1e-6
    # A generator that favours one face by a tenth of its share would be found out.
    counts[0] += 1000
    assert stats.chisquare(counts).pvalue < 1e-6


def test_compiled_results_have_the_right_types():
    """One signed operand would turn a bitboard into a float."""
    word = np.uint64(5)
    for function, arguments in ((count, (word,)), (lowest, (word,)), (nth, (word, np.uint64(0)))):
        function(*arguments)
        assert str(function.nopython_signatures[0].return_type) == "uint64"
    compiled_below(word, word)
    returned = compiled_below.nopython_signatures[0].return_type
    assert [str(one) for one in returned] == ["uint64", "uint64"]


def perft(env, depth):
    states = np.zeros(max(depth, 1), env.game.kernel.state)
    states[0] = env._states[0]
    return engine.perft(states, depth)


def positions_with_perft():
    for name in GAMES:
        for number, position in enumerate(positions(name)):
            if "perft" in position:
                yield pytest.param(name, position, id=f"{name}-{number}")


@pytest.mark.parametrize(("name", "position"), list(positions_with_perft()))
def test_perft(name, position):
    env = raw_env(name, **position["snapshot"]["options"])
    env.restore(position["snapshot"])
    depths = range(1, len(position["perft"]) + 1)
    assert [perft(env, depth) for depth in depths] == position["perft"]
    assert perft(env, 0) == 1


def test_kernels_are_callable_from_compiled_code_of_a_user():
    from tabletop_envs.kernels import kirche

    @njit
    def first_legal(states, words):
        kernels.start(states[0])
        kirche.legal_actions(states[0], words)
        for action in range(kernels.num_actions(states[0])):
            if engine.is_legal(states[0], words, action):
                kernels.step(states[0], action)
                return action
        return -1

    states = registry.get_game("kirche").new_states(1, {"num_houses": 7, "max_plies": 200})
    assert first_legal(states, np.zeros(28, np.uint64)) == 0
    assert states[0]["ply"] == 1
    assert states[0]["pieces"].tolist() == [1, 0]


def test_generic_functions_say_why_they_cannot_be_called_from_python():
    states = registry.get_game("kirche").new_states(1, {})
    for function, arguments in (
        (kernels.start, ()),
        (kernels.legal_actions, (None,)),
        (kernels.step, (0,)),
        (kernels.observe, (0, None)),
        (kernels.num_actions, ()),
        (kernels.word_bits, ()),
        (kernels.observation_size, ()),
    ):
        with pytest.raises(TypeError, match="compiled code"):
            function(states[0], *arguments)


USE = """
import json, sys
import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.kernels import engine
import importlib
name = sys.argv[1]
env = importlib.import_module("tabletop_envs." + registry.module_name(name)).env()
env.reset(seed=1)
env.step(int(env.action_mask().nonzero()[0][0]))
env.observe("player_0")
batch = tabletop_envs.make_batch(name, 3, seed=1)
batch.step(batch.sample_actions())
batch.rollout(2)
loops = [f for f in vars(engine).values() if getattr(f, "stats", None) and f.nopython_signatures]
print(json.dumps([sum(sum(f.stats.cache_hits.values()) for f in loops),
                  sum(sum(f.stats.cache_misses.values()) for f in loops if f.stats.cache_path)]))
"""


def use(name, **environment):
    """How many loops a process of its own finds in the cache, and how many it compiles."""
    done = subprocess.run(
        [sys.executable, "-c", USE, name],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing(tmp_path):
    """The on-disk cache is really hit, and a second run adds nothing to it."""

    def run():
        counts = use("kirche", NUMBA_CACHE_DIR=str(tmp_path))
        return counts, sorted(path.name for path in tmp_path.rglob("*.nb*"))

    (hits, misses), files = run()
    assert hits == 0
    assert misses >= 6
    (hits_again, misses_again), files_again = run()
    assert hits_again == misses
    assert misses_again == 0
    assert files_again == files


@each_game
def test_every_game_is_found_in_the_cache(name):
    """In the cache that all tests share, so that no game is compiled for this alone."""
    loops = sum(use(name))
    assert loops >= 6
    # Two processes that keep a loop at the same time may lose one of the two (Numba's index has no
    # lock).
    assert [loops, 0] in (use(name) for _ in range(3))


def test_a_kernel_under_another_name_has_another_digest(tmp_path):
    """Numba's cache imports the module it came from: the same code elsewhere must not find it."""
    digests = {kernels.code_digest()}
    for name in ("one/game.py", "one/game_again.py", "another/game.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("the same")
        digests.add(kernels.code_digest(str(file)))
    assert len(digests) == 4
