"""What the page is told: where to click for what, and nothing its person must not know."""

from __future__ import annotations

import json
import random
import re

import pytest

from tabletop_envs.arena.records import GameRecord
from tabletop_envs.play.session import Session
from tabletop_envs.play.web import WebGame
from tabletop_envs.play.web.page import RefusedError
from tests.games import each_case, each_game
from tests.play.test_play import agents_of
from tests.play.web_games import from_snapshot, go_on, new_game, play_some

# What is clicked


@each_case
def test_clicks_lead_to_every_action_and_to_no_other(name, options):
    web = new_game(name, options, seat=1)
    rng = random.Random(2)
    for _ in range(40):
        state = go_on(web)
        if state["outcome"]:
            break
        legal, moves = state["legal"], web.session.legal_moves()
        assert {entry["name"]: entry["action"] for entry in legal} == moves
        assert len(legal) > 1
        assert state["prompt"].endswith(".")
        elements = {
            f"{kind}:{value}"
            for kind, value in re.findall(r'data-(field|stone)="([^"]+)"', state["svg"])
        }
        paths: dict[str, list[str]] = {}
        for entry in legal:
            for step in entry["steps"]:
                assert step == [f"action:{entry['action']}"] or elements.issuperset(step)
            paths.setdefault(json.dumps(entry["steps"]), []).append(entry["name"])
        firsts = {step for entry in legal for step in entry["steps"][0]}
        assert all(len(names) == len(set(names)) for names in paths.values())
        # A menu follows on the last click only, and nowhere else is a choice hidden behind another.
        for entry in legal:
            for other in legal:
                if len(other["steps"]) > len(entry["steps"]):
                    assert not set(entry["steps"][0]) & set(other["steps"][0])
        assert firsts
        web.play(state["version"], rng.choice(legal)["action"])


def test_kirche_s_clicks_are_where_pieces_stand_and_go():
    web = new_game("kirche", {"num_houses": 1})
    for _ in range(12):
        state = go_on(web)
        entry = state["legal"][0]
        before = web.session.env.snapshot()
        own = {p["square"] for p in before["pieces"][0]}
        web.play(state["version"], entry["action"])
        after = {p["square"] for p in web.session.env.snapshot()["pieces"][0]}
        clicked = [int(step[0].removeprefix("field:")) for step in entry["steps"]]
        if len(clicked) == 2:
            assert own - after == {clicked[0]}
        assert after - own == {clicked[-1]}


def test_tuerme_s_clicks_are_where_stacks_stand_and_go():
    web = new_game("tuerme")
    for turn in range(12):
        state = go_on(web)
        entry = state["legal"][-1 - turn]
        before = {stack["square"]: stack for stack in web.session.env.snapshot()["stacks"]}
        web.play(state["version"], entry["action"])
        after = {stack["square"]: stack for stack in web.session.env.snapshot()["stacks"]}
        origin, goal = (int(step[0].removeprefix("field:")) for step in entry["steps"])
        assert before.keys() - after.keys() == {origin}
        assert {s for s in after if after[s] != before.get(s)} == {goal}


def test_meeples_clicks_for_directions_are_where_the_second_half_comes_to_lie():
    web = new_game("meeples")
    seen = 0
    for _ in range(30):
        state = go_on(web)
        entry = random.Random(seen).choice(state["legal"])
        chosen = web.session.env.snapshot()["chosen"]
        web.play(state["version"], entry["action"])
        if chosen["stone"] is not None and chosen["field"] is not None:
            laid = [set(s["fields"]) for s in web.session.env.snapshot()["stones"]]
            field = int(entry["steps"][0][0].removeprefix("field:"))
            assert {chosen["field"], field} in laid
            seen += 1
    assert seen > 2


@each_game
def test_the_fields_told_to_be_taken_are(name):
    web = new_game(name)
    play_some(web, 9)
    snapshot = web.session.env.snapshot()
    fields = {
        "kirche": lambda: (
            [snapshot["pastor"]] + [piece["square"] for own in snapshot["pieces"] for piece in own]
        ),
        "tuerme": lambda: [stack["square"] for stack in snapshot["stacks"]],
        "meeples": lambda: [field for stone in snapshot["stones"] for field in stone["fields"]],
    }[name]()
    assert sorted(web.state()["taken"]) == sorted(fields)


# What is told to whom


def test_what_is_hidden_never_leaves_the_server():
    """Games that differ only in what the person cannot know look the same, at all times."""
    web = new_game("meeples", {"num_players": 3})
    pending = 0
    for turn in range(70):
        state = web.state()
        if turn % 7 == 0 or (state["turn"] and web.session.env.snapshot()["chosen"]["stone"]):
            others = [
                web.session.env.clone(hide_from="player_0", rng=seed).snapshot()
                for seed in range(4)
            ]
            hidden = {str((other["hands"], other["chosen"]["stone"])) for other in others}
            games = [from_snapshot("meeples", each, web.session.agents) for each in others]
            assert len(hidden) > 1
            assert len({json.dumps(each.state()) for each in games}) == 1
            pending += bool(state["turn"] and others[0]["chosen"]["stone"])
        if state["yours"]:
            web.play(state["version"], random.Random(turn).choice(state["legal"])["action"])
        else:
            web.advance(state["version"])
    assert pending > 3


def test_a_stone_that_an_opponent_takes_up_is_told_only_once_it_is_laid():
    web = new_game("meeples", seat=1)
    seen = set()
    for _ in range(60):
        state = web.state()
        if state["outcome"]:
            break
        snapshot = web.session.env.snapshot()
        chosen = snapshot["chosen"]
        pending = (chosen["stone"] is not None) + (chosen["field"] is not None)
        if snapshot["to_move"] == 0 and snapshot["phase"] in ("setup", "stones"):
            assert len(state["log"]) == snapshot["ply"] - pending
            seen.add(pending)
        else:
            assert len(state["log"]) == snapshot["ply"]
        if state["yours"]:
            web.play(state["version"], state["legal"][0]["action"])
        else:
            web.advance(state["version"])
    assert seen == {0, 1, 2}


def test_open_hands_are_told_at_once_but_not_the_dice_to_come():
    web = new_game("meeples", {"open_hands": True}, seat=1)
    web.advance(0)
    assert len(web.state()["log"]) == 1
    assert not web.state()["can_record"]
    assert not web.state()["curtain"]


def test_a_record_is_given_only_when_nothing_is_hidden_any_more():
    web = new_game("meeples", {"max_plies": 12})
    assert not web.state()["can_record"]
    with pytest.raises(RefusedError, match="before the game is over"):
        web.record()
    state = play_some(web, 20)
    assert state["outcome"] and state["can_record"]
    name, line = web.record()
    assert name == "meeples-v0-7.jsonl"
    assert GameRecord.from_json(line) == web.session.record()


@each_case
def test_no_seed_is_told(name, options):
    seed = 918273645546372819
    web = WebGame(Session(name, agents_of(name, options), seed, options))
    assert str(seed) not in json.dumps(web.state())
    assert "rng" not in json.dumps(web.state())


def test_several_people_see_each_their_own_hand_behind_a_curtain():
    web = WebGame(Session("meeples", ["human", "human"], 7))
    viewers = set()
    for _ in range(20):
        state = go_on(web)
        assert state["curtain"]
        assert state["viewer"] == state["turn"]
        viewers.add(state["viewer"])
        shown = {tuple(map(int, s)) for s in re.findall(r'data-stone="(\d)-(\d)"', state["svg"])}
        hands = web.session.env.snapshot()["hands"]
        assert shown >= {tuple(stone) for stone in hands[state["turn"]]}
        assert not shown & {tuple(stone) for stone in hands[1 - state["turn"]]}
        web.play(state["version"], state["legal"][0]["action"])
    assert viewers == {0, 1}


@each_game
def test_the_state_is_json_in_both_themes(name):
    web = new_game(name)
    light, dark = web.state("light"), web.state("dark")
    assert json.loads(json.dumps(light)) is not None
    assert light["svg"] != dark["svg"]
    assert light["legal"] == dark["legal"]
    with pytest.raises(ValueError, match="theme='blue'"):
        web.state("blue")
