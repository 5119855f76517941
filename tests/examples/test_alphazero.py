"""`examples/alphazero.py` with a tiny budget: credits, mirrors, gates, evaluates, resumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabletop_envs import make_batch
from tabletop_envs.agents import make_agent
from tabletop_envs.arena import tournaments
from tests.adapters.common import DECISIVE, guarded
from tests.examples.training import interrupted_and_resumed, refused, rows, training
from tests.games import each_game
from tests.scripts import EXAMPLES, load_script

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra train")
pytest.importorskip("rich", reason="rich is not installed: the extra train")

TINY = (
    *("--games", "4", "--plies", "6", "--iterations", "3", "--simulations", "4", "--quick", "2"),
    *("--channels", "4", "--blocks", "1", "--buffer", "64", "--minibatch", "8"),
    *("--minibatches", "2", "--gate-every", "2", "--gate-games", "2", "--eval-games", "3"),
    *("--eval-simulations", "2", "--threads", "1", "--cut", "12"),
)


@pytest.fixture(scope="module")
def example():
    """The example as a module."""
    return load_script(EXAMPLES / "alphazero.py")


@each_game
def test_it_runs_and_writes_its_logs(name, example, monkeypatch, tmp_path, capsys):
    options = () if name == "kirche" else ("--option", "num_players=3")
    words = (name, *TINY, *options, "--option", "max_plies=14", "--warm-up", "1")
    with guarded() as guard:
        run = training(example, monkeypatch, tmp_path, *words, "--opponents", "random", "mcts:2")
        run.run()
    assert guard.actions > 3 * 24
    assert run.batch.options["max_plies"] == 12
    progress = rows(tmp_path / "progress.csv")
    assert [int(row["iteration"]) for row in progress] == [1, 2, 3]
    # Games of 12 plies at most end in 18.
    assert sum(int(row["games"]) for row in progress) >= 4
    assert all(float(row["policy_loss"]) > 0 for row in progress[2:])
    for row, opponent in zip(rows(tmp_path / "evaluation.csv"), ("random", "mcts:2"), strict=True):
        assert (row["iteration"], row["opponent"], row["games"]) == ("3", opponent, "3")
        assert int(row["wins"]) + int(row["draws"]) + int(row["losses"]) == 3
        assert 0 <= float(row["low"]) <= float(row["score"]) <= float(row["high"]) <= 1
    assert "against mcts:2" in capsys.readouterr().out
    # A run that is over is only evaluated.
    again = training(
        *(example, monkeypatch, tmp_path, *words, "--resume", "--eval-games", "5"),
        *("--opponents", "random"),
    )
    again.run()
    assert rows(tmp_path / "progress.csv") == progress
    assert [row["games"] for row in rows(tmp_path / "evaluation.csv")] == ["3", "3", "5"]
    agent = f"{tmp_path / 'checkpoint.pt'},simulations=2"
    table = tournaments.tournament(
        name, [agent, "random"], 3, seed=1, options=run.batch.options, ratings=False
    )
    assert table.pair(agent, "random").count.games >= 3


def test_an_interrupted_run_ends_as_an_undisturbed_one(example, monkeypatch, tmp_path):
    words = ("kirche", *TINY, "--iterations", "6", "--checkpoint-every", "2", "--warm-up", "1")
    words = (*words, "--opponents", "random", "--evaluate-every", "3", "--grow-at", "0.1")
    words = (*words, "--yardstick", "random", "--gate", "0.3", "--option", "max_plies=16")
    undisturbed, resumed = interrupted_and_resumed(example, monkeypatch, tmp_path, "step", *words)
    # Something has happened that could differ: the curriculum went on, and a new network was taken.
    assert resumed.level == undisturbed.level == 2
    assert any(row["accepted"] == "1" for row in rows(resumed.folder / "progress.csv"))
    for module in ("network", "best"):
        theirs = getattr(undisturbed, module).state_dict()
        for name, value in getattr(resumed, module).state_dict().items():
            assert torch.equal(value, theirs[name]), name
    for name, value in vars(undisturbed.replay).items():
        assert torch.equal(value, getattr(resumed.replay, name)), name


def test_a_checkpoint_of_other_settings_is_refused(example, monkeypatch, tmp_path, capsys):
    words = ("kirche", *TINY, "--iterations", "1", "--opponents")
    training(example, monkeypatch, tmp_path, *words).run()
    before = (tmp_path / "progress.csv").read_text()
    said = refused(example, capsys, tmp_path, *words, "--plies", "5", "--resume")
    assert "checkpoint.pt is of a run with plies=6, not 5" in said
    assert "holds a run: --resume it" in refused(example, capsys, tmp_path, *words)
    said = refused(example, capsys, tmp_path / "empty", *words, "--resume")
    assert "has no checkpoint to --resume from" in said
    assert (tmp_path / "progress.csv").read_text() == before


def test_impossible_arguments_are_named(example, tmp_path, capsys):
    for words, fault in (
        (("--option", "num_houses=9"), "num_houses=9"),
        (("--option", "num_houses"), "NAME=VALUE"),
        (("--games", "0"), "--games is more than 0"),
        (("--gate-games", "-1"), "--gate-games is more than 0"),
        (("--thorough", "0"), "--thorough is more than 0"),
        (("--buffer", "3", "--games", "4"), "--buffer is at least --games (4), not 3"),
        (("--opponents", "nobody"), "there is no agent 'nobody'"),
        (("--yardstick", "nobody"), "there is no agent 'nobody'"),
        (("--grow", "houses"), "houses"),
    ):
        assert fault in refused(example, capsys, tmp_path, "kirche", *words)


@each_game
def test_minibatches_are_seen_in_a_mirror(name, example, monkeypatch, tmp_path):
    run = training(example, monkeypatch, tmp_path, name, *TINY)
    batch, symmetries = run.batch, run.game.symmetries(run.batch.options)
    for _ in range(10):
        batch.step(batch.sample_actions())
    seen, mask = batch.observation.copy(), batch.action_mask.copy()
    policy = np.random.default_rng(1).random(mask.shape, np.float32)
    given = [torch.from_numpy(array) for array in (seen, mask, policy)]
    met = set()
    for _ in range(100):
        images = [image.numpy() for image in run.mirrored(*given)]
        met.add(
            next(
                place
                for place, symmetry in enumerate(symmetries)
                if np.array_equal(images[0], symmetry.apply_observation(seen))
                and np.array_equal(images[1], symmetry.apply_mask(mask, seen))
                and np.array_equal(images[2], symmetry.apply_mask(policy, seen))
            )
        )
    assert met == set(range(len(symmetries)))
    assert np.array_equal(given[0].numpy(), seen)


@each_game
def test_positions_are_credited_with_their_games_results(name, example):
    lanes, size = 3, 600
    batch = make_batch(name, lanes, seed=1, **DECISIVE.get(name, {"max_plies": 30}))
    replay = example.Replay(batch, size, 4)
    rng = np.random.default_rng(1)
    visits = np.zeros((lanes, batch.num_actions), np.int32)
    played: list[dict[str, Any]] = []  # by row of the buffer
    running: list[list[int]] = [[] for _ in range(lanes)]  # the rows of each lane's game
    for _ in range(size // lanes):
        actions, values = batch.sample_actions().copy(), rng.uniform(-1, 1, (lanes, 2))
        visits[:] = 0
        visits[np.arange(lanes), actions] = 3
        replay.add(batch, example.BatchResult(actions, visits, values, np.zeros(lanes, np.bool_)))
        for lane in range(lanes):
            running[lane].append(len(played))
            player = int(batch.current_player[lane])
            played.append({"player": player, "action": actions[lane], "value": values[lane]})
        batch.step(actions)
        done = batch.terminated
        replay.finish(batch, torch.from_numpy(done))
        for lane in np.flatnonzero(done):
            for left, row in enumerate(reversed(running[lane]), 1):
                order = [played[row]["player"], 1 - played[row]["player"]]
                reward = batch.rewards[lane] * example.DISCOUNT**left
                played[row]["target"] = (played[row]["value"] + reward)[order] / 2
                played[row]["decided"] = reward.any()
            running[lane] = []
    known = [row for row, one in enumerate(played) if "target" in one]
    assert 0 < len(known) < size
    assert any(played[row]["decided"] for row in known)
    assert torch.nonzero(replay.status == replay.KNOWN).squeeze(-1).tolist() == known
    _, mask, policy, value = replay.draw(torch.tensor(known), batch.num_actions)
    for place, row in enumerate(known):
        np.testing.assert_allclose(value[place], played[row]["target"], atol=1e-6)
        assert policy[place].argmax() == played[row]["action"]
        assert policy[place].sum() == 1
        assert mask[place, played[row]["action"]]


def test_the_gate_takes_winners_only(example, monkeypatch, tmp_path):
    run = training(
        example, monkeypatch, tmp_path, "kirche", *TINY, "--gate-every", "1", "--warm-up", "0"
    )
    scores = iter([0.54, 0.9, 0.56, 0.79, 0.56, 0.8])

    def contest(*_: Any) -> Any:
        return example.Count(2, 0, 0, 0, next(scores), 0.0, 1.0)

    monkeypatch.setattr(run, "contest", contest)
    before = run.best.value.weight.clone()
    with torch.no_grad():
        run.network.value.weight.add_(1)
    run.options["num_houses"] = 1
    assert run.gate()["accepted"] == 0
    assert torch.equal(run.best.value.weight, before)
    assert next(scores) == 0.9
    run.options["num_houses"] = 2
    assert run.gate()["accepted"] == 1
    assert torch.equal(run.best.value.weight, run.network.value.weight)
    assert run.level == 1
    assert run.gate()["yardstick"] == 0.8
    assert run.level == 2
    assert run.batch.options["num_houses"] == 2


def test_a_contest_counts_results_from_all_seats(example, monkeypatch, tmp_path):
    run = training(example, monkeypatch, tmp_path, "kirche", *TINY)
    greedy, random = make_agent("greedy"), make_agent("random")
    assert run.contest((greedy, random), 20, 1).score > 0.7
    assert run.contest((random, greedy), 20, 1).score < 0.3
    # Nothing can be won in 7 plies.
    drawn = run.contest((greedy, random), 20, 1, 7)
    assert (drawn.draws, drawn.score) == (20, 0.5)
    other = training(example, monkeypatch, tmp_path, "tuerme", *TINY, "--option", "num_players=3")
    assert other.contest((greedy, random), 9, 1).score > 0.8
    assert other.contest((random, greedy), 9, 1).score < 0.2
