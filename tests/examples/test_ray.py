"""`examples/ray_selfplay.py`: units of work depend on nobody; deaths change nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra ray")
ray = pytest.importorskip("ray", reason="Ray is not installed: the extra ray")
pytest.importorskip("rich", reason="rich is not installed: the extra ray")

from ray import cloudpickle  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

from tabletop_envs import make_batch  # noqa: E402
from tabletop_envs.arena import records  # noqa: E402
from tests.examples.training import refused, rows  # noqa: E402
from tests.games import each_game  # noqa: E402
from tests.scripts import EXAMPLES, load_script  # noqa: E402

SCRIPT = EXAMPLES / "ray_selfplay.py"
# Three rounds of three units of a few short games.
TINY = (
    *("--rounds", "3", "--units", "3", "--games", "3", "--simulations", "4", "--width", "8"),
    *("--option", "max_plies=12", "--minibatch", "16", "--eval-games", "4"),
    *("--evaluate-every", "1"),
)


@pytest.fixture(scope="module")
def example():
    """The script as a module, which is sent to workers as it is: they cannot import it."""
    module = load_script(SCRIPT, registered=True)
    cloudpickle.register_pickle_by_value(module)
    yield module
    cloudpickle.unregister_pickle_by_value(module)
    del sys.modules[module.__name__]


@pytest.fixture(scope="module")
def cluster():
    """A head and two machines, in processes of their own, with room for one worker each."""
    system = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
    room = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(True, head_node_args={**room, "_system_config": system})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
        ray.init(cluster.address, log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def assert_same_runs(one: Path, two: Path) -> None:
    """Games, logs and networks agree to the bit."""
    assert (one / "games.jsonl").read_bytes() == (two / "games.jsonl").read_bytes()
    for log in ("progress.csv", "evaluation.csv"):
        assert rows(one / log) == rows(two / log)
    networks = [
        torch.load(folder / "checkpoint.pt", weights_only=True)["network"] for folder in (one, two)
    ]
    for name, value in networks[0].items():
        assert torch.equal(value, networks[1][name]), name


# A unit of work, without Ray


@each_game
@pytest.mark.parametrize("agent", ["network", "greedy"])
def test_a_unit_gives_what_its_number_and_the_network_say(name, agent, example):
    players = () if name == "kirche" else ("--option", "num_players=3")
    arguments = example.read_arguments([name, *TINY, *players, "--agent", agent])
    torch.manual_seed(7)
    worker, other = example.Player(arguments), example.Player(arguments)
    weights = example.weights_of(other.network)
    unit = example.Unit(5, 1, 2)
    given = worker.work(unit, weights)
    # Another process, which has done something else before, with another network.
    other.work(example.Unit(5, 0, 1), 2 * weights)
    again = other.work(unit, weights)
    assert given["records"] == again["records"]
    for part, array in given["samples"].items():
        np.testing.assert_array_equal(array, again["samples"][part])
    different = worker.work(example.Unit(5, 2, 2), weights)
    assert different["records"] != given["records"]
    if agent == "network":
        played = worker.work(unit._replace(version=3), weights[::-1].copy())["records"]
        assert [one.seed for one in played] == [one.seed for one in given["records"]]
        assert [one.actions for one in played] != [one.actions for one in given["records"]]


@each_game
@pytest.mark.parametrize("agent", ["network", "greedy"])
def test_samples_are_what_the_games_records_replay(name, agent, example):
    words = ("--option", "max_plies=200") if name == "kirche" else ("--option", "num_players=3")
    arguments = example.read_arguments([name, *TINY, "--games", "5", *words, "--agent", agent])
    worker = example.Player(arguments)
    given = worker.work(example.Unit(0, 0, 0), example.weights_of(worker.network))
    samples, games = given["samples"], given["records"]
    assert len(games) == 5
    observations = worker.packing.unpack_observations(samples["observation"])
    masks = worker.packing.unpack_masks(samples["mask"])
    # Samples come ply by ply, lanes in order, of the games that still run.
    expected = []
    for lane, record in enumerate(games):
        assert record.notes["selfplay"] == {"round": 0, "number": 0, "version": 0}
        records.check(record)
        assert record.result
        batch = make_batch(name, 1, seed=record.seed, **record.options)
        for ply, action in enumerate(record.actions):
            player, rewards = int(batch.current_player[0]), record.result["rewards"]
            own_first = rewards[player:] + rewards[:player]
            seen = batch.observation[0].copy(), batch.action_mask[0].copy()
            expected.append(((ply, lane), *seen, action, own_first))
            batch.step([action])
    expected.sort(key=lambda row: row[0])
    assert len(expected) == len(samples["result"])
    if (name, agent) == ("kirche", "network"):
        # Games end one after the other, and searches become smaller with them.
        assert len({len(record.actions) for record in games}) > 1
    assert any(any(record.result["rewards"]) for record in games)
    for row, (_, observation, mask, action, result) in enumerate(expected):
        np.testing.assert_array_equal(observations[row], observation)
        np.testing.assert_array_equal(masks[row], mask)
        np.testing.assert_allclose(samples["result"][row], result)
        moves = samples["moves"][row][samples["visits"][row] > 0].tolist()
        assert action in moves
        assert len(set(moves)) == len(moves)
        assert mask[moves].all()
        assert samples["visits"][row].sum() == (4 if agent == "network" else 1)


def test_losses_are_divergence_and_squared_error(example):
    words = ("--option", "num_players=3", "--learning-rate", "0.01", "--reuse", "1")
    arguments = example.read_arguments(["tuerme", *TINY, *words])
    worker, learner = example.Player(arguments), example.Learner(arguments)
    samples = worker.work(example.Unit(0, 0, 0), example.weights_of(learner.network))["samples"]
    with torch.no_grad():
        divergence, error = (loss.item() for loss in learner.losses(samples))
        observation = torch.from_numpy(learner.packing.unpack_observations(samples["observation"]))
        logits, values = (answer.double().numpy() for answer in learner.network(observation))
    total = 0.0
    for row, mask in enumerate(learner.packing.unpack_masks(samples["mask"])):
        weights = np.where(mask, np.exp(logits[row]), 0)
        visits = samples["visits"][row].astype(float)
        for move, share in zip(samples["moves"][row], visits / visits.sum(), strict=True):
            if share:
                total += share * np.log(share / (weights[move] / weights.sum()))
    assert divergence == pytest.approx(total / len(logits), rel=1e-4)
    assert error == pytest.approx(((values - samples["result"]) ** 2).mean(), rel=1e-4)
    tensors = {part: torch.from_numpy(array) for part, array in samples.items()}
    learner.check(tensors)
    # In tuerme not all numbers that the bytes can hold are in the observation space.
    with pytest.raises(ValueError, match="observation"):
        learner.check({**tensors, "observation": torch.full_like(tensors["observation"], 255)})
    with pytest.raises(ValueError, match="as many rows"):
        learner.check({**tensors, "mask": tensors["mask"][1:]})
    first = learner.learn(0, samples)
    for number in range(1, 12):
        last = learner.learn(number, samples)
    assert last["policy_loss"] < first["policy_loss"]
    assert last["value_loss"] < first["value_loss"] / 2
    assert len(learner.replay) == arguments.window


def test_rounds_are_played_with_the_network_of_a_fixed_age(example):
    words = ("kirche", *TINY, "--rounds", "5", "--staleness", "2", "--evaluate-every", "2")
    run = example.Run(example.read_arguments(list(words)))
    versions = [{unit.version for unit in run.units(number)} for number in range(6)]
    assert versions == [{0}, {0}, {0}, {1}, {2}, {5}]
    units = [unit for number in range(6) for unit in run.units(number)]
    assert [unit.version for unit in units if unit.number == example.EVALUATION] == [2, 5]
    assert [len(run.units(number)) for number in range(6)] == [3, 3, 3, 3, 4, 1]


def test_impossible_options_are_named(example, capsys):
    for words, fault in (
        (("--option", "num_houses=9"), "num_houses=9"),
        (("--option", "houses=3"), "houses"),
        (("--option", "num_houses"), "NAME=VALUE"),
        (("--workers", "0"), "--workers is more than 0"),
        (("--staleness", "-1"), "--staleness is at least 0"),
        (("--simulations", "40000"), "--simulations"),
        (("--agent", "nobody"), "there is no agent 'nobody'"),
        (("--opponent", "network"), "there is no agent 'network'"),
        (("--runtime-env", "{"), "--runtime-env"),
    ):
        with pytest.raises(SystemExit):
            example.read_arguments(["kirche", *words])
        assert fault in capsys.readouterr().err


# With Ray


def command(folder: Path, *words: str) -> str:
    """Run the script as a user does; what it prints."""
    answer = subprocess.run(
        [sys.executable, str(SCRIPT), "kirche", *TINY, "--folder", str(folder), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run on this machine by one worker to whom nothing happens."""
    folder = tmp_path_factory.mktemp("undisturbed")
    out = command(folder, "--workers", "1")
    assert "after 3 rounds: " in out
    assert "0 units lost" in out
    return folder


def test_a_run_on_this_machine_keeps_its_games_and_logs(undisturbed):
    games = list(records.read_records(undisturbed / "games.jsonl"))
    units = [(note["round"], note["number"], note["version"]) for note in notes_of(games)]
    assert units == [
        (number, unit, max(number - 1, 0))
        for number in range(3)
        for unit in range(3)
        for _ in range(3)
    ]
    assert len({record.seed for record in games}) == len(games) == 27
    progress = rows(undisturbed / "progress.csv")
    assert [row["round"] for row in progress] == ["1", "2", "3"]
    assert sum(int(row["games"]) for row in progress) == 27
    positions = sum(len(record.actions) for record in games)
    assert sum(int(row["positions"]) for row in progress) == positions
    evaluations = rows(undisturbed / "evaluation.csv")
    assert [(row["round"], row["games"]) for row in evaluations] == [("1", "4"), ("3", "4")]


def notes_of(games: list[records.GameRecord]) -> list[dict[str, int]]:
    """What each record says of the unit that it was played in."""
    return [record.notes["selfplay"] for record in games]


class Saboteur:
    """Kills a worker, makes another one hang, and kills a machine, each while they play."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.deeds: list[str] = []

    def act(self, crew: Any) -> None:
        """Do the next deed when all that is needed for it plays."""
        playing = {
            worker.place[1]: worker
            for worker in crew.workers
            if worker.unit is not None and worker.answer is not None
        }
        if len(playing) == 3 and not self.deeds:
            os.kill(min(playing), signal.SIGKILL)
            self.deeds.append("killed")
        elif len(playing) == 3 and self.deeds == ["killed"] and crew.lost == 1:
            self.hanging = min(playing)
            os.kill(self.hanging, signal.SIGSTOP)
            self.deeds.append("stopped")
        elif len(playing) == 3 and self.deeds == ["killed", "stopped"] and crew.lost == 2:
            for node in self.cluster.worker_nodes:
                raylet = node.all_processes["raylet"][0].process.pid
                if any(parent_of(process) == raylet for process in playing):
                    self.cluster.remove_node(node, allow_graceful=False)
                    self.deeds.append("removed")
                    return


def parent_of(process: int) -> int:
    """The number of a process's parent."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def test_dead_and_hanging_workers_and_a_dead_machine_change_nothing(
    example, monkeypatch, undisturbed, cluster, tmp_path, capsys
):
    saboteur = Saboteur(cluster)

    class SlowPlayer(example.Player):  # type: ignore[misc, name-defined]
        def work(self, unit: Any, weights: Any) -> Any:
            time.sleep(0.5)
            return super().work(unit, weights)

    class SabotagedCrew(example.Crew):  # type: ignore[misc, name-defined]
        def give(self, weights: Any) -> None:
            # Nobody plays on before a deed has been noticed and its victim replaced.
            noticed = self.lost >= len(saboteur.deeds) and all(one.place for one in self.workers)
            if noticed or len(saboteur.deeds) == 3:
                super().give(weights)

        def take(self, seconds: float) -> Any:
            saboteur.act(self)
            return super().take(seconds)

    monkeypatch.setattr(example, "Player", SlowPlayer)
    monkeypatch.setattr(example, "Crew", SabotagedCrew)
    words = ("--workers", "3", "--timeout", "5", "--folder", str(tmp_path))
    example.Run(example.read_arguments(["kirche", *TINY, *words])).run()
    assert saboteur.deeds == ["killed", "stopped", "removed"]
    assert_same_runs(undisturbed, tmp_path)
    out = capsys.readouterr().out
    assert out.count("is lost and will be played again") >= 3, out
    assert not Path(f"/proc/{saboteur.hanging}").exists()


def run_of(example: ModuleType, folder: Path, *words: str) -> Any:
    """A run in the cluster."""
    words = ("kirche", *TINY, "--workers", "2", "--folder", str(folder), *words)
    return example.Run(example.read_arguments(list(words)))


def test_an_interrupted_run_ends_as_an_undisturbed_one(
    example, monkeypatch, undisturbed, cluster, tmp_path
):
    def take_nothing(crew: Any, seconds: float) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(example.Crew, "take", take_nothing)
        with pytest.raises(SystemExit, match="saved as after 0 rounds: --resume continues"):
            run_of(example, tmp_path).run()
    interrupted = run_of(example, tmp_path, "--resume")
    save = interrupted.save

    def save_until_stopped() -> None:
        if interrupted.round == 3:
            raise KeyboardInterrupt
        save()

    monkeypatch.setattr(interrupted, "save", save_until_stopped)
    with pytest.raises(SystemExit, match="is as it was saved last"):
        interrupted.run()
    assert len(rows(tmp_path / "progress.csv")) == 3
    torch.manual_seed(12345)
    words = ["kirche", "--workers", "1", "--folder", str(tmp_path), "--resume"]
    resumed = example.Run(example.read_arguments(words))
    resumed.run()
    assert_same_runs(undisturbed, tmp_path)
    assert len(resumed.learner.replay) == 3


def test_the_script_joins_a_cluster(undisturbed, cluster, tmp_path):
    machines = sum(node["Alive"] for node in ray.nodes())
    out = command(tmp_path, "--workers", "2", "--address", cluster.address)
    # How many workers are ready before a run so short is over is up to chance.
    assert machines > 1
    assert f"{machines} machines, room for " in out
    assert_same_runs(undisturbed, tmp_path)


def test_what_fails_everywhere_ends_the_run(example, monkeypatch, cluster, tmp_path):
    class FailingPlayer(example.Player):  # type: ignore[misc, name-defined]
        def play(self, unit: Any) -> Any:
            if unit.number == 1:
                raise ValueError("a fault of our own")
            return super().play(unit)

    monkeypatch.setattr(example, "Player", FailingPlayer)
    with pytest.raises(RuntimeError, match=r"number=1.* has failed 2 times") as error:
        run_of(example, tmp_path, "--retries", "1").run()
    assert "a fault of our own" in str(error.value.__cause__)


def test_workers_that_cannot_start_end_the_run(example, monkeypatch, cluster, tmp_path, capsys):
    class BrokenPlayer(example.Player):  # type: ignore[misc, name-defined]
        def __init__(self, arguments: Any) -> None:
            raise ModuleNotFoundError("nothing is installed here")

    monkeypatch.setattr(example, "Player", BrokenPlayer)
    with pytest.raises(RuntimeError, match="no worker can be started"):
        run_of(example, tmp_path, "--retries", "1").run()
    assert capsys.readouterr().out.count("a worker could not be started") == 2


def test_a_run_continues_only_as_it_was(example, undisturbed, tmp_path, capsys):
    assert "holds a run: --resume it" in refused(example, capsys, undisturbed, "kirche")
    assert "no checkpoint" in refused(example, capsys, tmp_path, "kirche", "--resume")
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    said = refused(example, capsys, tmp_path, "kirche", "--resume", "--units", "4")
    assert "checkpoint.pt is of a run with units=3, not 4" in said
    (tmp_path / "games.jsonl").write_text("")
    said = refused(example, capsys, tmp_path, "kirche", "--resume")
    assert "the size of games.jsonl, in bytes, must be from 0 to 0" in said
    assert (tmp_path / "progress.csv").read_text() == (undisturbed / "progress.csv").read_text()
