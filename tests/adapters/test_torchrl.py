"""TorchRL: the batched environment alone and beside the others, and TorchRL's own wrapper."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torchrl", reason="needs the extra torchrl")

import torch
from tensordict.nn import InteractionType, TensorDictModule, TensorDictSequential
from torchrl.collectors import Collector
from torchrl.envs import GymEnv, ParallelEnv, SerialEnv, TransformedEnv
from torchrl.envs.gym_like import default_info_dict_reader
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.transforms import ActionMask, Compose, RewardSum, StepCounter
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MaskedCategorical, ProbabilisticActor, QValueModule, ValueOperator
from torchrl.objectives.value import GAE

from tabletop_envs.adapters import torchrl as adapter
from tabletop_envs.adapters.torchrl import TabletopEnv, own_turns
from tabletop_envs.envs.vector import TabletopVectorEnv
from tests.adapters.common import guarded, import_error_without, run_script, scripts
from tests.games import each_case, each_game, module, raw_env

SHORT = {"max_plies": 40}
STRICT = {**SHORT, "on_illegal": "raise"}
each_kind = pytest.mark.parametrize("opponents", ["random", "self"])


def first_legal(data: Any) -> Any:
    """The data with every lane's lowest legal action."""
    return data.set("action", data["action_mask"].long().argmax(-1))


def equal(data: Any, other: Any, *keys: str) -> None:
    for key in keys or ("observation", "action_mask", "player", "done"):
        assert (data[key] == other[key]).all(), key


# The contract


@each_case
@each_kind
def test_satisfies_its_specs(name, options, opponents):
    torch.manual_seed(1)
    env = TabletopEnv(name, 3, opponents=opponents, seed=1, **{**options, **STRICT})
    with guarded() as guard:
        check_env_specs(env, break_when_any_done="both")
        data = env.rollout(60, break_when_any_done=False)
    assert guard.actions > 60
    assert data["next", "done"].any()
    assert env.observation_spec.is_in(data[..., -1].select(*env.observation_spec.keys()))


@each_game
def test_satisfies_its_specs_with_one_hot_actions(name):
    env = TabletopEnv(name, 3, categorical_actions=False, seed=1, **STRICT)
    with guarded():
        check_env_specs(env)
        data = env.rollout(10, break_when_any_done=False)
    assert data["action"].shape == (3, 10, env.num_actions)
    # One-hot vectors and numbers mean the same.
    other = TabletopEnv(name, 3, seed=1, **SHORT)
    for one in (env, other):
        one.set_seed(5)
    start, other_start = env.reset(), other.reset()
    equal(start, other_start)
    numbers = first_legal(other_start)["action"]
    vectors = torch.nn.functional.one_hot(numbers, env.num_actions).bool()
    equal(env.step(start.set("action", vectors))["next"], other.step(other_start)["next"])


@pytest.mark.parametrize("categorical", [True, False])
@pytest.mark.parametrize(
    "make_transform",
    [RewardSum, StepCounter, ActionMask, lambda: Compose(ActionMask(), RewardSum(), StepCounter())],
)
@each_kind
def test_random_play_is_legal_under_transforms(opponents, make_transform, categorical):
    """The transformed environment has an action spec of its own, a copy."""
    env = TransformedEnv(
        TabletopEnv(
            "meeples", 3, opponents=opponents, categorical_actions=categorical, seed=2, **STRICT
        ),
        make_transform(),
    )
    with guarded() as guard:
        check_env_specs(env)
        data = env.rollout(50, break_when_any_done=False)
    assert guard.actions >= 100
    if "episode_reward" in set(data["next"].keys()):
        assert (data["next", "episode_reward"].abs() <= 1).all()


def make_strict() -> TabletopEnv:
    return TabletopEnv("kirche", 2, seed=2, **STRICT)


def make_default() -> TabletopEnv:
    return TabletopEnv("kirche", 2, seed=2, **SHORT)


def test_environments_in_series_satisfy_their_specs():
    """Random play in them knows masks by TorchRL's transform, and without it illegal actions lose."""
    with guarded():
        check_env_specs(TransformedEnv(SerialEnv(2, make_strict), ActionMask()))
    env = SerialEnv(2, make_default)
    with pytest.warns(UserWarning, match="an illegal action has lost a game.*ActionMask"):
        check_env_specs(env)
    data = env.rollout(3, break_when_any_done=False)
    assert data["next", "illegal_action"].any()
    assert (data["next", "terminated"] == data["next", "illegal_action"]).all()
    assert (data["next", "reward"][data["next", "illegal_action"]] == -1).all()


def test_environments_in_parallel_satisfy_their_specs():
    env = TransformedEnv(ParallelEnv(2, make_strict), ActionMask())
    try:
        check_env_specs(env)
    finally:
        env.close()


def test_the_stack_s_gym_environment_makes_ours():
    """It tries arguments that ours does not have, and looks at the words of the error."""
    env = GymEnv("tabletop_envs/Kirche-v0", num_houses=1)
    check_env_specs(env)
    env = GymEnv("tabletop_envs/Kirche-v0", num_houses=1, on_illegal="raise")
    env.set_info_dict_reader(default_info_dict_reader(["action_mask"]))
    data = TransformedEnv(env, ActionMask()).rollout(30)
    assert data["action_mask"].shape[1:] == (env.action_spec.shape[-1],)
    with pytest.raises(TypeError, match="kirche got an unexpected keyword argument 'houses'=3"):
        GymEnv("tabletop_envs/Kirche-v0", houses=3)


# The same games as elsewhere


@each_case
def test_plays_the_games_of_the_vector_environment(name, options):
    """Lane for lane, through ends and partial resets."""
    options = {**options, "max_plies": min(options.get("max_plies", 70), 70)}
    env = TabletopEnv(name, 3, seed=0, **options)
    vector = TabletopVectorEnv(name, 3, autoreset_mode="Disabled", **options)
    env.set_seed(21)
    data = env.reset()
    observation, info = vector.reset(seed=21)
    ends = 0
    for _ in range(90):
        assert (data["observation"].numpy() == observation).all()
        assert (data["action_mask"].numpy() == info["action_mask"]).all()
        assert (data["player"][:, 0].numpy() == info["seat"]).all()
        data = env.step(first_legal(data))["next"]
        observation, rewards, terminated, truncated, info = vector.step(
            np.asarray(info["action_mask"]).argmax(1)
        )
        assert (data["reward"][:, 0].numpy() == rewards.astype(np.float32)).all()
        assert (data["terminated"][:, 0].numpy() == terminated).all()
        assert (data["truncated"][:, 0].numpy() == truncated).all()
        assert not truncated.any()
        for key in ("by_limit", "illegal_action"):
            assert (data[key][:, 0].numpy() == info[key]).all()
        over = terminated
        assert (data["done"][:, 0].numpy() == over).all()
        if over.any():
            ends += 1
            data = env.reset(data.set("_reset", data["done"]))
            observation, info = vector.reset(options={"reset_mask": over})
    assert ends


@each_case
def test_self_play_is_the_game_of_the_aec_environment(name, options):
    """Ply for ply: the player to move, what it sees, and in the end everybody's rewards."""
    options = {**options, "max_plies": min(options.get("max_plies", 90), 90)}
    env = TabletopEnv(name, 2, opponents="self", seed=33, **options)
    single = raw_env(name, **options)
    data = env.reset()
    single.reset(seed=34)  # lane 1
    for _ in range(90):
        agent = single.agent_selection
        seen = single.observe(agent)
        assert agent == f"player_{int(data['player'][1])}"
        assert (data["observation"][1].numpy() == seen["observation"]).all()
        assert (data["action_mask"][1].numpy() == seen["action_mask"]).all()
        assert not data["done"][1]
        data = first_legal(data)
        single.step(int(data["action"][1]))
        data = env.step(data)["next"]
        rewards = [single.rewards[agent] for agent in single.possible_agents]
        assert data["reward"][1].tolist() == pytest.approx(rewards)
        if data["done"][1]:
            assert bool(data["by_limit"][1]) is single.snapshot()["outcome"]["by_limit"]
            assert not data["truncated"].any()
            assert data["action_mask"][1].all()
            break
        if data["done"].any():
            data = env.reset(data.set("_reset", data["done"]))
    else:
        pytest.fail("the game did not end")


@each_kind
def test_seeds_are_exact(opponents):
    def play(env: TabletopEnv) -> list[Any]:
        shown, data = [], env.reset()
        for _ in range(30):
            shown.append(data["observation"].clone())
            data = env.step(first_legal(data))["next"]
        return shown

    def make(seed: Any) -> TabletopEnv:
        return TabletopEnv("meeples", 3, opponents=opponents, seed=seed)

    first = play(make(5))
    again = make(6)
    play(again)
    again.set_seed(5)
    for other in (play(make(5)), play(again), play(make([5, 6, 7]))):
        assert all(torch.equal(one, two) for one, two in zip(first, other, strict=True))
    assert not torch.equal(first[0], play(make(8))[0])
    # Lane 1 of the one is lane 0 of the other.
    assert torch.equal(first[-1][1], play(make(6))[-1][0])


# Resets and steps of some lanes


@each_kind
def test_partial_resets_leave_the_other_lanes_as_they_are(opponents):
    env = TabletopEnv("meeples", 4, opponents=opponents, seed=1)
    data = env.reset()
    for _ in range(12):
        data = env.step(first_legal(data))["next"]
    chosen = torch.tensor([[False], [True], [False], [True]])
    before = data.clone()
    after = env.reset(data.clone().set("_reset", chosen))
    kept, fresh = [0, 2], [1, 3]
    equal(after[kept], before[kept])
    assert not (after["observation"][fresh] == before["observation"][fresh]).all(-1).any()
    # What is kept really goes on where it was.
    other = TabletopEnv("meeples", 4, opponents=opponents, seed=1)
    data = other.reset()
    for _ in range(12):
        data = other.step(first_legal(data))["next"]
    equal(env.step(first_legal(after))["next"][kept], other.step(first_legal(data))["next"][kept])


@each_kind
def test_partial_steps_play_the_chosen_lanes_only(opponents):
    env = TabletopEnv("tuerme", 3, opponents=opponents, seed=1)
    data = env.reset()
    chosen = torch.tensor([True, False, True])
    with guarded() as guard:
        after = env.step(first_legal(data.clone()).set("_step", chosen))["next"]
    assert guard.actions == 2
    equal(after[1:2], data[1:2])
    assert not (after["observation"][chosen] == data["observation"][chosen]).all(-1).any()


@each_kind
def test_lanes_that_are_over_wait_for_the_others(opponents):
    torch.manual_seed(3)
    env = TabletopEnv("tuerme", 4, opponents=opponents, seed=3, end_on_any_full_city=True)
    data = env.rollout(500, break_when_any_done=False, break_when_all_done=True)
    done = data["next", "done"][..., 0]
    assert done[:, -1].all()
    assert not done[:, 0].any()
    # TorchRL repeats the last data of lanes that wait; the environment gives results once.
    data = env.reset()
    results = torch.zeros_like(env.reward_spec.zero())
    waited = False
    while not data["done"].all():
        data["_step"] = ~data["done"][:, 0]
        waited |= bool(data["done"].any())
        data = env.step(env.rand_action(data))["next"]
        results += data["reward"].abs()
    assert waited
    assert (results <= 1).all(), "a result was given twice"
    assert (results == 1).any()


def test_a_game_that_is_over_must_be_reset():
    env = TabletopEnv("kirche", 2, seed=1, max_plies=3)
    data = env.reset()
    while not data["done"].any():
        data = env.step(first_legal(data))["next"]
    with pytest.raises(RuntimeError, match=r"lanes \[.*\] are over: reset them"):
        env.step(first_legal(data))


def test_what_was_returned_is_not_overwritten():
    env = TabletopEnv("kirche", 2, seed=1)
    data = env.reset()
    before = data.clone()
    env.step(first_legal(data.clone()))
    equal(data, before)
    env.reset()
    equal(data, before)


# What is not allowed


@each_kind
def test_an_illegal_action_raises_and_changes_nothing(opponents):
    env = TabletopEnv("kirche", 2, opponents=opponents, seed=1, on_illegal="raise")
    data = env.reset()
    good = first_legal(data.clone())
    for action, words in ((1, "action 1 \\("), (-1, "action -1"), (99999, "action 99999")):
        bad = good.clone()
        # Square 1 is no corner.
        bad["action"][1] = action
        with pytest.raises(ValueError, match=rf"lane 1: {words}.*illegal here"):
            env.step(bad)
    other = TabletopEnv("kirche", 2, opponents=opponents, seed=1)
    equal(env.step(good)["next"], other.step(first_legal(other.reset()))["next"])


def test_an_illegal_action_loses():
    env = TabletopEnv("kirche", 2, seed=1)
    data = first_legal(env.reset())
    data["action"][1] = 1
    with pytest.warns(UserWarning, match="an illegal action has lost a game"):
        after = env.step(data)["next"]
    assert after["reward"].tolist() == [[0.0], [-1.0]]
    assert after["terminated"].tolist() == after["illegal_action"].tolist() == [[False], [True]]


def test_an_illegal_action_loses_in_self_play():
    env = TabletopEnv("tuerme", 2, opponents="self", seed=1, num_players=3)
    data = first_legal(env.reset())
    mover = int(data["player"][1])
    data["action"][1] = int(data["action_mask"][1].int().argmin())
    with pytest.warns(UserWarning, match="an illegal action has lost a game"):
        after = env.step(data)["next"]
    lost = [-1.0 if player == mover else 0.5 for player in range(3)]
    assert after["reward"].tolist() == [[0.0] * 3, lost]
    assert after["terminated"].tolist() == [[False], [True]]


def test_an_opponent_that_raises_leaves_all_games_as_they_were():
    """Some lanes have been replied to by then; a reset is put back, too."""
    calls, failing = 0, False

    def opponent(observation: Any, mask: Any, rng: Any) -> int:
        nonlocal calls
        calls += 1
        if failing and calls % 2 == 0:
            raise RuntimeError("out of ideas")
        return int(mask.argmax())

    env = TabletopEnv("kirche", 8, opponents=opponent, seed=1)
    data = env.reset()
    for _ in range(4):
        data = env.step(first_legal(data))["next"]
    before = env._lanes.states.tobytes()
    failing = True
    for call in (lambda: env.step(first_legal(data.clone())), env.reset):
        with pytest.raises(RuntimeError, match="out of ideas"):
            call()
        assert env._lanes.states.tobytes() == before
    failing = False
    assert not env.step(first_legal(data))["next", "done"].any()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"num_envs": 0}, ValueError, "num_envs=0"),
        ({"num_envs": 2.5}, TypeError, "num_envs=2.5"),
        ({"opponents": "nobody"}, ValueError, "nobody"),
        ({"opponents": "self", "seat": 0}, ValueError, "seat=0"),
        ({"on_illegal": "ignore"}, ValueError, "on_illegal='ignore'"),
        ({"seat": 2}, ValueError, "seat=2"),
        ({"seed": -1}, ValueError, "seed=-1"),
        ({"num_envs": 2, "seed": [1, 2, 3]}, ValueError, "3 numbers for 2 lanes"),
        ({"colour": 3}, TypeError, "colour"),
        ({"opponents": "self", "num_houses": 8}, ValueError, "num_houses=8"),
    ],
)
def test_impossible_arguments_are_named(arguments, error, words):
    with pytest.raises(error) as caught:
        TabletopEnv("kirche", **arguments)
    assert words in str(caught.value)


def test_unknown_game_is_named():
    with pytest.raises(ValueError, match="no game 'chess'"):
        TabletopEnv("chess")


def test_absent_package_names_the_extra():
    message = import_error_without("torchrl", "tabletop_envs.adapters.torchrl")
    assert "tabletop-envs[torchrl]" in message


# Training


def test_the_script_of_the_docstring_trains():
    """Masked PPO: only legal actions reach the games, and the learner sees losses as well as wins."""
    torch.manual_seed(1)
    output = io.StringIO()
    with guarded() as guard, contextlib.redirect_stdout(output):
        names = run_script(
            scripts(adapter)[0],
            ('"kirche", 64, num_houses=1', '"tuerme", 8, max_plies=60'),
            ("frames_per_batch=64 * 32", "frames_per_batch=512"),
            ("total_frames=64 * 32 * 20", "total_frames=1024"),
        )
    assert output.getvalue().count("mean result") == 2
    assert guard.actions >= 1024
    data = names["data"]
    results = data["next", "reward"][data["next", "done"]]
    assert (results < 0).any()
    assert (results > 0).any()
    assert all(value.isfinite().all() for value in names["loss"].parameters())


def collect(env: Any, steps: int, policy: Any = None) -> Any:
    """The data of one batch of a collector, without a policy of random play."""
    frames = env.batch_size[0] * steps
    collector = Collector(env, policy, frames_per_batch=frames, total_frames=frames)
    with guarded() as guard:
        (data,) = list(collector)
    collector.shutdown()
    assert guard.actions >= frames
    return data


def estimate(data: Any, value: float, gamma: float, lmbda: float) -> Any:
    """GAE's targets where every value is the same number."""

    class Constant(torch.nn.Module):
        def forward(self, observation: Any) -> Any:
            return torch.full((*observation.shape[:-1], 1), value)

    critic = ValueOperator(Constant(), ["observation"])
    return GAE(gamma=gamma, lmbda=lmbda, value_network=critic)(data.clone())["value_target"]


def test_the_self_play_of_the_docstring_trains():
    """Its lines put into the script above it, as they say."""
    first, second, _ = scripts(adapter)
    begin, loop = second.split("...  # policy, critic, gae, loss and optimizer as above\n")
    head, tail = first.split("for data in")
    env = next(line for line in head.splitlines(True) if line.startswith("env ="))
    update = tail[tail.index("        losses =") : tail.index("    print(")]
    script = head.replace(env, begin) + loop.replace("        ...  # as above\n", update)
    with guarded() as guard:
        names = run_script(
            script,
            ('"tuerme", 64,', '"tuerme", 8, max_plies=60,'),
            ("frames_per_batch=64 * 32", "frames_per_batch=512"),
            ("total_frames=64 * 32 * 20", "total_frames=1024"),
        )
    assert guard.actions >= 1024
    assert set(names["turns"]["player"].flatten().tolist()) == {0, 1, 2}
    assert (names["turns"]["next", "reward"] == -0.5).any()
    assert all(value.isfinite().all() for value in names["loss"].parameters())


@each_kind
def test_collectors_see_wins_and_losses(opponents):
    env = TabletopEnv("meeples", 8, opponents=opponents, seed=1, max_plies=80, on_illegal="raise")
    data = collect(env, 100)
    results = data["next", "reward"][data["next", "done"].expand_as(data["next", "reward"])]
    assert (results == 1).any()
    assert (results == -1).any()


# What is learned


@each_case
def test_targets_are_results_where_games_end(name, options):
    """Nothing is added to what a game has come to, `max_plies` or not: with values of 5 everywhere."""
    options = {**options, "max_plies": 30}
    data = collect(TabletopEnv(name, 6, seed=1, on_illegal="raise", **options), 70)
    after = data["next"]
    done = after["done"]
    assert done.any() and after["by_limit"].any()
    assert torch.equal(after["terminated"], done) and not after["truncated"].any()
    assert (after["reward"].abs() <= 1).all()
    assert not after["reward"][~done].any()
    targets = estimate(data, value=5.0, gamma=1.0, lmbda=0.0)
    torch.testing.assert_close(targets[done], after["reward"][done])
    assert (targets[~done] == 5).all()
    # Every target of a game that has ended is its result.
    targets = estimate(data, value=0.0, gamma=1.0, lmbda=1.0)
    result = None
    for lane in range(6):
        for step in reversed(range(int(done[lane, :, 0].nonzero().max()) + 1)):
            result = after["reward"][lane, step] if done[lane, step] else result
            torch.testing.assert_close(targets[lane, step], result)


@pytest.mark.parametrize(
    ("name", "options"),
    [("kirche", {"num_houses": 1}), *(("meeples", {"num_players": n}) for n in (2, 3, 4))],
)
def test_own_turns_pair_each_player_with_its_next_view(name, options):
    """Against a search, lane by lane and player by player, for what follows each turn."""
    env = TabletopEnv(
        name, 5, opponents="self", seed=1, max_plies=60, on_illegal="raise", **options
    )
    data = collect(env, 100)
    turns, count, expected = own_turns(data), env.num_players, []
    for lane in range(5):
        players, done = data["player"][lane, :, 0].tolist(), data["next", "done"][lane, :, 0]
        for player in range(count):
            own = [step for step in range(100) if players[step] == player]
            for step in own:
                end = next((s for s in range(step, 100) if done[s]), None)
                later = next((s for s in own if s > step), None)
                if end is not None and (later is None or end < later):
                    expected.append((lane, step, end, None))
                elif later is not None:
                    expected.append((lane, step, None, later))
    assert len(turns) == len(expected) > 400
    ends = 0
    for row, (lane, step, end, later) in enumerate(expected):
        turn, player = turns[row], int(data["player"][lane, step])
        after = turn["next"]
        for key in ("observation", "action_mask", "player", "action"):
            assert torch.equal(turn[key], data[key][lane, step])
        assert bool(after["terminated"]) is (end is not None)
        if end is not None:
            ends += 1
            assert after["reward"].item() == data["next", "reward"][lane, end, player]
            assert after["done"] and not after["truncated"]
            continue
        assert not after["reward"]
        assert int(after["player"]) == player
        for key in ("observation", "action_mask"):
            assert torch.equal(after[key], data[key][lane, later])
        # The last turn whose next view is known, where that view's own turn is not.
        follows = row + 1 < len(expected) and expected[row + 1][:2] == (lane, later)
        assert bool(after["truncated"]) is bool(after["done"]) is not follows
    assert ends >= 5 * count
    # The targets of games that have ended are each player's own result.
    targets = estimate(turns, value=0.0, gamma=1.0, lmbda=1.0)
    assert (targets.abs() <= 1 + 1e-6).all()
    result = None
    for row in reversed(range(len(turns))):
        after = turns[row]["next"]
        result = after["reward"] if after["done"] else result
        torch.testing.assert_close(targets[row], result)
    cut = turns["next", "truncated"]
    targets, ends = estimate(turns, value=5.0, gamma=1.0, lmbda=0.0), turns["next", "terminated"]
    assert (targets[cut] == 5).all()
    torch.testing.assert_close(targets[ends], turns["next", "reward"][ends])


def test_own_turns_end_where_a_limit_from_outside_cuts_a_game():
    """`StepCounter`'s truncation is no end: the turns that it leaves open are left out."""
    env = TransformedEnv(
        TabletopEnv("meeples", 3, opponents="self", seed=1, on_illegal="raise"), StepCounter(30)
    )
    turns = own_turns(collect(env, 90))
    after = turns["next"]
    assert not after["terminated"].any() and after["truncated"].any()
    assert (after["player"] == turns["player"]).all()
    assert (after["step_count"] > turns["step_count"]).all()


def test_own_turns_want_the_data_of_self_play():
    with pytest.raises(ValueError, match="is for self-play"):
        own_turns(collect(TabletopEnv("kirche", 2, seed=1, **SHORT), 10))


def test_the_stack_s_greedy_choices_are_legal():
    """By a masked distribution's mode, and by a value network's masked maximum."""
    env = TabletopEnv("meeples", 4, seed=1, **STRICT)
    network = torch.nn.Linear(env.observation_spec["observation"].shape[-1], env.num_actions)
    logits = TensorDictModule(network, ["observation"], ["logits"])
    greedy = ProbabilisticActor(
        logits,
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        default_interaction_type=InteractionType.DETERMINISTIC,
    )
    values = TensorDictModule(network, ["observation"], ["action_value"])
    maximum = QValueModule(spec=env.action_spec_unbatched, action_mask_key="action_mask")
    for policy in (greedy, TensorDictSequential(values, maximum)):
        with guarded() as guard, torch.no_grad():
            data = env.rollout(60, policy, break_when_any_done=False)
        assert guard.actions >= 240
        assert data["next", "done"].any()


# TorchRL's own wrapper of AEC environments


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested")
@pytest.mark.parametrize("mask_in", ["observation", "info"])
@each_case
def test_the_stack_s_own_wrapper_works(name, options, mask_in):
    torch.manual_seed(1)
    options = {**options, "max_plies": min(options.get("max_plies", 40), 40)}
    env = PettingZooWrapper(
        module(name).env(mask_in=mask_in, on_illegal="raise", **options), use_mask=True
    )
    check_env_specs(env)
    data = env.rollout(60, break_when_any_done=True)
    agents = [f"player_{player}" for player in range(len(env.possible_agents))]
    assert list(env.group_map) == agents
    assert data["next", "done"][-1].all()
    assert data.shape[0] <= 40
    # One acts, whoever it is; the others' masks are full, so that softmaxes stay finite.
    acting = torch.stack([data[agent, "mask"][:, 0] for agent in agents])
    assert (acting.sum(0) == 1).all()
    for agent in agents:
        mask = data[agent, "action_mask"]
        assert mask.any(-1).all()
        assert mask[~data[agent, "mask"]].all()
        assert data["next", agent, "done"][-1].all()


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested")
def test_the_one_line_of_the_docstring_works():
    data = run_script(scripts(adapter)[2])["env"].rollout(5)
    assert data.shape == (5,)
