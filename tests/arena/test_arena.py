"""Tournaments: who plays whom, games reproducible alone, files that are resumed, tables."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.connect_four_game import GAME as CONNECT_FOUR
from tabletop_envs import agents, registry
from tabletop_envs.agents import RandomAgent, fingerprint, make_agent
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.arena import match, ratings, records, tournaments
from tabletop_envs.arena.ratings import Outcome, make_table
from tabletop_envs.arena.tournaments import Plan, Tournament, play_match, tournament
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.play import session
from tests.agents.custom_agents import write_hostile, write_mine
from tests.games import each_case, each_game, raw_env

pytest.importorskip("openskill")


def first_legal(observation: Any, mask: Any, rng: Any) -> int:
    return int(mask.argmax())


def drawn(observation: Any, mask: Any, rng: np.random.Generator) -> int:
    assert observation.dtype == np.float32
    return int(rng.choice(np.flatnonzero(mask)))


drawn.fingerprint = "drawn"  # type: ignore[attr-defined]  (pytest changes its code)


AGENTS: list[tournaments.AgentSpec] = ["random", ("drawn", drawn)]


def read(path: Path) -> dict[int, records.GameRecord]:
    """The games of a file by number, each of which must be there once."""
    games = list(records.read_records(path))
    numbers = [game.notes["tournament"]["number"] for game in games]
    assert len(set(numbers)) == len(numbers)
    return dict(zip(numbers, games, strict=True))


# Who plays whom


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("agents", [2, 3, 4, 5])
def test_every_group_plays_every_deal_from_all_seats(players, agents):
    game = registry.get_game("meeples")
    names = tuple("abcde"[:agents])
    options = game.parse_options({"num_players": players})
    plan = Plan(game, options, names, games=players * 6, seed=2**64 - 3)
    matches = [plan.match(number) for number in range(plan.total)]
    seats = Counter((m.seats[seat], seat) for m in matches for seat in range(players))
    assert len(set(seats.values())) == 1
    assert {agent for agent, _ in seats} == set(names)
    by_group: dict[Any, list[match.Match]] = {}
    for m in matches:
        by_group.setdefault(tuple(sorted(m.seats)), []).append(m)
    if agents >= players:
        assert list(by_group) == list(itertools.combinations(names, players))
    else:
        assert all(set(group) == set(names) for group in by_group)
    for group, own in by_group.items():
        assert len(own) == players * 6
        deals = Counter(m.deal for m in own)
        assert deals == {(2**64 - 3 + deal) % 2**64: players for deal in range(6)}
        if len(set(group)) == players:
            # Every seating comes up equally often: every order of neighbours, too.
            assert len(set(Counter(m.seats for m in own).values())) == 1
            assert len({m.seats for m in own}) == len(list(itertools.permutations(group)))
    assert len({m.chance for m in matches}) == plan.total


@each_case
def test_games_agree_with_the_rules_and_can_be_played_again_alone(name, options, tmp_path):
    path = tmp_path / "games.jsonl"
    options = {**options, "max_plies": 40}
    table = tournament(name, AGENTS, 4, seed=6, options=options, output=path)
    games = read(path)  # checks them against the rules
    assert sorted(games) == list(range(table.games)) == list(range(table.planned))
    game = registry.get_game(name)
    plan = Tournament(name, AGENTS, 4, 6, options).plan
    known = tournaments.named_agents(AGENTS)
    for number, record in games.items():
        ((alone,),) = match.play_matches(game, plan.options, known, iter([plan.match(number)]))
        assert alone == record
        assert record.seed == 6 + number // len(plan.groups) // plan.players


def test_results_depend_neither_on_lanes_nor_on_processes(tmp_path, monkeypatch):
    games = {}
    for name, workers, lanes, quick in [
        ("one", 1, 1, 0.0),
        ("many", 1, 256, float("inf")),
        ("processes", 2, 256, 0.01),
    ]:
        monkeypatch.setattr(match, "MAX_LANES", lanes)
        monkeypatch.setattr(match, "QUICK_ROUND", quick)
        path = tmp_path / name
        options = {"max_plies": 250}
        table = tournament(
            "meeples", AGENTS, 12, seed=3, options=options, output=path, workers=workers
        )
        games[name] = read(path), table
    (one, table), (many, other), (processes, another) = games.values()
    assert one == many == processes
    assert table == other == another
    assert list(many) != list(one)  # many lanes end in another order


@each_game
def test_choices_come_from_a_stream_of_each_seat(name):
    game = registry.get_game(name)
    options = game.parse_options({"max_plies": 60})
    played = match.Match(("random", "drawn"), 9, (4, 17), {})
    known = tournaments.named_agents(AGENTS)
    ((record,),) = match.play_matches(game, options, known, iter([played]))
    # The same agents one game at a time, in an environment.
    sampler = np.random.SeedSequence([4, 17, 0]).generate_state(1, np.uint64)
    rng = np.random.default_rng(np.random.SeedSequence([4, 17, 1]))
    env = raw_env(name, **options)
    env.reset(seed=9)
    for action in record.actions:
        agent = env.agent_selection
        choice = np.zeros(1, np.int64)
        if agent == "player_0":
            RandomAgent().choose_lanes(game, *env.lane(), sampler, np.zeros(1, np.int64), choice)
        else:
            seen = env.observe(agent)
            choice[0] = drawn(seen["observation"], seen["action_mask"], rng)
        assert action == choice[0]
        env.step(action)
    assert record == records.record_of(env, 9, record.actions, ["random", "drawn"])


def test_a_match_is_one_record():
    record = play_match("tuerme", ["random", ("drawn", drawn), "random"], 8, {"num_players": 3})
    records.check(record)
    assert (record.agents, record.seed) == (["random", "drawn", "random"], 8)
    assert record == play_match(
        "tuerme", ["random", ("drawn", drawn), "random"], 8, {"num_players": 3}
    )
    with pytest.raises(ValueError, match="there are 1 agents for 2 players"):
        play_match("kirche", ["random"])
    with pytest.raises(ValueError, match="two agents are called 'x'"):
        play_match("kirche", [("x", drawn), ("x", first_legal)])


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda mask: int(mask.argmin()), r"action 1 \(place spire 0,1.*\), which is illegal"),
        (lambda mask: 5000, "5000, which is no action"),
        (lambda mask: -1, "-1, which is no action"),
        (lambda mask: 1.5, "1.5, which is no action"),
        (lambda mask: None, "None, which is no action"),
    ],
)
def test_an_illegal_action_is_named_and_no_such_game_is_kept(tmp_path, action, message):
    def bad(observation: Any, mask: Any, rng: Any) -> Any:
        return action(mask)

    path = tmp_path / "games.jsonl"
    with pytest.raises(ValueError, match=f"agent 'bad' as player_[01] chose {message}.*seed 4"):
        tournament("kirche", [("bad", bad), "random"], 2, seed=4, output=path)
    assert not path.exists()


class Cheat(RandomAgent):
    """A game agent with a mistake."""

    name = "cheat"

    def choose_lanes(
        self, game: Any, states: Any, legal: Any, samplers: Any, lanes: Any, actions: Any
    ) -> None:
        actions[lanes] = 48 + 10**6


def test_an_illegal_action_of_a_game_agent_is_found():
    with pytest.raises(
        ValueError, match="agent 'cheat' as player_0 chose 1000048, which is no action"
    ):
        play_match("kirche", [Cheat(), "random"], 1)


@pytest.mark.parametrize(
    ("agents", "error", "message"),
    [
        (["random", "grady"], ValueError, "no agent 'grady'"),
        (["random", drawn], TypeError, "no name"),
        (["random", ("x",)], TypeError, "not a pair"),
        (["random", ("x", 3)], TypeError, "callable"),
        ("random", TypeError, "must be a list"),
    ],
)
def test_impossible_agents(agents, error, message):
    with pytest.raises(error, match=message):
        tournament("kirche", agents, 2)


# Files

SMALL = {"num_houses": 2, "max_plies": 30}


def play_small(path: Path | None, games: int = 8, **changes: Any) -> ratings.Table:
    arguments = {"seed": 5, "options": SMALL, "agents": AGENTS, **changes}
    return tournament("kirche", games=games, output=path, **arguments)


def test_a_file_cut_anywhere_leads_to_the_same_table(tmp_path):
    path = tmp_path / "games.jsonl"
    table = play_small(path)
    whole = path.read_bytes()
    games = read(path)
    places = range(0, len(whole), len(whole) // 11)
    assert len(places) > 10
    for place in [*places, len(whole) - 1, len(whole)]:
        path.write_bytes(whole[:place])
        assert play_small(path) == table
        assert read(path) == games
        assert path.read_bytes().startswith(whole[: whole.rfind(b"\n", 0, place) + 1])


def test_a_tournament_goes_on_with_more_games_and_takes_the_files_seed(tmp_path):
    path = tmp_path / "games.jsonl"
    play_small(path, 4)
    before = path.read_bytes()
    told = []
    table = play_small(path, 8, seed=None, progress=told.append)
    assert path.read_bytes().startswith(before)
    assert table == play_small(None, 8)
    assert (told[0].done, told[0].total, told[-1].done) == (4, 8, 8)
    scores = {standing.agent: standing.score for standing in table.standings}
    assert told[-1].scores == pytest.approx(scores)
    # Fewer games than there are: the table of so many, and the file stays.
    whole = path.read_bytes()
    assert play_small(path, 4) == play_small(None, 4)
    assert path.read_bytes() == whole


def test_a_file_of_another_tournament_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "games.jsonl"
    play_small(path, 2)
    whole = path.read_bytes()
    more: list[tournaments.AgentSpec] = [*AGENTS, ("third", drawn)]
    for changes, message in [
        ({"seed": 6}, "its seed is 5, not 6"),
        ({"options": {**SMALL, "num_houses": 3}}, "its options is .*'num_houses': 2"),
        ({"agents": more}, r"its agents is \['random', 'drawn'\]"),
        ({"agents": AGENTS[::-1]}, r"its agents is \['random', 'drawn'\]"),
    ]:
        for tail in (b"", b'{"form'):
            path.write_bytes(whole + tail)
            with pytest.raises(ValueError, match=f"line 1: .*another tournament: {message}"):
                play_small(path, **changes)
            assert path.read_bytes() == whole + tail
    with pytest.raises(ValueError, match="another tournament: its game is 'kirche-v0'"):
        tournament("tuerme", AGENTS, 2, seed=5, output=path)


def test_a_file_of_something_else_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "games.jsonl"
    play_small(path, 2)
    whole = path.read_bytes()
    line = whole.splitlines()[0]
    document = json.loads(line)
    other_number = {"tournament": {**document["notes"]["tournament"], "number": 2}}
    longer = {**document, "notes": other_number}
    plain = records.record_of(next(records.replay(next(records.read_records(path)))), 5, [], "ab")
    for content, message in [
        (b"my notes", "the last line is no game of this tournament"),
        (whole + b"my notes", "the last line is no game of this tournament"),
        (b"my notes\n", "line 1: this is no JSON"),
        (plain.to_json().encode() + b"\n", "line 1: this is no game of a tournament"),
        (json.dumps({**document, "notes": {}}).encode() + b"\n", "no game of a tournament"),
        (json.dumps(longer).encode() + b"\n", "seed or agents are not those of game 2"),
        (line.replace(b'"actions":[', b'"actions":[7,') + b"\n", r"line 1: actions\[0\]"),
    ]:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            play_small(path)
        assert path.read_bytes() == content
    # The same game twice, as two processes at once would write it, does no harm; another course
    # does.
    path.write_bytes(whole + line + b"\n")
    assert play_small(path, 2) == play_small(None, 2)
    other = play_match("kirche", AGENTS, 5, SMALL)
    forged = {
        **json.loads(other.to_json()),
        "notes": document["notes"],
        "agents": document["agents"],
    }
    path.write_bytes(whole + json.dumps(forged).encode() + b"\n")
    with pytest.raises(ValueError, match=r"line 3: .*another course of game 0"):
        play_small(path, 2)


def other_drawn(observation: Any, mask: Any, rng: np.random.Generator) -> int:
    return drawn(observation, mask, rng)


def test_a_file_is_continued_only_by_the_agents_that_began_it(tmp_path):
    path = tmp_path / "games.jsonl"
    play_small(path, 2)
    whole = path.read_bytes()
    assert {tuple(game.fingerprints or ()) for game in read(path).values()} == {
        (agents.fingerprint(RandomAgent()), "drawn"),
        ("drawn", agents.fingerprint(RandomAgent())),
    }
    theirs = agents.fingerprint(other_drawn)
    with pytest.raises(ValueError, match=f"agent 'drawn': .* is 'drawn', not '{theirs}'"):
        play_small(path, 4, agents=["random", ("drawn", other_drawn)])
    assert path.read_bytes() == whole
    # A file of an earlier version, whose records have none.
    documents = [json.loads(line) for line in whole.splitlines()]
    lines = [json.dumps({**one, "fingerprints": [None, None]}) + "\n" for one in documents]
    for line in lines[0], lines[0].replace('"fingerprints": [null, null], ', ""):
        path.write_text(line, encoding="utf-8")
        with pytest.raises(ValueError, match=r"line 1: .*its fingerprint is None, not"):
            play_small(path, 4)


def test_other_rules_of_search_are_another_agent():
    plain, other = MCTSAgent(50), MCTSAgent(50, priors="none")
    assert (plain.name, other.name) == ("mcts:50", "mcts:50,priors=none")
    assert Tournament("kirche", [plain, other], 1).plan.agents == (plain.name, other.name)


# Another tournament that tries to write to the same file.
SECOND = """
import sys
from tests.arena.test_arena import play_small
try:
    play_small(sys.argv[1], 3)
except BlockingIOError as error:
    print(error)
"""


def test_no_two_tournaments_write_to_one_file(tmp_path):
    path = tmp_path / "games.jsonl"
    played = Tournament("kirche", AGENTS, 8, 5, SMALL, path)
    steps = played.play()
    next(steps)
    for _ in range(2):
        with pytest.raises(BlockingIOError, match=r"already.*games"):
            play_small(path)
        words = [sys.executable, "-c", SECOND, str(path)]
        told = subprocess.run(words, capture_output=True, text=True, check=True, env=environment())
        assert "already" in told.stdout
        with pytest.raises(BlockingIOError):
            session.save(path, play_match("kirche", AGENTS, 5, SMALL))
        next(steps)
    before = read(path)
    assert before
    steps.close()
    assert play_small(path) == play_small(None)
    assert before.items() <= read(path).items()
    # The first one continues with what the second has left.
    assert [progress.done for progress in played.play()] == [8]
    session.save(path, before[0])


def test_no_file_is_left_where_nothing_was_played(tmp_path):
    path = tmp_path / "games.jsonl"
    for played in (Tournament("kirche", AGENTS, 8, output=path) for _ in range(2)):
        assert path.exists()
        steps = played.play()
        next(steps)
        del played, steps
        assert not path.exists()
    with pytest.raises(IsADirectoryError):
        play_small(tmp_path)
    os.mkfifo(path)
    with pytest.raises(OSError, match="must be a regular file"):
        Tournament("kirche", AGENTS, 8, 5, output=path)


def test_agents_for_several_processes_must_be_picklable():
    with pytest.raises(ValueError, match=r"agent 'mine' must be picklable.*workers=1"):
        tournament("kirche", ["random", ("mine", lambda *_: 0)], 2, workers=2)


def test_agents_by_name_play_in_every_process(tmp_path, monkeypatch):
    # Every process has this folder on its path, and is to take the file all the same.
    monkeypatch.chdir(tmp_path)
    write_mine(tmp_path, "agents_of_processes")
    names = [f"agents_of_processes.py:{name}" for name in ("draw", "Mine", "make")]
    one = tournament("kirche", names, 4, 3, SMALL, output="one.jsonl")
    two = tournament("kirche", names, 4, 3, SMALL, output="two.jsonl", workers=2)
    assert one == two and {standing.agent for standing in one.standings} == set(names)
    first = read(Path("one.jsonl"))[0]
    assert first.fingerprints == [fingerprint(make_agent(name)) for name in first.agents]
    with pytest.raises(ValueError, match=r"agent .*illegal.* chose action .* which is illegal"):
        tournament("kirche", ["random", "agents_of_processes.py:illegal"], 2, 3, SMALL)


def test_a_file_that_names_code_runs_none(tmp_path):
    path, (code, marker) = tmp_path / "games.jsonl", write_hostile(tmp_path, "hostile_tournament")
    play_small(path, 4)
    text = path.read_text()
    for name in (f"{code}:agent", "hostile_tournament:agent"):
        path.write_text(text.replace("drawn", name))
        games = list(records.read_records(path))
        assert name in games[0].agents
        for game in games:
            list(records.replay(game))
        with pytest.raises(ValueError, match="another tournament: its agents"):
            play_small(path, 8)
        # Only when it is given it is run, and it is not the one that has played.
        if code.name in name:
            assert not marker.exists()
            with pytest.raises(ValueError, match="played by another agent"):
                play_small(path, 8, agents=["random", name])
            assert marker.exists()
            marker.unlink()
    assert not marker.exists()


# An agent alone


@pytest.mark.parametrize(
    ("name", "players", "options"),
    [("kirche", 2, {}), ("tuerme", 3, {"num_players": 3}), ("meeples", 4, {"num_players": 4})],
)
def test_an_agent_alone_plays_itself(name, players, options, tmp_path):
    path, options = tmp_path / "games.jsonl", {**options, "max_plies": 12}
    table = tournament(name, ["random"], 5, 9, options, path)
    games = read(path)
    assert table.games == table.planned == len(games) == 5
    assert all(game.agents == ["random"] * players for game in games.values())
    # Each game is another deal.
    assert [games[number].seed for number in range(5)] == list(range(9, 14))
    assert len(table.seats) == players and not table.pairs
    assert sum(seat.score or 0 for seat in table.seats) == pytest.approx(1)
    assert table.standings[0].mu is None and table.standings[0].games == 5
    assert f"player_{players - 1}: first" in str(table) and "score" in str(table)
    for repeated in (["random"] * 2, [("random", agents.make_agent("random"))] * players):
        assert tournament(name, repeated, 5, 9, options) == table
    assert tournament(name, ["random"], 7, 9, options, path).games == 7


def test_what_is_given_twice_beside_others_is_refused():
    with pytest.raises(ValueError, match="agent 'random' is given twice"):
        tournament("kirche", ["random", "greedy", "random"], 2)
    with pytest.raises(ValueError, match=r"agents=\[\] must be one agent or more"):
        tournament("kirche", [], 2)


def test_seats_are_rated_by_all_games_and_repeated_ones_are_counted():
    def first(observation: Any, mask: Any, rng: Any) -> int:
        return int(mask.argmax())

    table = tournament("kirche", [("first", first)], 6, 1, SMALL)
    assert table.distinct == 1 and table.games == 6
    assert play_small(None, 6).distinct > 1


def test_games_are_registered_ones():
    game = registry.get_game("kirche")
    assert tournament(game, AGENTS, 2, 5, SMALL) == play_small(None, 2)
    assert play_match(game, AGENTS, 5, SMALL) == play_match("kirche", AGENTS, 5, SMALL)
    for play in (tournament, play_match):
        with pytest.raises(
            ValueError, match=r"game 'connect_four' must be a registered one: .*kirche.*register"
        ):
            play(CONNECT_FOUR, AGENTS, 2)
    env = TabletopEnv(CONNECT_FOUR)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="game 'connect_four' must be a registered one"):
        records.record_of(env, 1, [], "ab")


def environment() -> dict[str, str]:
    """The variables of a process that can import these tests."""
    folders = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}


# A tournament in a process of its own, slow enough to be killed in the middle.
SLOW = """
import sys, time
from tests.arena.test_arena import drawn, play_small

def slow(observation, mask, rng):
    time.sleep(0.01)
    return drawn(observation, mask, rng)

slow.fingerprint = "drawn"

if __name__ == "__main__":
    play_small(sys.argv[1], 40, agents=["random", ("drawn", slow)], workers=int(sys.argv[2]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize(("workers", "kills"), [(1, 3), (2, 1)])
def test_killing_it_again_and_again_changes_nothing(tmp_path, workers, kills):
    path, script = tmp_path / "games.jsonl", tmp_path / "slow.py"
    script.write_text(SLOW, encoding="utf-8")
    seen = [0]
    for kill in range(kills):
        words = [sys.executable, str(script), str(path), str(workers)]
        process = subprocess.Popen(words, env=environment())
        end = time.monotonic() + 300
        # At different numbers of bytes, so that it is not always between two games.
        while not path.exists() or path.stat().st_size < seen[-1] + 900 + 301 * kill:
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < end
            time.sleep(0.001)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        seen.append(path.stat().st_size)
    assert len(path.read_bytes().splitlines()) < 40
    table = play_small(path, 40)
    assert sorted(read(path)) == list(range(40))
    assert table == play_small(None, 40)


# Tables


def outcome(number: int, seats: str, *scores: int, digest: bytes = b"") -> Outcome:
    return Outcome(number, tuple(seats), scores, 10, False, digest)


def table_of(agents: str, *games: Outcome) -> ratings.Table:
    players = len(games[0].seats)
    return make_table("g", {}, 1, list(agents), games, planned=len(games), players=players)


def test_intervals_are_wilsons():
    for games in (1, 7, 400):
        for wins in {0, 1, games // 3, games}:
            interval = stats.binomtest(wins, games).proportion_ci(method="wilson")
            assert ratings.wilson(wins / games, games) == pytest.approx(tuple(interval), abs=1e-12)
    assert ratings.wilson(0.0, 0) == (0.0, 1.0)


def small_table() -> ratings.Table:
    return table_of(
        "ab",
        outcome(0, "ab", 3, 1),
        outcome(1, "ba", 2, 2),
        outcome(2, "ab", 5, 0, digest=b"x"),
        outcome(3, "ba", 1, 0),
        outcome(4, "ab", 3, 1),
    )


def test_two_players():
    table = small_table()
    a = table.pair("a", "b")
    assert (a.count.wins, a.count.draws, a.count.losses, a.count.games) == (3, 1, 1, 5)
    assert a.count.score == pytest.approx(0.7)
    assert (a.count.low, a.count.high) == ratings.wilson(0.7, 5)
    assert a.by_seat == (1.0, 0.25)
    assert a.distinct == 4
    b = table.pair("b", "a")
    assert (b.count.wins, b.count.draws, b.count.losses) == (1, 1, 3)
    assert b.count.score == pytest.approx(0.3)
    best = table.standings[0]
    assert (best.agent, best.games, best.first, best.shared) == ("a", 5, 3, 1)
    assert best.score == pytest.approx(0.7)
    assert [seat.first for seat in table.seats] == [4, 0]
    assert [seat.score for seat in table.seats] == pytest.approx([0.9, 0.1])
    assert table.mean_length == 10
    json.dumps(table.to_dict())
    assert "a – b: +3 =1 −1, score 70.0%" in str(table)
    with pytest.raises(ValueError, match="have not met"):
        table.pair("a", "c")


def test_three_players_and_agents_in_several_seats():
    table = table_of("abc", outcome(0, "abc", 5, 5, 2), outcome(1, "cab", 1, 9, 4))
    assert [(s.agent, s.first, s.shared) for s in table.standings] == [
        ("a", 1, 1),
        ("b", 0, 1),
        ("c", 0, 0),
    ]
    assert [s.score for s in table.standings] == [0.75, 0.25, 0.0]
    count = table.pair("a", "b").count
    assert (count.wins, count.draws, count.losses) == (1, 1, 0)
    assert table.pair("c", "b").count.losses == 2

    # a comes first and last, b in between.
    table = table_of("ab", outcome(0, "aba", 9, 5, 1), outcome(1, "bab", 3, 7, 7))
    count = table.pair("a", "b").count
    assert (count.wins, count.draws, count.losses, count.score) == (1, 1, 0, 0.625)
    assert table.pair("b", "a").count.score == 0.375
    standing = next(s for s in table.standings if s.agent == "a")
    assert (standing.first, standing.shared, standing.score) == (1, 1, 0.5)
    assert table.pair("a", "b").by_seat == (None, 0.75, None)


def test_ratings_follow_results_in_the_order_of_numbers():
    games = [
        outcome(n, "abc", *scores)
        for n, scores in enumerate(
            [(3, 2, 1), (3, 1, 2), (1, 3, 2), (2, 2, 1), (3, 2, 1), (9, 9, 9)]
        )
    ]
    table = table_of("abc", *games)
    assert [standing.agent for standing in table.standings] == ["a", "b", "c"]
    mus = [standing.mu for standing in table.standings]
    assert mus[0] > mus[1] > mus[2]  # type: ignore[operator]
    assert all(standing.sigma < 25 / 3 for standing in table.standings)  # type: ignore[operator]
    assert table_of("abc", *games[::-1]) == table
    reversed_numbers = [outcome(5 - game.number, "abc", *game.scores) for game in games]
    assert table_of("abc", *reversed_numbers) != table


def test_without_openskill_an_error_names_the_extra_before_anything_is_played(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "openskill", None)
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    path = tmp_path / "games.jsonl"
    with pytest.raises(ImportError, match=r"tabletop-envs\[arena\]"):
        play_small(path)
    assert not path.exists()
    table = play_small(path, ratings=False)
    assert table.games == 8
    assert {standing.mu for standing in table.standings} == {None}


@each_game
def test_what_has_been_said_is_in_the_file(name, tmp_path):
    path = tmp_path / "games.jsonl"
    played = Tournament(name, AGENTS, 6, 1, {"max_plies": 10}, path)
    for progress in played.play():
        assert progress.done == (len(read(path)) if path.exists() else 0)
        assert played.table().games == progress.done
    assert progress.done == 6
