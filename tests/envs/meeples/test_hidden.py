"""What a player of meeples sees: all that may be known, and nothing hidden."""

import copy
import random

import numpy as np
import pytest

import tabletop_envs
from tests.envs.meeples.test_environment import positions, reach
from tests.games import legal_actions, module, over, play, raw_env
from tests.rules.meeples.positions import HAND_SIZE, STONES

GAME = module("meeples").GAME
PHASES = "setup stones blocks give_up meeples land sidestep clone teleport".split()
each_table = pytest.mark.parametrize(
    "options",
    [
        {"num_players": 2},
        {"num_players": 2, "dice_per_player": 1, "open_hands": True},
        {"num_players": 3, "dice_per_player": 5},
        {"num_players": 3, "dice_per_player": 2, "open_hands": True},
        {"num_players": 4, "dice_per_player": 4},
        {"num_players": 4, "open_hands": True},
    ],
    ids=str,
)
each_closed_table = pytest.mark.parametrize("num_players", [2, 3, 4])


def fields(plane):
    """The fields of a plane that are not 0, ascending."""
    return np.flatnonzero(plane).tolist()


def stones_of(row):
    """The stones of a row of 28 numbers."""
    return [list(STONES[index]) for index in np.flatnonzero(row)]


def rebuild_stones(parts):
    """The stones on the table: left and upper halves are seen, and which double is turned."""
    values = parts["values"][0].ravel() - 1
    laid = []
    for plane, step in zip(parts["stones"], (1, 24), strict=True):
        for field in fields(plane):
            one, other = int(values[field]), int(values[field + step])
            places = [field, field + step]
            if one > other or (one == other and parts["turned_doubles"][one]):
                places.reverse()
            laid.append({"stone": sorted([one, other]), "fields": places})
    return sorted(laid, key=lambda entry: entry["stone"])


def rebuild(parts):
    """The part of a snapshot that an observation shows; the hands that it hides as their sizes."""
    players = 2 + int(parts["num_players"].argmax())
    seat = int(parts["seat"].argmax())
    in_turn = [(seat + place) % players for place in range(players)]

    def by_player(name, convert):
        return [convert(parts[name][in_turn.index(player)]) for player in range(players)]

    open_hands = bool(parts["open_hands"][0])
    sizes = by_player("hand_sizes", int)
    seen = dict(zip(in_turn, [parts["hand"], *parts["other_hands"]], strict=False))
    hands = [
        stones_of(seen[player]) if open_hands or player == seat else sizes[player]
        for player in range(players)
    ]
    stones = rebuild_stones(parts)
    phase = PHASES[int(parts["phase"].argmax())]
    marked = fields(parts["marked"])
    setup_stones = [s["stone"] for s in stones if phase == "setup" and s["fields"][0] in marked]
    owned = sorted(
        (field, player)
        for player, plane in zip(in_turn, parts["owners"], strict=False)
        for field in fields(plane)
    )
    on_blocks = set(fields(parts["blocks"]))
    chosen_stone, chosen_field = stones_of(parts["chosen_stone"]), fields(parts["chosen_field"])
    return {
        "options": {
            "num_players": players,
            "dice_per_player": int(parts["dice_per_player"][0]),
            "open_hands": open_hands,
        },
        "ply": int(parts["ply"] @ [1, 128, 128**2]),
        "to_move": in_turn[int(parts["to_move"].argmax())] if parts["to_move"].any() else None,
        "stones": stones,
        "hands": hands,
        "hand sizes": sizes,
        "blocks": [{"field": f, "player": p} for f, p in owned if f in on_blocks],
        "meeples": [{"field": f, "player": p} for f, p in owned if f not in on_blocks],
        "dice": [value + 1 for value in range(6) for _ in range(int(parts["dice"][value]))],
        "supply": by_player("supply", int),
        "scores": by_player("scores", int),
        "round": int(parts["round"][0]),
        "phase": phase,
        "chosen": {
            "stone": chosen_stone[0] if chosen_stone else None,
            "field": chosen_field[0] if chosen_field else None,
        },
        "setup_stones": setup_stones,
        "moved": bool(parts["moved"][0]),
        "source": marked[0] if marked and phase != "setup" else None,
        "fired": [value + 1 for value in fields(parts["fired"])],
        "new_meeples": int(parts["new_meeples"][0]),
        "stale_rounds": int(parts["stale_rounds"][0]),
        "passed": by_player("passed", bool),
        "set_block": by_player("set_block", bool),
        "dice_allowed": by_player("dice_allowed", lambda n: None if n == -1 else int(n)),
        "fails": int(parts["fails"][0]),
        "rerolled": bool(parts["rerolled"][0]),
    }


def visible(env, player, mover):
    """What a player may know of a position; `mover` is in turn, or was when the game ended."""
    shown = env.snapshot()
    if shown["outcome"] is not None:
        shown["to_move"] = None  # The observation says that nobody acts any more.
    for key in ("game", "outcome", "rng"):
        del shown[key]
    del shown["options"]["max_plies"]
    shown["hand sizes"] = [len(hand) for hand in shown["hands"]]
    shown["scores"] = [info["score"] for info in env.infos.values()]
    if not shown["options"]["open_hands"]:
        for other, hand in enumerate(shown["hands"]):
            if other != player:
                shown["hands"][other] = len(hand)
        if shown["phase"] in ("setup", "stones") and player != mover:
            shown["chosen"] = {"stone": None, "field": None}
    return shown


def assert_rebuilt(env, mover):
    """The visible snapshot can be rebuilt from every observation; places of nobody are zeros."""
    for player, agent in enumerate(env.possible_agents):
        parts = env.split_observation(env.observe(agent)["observation"])
        assert rebuild(parts) == visible(env, player, mover)
        players = len(env.possible_agents)
        for name, part in parts.items():
            if len(part) == 4 and name != "fired":
                assert not part[players:].any(), name
        assert not parts["other_hands"][players - 1 :].any()
        # One turned double or one mark too many would go unnoticed above.
        laid = {tuple(entry["stone"]) for entry in env.snapshot()["stones"]}
        assert all((n, n) in laid for n in np.flatnonzero(parts["turned_doubles"]))
        assert set(fields(parts["blocks"])) <= set(fields(parts["owners"].any(axis=0)))
        marked = 2 * len(env.snapshot()["setup_stones"]) + (env.snapshot()["source"] is not None)
        assert len(fields(parts["marked"])) == marked
        assert len(fields(parts["chosen_field"])) <= 1


@each_table
def test_the_visible_snapshot_can_be_rebuilt_from_every_observation(options):
    phases = set()
    for seed in range(2):
        for env in positions(seed, **options):
            if not over(env):
                mover = env.possible_agents.index(env.agent_selection)
            assert_rebuilt(env, mover)
            phases.add(env.snapshot()["phase"])
    assert len(phases) >= 8


@each_closed_table
def test_a_game_ended_by_max_plies_while_a_stone_is_laid_hides_it_still(num_players):
    """Here nobody is in turn any more, but who was knows the chosen stone: also after a restore."""
    for max_plies in (1, 2, 4, 5, 8, 7 * num_players + 4, 7 * num_players + 5):
        for env in positions(3, num_players=num_players, max_plies=max_plies):
            if not over(env):
                mover = env.possible_agents.index(env.agent_selection)
        ended = env.snapshot()
        assert ended["outcome"]["by_limit"]
        assert ended["chosen"]["stone"] is not None
        assert_rebuilt(env, mover)
        assert np.array_equal(
            env.split_observation(env.observe(f"player_{mover}")["observation"])["chosen_stone"],
            [stone == tuple(ended["chosen"]["stone"]) for stone in STONES],
        )
        restored = raw_env("meeples", num_players=num_players)
        restored.restore(ended)
        assert restored.snapshot() == ended
        assert_rebuilt(restored, mover)
        for player, agent in enumerate(env.possible_agents):
            restored.restore(redealt(ended, player, mover, random.Random(max_plies)))
            assert_same_to(agent, env, restored)


@each_closed_table
def test_a_game_lost_by_an_illegal_action_while_a_stone_is_laid_hides_it_still(num_players):
    env = module("meeples").env(num_players=num_players)
    env.reset(seed=4)
    play(env, lambda n: n // 2, 8)
    assert env.snapshot()["chosen"]["stone"] is not None
    env.step(600)
    assert over(env)
    for game in (env, env.clone()):
        assert_rebuilt(game, 1)
    restored = raw_env("meeples", num_players=num_players)
    restored.restore(env.snapshot())
    assert_rebuilt(restored, 1)


def test_the_state_shows_all_hands():
    for env in positions(5, num_players=3):
        shown = rebuild(env.split_observation(env.state()))
        snapshot = env.snapshot()
        assert shown["hands"] == snapshot["hands"]
        assert shown["chosen"] == snapshot["chosen"]


# The same position with other hands


def redealt(snapshot, player, mover, rng):
    """The snapshot with others' hands, a chosen stone and the one left over dealt at random."""
    dealt = copy.deepcopy(snapshot)
    seen = [laid["stone"] for laid in snapshot["stones"]] + snapshot["hands"][player]
    laying = snapshot["phase"] in ("setup", "stones") and snapshot["chosen"]["stone"] is not None
    if laying and mover == player:
        seen.append(snapshot["chosen"]["stone"])
    hidden = [list(stone) for stone in STONES if list(stone) not in seen]
    rng.shuffle(hidden)
    if laying and mover != player:
        dealt["chosen"]["stone"] = hidden.pop()
    for other, hand in enumerate(snapshot["hands"]):
        if other != player:
            dealt["hands"][other] = sorted(hidden.pop() for _ in hand)
    assert len(hidden) == (len(snapshot["hands"]) == 3)
    return dealt


def assert_same_to(agent, one, other):
    """Two environments show an agent the same, byte for byte."""
    for key, shown in one.observe(agent).items():
        assert shown.tobytes() == other.observe(agent)[key].tobytes(), key


@each_closed_table
def test_nothing_hidden_shows(num_players):
    rng = random.Random(6)
    twin = raw_env("meeples", num_players=num_players)
    different = 0
    for env in positions(6, num_players=num_players):
        snapshot = env.snapshot()
        if not over(env):
            mover = snapshot["to_move"]
        for player, agent in enumerate(env.possible_agents):
            dealt = redealt(snapshot, player, mover, rng)
            twin.restore(dealt)
            assert twin.snapshot() == dealt
            assert_same_to(agent, env, twin)
            assert twin.infos[agent] == env.infos[agent]
            assert GAME.text(dealt, player, False) == GAME.text(snapshot, player, False)
            different += dealt != snapshot
    # With two players all of the other hand can be worked out, but not which stone of it is being
    # laid.
    assert different > (40 if num_players == 2 else 150)


def test_with_open_hands_other_hands_are_other_observations():
    rng = random.Random(7)
    for num_players in (2, 3, 4):
        twin = raw_env("meeples", num_players=num_players, open_hands=True)
        for env in positions(7, num_players=num_players, open_hands=True):
            snapshot = env.snapshot()
            if over(env):
                continue
            for player, agent in enumerate(env.possible_agents):
                dealt = redealt(snapshot, player, snapshot["to_move"], rng)
                twin.restore(dealt)
                one, other = (e.observe(agent)["observation"] for e in (env, twin))
                shown = ("hands", "chosen")
                differ = any(dealt[key] != snapshot[key] for key in shown)
                assert np.array_equal(one, other) != differ


@each_closed_table
def test_the_batch_shows_the_player_in_turn_nothing_hidden(num_players):
    """Byte for byte what the environment shows in the same position with other hands."""
    lanes = 3
    batch = tabletop_envs.make_batch("meeples-v0", lanes, seed=8, num_players=num_players)
    envs = [raw_env("meeples", num_players=num_players) for _ in range(lanes)]
    for lane, env in enumerate(envs):
        env.reset(seed=8 + lane)
    twin = raw_env("meeples", num_players=num_players)
    rng = random.Random(8)
    for _ in range(120):
        for lane, env in enumerate(envs):
            snapshot = env.snapshot()
            twin.restore(redealt(snapshot, snapshot["to_move"], snapshot["to_move"], rng))
            shown = twin.observe(f"player_{batch.current_player[lane]}")
            assert np.array_equal(batch.observation[lane], shown["observation"])
            assert np.array_equal(batch.action_mask[lane], shown["action_mask"])
        actions = [rng.choice(legal_actions(env)) for env in envs]
        batch.step(actions)
        for env, action in zip(envs, actions, strict=True):
            env.step(action)
            if over(env):
                env.reset()


def test_the_first_stone_and_its_field_are_seen_only_by_whoever_lays_it():
    """What the tests above say in general, once in plain sight."""
    env = reach(lambda s: s["phase"] == "stones" and s["chosen"]["field"] is not None)
    snapshot = env.snapshot()
    mover, chosen = snapshot["to_move"], snapshot["chosen"]
    size = HAND_SIZE[2] - 2 - snapshot["round"]
    for player, agent in enumerate(env.possible_agents):
        parts = env.split_observation(env.observe(agent)["observation"])
        assert parts["hand_sizes"][mover if player == 0 else 1 - mover] == size
        sees = player == mover
        assert stones_of(parts["chosen_stone"]) == ([chosen["stone"]] if sees else [])
        assert fields(parts["chosen_field"]) == ([chosen["field"]] if sees else [])
        assert stones_of(parts["hand"]) == snapshot["hands"][player]
        assert not parts["other_hands"].any()
