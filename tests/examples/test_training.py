"""The training examples with a tiny budget; the self-play one credits, evaluates, resumes."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra train")

from tabletop_envs import registry  # noqa: E402
from tabletop_envs.networks import ppo  # noqa: E402
from tests.adapters.common import guarded  # noqa: E402
from tests.examples.training import (  # noqa: E402
    interrupted_and_resumed,
    refused,
    rows,
    training,
)
from tests.games import each_game  # noqa: E402
from tests.scripts import EXAMPLES, load_script  # noqa: E402

# Four updates of a few short games.
TINY = ("--games", "4", "--plies", "8", "--steps", "128", "--width", "8", "--threads", "1")


@pytest.fixture(scope="module")
def example():
    """`examples/ppo_selfplay.py`."""
    pytest.importorskip("rich", reason="rich is not installed: the extra train")
    return load_script(EXAMPLES / "ppo_selfplay.py")


@each_game
def test_self_play_runs_and_writes_its_logs(name, example, monkeypatch, tmp_path, capsys):
    options = () if name == "kirche" else ("--option", "num_players=3")
    words = (name, *TINY, *options, "--option", "max_plies=20", "--final-games", "3")
    with guarded() as guard:
        run = training(example, monkeypatch, tmp_path, *words, "--opponents", "random", "mcts:2")
        run.run()
    assert guard.actions > 128
    assert run.batch.options["max_plies"] == 20
    progress = rows(tmp_path / "progress.csv")
    assert [(int(row["update"]), int(row["steps"])) for row in progress] == [
        (update, 32 * update) for update in (1, 2, 3, 4)
    ]
    assert all(np.isfinite(float(value)) for row in progress for value in row.values() if value)
    # Each of four games of 20 plies ends once in 32 plies, or sooner.
    assert sum(int(row["games"]) for row in progress) >= 4
    for row, opponent in zip(rows(tmp_path / "evaluation.csv"), ("random", "mcts:2"), strict=True):
        # Of three seats the policy has one or two: both ways are played.
        games = 3 if name == "kirche" else 6
        assert (row["update"], row["opponent"], row["games"]) == ("4", opponent, str(games))
        assert int(row["wins"]) + int(row["draws"]) + int(row["losses"]) == games
        assert 0 <= float(row["low"]) <= float(row["score"]) <= float(row["high"]) <= 1
    assert "against mcts:2" in capsys.readouterr().out


def test_an_interrupted_run_ends_as_an_undisturbed_one(example, monkeypatch, tmp_path):
    words = ("kirche", *TINY, "--steps", "192", "--checkpoint-every", "2", "--past-every", "2")
    words = (*words, "--opponents", "random", "--evaluate-every", "3")
    words = (*words, "--eval-games", "4", "--final-games", "6")
    undisturbed, resumed = interrupted_and_resumed(example, monkeypatch, tmp_path, "learn", *words)
    for name, value in undisturbed.network.state_dict().items():
        assert torch.equal(value, resumed.network.state_dict()[name]), name
    assert len(resumed.league) == len(undisturbed.league) == 3
    for past, same in zip(resumed.league, undisturbed.league, strict=True):
        assert all(torch.equal(value, same[name]) for name, value in past.items())


def test_a_checkpoint_of_other_settings_is_refused(example, monkeypatch, tmp_path, capsys):
    words = ("kirche", *TINY, "--opponents")
    training(example, monkeypatch, tmp_path, *words).run()
    before = (tmp_path / "progress.csv").read_text()
    said = refused(example, capsys, tmp_path, *words, "--epochs", "1", "--resume")
    assert "checkpoint.pt is of a run with epochs=3, not 1" in said
    said = refused(example, capsys, tmp_path, "tuerme", "--resume")
    assert "checkpoint.pt: settings['options'] must have 'num_players'" in said
    said = refused(example, capsys, tmp_path, "kirche", "--option", "num_houses=2", "--resume")
    assert "is of a run with options={'num_houses': 1" in said
    assert "holds a run: --resume it" in refused(example, capsys, tmp_path, *words)
    said = refused(example, capsys, tmp_path / "empty", *words, "--resume")
    assert "has no checkpoint to --resume from" in said
    assert (tmp_path / "progress.csv").read_text() == before


def test_impossible_options_are_named(example, tmp_path, capsys):
    for words, fault in (
        (("--option", "num_houses=9"), "num_houses=9"),
        (("--option", "houses=3"), "houses"),
        (("--option", "num_houses"), "NAME=VALUE"),
        (("--option", "num_houses=x"), "NAME=VALUE"),
        (("--games", "0"), "--games is too small: 0"),
        (("--eval-games", "-1"), "--eval-games is too small: -1"),
        (("--temperature", "0"), "--temperature is too small: 0"),
        (("--imitation", "-0.5"), "--imitation is too small: -0.5"),
        (("--past", "0.6", "--greedy", "0.5"), "more than 1 together"),
        (("--opponents", "nobody"), "there is no agent 'nobody'"),
        (("--seed", "-1"), "--seed must be"),
        (("--threads", "100000"), "--threads at most"),
    ):
        assert fault in refused(example, capsys, tmp_path, "kirche", *words)


def test_a_rollout_without_anything_to_learn_is_refused(example, monkeypatch, tmp_path):
    run = training(example, monkeypatch, tmp_path, "kirche", *TINY, "--plies", "1")
    before = {name: value.clone() for name, value in run.network.state_dict().items()}
    with pytest.raises(SystemExit, match="more --plies"):
        run.learn()
    assert all(torch.equal(value, before[name]) for name, value in run.network.state_dict().items())


def slow_advantages(rollout: Any, discount: float, trace: float) -> dict[tuple[int, int], float]:
    """Generalised advantages by definition: a sum over each player's own later decisions."""
    plies, games, players = rollout.reward.shape
    found = {}
    for game in range(games):
        for player in range(players):
            own = [ply for ply in range(plies) if rollout.player[ply, game] == player]
            for start in own:
                advantage, factor, complete = 0.0, 1.0, False
                for ply in (one for one in own if one >= start):
                    following = next((one for one in own if one > ply), None)
                    stop = plies if following is None else following
                    end = next((p for p in range(ply, stop) if rollout.done[p, game]), None)
                    if end is None and following is None:
                        break
                    complete = True
                    value = float(rollout.value[ply, game])
                    if end is not None:
                        advantage += factor * (rollout.reward[end, game, player] - value)
                        break
                    advantage += factor * (discount * float(rollout.value[following, game]) - value)
                    factor *= discount * trace
                if complete:
                    found[start, game] = advantage
    return found


def test_every_player_is_credited_over_its_own_decisions(example):
    rng = np.random.default_rng(3)
    plies, games, players = 40, 6, 3
    batch: Any = SimpleNamespace(
        num_envs=games, num_players=players, num_actions=5, observation=np.zeros((games, 7))
    )
    rollout = example.Rollout(batch, plies)
    rollout.player[:] = rng.integers(players, size=(plies, games))
    rollout.own[:] = rng.random((plies, games)) < 0.8
    rollout.done[:] = rng.random((plies, games)) < 0.1
    rollout.reward[rollout.done] = rng.normal(size=(int(rollout.done.sum()), players))
    rollout.value[:] = torch.from_numpy(rng.normal(size=(plies, games)))
    rollout.mask[..., 0] = True
    rollout.mask[..., 1] = torch.from_numpy(rng.random((plies, games)) < 0.8)
    choice = rollout.mask[..., 1].numpy()
    advantages, learned = rollout.advantages()
    expected = slow_advantages(rollout, example.DISCOUNT, example.GAE_LAMBDA)
    assert 0 < len(expected) < plies * games
    for ply in range(plies):
        for game in range(games):
            known = (ply, game) in expected
            assert learned[ply, game] == (known and rollout.own[ply, game] and choice[ply, game])
            if known:
                assert advantages[ply, game] == pytest.approx(expected[ply, game], abs=1e-5)


def test_each_seat_is_played_by_its_own_player(example, monkeypatch, tmp_path):
    words = ("tuerme", *TINY, "--past", "0.25", "--greedy", "0.5", "--option", "num_players=3")
    run = training(example, monkeypatch, tmp_path, *words)
    assert run.seats.tolist() == [0, 1, 2, -1]
    assert run.greedy.tolist() == [True, True, False, False]
    asked: dict[str, int] = {}

    def counting(name: str, network: Any) -> Any:
        def choose(observation: Any, legal: Any) -> Any:
            asked[name] = asked.get(name, 0) + len(observation)
            return network(observation, legal)

        return choose

    played = []
    step = run.batch.step
    run.batch.step = lambda actions: (played.append(actions.copy()), step(actions))
    own, past = counting("own", run.network), counting("past", run.past)
    run.rollout.play(run.batch, own, past, run.seats, run.greedy, run.samplers)
    rollout = run.rollout
    assert rollout.own[:, 3].all()
    for lane in (0, 1, 2):
        np.testing.assert_array_equal(rollout.own[:, lane], rollout.player[:, lane] == lane)
    assert asked == {"own": rollout.own.sum(), "past": (~rollout.own[:, 2]).sum()}
    model = rollout.model.numpy()
    np.testing.assert_array_equal(
        np.array(played)[:, :2][~rollout.own[:, :2]], model[:, :2][~rollout.own[:, :2]]
    )
    # What the greedy agent would play is legal, and the heuristic is asked from the view of the
    # player to move.
    assert rollout.mask.gather(-1, rollout.model[..., None]).all()
    batch = example.make_batch("tuerme", 4, seed=run.arguments.seed, num_players=3)
    for ply, actions in enumerate(played):
        values = example.evaluation.values(batch.game, batch.states)
        expected = values[np.arange(4), batch.current_player]
        assert rollout.guess[ply].numpy() == pytest.approx(expected)
        batch.step(actions)


def test_imitation_alone_makes_the_greedy_agents_actions_likely(example, monkeypatch, tmp_path):
    words = ("kirche", *TINY, "--imitation", "1000", "--epochs", "20")
    run = training(example, monkeypatch, tmp_path, *words)
    before = run.learn()["likeness"]
    players = (run.network, run.past, run.seats, run.greedy, run.samplers)
    seen = example.improve(run.network, run.optimizer, run.rollout, 1000.0, run.arguments)
    assert seen["likeness"] > before + 0.2
    run.rollout.play(run.batch, *players)


def test_illegal_actions_have_no_probability(example, monkeypatch, tmp_path):
    mask = torch.tensor([[False, True, False, True], [True, True, True, False]])
    assert example.legal_actions(mask).tolist() == [[1, 3, -1], [0, 1, 2]]
    run = training(example, monkeypatch, tmp_path, "kirche", *TINY)
    legal = example.legal_actions(torch.from_numpy(run.batch.action_mask))
    legal = torch.cat([legal, torch.full((len(legal), 2), -1)], 1)
    log_probs, more = run.network(torch.from_numpy(run.batch.observation), legal)
    probabilities = log_probs.exp()
    assert (probabilities[legal < 0] == 0).all()
    assert (probabilities[legal >= 0] > 0).all()
    assert torch.allclose(probabilities.sum(-1), torch.ones(len(legal)))
    assert more.shape == (len(legal),)


@each_game
def test_boards_show_the_planes_and_nothing_around(name):
    game = registry.get_game(name)
    low, high = game.bounds()
    rng = np.random.default_rng(5)
    observation = rng.integers(low, high.astype(int) + 1, (3, len(low))).astype(np.int8)
    board = ppo.Board(game, 2)
    boards = board(torch.from_numpy(observation)).numpy()
    parts = game.split_observation(observation).values()
    planes = np.concatenate([part for part in parts if part.ndim == 4], 1)
    inside = boards[:, 2:-2, 2:-2].transpose(0, 3, 1, 2)
    count = planes.shape[1]
    np.testing.assert_array_equal(inside[:, :count], planes)
    assert (inside[:, count] == 1).all()
    # Heights and values are shown number by number, too.
    graded = [planes[:, at] == number for at, most in board.graded for number in range(1, most + 1)]
    expected = np.array(graded).reshape(-1, 3, *planes.shape[2:]).swapaxes(0, 1)
    np.testing.assert_array_equal(inside[:, count + 1 :], expected)
    assert bool(board.graded) == (name != "kirche")
    assert board.size == boards.shape[-1]
    assert boards.sum() == inside.sum()


@each_game
def test_only_what_is_around_a_square_moves_what_is_seen_of_it(name):
    game = registry.get_game(name)
    board = ppo.Board(game, 1)
    look = ppo.Look(board, 8)
    observation = torch.zeros((1, game.kernel.observation_size), dtype=torch.int8)
    planes = ppo.observation_planes(game)
    rows, columns = planes[0].shape
    square = 2 * columns + 2
    at = (torch.tensor([0]), torch.tensor([square]))
    empty = look(board(observation), *at)
    _, high = game.bounds()
    for plane in (planes[0], planes[-1]):
        for row, column in np.ndindex(rows, columns):
            observation[0, plane[row, column]] = high[plane[row, column]]
            near = max(abs(row - 2), abs(column - 2)) <= 1
            assert torch.equal(look(board(observation), *at), empty) != near
            observation[0, plane[row, column]] = 0
    # The same squares of several rows keep their order.
    both = torch.cat([observation, observation])
    both[1, planes[0][2, 2]] = 1
    one = look(board(both), torch.tensor([1, 0, 0]), torch.tensor([square, 0, square]))
    assert torch.allclose(one[2], empty[0], atol=1e-6)
    assert not torch.allclose(one[0], empty[0], atol=1e-6)


def taken(snapshot: dict[str, Any]) -> set[int]:
    """The squares on which pieces of kirche, or stacks of tuerme, stand."""
    if snapshot["game"] == "tuerme":
        return {stack["square"] for stack in snapshot["stacks"]}
    return {piece["square"] for pieces in snapshot["pieces"] for piece in pieces}


@pytest.mark.parametrize("name", ["kirche", "tuerme"])
def test_moves_lead_where_the_game_says(name, example):
    game = registry.get_game(name)
    squares, table = ppo.observation_planes(game)[0].size, ppo.target_table(game)
    batch = example.make_batch(name, 16, seed=4)
    moves = 0
    for _ in range(60):
        actions = batch.sample_actions().copy()
        starts = actions % squares
        leads = ppo.targets(
            game,
            table,
            torch.from_numpy(batch.observation),
            torch.arange(16),
            torch.from_numpy(actions),
            torch.from_numpy(starts),
        ).numpy()
        before = [batch.to_aec(lane).snapshot() for lane in range(16)]
        batch.step(actions)
        for lane in np.flatnonzero(~batch.terminated):
            if before[lane].get("phase", "moves") != "moves" or actions[lane] == 22 * 112:
                continue
            now, then = taken(batch.to_aec(int(lane)).snapshot()), taken(before[lane])
            start, lead = starts[lane], leads[lane]
            assert start in then
            assert (lead in now) and (start == lead or start not in now)
            assert then - {start, lead} == now - {start, lead}
            moves += 1
    assert moves > 100


def run_command(name: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Run an example with only legal actions reaching the kernels."""
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *words])
    module = load_script(EXAMPLES / f"{name}.py")
    with guarded():
        module.main()


def test_sb3_maskable_ppo(monkeypatch, capsys):
    pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: the extra sb3")
    # The example switches PyTorch's checks off: on again afterwards.
    checks = torch.distributions.Distribution
    monkeypatch.setattr(checks, "_validate_args", checks._validate_args)
    run_command("sb3_maskable_ppo", monkeypatch, "kirche", "--steps", "1", "--games", "2")
    assert "against random: " in capsys.readouterr().out


def test_torchrl_ppo(monkeypatch, capsys):
    pytest.importorskip("torchrl", reason="TorchRL is not installed: the extra torchrl")
    run_command("torchrl_ppo", monkeypatch, "kirche", "--frames", "8192")
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out] == ["4096", "8192"]


def test_rllib_ppo(monkeypatch, capsys):
    pytest.importorskip("ray.rllib", reason="RLlib is not installed: the extra rllib")
    ray = pytest.importorskip("ray")
    try:
        run_command("rllib_ppo", monkeypatch, "kirche", "--iterations", "1", "--batch", "512")
    finally:
        ray.shutdown()  # the next test of this process starts its own
    assert "iteration 1: mean result " in capsys.readouterr().out
