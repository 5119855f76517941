"""Playing in the terminal: moves by number and name, undo, hints, saved games, and a real terminal."""

from __future__ import annotations

import dataclasses
import random
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tabletop_envs import cli, registry
from tabletop_envs.agents import RandomAgent, naming
from tabletop_envs.arena import records
from tabletop_envs.kernels.meeples.material import REROLL
from tabletop_envs.play.session import Session, load, save
from tabletop_envs.play.terminal import COMMAND_WORDS, find_move
from tests.cli.command_line import plain, run
from tests.games import each_case, each_game, legal_actions, over, raw_env
from tests.terminals import terminal


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Games without a file's name are saved in the present folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The game behind the dialogue


def agents_of(name: str, options: dict[str, Any], seat: int = 0) -> list[str]:
    players = registry.get_game(name).num_players(options)
    return ["human" if player == seat else "random" for player in range(players)]


def go_on(session: Session, rng: random.Random, moves: int) -> None:
    """Play so many random choices of the human, and all else until the human has a choice again."""
    while not session.over:
        if not session.human_to_move:
            session.play_agent()
            continue
        legal = list(session.legal_moves().values())
        if len(legal) > 1:
            if not moves:
                return
            moves -= 1
        session.play(rng.choice(legal))


@each_case
def test_a_saved_game_goes_on_exactly(name, options, tmp_path):
    session = Session(name, agents_of(name, options, seat=1), 7, options)
    go_on(session, random.Random(1), 9)
    path = tmp_path / "game.jsonl"
    save(path, session.record())
    resumed = Session.resume(load(path))
    assert resumed.record() == session.record()
    for one in (session, resumed):
        go_on(one, random.Random(2), 30)
        records.check(one.record())
    assert resumed.record() == session.record()
    assert resumed.env.snapshot() == session.env.snapshot()
    assert list(tmp_path.iterdir()) == [path]


@each_case
def test_undo_goes_back_to_each_own_choice(name, options):
    session = Session(name, agents_of(name, options), 3, options)
    choices = []
    rng = random.Random(1)
    for _ in range(12):
        go_on(session, rng, 0)
        choices.append((session.record(), chance(session)))
        go_on(session, rng, 1)
    last = session.record()
    for number, (record, drawn) in enumerate(reversed(choices)):
        if drawn != chance(session):
            assert not session.can_undo and not session.undo()
            return
        assert session.undo()
        assert session.record() == record
        assert session.env.snapshot()["ply"] == len(record.actions)
        if number == 0:
            # The same move gets the same answer.
            session.play(last.actions[len(record.actions)])
            go_on(session, rng, 0)
            assert session.record() == last
            assert session.undo()
    assert not session.undo()
    assert session.record() == choices[0][0]


def chance(session: Session) -> int | None:
    """Where the game's generator stands; None where there is none."""
    return session.env.snapshot().get("rng")


def test_chance_is_never_taken_back():
    session, rng, drawn = Session("meeples", ["human", "human"], 3), random.Random(1), set()
    undone = 0
    for _ in range(400):
        if session.over:
            break
        before = chance(session)
        session.play(rng.choice(list(session.legal_moves().values())))
        if chance(session) != before:
            # Two draws from one generator would be the same: who has seen one knows the other.
            assert before not in drawn
            drawn.add(before)
        undone += rng.random() < 0.5 and session.undo()
    assert len(drawn) > 5
    assert undone > 50


def test_dice_rolled_again_stay_as_they_are():
    session, rng = Session("meeples", ["human", "random"], 1), random.Random(1)
    while REROLL not in session.legal_moves().values() or not session.human_to_move:
        go_on(session, rng, 1)
        assert not session.over
    session.play(REROLL)
    record, dice = session.record(), session.env.snapshot()["dice"]
    assert not session.can_undo
    assert not session.undo()
    assert session.record() == record
    assert session.env.snapshot()["dice"] == dice


class Watched(RandomAgent):
    """Keeps what its chance comes from."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def choose_lanes(
        self, game: Any, states: Any, legal: Any, samplers: Any, lanes: Any, actions: Any
    ) -> None:
        self.seen.append(int(samplers[0]))
        super().choose_lanes(game, states, legal, samplers, lanes, actions)


def test_every_choice_has_chance_of_its_own(monkeypatch):
    watched = Watched()
    monkeypatch.setattr(naming, "GreedyAgent", lambda: watched)
    go_on(
        Session("tuerme", ["human", "greedy", "greedy"], 1, {"num_players": 3}), random.Random(1), 9
    )
    go_on(Session("tuerme", ["human", "greedy"], 2), random.Random(1), 9)
    assert len(watched.seen) > 20
    assert len(set(watched.seen)) == len(watched.seen)


@each_game
def test_hints_are_legal_and_change_nothing(name):
    session = Session(name, ["human", "random"], 5)
    go_on(session, random.Random(4), 3)
    before = session.env.snapshot()
    assert session.hint("random") in session.legal_moves()
    assert session.env.snapshot() == before
    with pytest.raises(ValueError, match="no agent 'guru'"):
        session.hint("guru")


def test_games_from_a_snapshot_are_gone_on_with():
    env = raw_env("meeples")
    env.reset(seed=4)
    for _ in range(20):
        env.step(legal_actions(env)[0])
    start = env.snapshot()
    record = records.record_of(env, None, [], ["human", "random"], start=start)
    session = Session.resume(record)
    go_on(session, random.Random(1), 5)
    again = Session.resume(session.record())
    assert again.record() == session.record()
    assert again.record().start == start


def test_what_cannot_be_gone_on_with_is_refused(tmp_path):
    session = Session("kirche", ["human", "random"], 1, {"max_plies": 2})
    go_on(session, random.Random(1), 2)
    assert session.over
    with pytest.raises(ValueError, match="the game is over"):
        Session.resume(session.record())
    with pytest.raises(ValueError, match="there is no result, but the game is over"):
        Session.resume(dataclasses.replace(session.record(), result=None))
    with pytest.raises(ValueError, match="no agent is to move"):
        session.play_agent()
    with pytest.raises(ValueError, match="the game is over"):
        session.hint("random")
    path = tmp_path / "two.jsonl"
    records.append(path, session.record(), session.record())
    with pytest.raises(ValueError, match=r"two\.jsonl must have one game: it has several"):
        load(path)
    with pytest.raises(ValueError, match="agents has 3 entries"):
        Session("kirche", ["human", "random", "random"])
    with pytest.raises(ValueError, match="there are 1 agents for 2 players"):
        Session.resume(Session("kirche", ["human", "random"]).record(), ["human"])


def test_an_illegal_move_leaves_the_game_as_it_is():
    session = Session("kirche", ["human", "random"], 1)
    before = session.record()
    with pytest.raises(ValueError, match="illegal"):
        session.play(1)
    assert session.record() == before


# What is typed


def test_moves_are_found_by_number_name_and_beginning():
    names = ["lay 0-1", "lay 0-11", "pass", "Re-roll", "right", "2 left"]
    for text, found in [
        ("1", "lay 0-1"),
        ("06", "2 left"),
        ("0", []),
        ("7", []),
        ("lay 0-1", "lay 0-1"),
        ("lay 0-11", "lay 0-11"),
        ("  LAY   0-11 ", "lay 0-11"),
        ("lay", ["lay 0-1", "lay 0-11"]),
        ("r", ["Re-roll", "right"]),
        ("ri", "right"),
        ("RE", "Re-roll"),
        ("x", []),
        ("", []),
        ("²", []),
    ]:
        assert find_move(names, text) == found, text


@each_game
def test_no_move_is_called_like_a_command_or_a_number(name):
    env = raw_env(name)
    env.reset(seed=1)
    rng = random.Random(1)
    while not over(env):
        actions = legal_actions(env)
        for action in actions:
            word = env.action_to_str(action).split()[0]
            assert word.lower() not in COMMAND_WORDS
            assert not env.action_to_str(action).isdigit()
        env.step(rng.choice(actions))


@each_game
def test_a_whole_game_by_numbers(name):
    words = ("play", name, "--opponent", "random", "--seed", "3", "--save", "game.jsonl")
    result = run(*words, "--option", "max_plies=40", lines="1\n" * 60)
    assert "The game is over" in result.stdout
    assert "player_0 (you) to move" in result.stdout
    assert re.search(r"^player_1 \(random\): \w", result.stdout, re.MULTILINE)
    (record,) = records.read_records("game.jsonl")
    assert record.result is not None
    assert (record.seed, record.agents) == (3, ["human", "random"])
    # Every move is told in words.
    env = raw_env(name, max_plies=40)
    env.reset(seed=3)
    for action in record.actions:
        who = ["player_0 (you)", "player_1 (random)"][int(env.agent_selection[-1])]
        assert f"{who}: {env.action_to_str(action)}" in result.stdout
        env.step(action)


@each_game
def test_an_interrupted_game_goes_on_as_an_undisturbed_one(name):
    words = ("play", name, "--opponent", "random", "--seed", "8", "--option", "max_plies=60")
    run(*words, "--save", "whole.jsonl", lines="2\n1\n" * 60)
    result = run(*words, "--seat", "0", lines="2\n1\n" * 2)
    saved = f"{registry.batch_id(name)}-8.jsonl"
    assert f"saved: {saved}" in result.stdout
    assert f"--resume {saved}" in result.stdout
    assert load(saved).result is None
    run("play", "--resume", saved, lines="2\n1\n" * 60)
    (whole,) = records.read_records("whole.jsonl")
    (resumed,) = records.read_records(saved)
    assert resumed == whole


def test_moves_by_name_and_commands():
    lines = [
        "place spire 0,0 H",
        "place nave",
        "place nave 6,6 v",
        "moves 2,2",
        "moves zzz",
        "hint random",
        "hint guru",
        "undo",
        "place nave 6,6 horizontal",
        "undo",
        "undo",
        "undo",
        "fly away",
        "undoo",
        "help",
        "1",
        "save game.jsonl",
        "save other.jsonl",
        "save other.jsonl",
        "resume nothing.jsonl",
        "resume",
        "quit",
    ]
    result = run("play", "kirche", "--opponent", "random", "--seed", "2", lines="\n".join(lines))
    answers = re.split(r"^> ", result.stdout, flags=re.MULTILINE)[1:]
    assert len(answers) == len(lines)
    for line, answer, expected in zip(
        lines,
        answers,
        [
            ["player_0 (you): place spire 0,0 horizontal", "S—"],
            ["'place nave' may be 2 moves", "  place nave 6,6 horizontal\n"],
            ["player_0 (you): place nave 6,6 vertical", "player_1 (random): place spire"],
            ["place house 2,2 horizontal", "place house 2,2 vertical"],
            ["no legal move has 'zzz'"],
            ["random would choose: place house"],
            ["no agent 'guru'"],
            ["ply 1,"],
            ["player_0 (you): place nave 6,6 horizontal", "N—"],
            ["ply 1,"],
            ["ply 0,"],
            ["there is nothing to undo"],
            ["'fly away' is neither a legal move nor a command;"],
            ["did you mean 'undo'?"],
            ["moves [TEXT]", "hint [AGENT]", "resume FILE"],
            ["place spire 0,0 horizontal"],
            ["saved: game.jsonl"],
            ["saved: other.jsonl"],
            ["saved: other.jsonl"],
            ["nothing.jsonl cannot be read"],
            ["resume takes a file's name"],
            ["saved: other.jsonl"],
        ],
        strict=True,
    ):
        assert answer.startswith(line)
        for part in expected:
            assert part in answer, (line, answer)
    assert load("game.jsonl") == load("other.jsonl")


def test_a_game_is_gone_on_with_from_within_another():
    run("play", "kirche", "--opponent", "random", "--seed", "2", lines="1\n1\nsave game.jsonl\n")
    result = run("play", "tuerme", "--opponent", "random", lines="resume game.jsonl\n1\nquit\n")
    assert "ply 4, light (player_0) to place a house" in result.stdout
    assert len(load("game.jsonl").actions) == 6
    assert [path.name for path in Path().iterdir()] == ["game.jsonl"]


def test_after_the_end_a_move_can_be_taken_back():
    words = ("play", "kirche", "--opponent", "random", "--option", "max_plies=6", "--seed", "1")
    result = run(*words, lines="1\n1\n1\nundo\n2\n\n1\n")
    assert result.stdout.count("The game is over (ended by max_plies): a draw.") == 2
    assert not list(Path().iterdir())  # finished, and no file was asked for


def test_no_other_file_is_written_over():
    words = ("play", "kirche", "--opponent", "random", "--seed", "2")
    for expected in ("kirche-v0-2.jsonl", "kirche-v0-2-2.jsonl"):
        assert f"saved: {expected}" in run(*words, lines="1\n").stdout
    Path("mine").write_text("precious")
    result = run(*words, lines="1\nsave mine\nquit\n")
    assert "mine is there already" in result.stdout
    assert Path("mine").read_text() == "precious"
    assert "mine is there already" in plain(run(*words, "--save", "mine", exit_code=2).stderr)


def test_nothing_is_saved_of_a_game_not_begun():
    result = run("play", "kirche", "--opponent", "random", lines="")
    assert "saved" not in result.stdout
    assert not list(Path().iterdir())


def test_hidden_hands_stay_hidden_and_seats_are_named():
    words = "play meeples --opponent random --seat 1 --seed 5 --option num_players=3"
    result = run(*words.split(), lines="1\n" * 6)
    assert load("meeples-v0-5.jsonl").agents == ["random", "human", "random"]
    boards = re.findall(r"^player_(\d) \(.\):.*(hand: .*|stones in hand)", result.stdout, re.M)
    assert {player for player, hand in boards if hand.startswith("hand: ")} == {"1"}
    assert {player for player, hand in boards if hand == "stones in hand"} == {"0", "2"}
    assert "player_2 (random): lay" in result.stdout
    # Several people at one terminal see their own hands only.
    words = "play meeples --opponent human --seed 5"
    result = run(*words.split(), lines="1\n" * 40 + "quit\n")
    for board, mover in re.findall(
        r"dice in the pool.*?\n(.*?)player_(\d) to move, ", result.stdout, re.DOTALL
    ):
        assert re.findall(r"player_(\d) \(.\): [^\n]*hand: ", board) == [mover]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["GAME", "--resume"]),
        (["chess"], ["'chess'"]),
        (["kirche", "--opponent", "guru"], ["--opponent", "no agent 'guru'"]),
        (["kirche", "--opponent", "mtcs:N"], ["did you mean 'mcts:400'?"]),
        (["kirche", "--opponent", "mcts"], ["did you mean 'mcts:400'?"]),
        (["kirche", *2 * ["--opponent", "random"]], ["2 opponents for 1 other seats"]),
        (["kirche", "--seat", "2", "--opponent", "random"], ["--seat", "0 to 1"]),
        (["kirche", "--option", "num_houses=9"], ["num_houses=9", "from 1 to 7"]),
        (["kirche", "--option", "num_hauses=9"], ["did you mean 'num_houses'?"]),
        (["kirche", "--save", "no/game.jsonl"], ["--save", "no folder no"]),
        (["--resume", "none.jsonl"], ["--resume", "none.jsonl cannot be read"]),
        (["--resume", "game.jsonl", "--seed", "3"], ["leave them out"]),
        (["--resume", "game.jsonl", "--seat", "0"], ["leave them out"]),
        (["tuerme", "--resume", "game.jsonl"], ["a game of kirche-v0, not of tuerme"]),
        (["--resume", "game.jsonl", "--opponent", "guru"], ["no agent 'guru'"]),
        (["--resume", "bad.jsonl"], ["bad.jsonl, line 1", "actions[0]", "illegal"]),
        (["--resume", "over.jsonl"], ["the game is over"]),
    ],
    ids=" ".join,
)
def test_wrong_words_get_an_error_that_helps(words, expected):
    session = Session("kirche", ["human", "random"], 1, {"max_plies": 2})
    save("game.jsonl", session.record())
    text = Path("game.jsonl").read_text()
    Path("bad.jsonl").write_text(text.replace('"actions":[]', '"actions":[1]'))
    go_on(session, random.Random(1), 2)
    save("over.jsonl", session.record())
    error = plain(run("play", *words, exit_code=2).stderr)
    for part in expected:
        assert part in error


def test_a_game_goes_on_against_others():
    run("play", "kirche", "--opponent", "random", "--seat", "1", "--seed", "2", lines="1\n")
    run("play", "--resume", "kirche-v0-2.jsonl", "--opponent", "human", lines="1\n")
    assert load("kirche-v0-2.jsonl").agents == ["human", "human"]


class Broken(RandomAgent):
    """An agent that does not come to a choice in kirche's first house."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def choose_lanes(
        self, game: Any, states: Any, legal: Any, samplers: Any, lanes: Any, actions: Any
    ) -> None:
        if states["ply"][0] == 5:
            raise self.error
        super().choose_lanes(game, states, legal, samplers, lanes, actions)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_it_while_an_agent_thinks_the_game_is_saved(error, monkeypatch):
    monkeypatch.setattr(naming, "GreedyAgent", lambda: Broken(error))
    words = ["play", "kirche", "--opponent", "greedy", "--seed", "2"]
    result = CliRunner().invoke(cli.make_app(), words, input="1\n1\n1\n1\n")
    if error is KeyboardInterrupt:
        assert result.exit_code == 130
    else:
        assert isinstance(result.exception, RuntimeError)
    assert "resume with: tabletop-envs play --resume kirche-v0-2.jsonl" in result.stdout
    assert len(load("kirche-v0-2.jsonl").actions) == 5


# A real terminal


@pytest.mark.parametrize(("key", "exit_code"), [("\x03", 130), ("\x04", 0)], ids=["C-c", "C-d"])
def test_a_terminal_completes_names_and_saves_at_the_end(key, exit_code):
    words = "play kirche --opponent random --seed 2 --save game.jsonl".split()
    with terminal(*words, full=True) as one:
        one.wait_for(r"player_0 \(you\) to move, 8 legal moves")
        one.wait_for(">")
        one.type("place spire 6,6 v")
        one.wait_for("place spire 6,6 vertical")  # offered by the menu
        one.type("\t\r")
        one.wait_for(r"player_0 \(you\): place spire 6,6 vertical")
        shown = one.wait_for(r"player_0 \(you\) to move, 2 legal moves")
        assert "\x1b[" in shown  # the board in colours
        one.wait_for(">")
        one.type(key)
        one.wait_for("saved: game.jsonl")
        one.wait_for("resume with: tabletop-envs play --resume game.jsonl")
        assert one.process.wait(300) == exit_code
    assert len(load("game.jsonl").actions) == 1
