"""meeples alone: what holds in every position of random games, and the manual's numbers."""

import random
from collections import Counter

import pytest

import tabletop_envs
from tests.games import legal_actions, over, play, raw_env
from tests.rules.meeples.positions import PASS, REROLL, at, fields_of, owned

NEIGHBOUR_STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def neighbours(field):
    """The fields of the table that share an edge with a field."""
    row, column = divmod(field, 24)
    near = ((row + down_, column + right) for down_, right in NEIGHBOUR_STEPS)
    return {at(r, c) for r, c in near if 0 <= r < 24 and 0 <= c < 24}


def positions(seed, **options):
    """The environment at every position of a random game, the last one included."""
    env = raw_env("meeples", **options)
    env.reset(seed=seed)
    rng = random.Random(seed)
    yield env
    while not over(env):
        play(env, rng.randrange, 1)
        yield env


def reach(condition, **options):
    """A random game at the first position whose snapshot fulfils a condition."""
    for seed in range(500):
        for env in positions(seed, **options):
            if condition(env.snapshot()):
                return env
    raise AssertionError("no position of 500 games fulfils the condition")


# What holds in every position


def values_of(snapshot):
    """The value of every field that carries a stone."""
    return {
        field: value
        for laid in snapshot["stones"]
        for field, value in zip(laid["fields"], laid["stone"], strict=True)
    }


def assert_material_is_whole(snapshot):
    """M1–M6: stones in pairs of fields and all accounted for, ten meeples each, nothing on a 0."""
    players = snapshot["options"]["num_players"]
    for laid in snapshot["stones"]:
        first, second = laid["fields"]
        assert second in neighbours(first)
    values = values_of(snapshot)
    assert len(values) == 2 * len(snapshot["stones"])
    held = [stone for hand in snapshot["hands"] for stone in hand]
    chosen = snapshot["chosen"]["stone"]
    if chosen is not None and snapshot["phase"] != "land":
        held.append(chosen)
    stones = [tuple(stone) for stone in held + [laid["stone"] for laid in snapshot["stones"]]]
    assert len(set(stones)) == len(stones) == (27 if players == 3 else 28)
    meeples, blocks = owned(snapshot["meeples"]), owned(snapshot["blocks"])
    assert len(meeples) == len(snapshot["meeples"])
    assert len(blocks) == len(snapshot["blocks"])
    assert not meeples.keys() & blocks.keys()
    assert all(values[field] > 0 for field in (*meeples, *blocks))
    for player in range(players):
        assert snapshot["supply"][player] + list(meeples.values()).count(player) == 10


def assert_dice_are_conserved(before, action, after):
    """M9–M13: all dice at the start of a round, one less for each block set, one more for each
    given up.
    """
    options = after["options"]
    pool, was = Counter(after["dice"]), Counter(before["dice"])
    if after["round"] > before["round"]:
        assert pool.total() == options["num_players"] * options["dice_per_player"]
    elif before["phase"] == "blocks" and action == REROLL:
        assert pool.total() == was.total()
    elif before["phase"] == "blocks" and action != PASS:
        assert pool == was - Counter([values_of(before)[action]])
        assert pool.total() == was.total() - 1
    elif before["phase"] == "give_up":
        assert pool == was + Counter([values_of(before)[action]])
    else:
        assert pool == was
    assert set(pool) <= set(range(1, 7))


def moved_fields(before, action, after):
    """Where the meeples that an action moved stood, and where they stand now."""
    if before["phase"] == "land" and before["chosen"]["field"] is not None:
        stone = before["chosen"]["stone"]
        carried = zip(fields_of(before, *stone), fields_of(after, *stone), strict=True)
        return {old: new for old, new in carried if old in owned(before["meeples"])}
    if before["phase"] in ("meeples", "sidestep") and before["chosen"]["field"] is not None:
        return {before["chosen"]["field"]: action}
    if before["phase"] == "teleport":
        return {before["source"]: action}
    return {}


def pairs_after(pairs, before, action, after):
    """The pairs of a clone and its source that are still together after an action (M6)."""
    moved = moved_fields(before, action, after)
    if before["phase"] == "clone":
        pairs = pairs | {frozenset((before["source"], action))}
    together = (pair for pair in pairs if len(pair & moved.keys()) != 1)
    return {frozenset(moved.get(field, field) for field in pair) for pair in together}


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 2},
        {"num_players": 2, "dice_per_player": 1},
        {"num_players": 3, "dice_per_player": 5},
        {"num_players": 4, "open_hands": True},
    ],
)
def test_what_must_hold_in_every_position_of_random_games(options):
    clones = 0
    for seed in range(8):
        env = raw_env("meeples", **options)
        env.reset(seed=seed)
        rng = random.Random(seed)
        before, pairs = env.snapshot(), set()
        while not over(env):
            action = rng.choice(legal_actions(env))
            env.step(action)
            after = env.snapshot()
            assert_material_is_whole(after)
            assert_dice_are_conserved(before, action, after)
            pairs = pairs_after(pairs, before, action, after)
            meeples = owned(after["meeples"])
            side_by_side = {
                frozenset((field, near))
                for field in meeples
                for near in neighbours(field)
                if meeples.get(near) == meeples[field]
            }
            assert side_by_side <= pairs
            clones += before["phase"] == "clone"
            before = after
        values, meeples = values_of(after), owned(after["meeples"])
        for player, agent in enumerate(env.possible_agents):
            counted = sum(values[field] for field in meeples if meeples[field] == player)
            assert env.infos[agent]["score"] == counted
    # Otherwise the exception for clones would not have been tried at all.
    assert clones > 4


@pytest.mark.parametrize(("num_players", "expected"), [(2, 200), (3, 208), (4, 230)])
def test_random_games_are_as_long_as_they_should_be(num_players, expected):
    batch = tabletop_envs.make_batch("meeples-v0", 64, seed=1, num_players=num_players)
    counts = batch.rollout(3000)
    assert counts.games > 500
    assert counts.by_limit <= counts.games / 100
    assert abs(counts.mean_length - expected) < 15
