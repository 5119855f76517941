"""Arrays of any kind from users: nothing is compiled again, read-only views harm nobody."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest

import tabletop_envs
from tabletop_envs.kernels import engine

LANES = 6


class Own(np.ndarray):
    """A subclass."""


def read_only(actions):
    array = np.array(actions)
    array.flags.writeable = False
    return array


KINDS = {
    "list": list,
    "read-only": read_only,
    "from bytes": lambda actions: np.frombuffer(np.array(actions).tobytes(), np.int64),
    "unaligned": lambda actions: np.frombuffer(
        b"." + np.array(actions).tobytes(), np.int64, offset=1
    ),
    "every second": lambda actions: np.repeat(actions, 2)[::2],
    "backwards": lambda actions: np.array(actions[::-1])[::-1],
    "other bytes": lambda actions: np.array(actions, ">i8"),
    "small": lambda actions: np.array(actions, np.int16),
    "unsigned": lambda actions: np.array(actions, np.uint64),
    "subclass": lambda actions: np.array(actions).view(Own),
    "a column": lambda actions: np.array([actions, actions], order="F")[0],
    "broadcast": lambda actions: np.broadcast_to(np.int64(actions[0]), LANES),
}


@pytest.mark.parametrize("kind", KINDS)
def test_actions_of_every_kind_are_played_by_the_loop_that_is_there(kind):
    batch = tabletop_envs.make_batch("kirche-v0", LANES, seed=1)
    learners = gymnasium.make_vec("tabletop_envs/Kirche-v0", LANES, seat=0)
    learners.reset(seed=1)
    loops = (engine.advance_lanes, engine.first_illegal, engine.advance_some)
    before = [len(loop.signatures) for loop in loops]
    for _ in range(2):
        first = int(batch.action_mask[0].argmax())
        actions = [first] * LANES
        twin = copy.deepcopy(batch)
        twin.step(np.array(actions))
        batch.step(KINDS[kind](actions))
        assert np.array_equal(batch.states, twin.states)
    learners.step(KINDS[kind]([0] * LANES))
    assert [len(loop.signatures) for loop in loops] == before


def arrays(batch):
    """All arrays that a batch shows."""
    names = ("observation", "action_mask", "current_player", "rewards", "terminated", "by_limit")
    shown = [getattr(batch, name) for name in (*names, "scores", "episode_length")]
    return [*shown, batch.sample_actions(), batch.states, batch.legal_bits]


@pytest.mark.parametrize("num_threads", [1, 2])
def test_who_makes_a_batch_s_arrays_read_only_still_sees_them_written(num_threads):
    batch, twin = (
        tabletop_envs.make_batch("kirche-v0", LANES, seed=1, num_threads=num_threads)
        for _ in range(2)
    )
    for array in arrays(batch):
        array.setflags(write=False)
    arrays(twin)
    signatures = len(engine.advance_lanes.signatures)
    for _ in range(200):
        batch.step(batch.sample_actions())
        twin.step(twin.sample_actions())
    assert batch.rollout(30) == twin.rollout(30)
    batch.reset()
    twin.reset()
    for array, other in zip(arrays(batch), arrays(twin), strict=True):
        assert np.array_equal(array, other)
    assert len(engine.advance_lanes.signatures) == signatures
    with pytest.raises(ValueError, match="read-only"):
        batch.observation[0] = 0


def test_read_only_buffers_of_vector_environments_are_written_on():
    learners, twin = (
        gymnasium.make_vec("tabletop_envs/Kirche-v0", LANES, copy=copied)
        for copied in (False, True)
    )
    shown, info = learners.reset(seed=1)
    twin.reset(seed=1)
    for array in (shown, info["action_mask"]):
        array.setflags(write=False)
    learners.step(np.zeros(LANES, int))
    seen, *_ = twin.step(np.zeros(LANES, int))
    assert shown.tobytes() == seen.tobytes()


@pytest.mark.parametrize("way", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_copies_show_what_they_play(way):
    batch = tabletop_envs.make_batch("kirche-v0", LANES, seed=1)
    batch.step(batch.sample_actions())
    twin = way(batch)
    for one in (twin, batch):
        one.step(one.sample_actions())
    for array, other in zip(arrays(batch), arrays(twin), strict=True):
        assert np.array_equal(array, other)
        assert not np.shares_memory(array, other)
