"""Checkpoints from somebody else: refused by file and place, before anything is touched."""

from __future__ import annotations

import copy
import itertools
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tabletop_envs.agents import fingerprint, make_agent
from tests.agents.custom_agents import write_hostile
from tests.examples.training import refused
from tests.games import raw_env
from tests.scripts import EXAMPLES, load_script

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra train")
pytest.importorskip("rich", reason="rich is not installed: the extra train")

SMALL = {
    "ppo_selfplay": "kirche --games 3 --plies 8 --steps 24 --width 4 --local 4 --threads 1 --opponents",
    "alphazero": "kirche --games 4 --plies 6 --iterations 4 --simulations 4 --quick 2 --channels 4 --blocks 1 --buffer 64 "
    "--minibatch 4 --minibatches 2 --gate-games 2 --threads 1 --cut 12 --warm-up 1 --opponents",
    "ray_selfplay": "kirche --rounds 3 --units 1 --games 3 --simulations 4 --width 4 --minibatch 4 --workers 1",
}


@dataclass
class Attacked:
    """A run of an example, and a way to make it load what a stranger has made of its checkpoint."""

    example: ModuleType
    folder: Path
    run: Any

    @property
    def path(self) -> Path:
        return self.folder / "checkpoint.pt"

    def content(self) -> Any:
        return torch.load(self.path, weights_only=True)

    def load(self, content: Any) -> None:
        torch.save(content, self.run.folder / "checkpoint.pt")
        self.run.load()

    def refuses(self, content: Any, message: str = "") -> None:
        with pytest.raises(ValueError, match=rf"checkpoint\.pt: .*{message}"):
            self.load(content)


def make_run(example: ModuleType, folder: Path) -> Any:
    """A finished step of a run, saved."""
    words = [*SMALL[example.__name__].split(), "--folder", str(folder)]
    if example.__name__ != "ray_selfplay":
        run = example.Training(example.read_arguments(words))
        run.learn() if example.__name__ == "ppo_selfplay" else [run.step() for _ in range(3)]
        run.keep()
        run.save()
        return run
    run = example.Run(example.read_arguments(words))
    folder.mkdir(exist_ok=True)
    unit = run.units(0)[0]
    run.results[unit] = example.Player(run.arguments).work(unit, run.weights[0])
    run.finish(0, 0)
    return run


@pytest.fixture(scope="module", params=SMALL)
def attacked(request, tmp_path_factory):
    """Each example with a run, and with a copy of it to attack."""
    if request.param == "ray_selfplay":
        pytest.importorskip("ray", reason="Ray is not installed: the extra ray")
    example = load_script(EXAMPLES / f"{request.param}.py", registered=True)
    folder = tmp_path_factory.mktemp(request.param)
    run = make_run(example, folder)
    run.folder = tmp_path_factory.mktemp("attacked")
    shutil.copytree(folder, run.folder, dirs_exist_ok=True)
    yield Attacked(example, folder, run)
    del sys.modules[example.__name__]


def places(content: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something lies in a checkpoint: of what is long and lies deep the beginning."""
    if place:
        yield place
    if isinstance(content, dict | list):
        entries = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in itertools.islice(entries, 40 if len(place) < 2 else 4):
            yield from places(value, (*place, key))


def changed(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    """A copy of a checkpoint with another value in a place."""
    other, (key, *rest) = copy.copy(content), place
    other[key] = changed(content[key], tuple(rest), value) if rest else value
    return other


def hostile(value: Any, place: tuple[Any, ...]) -> Iterator[Any]:
    """What a stranger may write in the place of a value."""
    yield from ((), [[]], None if value is not None else 1)
    if isinstance(value, torch.Tensor):
        yield value.to(torch.float16 if value.dtype != torch.float16 else torch.float32)
        yield value[None]
        yield value.to_sparse()
        if value.ndim:
            yield value[..., :-1]
        if value.numel() > 1:
            # Of the right shape, but with hardly anything behind it.
            yield value.flatten()[:1].clone().reshape((1,) * value.ndim).expand(value.shape)
        if value.is_floating_point():
            yield value * float("nan")
    elif isinstance(value, dict):
        yield {**value, "extra": 1}
        yield dict(list(value.items())[1:])
    elif isinstance(value, bool):
        yield int(value)
    elif isinstance(value, int | float):
        yield str(value)
        if place[0] != "settings":  # the program's own checks of its arguments
            yield -1
        if isinstance(value, float):
            yield float("inf")


def test_what_it_has_saved_it_loads(attacked):
    attacked.load(attacked.content())


def test_nothing_of_another_form_is_believed(attacked, tmp_path, capsys):
    content, path = attacked.content(), tmp_path / "checkpoint.pt"
    tried = 0
    for place in places(content):
        value = content
        for key in place:
            value = value[key]
        for other in hostile(value, place):
            if place == ("settings", "grow") and other is None:
                continue  # nothing grows, which may be
            attack = changed(content, place, other)
            if place[0] != "settings":
                attacked.refuses(attack)
            else:
                torch.save(attack, path)
                words = ["kirche", "--folder", str(tmp_path), "--resume"]
                with pytest.raises(SystemExit, match="2"):
                    attacked.example.read_arguments(words)
                assert "checkpoint.pt: settings" in capsys.readouterr().err
            tried += 1
    assert tried > 150
    attacked.load(content)


# Tensors of the right form with values out of range: the place, the value, what the error names.
OUT_OF_RANGE: dict[str, list[tuple[tuple[Any, ...], float, str]]] = {
    "ppo_selfplay": [
        (("optimizer", 0, "exp_avg_sq"), -1, "exp_avg_sq"),
        (("update",), 99, "update"),
    ],
    "alphazero": [
        (("replay", "action"), 30000, "action"),
        (("replay", "player"), 2, "player"),
        (("replay", "lane"), 4, "lane"),
        (("replay", "ply"), -1, "ply"),
        (("replay", "status"), 3, "status"),
        (("replay", "share"), -1, "share"),
        (("replay", "value"), 7, "value"),
        (("replay", "added"), -1, "added"),
        (("plain", "level"), 3, "level"),
        (("plain", "grown"), 99, "grown"),
    ],
    "ray_selfplay": [
        (("replay", 0, "moves"), 1323, "moves"),
        (("replay", 0, "moves"), -1, "moves"),
        (("replay", 0, "visits"), 0, "visits"),
        (("replay", 0, "visits"), -1, "visits"),
        (("replay", 0, "result"), 2, "result"),
        (("round",), 4, "round"),
        (("sizes", "progress.csv"), 10**6, "size of progress.csv"),
    ],
}


def test_nothing_out_of_range_is_believed(attacked):
    content = attacked.content()
    for place, number, name in OUT_OF_RANGE[attacked.example.__name__]:
        value = content
        for key in place:
            value = value[key]
        other = torch.full_like(value, number) if isinstance(value, torch.Tensor) else number
        attacked.refuses(changed(content, place, other), name)


def test_commands_say_it_in_a_line(attacked, tmp_path, capsys):
    content = attacked.content()
    states = "games" if "games" in content else "batch"
    attacks: list[tuple[Callable[[], object], str]] = [
        (lambda: changed(content, ("network",), {}), "'network'] must have"),
        (lambda: changed(content, ("settings", "game"), "tuerme"), "run with game='tuerme'"),
        (
            lambda: changed(content, ("settings", "seed"), "1"),
            "settings['seed'] must be of type int",
        ),
        (lambda: changed(content, ("settings", "games"), -1), "--games"),
        (lambda: {}, "settings must be a dict"),
    ]
    if states in content:
        players = ("positions", 0, "options", "num_players")
        attacks.append((lambda: changed(content, (states, *players), 127), "lane 0: "))
    for attack, message in attacks:
        torch.save(attack(), tmp_path / "checkpoint.pt")
        said = refused(attacked.example, capsys, tmp_path, "kirche", "--resume")
        assert "checkpoint.pt" in said or "--games" in said
        assert message in said


class Evil:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("evil"),)


def test_no_code_is_run_and_no_rubbish_read(attacked, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "checkpoint.pt"
    torch.save({"settings": Evil()}, path)
    said = refused(attacked.example, capsys, tmp_path, "kirche", "--resume")
    assert "checkpoint.pt must be a checkpoint" in said
    assert not (tmp_path / "evil").exists()
    for rubbish in (b"", b"PK\x03\x04", attacked.path.read_bytes()[:5000], b"\x80\x02K\x01."):
        path.write_bytes(rubbish)
        assert "checkpoint.pt must" in refused(
            attacked.example, capsys, tmp_path, "kirche", "--resume"
        )
    path.unlink()
    path.mkdir()
    assert "must be a checkpoint, a file" in refused(
        attacked.example, capsys, tmp_path, "kirche", "--resume"
    )


def test_nothing_is_written_through_links(attacked, tmp_path, capsys):
    victim, folder = tmp_path / "victim", tmp_path / "run"
    shutil.copytree(attacked.folder, folder)
    for name in ("progress.csv", "evaluation.csv"):
        victim.write_text("update,secret\n999,1\n")
        (folder / name).rename(tmp_path / name) if (folder / name).exists() else None
        (folder / name).symlink_to(victim)
        said = refused(attacked.example, capsys, folder, "kirche", "--resume")
        assert f"{name} must be a file, not a link" in said
        (folder / name).unlink()
        (folder / name).symlink_to(tmp_path / "nothing")
        assert "not a link" in refused(attacked.example, capsys, folder, "kirche", "--resume")
        (folder / name).unlink()
        (tmp_path / name).rename(folder / name) if (tmp_path / name).exists() else None
    (folder / "checkpoint.pt.part").symlink_to(victim)
    attacked.run.folder, before = folder, attacked.run.folder
    attacked.run.save()
    attacked.run.folder = before
    assert victim.read_text() == "update,secret\n999,1\n"
    assert not (folder / "checkpoint.pt").is_symlink()


def test_logs_are_named_by_the_program_alone(attacked, tmp_path):
    content = attacked.content()
    if "sizes" not in content:
        pytest.skip("only Ray's checkpoints name logs")
    victim = attacked.run.folder.parent / "victim"
    for name in (str(victim), "../victim"):
        victim.write_text("all that there is")
        sizes = {**content["sizes"], name: 0}
        attacked.refuses({**content, "sizes": sizes}, "must not have .*victim")
        del sizes["games.jsonl"]
        attacked.refuses({**content, "sizes": sizes}, "must have 'games.jsonl'")
        assert victim.read_text() == "all that there is"


KINDS = {
    "ppo_selfplay": ("network", "width", "temperature"),
    "alphazero": ("best", "channels", "simulations"),
    "ray_selfplay": ("network", "width", "temperature"),
}


def test_every_checkpoint_is_an_agent_by_its_name(attacked, tmp_path):
    _, _, setting = KINDS[attacked.example.__name__]
    agents = [make_agent(f"{attacked.path}{more}") for more in ("", f",{setting}=2")]
    assert len({fingerprint(agent) for agent in agents}) == 2
    env = raw_env("kirche")
    env.reset(seed=1)
    for agent in agents:
        action = agent.choose(env, np.random.default_rng(1))
        assert env.action_mask()[action]
        assert pickle.loads(pickle.dumps(agent)).choose(env, np.random.default_rng(1)) == action
    other = raw_env("tuerme")
    other.reset(seed=1)
    with pytest.raises(ValueError, match="trained for kirche: it cannot play tuerme"):
        agents[0].choose(other, np.random.default_rng(1))
    for more, message in (
        (",speed=1", f"of a checkpoint of .* can be set {setting}, not speed"),
        (f",{setting}=-1", f"{setting} must be from"),
        (f",{setting}=x", "must be FILE.pt or FILE.pt,KEY=NUMBER"),
        (f",{setting}=1,{setting}=1", "is given twice"),
    ):
        with pytest.raises(ValueError, match=message):
            make_agent(f"{attacked.path}{more}")
    # Further training makes another agent of the same name.
    path = tmp_path / "checkpoint.pt"
    shutil.copy(attacked.path, path)
    before = make_agent(str(path))
    data = pickle.dumps(before)
    assert fingerprint(before) == fingerprint(agents[0])
    content = attacked.content()
    name = next(iter(content[KINDS[attacked.example.__name__][0]]))
    content[KINDS[attacked.example.__name__][0]][name] += 1
    torch.save(content, path)
    assert fingerprint(make_agent(str(path))) != fingerprint(before)
    with pytest.raises(ValueError, match="has changed"):
        pickle.loads(data)


def test_agents_are_made_of_checked_networks_only(attacked, tmp_path):
    content, path = attacked.content(), tmp_path / "checkpoint.pt"
    code, marker = write_hostile(tmp_path, f"hostile_{attacked.example.__name__}")
    weights, size, _ = KINDS[attacked.example.__name__]
    entry = next(name for name in content[weights] if name.endswith("weight"))
    for place, value, message in (
        (("kind",), "os", "kind must be ppo_selfplay, alphazero, ray_selfplay, not 'os'"),
        (("kind",), f"{code}:agent", "kind must be"),
        (("kind",), ["os"], "kind must be"),
        (("settings",), [], "settings must be a dict"),
        (("settings", "game"), "os", "there is no game 'os'"),
        (("settings", "game"), f"{code}:GAME", "there is no game"),
        (("settings", "game"), 3, "names the game"),
        (("settings", size), 10**9, f"{size} must be from 1 to"),
        (("settings", size), 4096, rf"{weights}\[.*\] must be torch.float32"),
        (("settings", size), True, f"{size} must be of type int"),
        ((weights,), {}, f"{weights} must have"),
        ((weights, entry), torch.zeros(4), rf"{weights}\['{entry}'\] must be"),
    ):
        torch.save(changed(content, place, value), path)
        with pytest.raises(ValueError, match=rf"agent '.*checkpoint\.pt': .*({message})"):
            make_agent(str(path))
    torch.save({"kind": Evil(), "settings": Evil()}, path)
    with pytest.raises(ValueError, match="must be a checkpoint"):
        make_agent(str(path))
    assert not (tmp_path / "evil").exists() and not marker.exists()


def test_agents_that_a_checkpoint_names_are_not_run(attacked, tmp_path, capsys):
    content, path = attacked.content(), tmp_path / "checkpoint.pt"
    code, marker = write_hostile(tmp_path, f"hostile_opponent_{attacked.example.__name__}")
    name = f"{code}:agent"
    single = "opponent" in content["settings"]
    argument = "opponent" if single else "opponents"
    torch.save(changed(content, ("settings", argument), name if single else [name]), path)
    said = refused(attacked.example, capsys, tmp_path, "kirche", "--resume")
    assert "only names the agent" in said and f"give --{argument} again" in said
    assert not marker.exists()
    words = ["kirche", "--folder", str(tmp_path), "--resume", f"--{argument}", name]
    attacked.example.read_arguments(words)
    assert marker.exists()
