"""`check_kernel`: the library's kernels pass, and connect four with each promise broken in turn
fails with that promise's name.

Most broken kernels are not compiled: the checks then call their plain functions, which takes
    milliseconds.
"""

from __future__ import annotations

import pickle
import re
import secrets
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from benchmarks import connect_four
from benchmarks.connect_four_game import GAME, ConnectFour
from tabletop_envs import registry
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.kernels import Kernel, Part, state_dtype
from tabletop_envs.testing import ContractError, check_kernel, option_cases
from tabletop_envs.testing import batches as engine_checks
from tabletop_envs.testing import compiled as compiled_rules
from tabletop_envs.testing.batches import check_engine
from tests.engine.test_connect_four import PERFT, PlainGame
from tests.scripts import load_script
from tests.testing.test_env import SHOWN

SOURCE = Path(connect_four.__file__).read_text(encoding="utf-8")
# The last lines of functions of the kernel, after which a fault can be put in.
START_END = "    state.scores[0] = 0\n    state.scores[1] = 0\n"
LEGAL = "legal_bits[0] = TOP_ROW & ~(state.stones[0] | state.stones[1])"
STEP_END = "    state.to_move = 1 - player\n"
OBSERVE_END = "    write_bytes(observation, AT.other_stones, other, SQUARES)\n"
REGISTERED = "    observe_function=observe,\n"


class PlainConnectFour(PlainGame):
    """The plain game of the tests of connect four, as `check_kernel` wants it."""

    def __init__(self, seed: int = 0, max_plies: int = 42) -> None:
        super().__init__()
        self.max_plies = max_plies

    @property
    def to_move(self) -> int:
        return self.player

    def legal_actions(self) -> list[int]:
        return self.legal() if self.stones < self.max_plies else []

    def step(self, action: int) -> None:
        self.play(action)

    def scores(self) -> list[int]:
        return [int(self.winner == player) for player in range(2)]

    def observe(self, player: int) -> list[int]:
        stones = [stone for row in self.rows for stone in row]
        return [int(stone == owner) for owner in (player, 1 - player) for stone in stones]


def plain_write_bytes(array: Any, offset: int, word: Any, count: int) -> None:
    """`bits.write_bytes` without the compiler."""
    for place in range(count):
        array[offset + place] = int(word) >> place & 1


def broken_game(
    folder: Path, *replaced: tuple[str, str], has_chance: bool = False, deal: str | None = None
) -> tuple[ConnectFour, Any]:
    """Connect four with pieces of its kernel's source replaced, and the kernel's module."""
    source = SOURCE
    for old, new in replaced:
        assert source.count(old) == 1, f"{old!r} is not in the kernel just once"
        source = source.replace(old, new)
    if deal is not None:
        head, tail = source.split("KERNEL = register(")
        function = f"@njit\ndef deal(state, player, generator):\n    {deal}\n\n\n"
        tail = tail.replace(REGISTERED, f"{REGISTERED}    deal_hidden_function=deal,\n")
        source = f"{head}{function}KERNEL = register({tail}"
    # A name and, by its digest, a type of its own for every kernel: compiled code of another one
    # must not be taken for its own.
    name = f"broken_connect_four_{secrets.token_hex(8)}"
    file = folder / f"{name}.py"
    file.write_text(f"{source}# {name}\n", encoding="utf-8")
    module = load_script(file, registered=True)
    attributes = {"kernel": module.KERNEL, "has_chance": has_chance}
    game = type("Broken", (ConnectFour,), attributes)()
    return game, module


class Record:
    """A state's record whose fields are attributes, as in compiled code."""

    def __init__(self, state: np.void) -> None:
        self.__dict__["state"] = state

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["state"][name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["state"][name] = value


@pytest.fixture
def interpreted(monkeypatch):
    """Lets the checks call a module's functions as plain Python, on NumPy's records."""

    def use(module: Any) -> None:
        scope = {**vars(module), "write_bytes": plain_write_bytes}
        for name in ("has_line", "start", "legal_actions", "step", "observe", "deal"):
            if name in scope:
                scope[name] = FunctionType(scope[name].py_func.__code__, scope)

        def function(kernel: Any, name: str, allow_floats: bool) -> Any:
            def call(states, words, number, observation, generator):
                state, number = Record(states[0]), np.int64(number)
                if name == "deal_hidden" and "deal" not in scope:
                    state.rng = generator
                    return
                arguments = {
                    "start": (),
                    "legal_actions": (words,),
                    "step": (number,),
                    "observe": (number, observation),
                    "deal_hidden": (number, generator),
                }[name]
                scope["deal" if name == "deal_hidden" else name](state, *arguments)

            return call

        monkeypatch.setattr(compiled_rules, "_compiled", function)

    return use


def test_connect_four_passes_with_reference_and_perft():
    check_kernel(GAME, reference=PlainConnectFour, perft=PERFT[:7])


def test_a_kernel_alone_passes():
    check_kernel(connect_four.KERNEL, reference=PlainConnectFour, games=2)


def test_the_unbroken_kernel_passes_interpreted(tmp_path, interpreted):
    game, module = broken_game(tmp_path)
    interpreted(module)
    check_kernel(game, options={"max_plies": 20}, reference=PlainConnectFour, games=2)


# What is broken: the old source, the new, and what the failure says.
BROKEN = {
    "start forgets ply": ("    state.ply = 0\n", "", "start: it writes every field"),
    "start forgets a stone": (
        "    state.stones[1] = ZERO\n",
        "",
        r"start: it writes every field[\s\S]*stones",
    ),
    "start draws chance from elsewhere": (
        "    state.stones[0] = ZERO\n",
        "    state.stones[0] = np.uint64(np.random.randint(1, 2**31))\n",
        "start: it writes every field",
    ),
    "start does not run": (
        "    state.status = RUNNING\n",
        "    state.status = TERMINATED\n",
        "start: the status is RUNNING",
    ),
    "start lets nobody move": (
        "    state.to_move = 0\n",
        "    state.to_move = 2\n",
        "start: to_move is a player",
    ),
    "start changes an option": (
        START_END,
        START_END + "    state.max_plies = 7\n",
        "start: max_plies stays",
    ),
    "a bit beyond the last action": (
        LEGAL,
        f"{LEGAL} | np.uint64(128)",
        "legal_actions: bits that stand for no action",
    ),
    "no action is legal": (LEGAL, "legal_bits[0] = ZERO", "legal_actions: in a running game"),
    "legal_actions does not write": (
        LEGAL,
        LEGAL.replace("=", "|=", 1),
        "legal_actions: it writes all 1 words",
    ),
    "legal_actions changes the state": (
        LEGAL,
        f"{LEGAL}\n    state.scores[0] = 1",
        r"legal_actions: it leaves the state[\s\S]*scores",
    ),
    "step does not count": ("    state.ply = ply\n", "", "step: ply counts"),
    "step hands the turn to nobody": (
        STEP_END,
        "    state.to_move = 2 * (1 - player)\n",
        "step: to_move is a player",
    ),
    "step writes an unknown status": ("TERMINATED if won", "7 if won", "step: status is RUNNING"),
    "step ignores the limit": (
        "BY_LIMIT if ply >= state.max_plies else RUNNING",
        "RUNNING",
        "step: after max_plies actions",
    ),
    "step ends by the limit too early": (
        "ply >= state.max_plies",
        "ply >= 5",
        "step: max_plies alone ends a game BY_LIMIT",
    ),
    "step changes an option": (
        STEP_END,
        STEP_END + "    state.max_plies += 1\n",
        "step: max_plies stays",
    ),
    "step draws chance from elsewhere": (
        STEP_END,
        STEP_END + "    state.scores[1 - player] = np.random.randint(0, 30000)\n",
        "step: the same state and action",
    ),
    "step draws chance in a game that has none": (
        STEP_END,
        STEP_END + "    state.rng += _1\n",
        "step: it draws nothing at random",
    ),
    "observe leaves entries out": (OBSERVE_END, "", "observe: it writes every entry"),
    "observe writes what the table does not allow": (
        OBSERVE_END,
        OBSERVE_END + "    observation[50] = 2\n",
        r"observe: every entry lies within[\s\S]*other_stones",
    ),
    "observe changes the state": (
        OBSERVE_END,
        OBSERVE_END + "    state.to_move = 0\n",
        "observe: it leaves the state",
    ),
    "observe shows what is to come": (
        OBSERVE_END,
        OBSERVE_END
        + "    for place in range(8):\n"
        + "        observation[place] = (state.rng >> np.uint64(place)) & _1\n",
        "what a player sees does not depend on what is hidden",
    ),
    "the rules are other ones": (
        "(across & (across >> _2) & LINES_RIGHT)",
        "(across & (across >> _1) & LINES_RIGHT)",
        "as the reference has them",
    ),
    "observe shows it from the wrong side": (
        "own, other = state.stones[player], state.stones[1 - player]",
        "own, other = state.stones[0], state.stones[1]",
        "observe: as in the reference",
    ),
}


@pytest.mark.parametrize(("old", "new", "promise"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_promise_is_named(tmp_path, interpreted, old, new, promise):
    game, module = broken_game(tmp_path, (old, new))
    interpreted(module)
    with pytest.raises(ContractError) as caught:
        check_kernel(game, reference=PlainConnectFour, options={}, games=10)
    assert re.search(promise, str(caught.value)), caught.value
    assert "connect_four, options={'max_plies': " in str(caught.value)
    assert "seed=" in str(caught.value)


DEALT = {
    "deal_hidden plays": ("state.ply += 1", True, "deal_hidden: ply stays"),
    "deal_hidden changes what is seen": (
        "state.stones[1 - player] = generator >> np.uint64(42)",
        True,
        "deal_hidden, observe: what a player sees",
    ),
    "deal_hidden draws chance from elsewhere": (
        "state.rng = np.uint64(np.random.randint(0, 2**60))",
        True,
        "deal_hidden: all its randomness comes from the generator",
    ),
    "deal_hidden in a game without chance": (
        "state.secret = generator",
        False,
        r"deal_hidden: nothing is hidden[\s\S]*secret",
    ),
}
# A field that no player sees.
FIELD = '    ("stones", np.uint64, (2,)),'
SECRET = (
    (FIELD, f'{FIELD}\n    ("secret", np.uint64),'),
    (START_END, f"{START_END}    state.secret = ZERO\n"),
)


@pytest.mark.parametrize(("deal", "has_chance", "promise"), DEALT.values(), ids=DEALT.keys())
def test_a_broken_deal_is_named(tmp_path, interpreted, deal, has_chance, promise):
    game, module = broken_game(tmp_path, *SECRET, deal=deal, has_chance=has_chance)
    interpreted(module)
    with pytest.raises(ContractError) as caught:
        check_kernel(game, options={}, games=3)
    assert re.search(promise, str(caught.value)), caught.value


# What only compiled code can do: Python would find it by itself.
COMPILED = {
    "floats": (
        "    state.stones[player] = stones\n",
        "    state.stones[player] = max(stones, action)\n",
        r"step: it calculates with integers[\s\S]*fptoui[\s\S]*\.py, line \d+, `[^`]*max\(stones, action\)`: uint64, int64 become float64",
    ),
    "a comparison in floats": (
        "    won, ply = has_line",
        "    if stones < action:\n        return\n    won, ply = has_line",
        r"step: it calculates with integers[\s\S]*line \d+, `if stones < action:`: uint64, int64 become float64",
    ),
    "a field of a signed type": (
        '("stones", np.uint64, (2,))',
        '("stones", np.int64, (2,))',
        r"legal_actions: bits are those of uint64[\s\S]*\.py, line \d+, `legal_bits\[0\] = TOP_ROW &[^`]*` \(the field stones is int64\): uint64 & int64 gives int64",
    ),
    "a shift of the literal 1": (
        "(LEFT_COLUMN << np.uint64(action))",
        "(1 << np.uint64(action))",
        r"step: bits are those of uint64[\s\S]*np\.uint64\(1\)[\s\S]*line \d+, `[^`]*`: 1 \(int64\) << uint64 gives int64",
    ),
    "a shift of the literal 1 by a signed number": (
        "    state.stones[player] = stones\n",
        "    state.stones[player] |= 1 << action\n",
        r"step: bits are those of uint64[\s\S]*line \d+, `state.stones\[player\] \|= 1 << action`: uint64 \| int64 gives int64",
    ),
    "signs in a function that is called": (
        "    across = stones & (stones >> _1)\n",
        "    across = (stones & (stones >> _1)) ^ 2\n",
        r"step: bits are those of uint64[\s\S]*line \d+, `across = [^`]*`: uint64 \^ 2 \(int64\) gives int64",
    ),
    "fields": (
        LEGAL,
        f"{LEGAL}\n    state.plyy = 1",
        r"legal_actions: it is registered[\s\S]*\.py, line \d+: the state has no field 'plyy' \(did you mean 'ply'",
    ),
    "types": (LEGAL, f"{LEGAL}\n    state.ply.x = 1", "legal_actions: it is registered"),
    "words": (
        LEGAL,
        f"{LEGAL}\n    legal_bits[1] = ZERO",
        "legal_actions: it writes to nothing but",
    ),
    "state": (
        STEP_END,
        STEP_END + "    state.stones[np.int64(100)] = ZERO\n",
        "step: it writes to nothing but its own state",
    ),
    "observation": (
        OBSERVE_END,
        OBSERVE_END + "    observation[np.int64(2 * SQUARES)] = 1\n",
        "observe: it writes to nothing but its observation",
    ),
    "illegal actions": (
        STEP_END,
        STEP_END + "    if action > 6:\n        state.stones[np.int64(100)] = ZERO\n",
        "step: it writes to nothing but its own state",
    ),
}


@pytest.mark.parametrize(("old", "new", "promise"), COMPILED.values(), ids=COMPILED.keys())
def test_what_compiled_code_does_wrong_is_named(tmp_path, old, new, promise):
    game, _ = broken_game(tmp_path, (old, new))
    with pytest.raises(ContractError) as caught:
        check_kernel(game, options={}, games=2)
    assert re.search(promise, str(caught.value)), caught.value


def with_fields(*fields: Any) -> Kernel:
    """Connect four's kernel with other fields in its state."""
    dtype = np.dtype([(name, *rest) for name, *rest in fields], align=True)
    return replace(connect_four.KERNEL, state=dtype)


def without(field: str) -> list[tuple[Any, ...]]:
    """The fields of connect four's state but one, title and all."""
    state = connect_four.STATE
    fields = []
    for name in state.names:
        dtype, _, *title = state.fields[name]
        if name != field:
            fields.append(((title[0], name) if title else name, dtype))
    return fields


@pytest.mark.parametrize(
    ("kernel", "promise"),
    [
        (replace(connect_four.KERNEL, word_bits=65), "word_bits: from 1 to 64"),
        (replace(connect_four.KERNEL, num_actions=0), "num_actions: at least 1"),
        (with_fields(*without("ply")), "the field ply is there"),
        (with_fields(*without("ply"), ("ply", np.int64)), "the field ply is there, as int32"),
        (with_fields(*without("scores")), "the field scores is there"),
        (with_fields(*without("rng"), ("rng", np.uint64)), "a digest of the code"),
        (with_fields(*without(""), ("heat", np.float32)), "its fields are integers"),
        (replace(connect_four.KERNEL, state=np.dtype(np.int64)), "made by kernels.state_dtype"),
        (replace(connect_four.KERNEL, state=state_dtype(1)), "num_players: from 2 to the length"),
    ],
)
def test_a_wrong_declaration_is_named(kernel, promise):
    with pytest.raises(ContractError, match=promise):
        check_kernel(kernel)


@pytest.mark.parametrize(
    ("parts", "promise"),
    [
        ((), "at least one part"),
        ((Part("stones", (42,)), Part("stones", (42,))), "a name of its own"),
        ((Part("own_stones", (84,)), Part("other_stones", (0,))), "each part has numbers"),
        ((Part("stones", (84,), high=128),), "a range within int8"),
        ((Part("stones", (84,), low=2),), "a range within int8"),
    ],
)
def test_an_impossible_table_is_named(parts, promise):
    with pytest.raises(ContractError, match=f"observation: .*{promise}"):
        check_kernel(replace(connect_four.KERNEL, observation=parts))


def test_an_unregistered_kernel_is_named():
    kernel = replace(connect_four.KERNEL, state=state_dtype(2))
    with pytest.raises(ContractError, match=r"start: it is registered"):
        check_kernel(kernel)


def test_wrong_counts_are_named():
    with pytest.raises(ContractError, match="perft: 344 sequences of 3") as caught:
        check_kernel(GAME, options={}, games=1, perft=(7, 49, 344))
    assert "343 sequences" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "promise"),
    [
        ("legal_actions", lambda self: [0], "legal_actions, step: as the reference"),
        ("scores", lambda self: [1, 0], r"step: the scores are \[1, 0\]"),
        ("to_move", 0, "step: player 0 is to move"),
        ("observe", lambda self, player: [0] * 84, "observe: as in the reference"),
    ],
)
def test_what_differs_from_the_reference_is_named(name, value, promise):
    reference = type("Other", (PlainConnectFour,), {name: value})
    with pytest.raises(ContractError, match=promise):
        check_kernel(GAME, options={}, games=1, reference=reference)


@pytest.mark.parametrize("array", SHOWN.split())
def test_a_batch_that_plays_something_else_is_named(monkeypatch, array):
    class Wrong(engine_checks.BatchEnv):
        def step(self, actions: Any, **arguments: Any) -> None:
            super().step(actions, **arguments)
            getattr(self, array)[1] = 1 - getattr(self, array)[1]

    monkeypatch.setattr(engine_checks, "BatchEnv", Wrong)
    with pytest.raises(ContractError, match=f"engine: {array} of a batch"):
        check_engine(GAME, GAME.parse_options({}), 0)


def count_more(batch: Any, steps: int) -> Any:
    """A rollout whose longest game is too long."""
    counts = BatchEnv.rollout(batch, steps)
    return replace(counts, longest=counts.longest + 1)


def pay_again(batch: Any, steps: int) -> Any:
    """A rollout that leaves rewards to be seen."""
    counts = BatchEnv.rollout(batch, steps)
    batch.rewards[:] = 1
    return counts


@pytest.mark.parametrize(
    ("rollout", "promise"),
    [
        (lambda batch, steps: BatchEnv.rollout(batch, steps + 1), r"engine: BatchEnv\.rollout"),
        (count_more, r"engine: BatchEnv\.rollout[\s\S]*longest game"),
        (pay_again, r"engine: after BatchEnv\.rollout the arrays show"),
    ],
)
def test_random_play_that_plays_something_else_is_named(monkeypatch, rollout, promise):
    wrong = type("Wrong", (BatchEnv,), {"rollout": rollout})
    monkeypatch.setattr(engine_checks, "BatchEnv", wrong)
    with pytest.raises(ContractError, match=promise):
        check_engine(GAME, GAME.parse_options({}), 0)


def test_impossible_arguments_are_named():
    for arguments, error, words in (
        ({"kernel": "connect_four"}, TypeError, "neither a Kernel nor a Game"),
        ({"games": 0}, ValueError, "games=0"),
        ({"options": {"wings": 2}}, TypeError, "wings"),
        ({"options": []}, ValueError, "options is empty"),
    ):
        with pytest.raises(error, match=words):
            check_kernel(**{"kernel": GAME, **arguments})
    with pytest.raises(TypeError, match="wings"):
        check_kernel(connect_four.KERNEL, options={"wings": 2})


def test_options_reach_both_ends():
    assert option_cases(registry.get_game("kirche")) == [{}, {"num_houses": 1}, {"max_plies": 1}]
    assert option_cases(registry.get_game("tuerme")) == [
        {},
        {"num_players": 4},
        {"slide": True},
        {"end_on_any_full_city": True},
        {"max_plies": 1},
    ]


def test_an_error_can_be_sent_between_processes():
    error = ContractError("step: it steps", "it stands", "a game")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.promise, again.found, again.where) == (
        str(error),
        "step: it steps",
        "it stands",
        "a game",
    )
