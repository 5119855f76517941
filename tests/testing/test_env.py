"""`check_env`: connect four with each promise broken in turn fails with that promise's name."""

from __future__ import annotations

import itertools
import re
import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.utils import BaseWrapper

from benchmarks.connect_four_game import GAME, ConnectFour
from tabletop_envs import registry
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game, Move
from tabletop_envs.kernels import Part
from tabletop_envs.testing import ContractError, batches, check_env, env_stacks
from tabletop_envs.testing.env_copies import check_copies
from tabletop_envs.testing.env_games import random_game
from tabletop_envs.testing.env_start import check_resets

SHOWN = "observation action_mask current_player terminated by_limit scores episode_length rewards"

MADE: dict[int, Game] = {}
NUMBERS = itertools.count()


class Spoiled(ConnectFour):
    """Connect four with something broken, which copies and pickles find again nevertheless."""

    def __init__(self) -> None:
        MADE[id(self)] = self

    def __reduce__(self) -> Any:
        return made, (id(self),)


def made(number: int) -> Game:
    """The spoiled game with a number, for copies and pickles."""
    return MADE[number]


def spoiled(**attributes: Any) -> Game:
    """Connect four with other attributes."""
    game: Game = type("Broken", (Spoiled,), attributes)()
    return game


def environment(**methods: Any) -> Any:
    """Makes environments of connect four whose class has other methods, and is found by pickle."""
    name = f"Broken{next(NUMBERS)}"
    globals()[name] = type(name, (TabletopEnv,), methods)
    return partial(globals()[name], GAME)


@pytest.mark.parametrize("form", ["game", "environment", "constructor"])
def test_a_user_s_own_game_passes_in_all_forms(form):
    env = {
        "game": GAME,
        "environment": TabletopEnv(GAME, max_plies=30, mask_in="info", obs_key="board"),
        "constructor": partial(TabletopEnv, GAME, on_illegal="lose", render_mode="ansi"),
    }[form]
    check_env(env, games=1)


def surprised_read(self: Any, state: Any, snapshot: Any) -> bool:
    """`read_position` that raises whatever comes."""
    try:
        return ConnectFour.read_position(self, state, snapshot)
    except ValueError:
        raise KeyError("stones") from None


def forgetful_read(self: Any, state: Any, snapshot: Any) -> bool:
    """`read_position` that forgets who has won."""
    over = ConnectFour.read_position(self, state, snapshot)
    state["scores"][:] = 0
    return over


def careless_read(check: Any) -> Any:
    """`read_position` that does something with the squares before it looks at them."""

    def read(self: Any, state: Any, snapshot: Any) -> bool:
        for squares in snapshot["stones"] if isinstance(snapshot["stones"], list) else ():
            for square in squares if isinstance(squares, list) else ():
                check(state, square)
        return ConnectFour.read_position(self, state, snapshot)

    return read


def never_over(self: Any, state: Any, snapshot: Any) -> bool:
    """`read_position` that never tells the end of a game."""
    ConnectFour.read_position(self, state, snapshot)
    return False


def refuse_all(self: Any, state: Any, snapshot: Any) -> bool:
    """`read_position` that takes nothing."""
    raise ValueError("no such position")


def always_over(self: Any, state: Any, snapshot: Any) -> bool:
    """`read_position` that calls every game over."""
    ConnectFour.read_position(self, state, snapshot)
    return True


def refuse_full(self: Any, state: Any, action: int) -> str:
    """`action_to_str` that has no name for an illegal action."""
    if int(state["stones"][0] | state["stones"][1]) >> action & 1:
        raise KeyError(action)
    return f"column {action}"


GAMES = {
    "the range of a part": (
        {
            "kernel": replace(
                ConnectFour.kernel,
                observation=(
                    Part("own_stones", (1, 6, 7)),
                    Part("other_stones", (1, 6, 7), high=0),
                ),
            )
        },
        r"observe: what an agent sees lies in its observation space[\s\S]*other_stones",
    ),
    "a name twice": (
        {"action_to_str": lambda self, state, action: "drop"},
        "action_to_str: legal actions have different names",
    ),
    "a name without words": (
        {"action_to_str": lambda self, state, action: " " * action},
        "action_to_str: a short readable name",
    ),
    "a name that cannot be printed": (
        {"action_to_str": lambda self, state, action: f"column\n{action}"},
        "action_to_str: a short readable name",
    ),
    "no name for an illegal action": (
        {"action_to_str": refuse_full},
        "step, action_to_str: an illegal action raises ValueError",
    ),
    "no text": (
        {"text": lambda self, snapshot, viewer, colour: None},
        "text: a drawing of the position",
    ),
    "colours unasked": (
        {"text": lambda self, snapshot, viewer, colour: "\x1b[1mx\x1b[0m"},
        "text: no colours unless",
    ),
    "a text that tells what is hidden": (
        {
            "has_chance": True,
            "text": lambda self, snapshot, viewer, colour: f"next die {snapshot['rng']}",
        },
        "text: a viewer is not shown what is hidden",
    ),
    "a snapshot of NumPy's numbers": (
        {"position": lambda self, state: {"stones": list(state["stones"])}},
        "snapshot: plain JSON types",
    ),
    "a snapshot of tuples": (
        {
            "position": lambda self, state: {
                "stones": tuple(ConnectFour.position(self, state)["stones"])
            }
        },
        "snapshot: plain JSON types, which come back",
    ),
    "a snapshot that lacks something": (
        {"snapshot_keys": ("stones", "column")},
        "snapshot: it has the keys",
    ),
    "a result that is not restored": (
        {"read_position": forgetful_read},
        r"restore: every (position|clone\(hide_from\)) is taken",
    ),
    "an exception at nonsense": (
        {"read_position": surprised_read},
        "restore, read_position: an impossible snapshot raises ValueError",
    ),
    "TypeError for what is no number": (
        {"read_position": careless_read(lambda state, square: square < 42)},
        "restore, read_position: an impossible snapshot raises ValueError[\\s\\S]*TypeError",
    ),
    "OverflowError for a number that is too large": (
        {
            "read_position": careless_read(
                lambda state, square: isinstance(square, int) and np.int32(square)
            )
        },
        "restore, read_position: an impossible snapshot raises ValueError[\\s\\S]*OverflowError",
    ),
    "an end that is not told": (
        {"read_position": never_over},
        "read_position: it tells whether the rules end the game here",
    ),
    "no position that is taken": (
        {"read_position": refuse_all},
        "restore: every clone[\\s\\S]*read_position takes every position[\\s\\S]*no such position",
    ),
    "an end that is told too early": (
        {"read_position": always_over},
        "restore: every clone[\\s\\S]*read_position[^:]*tells whether it is over",
    ),
    "something overlooked": (
        {
            "snapshot_keys": ("stones", "note"),
            "position": lambda self, state: {**ConnectFour.position(self, state), "note": 0},
        },
        "restore, read_position: it takes nothing that snapshot does not give back",
    ),
}


@pytest.mark.parametrize(("attributes", "promise"), GAMES.values(), ids=GAMES.keys())
def test_a_broken_game_is_named(attributes, promise):
    # Words of its own, where a snapshot is not what `text` and `decode` expect.
    words = {
        "text": lambda self, snapshot, viewer, colour: "board",
        "decode": lambda self, action, position: Move(f"column {action}", "drop"),
    }
    game = spoiled(**{**words, **attributes})
    with pytest.raises(ContractError) as caught:
        check_env(game, games=8, options={})
    assert re.search(promise, str(caught.value)), caught.value
    assert "seed=" in str(caught.value)


def test_a_game_that_pickle_does_not_find_is_named():
    game = type("Homeless", (ConnectFour,), {})()
    with pytest.raises(ContractError, match=r"pickle.*must hold it as GAME"):
        check_env(game, options={}, games=1)


def observe_the_same(self: Any, agent: str) -> Any:
    """`observe` in the same array at every call."""
    shown = TabletopEnv.observe(self, agent)
    if self.mask_in == "info" or self.obs_key != "observation" or not self.agents:
        return shown
    kept = self.__dict__.setdefault("kept", {})
    return {
        key: kept.setdefault((agent, self.infos[agent]["ply"], key), shown[key]) for key in shown
    }


def observe_the_same_mask(self: Any, agent: str) -> Any:
    """`observe` with the same array for the mask alone."""
    shown = TabletopEnv.observe(self, agent)
    if self.mask_in == "info":
        return shown
    return {**shown, "action_mask": observe_the_same(self, agent)["action_mask"]}


def mask_for_all(self: Any, agent: str | None = None) -> Any:
    """`action_mask` as if everybody were in turn."""
    return TabletopEnv.action_mask(self, self.agent_selection)


def observe_mask_for_all(self: Any, agent: str) -> Any:
    """`observe` with a mask as if everybody were in turn."""
    shown = TabletopEnv.observe(self, agent)
    if self.mask_in == "info":
        return shown
    return {**shown, "action_mask": TabletopEnv.action_mask(self, self.agent_selection)}


def inform_more(self: Any, ply: int, scores: list[int]) -> None:
    """Infos with a key that comes and goes."""
    TabletopEnv._inform(self, ply, scores)
    if ply % 2:
        self.infos["player_0"]["odd"] = 1


def step_with_rewards(self: Any, action: Any) -> None:
    """`step` that gives a reward for every action."""
    TabletopEnv.step(self, action)
    self.rewards = dict.fromkeys(self.rewards, 0.5)


def step_with_unequal_rewards(self: Any, action: Any) -> None:
    """`step` after which somebody gets too much at the end."""
    TabletopEnv.step(self, action)
    if any(self.rewards.values()):
        self.rewards["player_0"] += 1
        self._cumulative_rewards["player_0"] += 1


def step_that_moves_anyway(self: Any, action: Any) -> None:
    """`step` that plays another action instead of an illegal one, and complains all the same."""
    try:
        TabletopEnv.step(self, action)
    except ValueError:
        TabletopEnv.step(self, int(self.action_mask().argmax()))
        raise


def step_that_truncates(self: Any, action: Any) -> None:
    """`step` that calls a game ended by max_plies truncated."""
    TabletopEnv.step(self, action)
    if self._over and self.snapshot()["outcome"]["by_limit"]:
        self.terminations = dict.fromkeys(self.terminations, False)
        self.truncations = dict.fromkeys(self.truncations, True)


def restore_half(self: Any, snapshot: Any) -> None:
    """`restore` that changes something before it refuses."""
    if isinstance(snapshot, dict) and self._started:
        self.infos["player_0"]["score"] = 9
    TabletopEnv.restore(self, snapshot)


def clone_itself(self: Any, hide_from: Any = None, rng: Any = None) -> Any:
    """`clone` that gives the environment itself, unless something is hidden."""
    return self if hide_from is rng is None else TabletopEnv.clone(self, hide_from, rng)


def share_infos(self: Any, hide_from: Any = None, rng: Any = None) -> Any:
    """`clone` that shares the infos."""
    twin = TabletopEnv.clone(self, hide_from, rng)
    twin.infos = self.infos if hide_from is None else twin.infos
    return twin


def masks(info: Any) -> Any:
    """The masks in an agent's infos."""
    return [info["action_mask"]] if "action_mask" in info else []


def hidden_by(change: Any) -> Any:
    """`clone` after which a copy that hides something is changed."""

    def clone(self: Any, hide_from: Any = None, rng: Any = None) -> Any:
        twin = TabletopEnv.clone(self, hide_from, rng)
        if hide_from is not None and not twin._over:
            change(twin)
        return twin

    return clone


def observe_by_its_key(self: Any, agent: str) -> Any:
    """`observe` that has its own name for the observation."""
    shown = TabletopEnv.observe(self, agent)
    return (
        shown
        if self.mask_in == "info"
        else dict(zip(("observation", "action_mask"), shown.values(), strict=True))
    )


def observe_anybody(self: Any, agent: str) -> Any:
    """`observe` that takes anybody for the first player."""
    return TabletopEnv.observe(self, agent if agent in self.possible_agents else "player_0")


def observe_while_alive(self: Any, agent: str) -> Any:
    """`observe` that shows zeros when no agent is left."""
    shown = TabletopEnv.observe(self, agent)
    return shown if self.agents else {key: 0 * array for key, array in shown.items()}


def reset_by_any_seed(self: Any, seed: Any = None, options: Any = None) -> None:
    """`reset` that takes any seed."""
    TabletopEnv.reset(self, None if seed is None else int(seed) % 2**64)


def reset_too_early(self: Any, seed: Any = None, options: Any = None) -> None:
    """`reset` that has changed something before it looks at the seed."""
    self._cumulative_rewards = dict.fromkeys(self.possible_agents, 0.0)
    self.agents = []
    TabletopEnv.reset(self, seed)


def reset_by_all(self: Any, seed: Any = None, options: Any = None) -> None:
    """`reset` after which a number is seen that all environments count on."""
    TabletopEnv.reset(self, seed)
    if seed is None:
        self.infos["player_0"]["score"] = next(NUMBERS)


def complain(self: Any, action: Any) -> None:
    """`step` whose errors do not say what is wrong."""
    try:
        TabletopEnv.step(self, action)
    except ValueError:
        raise ValueError("no") from None


def step_on(self: Any, action: Any) -> None:
    """`step` that overlooks actions after the end."""
    if self.agents and self._over and action is not None:
        return
    TabletopEnv.step(self, action)


def lose_by_anything(self: Any, action: Any) -> None:
    """`step` by which anything that is no action loses, too."""
    if self.on_illegal == "lose" and self.agents and not isinstance(action, int | np.integer):
        action = int(self.action_mask().argmin())
    TabletopEnv.step(self, action)


def remember(self: Any, seed: Any = None, options: Any = None) -> None:
    """`reset` that remembers who has lost by an illegal action."""
    lost = self._offender is not None
    TabletopEnv.reset(self, seed)
    self.rewards["player_0"] = -1.0 if lost else 0.0


def accuse(self: Any) -> Any:
    """`snapshot` that names the next player as the offender."""
    snapshot = TabletopEnv.snapshot(self)
    if self._offender is not None:
        snapshot["to_move"] = 1 - snapshot["to_move"]
    return snapshot


def restore_more(self: Any, snapshot: Any) -> None:
    """`restore` that changes something else."""
    TabletopEnv.restore(self, snapshot)
    self.infos["player_0"]["score"] = 9


def copy_if_started(self: Any, memo: Any) -> Any:
    """`deepcopy` that needs a game."""
    self._require_started()
    return self.clone()


def other_reset(self: Any, seed: Any = None, options: Any = None) -> None:
    """`reset` that starts another game the second time."""
    TabletopEnv.reset(self, seed=seed)
    if self.__dict__.setdefault("resets", 0):
        TabletopEnv.step(self, 0)
    self.resets += 1


def warn(self: Any, agent: str) -> Any:
    """`action_space` with a warning."""
    warnings.warn("odd", stacklevel=1)
    return TabletopEnv.action_space(self, agent)


ENVIRONMENTS = {
    "the same array": ({"observe": observe_the_same}, "observe: fresh arrays"),
    "the same mask": ({"observe": observe_the_same_mask}, "observe: fresh arrays"),
    "a mask for all": ({"observe": observe_mask_for_all}, "action_mask: legal actions for the"),
    "another mask in infos": ({"action_mask": mask_for_all}, 'mask_in="info": the same'),
    "a key that comes and goes": ({"_inform": inform_more}, "infos: the numbers score and ply"),
    "a reward on the way": ({"step": step_with_rewards}, "rewards: zero before the end"),
    "a reward too much": ({"step": step_with_unequal_rewards}, "rewards: at the end their sum"),
    "a move in spite of an error": (
        {"step": step_that_moves_anyway},
        "step, action_to_str: an illegal action raises ValueError in words and changes nothing",
    ),
    "a limit that truncates": (
        {"step": step_that_truncates},
        "max_plies: after this many actions the game terminates",
    ),
    "a state outside its space": (
        {"state": lambda self: TabletopEnv.state(self) + 7},
        "state: it lies in state_space",
    ),
    "another game of the same seed": ({"reset": other_reset}, "reset: the same seed starts"),
    "names that lead elsewhere": (
        {"str_to_action": lambda self, text: 0},
        "str_to_action: the inverse|str_to_action: an error that names",
    ),
    "a clone that is the same": ({"clone": clone_itself}, "clone: what follows is the same"),
    "a clone that shares its infos": ({"clone": share_infos}, "independent games"),
    "no error before the first reset": (
        {"state": lambda self: np.zeros(84, np.float32)},
        "state: ResetNeeded before the first reset",
    ),
    "a key of its own": ({"observe": observe_by_its_key}, "obs_key: the name of the observation"),
    "parts in another shape": (
        {"split_observation": lambda self, seen: {"own_stones": seen}},
        "split_observation: the parts lie",
    ),
    "any seed": ({"reset": reset_by_any_seed}, r"reset\(seed=-1\): an error that names seed"),
    "a seed that is refused too late": ({"reset": reset_too_early}, "errors change nothing"),
    "any agent": ({"observe": observe_anybody}, "observe: an error that names player_9"),
    "any viewer": (
        {"render": lambda self, viewer=None, colour=False: TabletopEnv.render(self, None, colour)},
        r"render\(viewer\): an error that names player_9",
    ),
    "a stream that all share": ({"reset": reset_by_all}, "reset: without a seed it continues"),
    "an error that names nothing": ({"step": complain}, "a message without action or"),
    "a name for no action": (
        {"action_to_str": lambda self, action: f"column {action + 1}"},
        "action_to_str: an error that names -1",
    ),
    "actions after the end": ({"step": step_on}, "step, once the game is over"),
    "no end to be seen": (
        {"observe": observe_while_alive},
        "observe: everybody still sees the end",
    ),
    "a loss by what is no action": (
        {"step": lose_by_anything},
        'on_illegal="lose": step, of what is no action',
    ),
    "a loss that is remembered": ({"reset": remember}, "the next reset has forgotten the loss"),
    "an offender who is not told": ({"snapshot": accuse}, "the snapshot tells the offender"),
    "a hidden copy in which more is played": (
        {"clone": hidden_by(lambda twin: twin.step(twin.action_mask().argmax()))},
        r"clone\(hide_from\): the agent is shown the same",
    ),
    "hidden copies of one rng that differ": (
        {"clone": hidden_by(lambda twin: twin.options.update(max_plies=next(NUMBERS) + 100))},
        r"clone\(hide_from\): one rng gives one copy",
    ),
    "a hidden copy that is no position": (
        {"clone": hidden_by(lambda twin: twin.options.update(wings=2))},
        r"restore: every clone\(hide_from\) is taken",
    ),
    "a hidden copy where nothing is hidden": (
        {"clone": hidden_by(lambda twin: twin.options.update(max_plies=50))},
        r"clone\(hide_from\): nothing is hidden",
    ),
    "the true masks in a hidden copy": (
        {
            "clone": hidden_by(
                lambda twin: [m.fill(1) for i in twin.infos.values() for m in masks(i)]
            )
        },
        "the masks in infos are those of the copy",
    ),
    "a restored game with something more": (
        {"restore": restore_more},
        "restore: every .* is restored as it was",
    ),
    "a copy that plays on only after a reset": (
        {"__deepcopy__": copy_if_started},
        "deepcopy: an environment can be copied at any time",
    ),
    "half a restored game": (
        {"restore": restore_half},
        "restore: an impossible snapshot changes nothing",
    ),
    "new spaces at every call": (
        {"action_space": lambda self, agent: spaces.Discrete(7 + 0 * self._player(agent))},
        "observation_space, action_space: the same objects",
    ),
    "a warning": ({"action_space": warn}, r"pettingzoo\.test\.api_test.*gives no warning"),
}


@pytest.mark.parametrize(("methods", "promise"), ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_a_broken_environment_is_named(methods, promise):
    with pytest.raises(ContractError) as caught:
        check_env(environment(**methods), games=1, options={})
    assert re.search(promise, str(caught.value)), caught.value


def losing_always_raises(**arguments: Any) -> TabletopEnv:
    """A constructor that does not hand on what illegal actions do."""
    if arguments.get("on_illegal") == "lose":
        arguments["on_illegal"] = "raise"
    return TabletopEnv(GAME, **arguments)


def without_options(**arguments: Any) -> TabletopEnv:
    """A constructor that does not hand on options."""
    return TabletopEnv(GAME, **{**arguments, "max_plies": 42})


def forgiving(**arguments: Any) -> TabletopEnv:
    """A constructor that overlooks unknown options."""
    arguments.pop("no_such_option", None)
    return TabletopEnv(GAME, **arguments)


def careless(**arguments: Any) -> TabletopEnv:
    """A constructor that overlooks where a mask cannot be."""
    if arguments.get("mask_in") == "nonsense":
        arguments["mask_in"] = "info"
    return TabletopEnv(GAME, **arguments)


def vague(**arguments: Any) -> TabletopEnv:
    """A constructor that names the option, but not what was given."""
    try:
        return TabletopEnv(GAME, **arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"impossible: {str(error).partition('=')[0]}") from None


def clamping(**arguments: Any) -> TabletopEnv:
    """A constructor that makes impossible values possible."""
    if arguments.get("max_plies") == 0:
        arguments["max_plies"] = 1
    return TabletopEnv(GAME, **arguments)


def unhelpful(**arguments: Any) -> TabletopEnv:
    """A constructor that says nothing of what is wrong."""
    try:
        return TabletopEnv(GAME, **arguments)
    except (TypeError, ValueError):
        raise ValueError("impossible") from None


@pytest.mark.parametrize(
    ("constructor", "promise"),
    [
        (losing_always_raises, 'on_illegal="lose": an illegal action raises nothing'),
        (without_options, "options: the constructor hands max_plies on"),
        (forgiving, "options: no_such_option=1 raises"),
        (clamping, "options: max_plies=0 raises"),
        (careless, "options: mask_in='nonsense' raises"),
        (vague, "options: max_plies='many' raises"),
        (unhelpful, "options: no_such_option=1 raises TypeError or ValueError that names"),
    ],
)
def test_a_broken_constructor_is_named(constructor, promise):
    with pytest.raises(ContractError, match=promise):
        check_env(constructor, games=1, options={})


def test_a_gymnasium_environment_that_fails_is_named(monkeypatch):
    class Wrong(env_stacks.TabletopGymEnv):
        def step(self, action: Any) -> Any:
            observation, *others = super().step(action)
            return (observation + 5, *others)

    monkeypatch.setattr(env_stacks, "TabletopGymEnv", Wrong)
    with pytest.raises(ContractError, match=r"gymnasium\.utils\.env_checker\.check_env"):
        env_stacks.check_gymnasium(GAME, {})


BATCH = batches.BatchEnv
MEEPLES = registry.get_game("meeples")


def unseeded(self: Any, seed: Any = None, options: Any = None) -> None:
    """`reset` whose first game without a seed is always the same."""
    TabletopEnv.reset(self, 0 if seed is None and not self._started else seed)


def rolling(self: Any, hide_from: Any = None, rng: Any = None) -> Any:
    """`clone` that draws chance for the copy, whose next game is another one then."""
    twin = TabletopEnv.clone(self, hide_from, rng)
    if self._started:
        twin._states["rng"] += np.uint64(1)
    return twin


def test_broken_chance_is_named():
    broken = environment(reset=unseeded).func
    with pytest.raises(ContractError, match="first one without a seed is from fresh entropy"):
        check_resets(partial(broken, MEEPLES), MEEPLES, {"max_plies": 2}, 0)
    make = partial(environment(clone=rolling).func, MEEPLES)
    whole = random_game(make, MEEPLES, {"max_plies": 2}, 0)
    with pytest.raises(ContractError, match=r"the next reset starts the game|what follows"):
        check_copies(make, whole)


def array_of_its_own(name: str, dtype: Any = None) -> Any:
    """A batch of which one array is a new one at every call."""

    def get(self: Any, asked: str) -> Any:
        value = BATCH.__getattribute__(self, asked)
        return np.array(value, dtype) if asked == name else value

    return type("Wrong", (BATCH,), {"__getattribute__": get})


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (array_of_its_own("rewards", np.float64), "batch: rewards has the shape"),
        (array_of_its_own("scores"), "batch: its arrays are the same objects"),
    ],
)
def test_a_batch_with_other_arrays_is_named(monkeypatch, wrong, promise):
    monkeypatch.setattr(batches, "BatchEnv", wrong)
    with pytest.raises(ContractError, match=promise):
        batches.check_batch(partial(TabletopEnv, GAME), GAME, {}, 0)


@pytest.mark.parametrize("array", SHOWN.split())
def test_a_batch_that_plays_something_else_is_named(monkeypatch, array):
    class Wrong(batches.BatchEnv):
        def step(self, actions: Any, **arguments: Any) -> None:
            super().step(actions, **arguments)
            getattr(self, array)[1] = 1 - getattr(self, array)[1]

    monkeypatch.setattr(batches, "BatchEnv", Wrong)
    make = partial(TabletopEnv, GAME)
    with pytest.raises(ContractError, match=f"batch: {array} of a lane"):
        batches.check_batch(make, GAME, {}, 0)


def test_impossible_arguments_are_named():
    for arguments, error, words in (
        ({"env": 3}, TypeError, "env=3 is neither"),
        ({"env": lambda: BaseWrapper(TabletopEnv(GAME))}, TypeError, "wrappers are not checked"),
        ({"games": 0}, ValueError, "games=0"),
        ({"options": {"wings": 2}}, TypeError, "wings"),
        ({"options": []}, ValueError, "options is empty"),
    ):
        with pytest.raises(error, match=words):
            check_env(**{"env": GAME, **arguments})
