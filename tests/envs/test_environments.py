"""The shared suite on every game and kind of option, and what concerns these games alone."""

import random
import subprocess
import sys

import numpy as np
import pettingzoo
import pytest

from tabletop_envs import registry
from tabletop_envs.testing import check_env, check_kernel
from tests.games import each_case, each_game, module, over, play, raw_env

# Seeds go on from 2^64 − 1 to 0, in lanes and from game to game.
SEED = 2**64 - 2


@each_case
def test_the_environments_keep_their_promises(name, options):
    check_env(module(name).env, options=options, games=1, seed=SEED)


@each_case
def test_the_kernel_keeps_its_promises(name, options):
    check_kernel(registry.get_game(name), options=options, games=2, seed=SEED)


@each_game
def test_illegal_actions_lose_in_env_and_raise_in_raw_env(name):
    env = module(name).env()
    assert (env.on_illegal, raw_env(name).on_illegal) == ("lose", "raise")
    env.reset(seed=4)
    env.step(int(env.action_mask().argmin()))
    for agent in env.possible_agents:
        parts = env.split_observation(env.observe(agent)["observation"])
        assert not parts["to_move"].any()


@each_game
def test_reset_without_a_seed_starts_another_game(name):
    env = raw_env(name)
    env.reset(seed=6)
    first = env.snapshot()
    env.reset()
    assert (env.snapshot() == first) is (name == "kirche")
    other = raw_env(name)
    other.reset()
    assert (other.snapshot() == first) is (name == "kirche")


@each_case
def test_drawings_at_every_ply(name, options):
    env, rng = raw_env(name, render_mode="ansi", **options), random.Random(9)
    env.reset(seed=9)
    drawings = {env.render()}
    while not over(env):
        play(env, rng.randrange, 1)
        plain = env.render()
        assert f"ply {env.snapshot()['ply']}" in plain
        drawings.add(plain)
        if len(drawings) == 20:
            hides = name == "meeples" and not options.get("open_hands")
            assert "\x1b[" in env.render(colour=True)
            assert all((env.render(viewer=a) != plain) is hides for a in env.possible_agents)
    assert len(drawings) == env.snapshot()["ply"] + 1


@each_game
def test_attributes_are_writable_and_closing_twice_is_fine(name):
    env = raw_env(name)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
    shown = "rewards terminations truncations infos _cumulative_rewards agent_selection".split()
    for attribute in shown:
        setattr(env, attribute, getattr(env, attribute))
    env.close()
    env.close()


@each_game
def test_a_module_s_split_observation_gives_views(name):
    flat = raw_env(name).observation_space("player_0")["observation"].low
    for array, lead in ((flat, ()), (np.stack([flat] * 3), (3,))):
        for part, view in module(name).split_observation(array).items():
            assert view.shape == lead + module(name).OBSERVATION[part].shape
            assert np.shares_memory(view, array)
    with pytest.raises(ValueError, match="numbers"):
        module(name).split_observation(flat[1:])


@each_game
def test_the_manual_s_numbers_are_the_code_s(name):
    manual, game = module(name).env.__globals__["__doc__"], module(name).GAME
    assert f"L = {game.kernel.observation_size}" in manual
    assert f"Discrete({game.kernel.num_actions})" in manual

    def cells(table, row):
        line = next(line for line in table.splitlines() if line.startswith(f"`{row}`"))
        return [cell.strip() for cell in line.split("  ") if cell.strip()]

    table = manual.partition("Observation\n=====")[2]
    for part in game.kernel.observation:
        _, shape, numbers, *_ = cells(table, part.name)
        assert shape == str(part.shape)
        written = f"{part.low}{', ' if part.high == part.low + 1 else ' … '}{part.high}"
        assert numbers == written.replace("-", "−")
    table = manual.partition("Options\n=====")[2].partition("Actions\n=====")[0]
    for option in game.options:
        _, default, allowed, meaning = cells(table, option.name)
        assert default == str(option.default)
        assert meaning == option.meaning or name != "meeples"
        if option.name != "max_plies":
            truth = isinstance(option.default, bool)
            words = ("True/False", "True, False")
            assert allowed in (words if truth else (f"{option.minimum} … {option.maximum}",))


@each_game
def test_made_through_pettingzoo_s_registry(name):
    if not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry")
    env = pettingzoo.make("aec", registry.aec_id(name), max_plies=50)
    assert env.unwrapped.options["max_plies"] == 50
    env = pettingzoo.make("parallel", registry.aec_id(name), max_plies=9)
    assert env.unwrapped.aec_env.options["max_plies"] == 9


def test_import_is_light_and_compiles_nothing():
    code = (
        "import sys, gymnasium, tabletop_envs; "
        "heavy = {'numba', 'pygame', 'matplotlib', 'torch', 'rich', 'typer'} & set(sys.modules); "
        "assert not heavy, heavy; assert 'tabletop_envs/Kirche-v0' in gymnasium.registry"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
