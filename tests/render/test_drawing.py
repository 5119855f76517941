"""The SVG drawings of all games: complete, honest about what is hidden, and no burden to the game."""

import copy
import importlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from tabletop_envs.kernels.tuerme.plan import COLUMNS
from tabletop_envs.render import svg
from tests.games import each_case, each_game, legal_actions, over, play, raw_env
from tests.render.drawings import (
    at,
    fields,
    marked_actions,
    marked_fields,
    of_class,
    parse,
    pieces,
    positions,
)


@each_case
def test_every_legal_action_is_marked_and_the_game_untouched(name, options):
    for env in positions(name, options, every={"tuerme": 29}.get(name, 11)):
        states, snapshot = env.lane()[0].tobytes(), copy.deepcopy(env.snapshot())
        drawing = env.svg(legal=True)
        assert marked_actions(parse(drawing)) == ([] if over(env) else legal_actions(env))
        assert not marked_actions(parse(env.svg()))
        assert env.lane()[0].tobytes() == states
        assert env.snapshot() == snapshot
        assert drawing == env.svg(legal=True)


@pytest.mark.parametrize("name", ["kirche", "tuerme"])
def test_the_marks_of_an_action_lie_on_the_squares_that_it_changes(name):
    for env in positions(name, {}, every=23):
        if over(env):
            return
        marked, before = marked_fields(parse(env.svg(legal=True))), env.snapshot()
        for action in legal_actions(env)[::5]:
            twin = env.clone()
            twin.step(action)
            changed = _changed(before, twin.snapshot())
            assert marked.get(action, set()) == changed, env.action_to_str(action)


@each_case
def test_moves_have_the_same_names_from_a_state_and_from_a_snapshot(name, options):
    for env in positions(name, options, every={"tuerme": 29}.get(name, 11)):
        position = env.snapshot()
        moves = {action: env.game.decode(action, position) for action in legal_actions(env)}
        assert all(move.kind for move in moves.values())
        assert {action: move.name for action, move in moves.items()} == {
            action: env.action_to_str(action) for action in moves
        }


def test_a_pass_in_tuerme_is_a_button():
    passes = 0
    for env in positions("tuerme", {"num_players": 4}, seed=0):
        if not over(env) and legal_actions(env) == [2464]:
            root = parse(env.svg(legal=True))
            (button,) = of_class(root, "legal")
            assert button.attrib["data-action"] == "2464"
            passes += 1
    assert passes


def test_marks_in_meeples_lie_on_the_fields_meant():
    directions = 0
    for env in positions("meeples", {}, every=3):
        if over(env):
            break
        marked, before = marked_fields(parse(env.svg(legal=True))), env.snapshot()
        for action in legal_actions(env):
            if action < 576:
                assert marked[action] == {action}
            elif 604 <= action < 608:
                twin = env.clone()
                twin.step(action)
                (stone,) = (s for s in twin.snapshot()["stones"] if s not in before["stones"])
                assert marked[action] == {stone["fields"][1]}
                directions += 1
    assert directions > 20


@each_case
def test_drawings_of_a_game_have_one_size_and_hold_all_pieces_that_they_use(name, options):
    width, height = importlib.import_module(f"tabletop_envs.render.svg.{name}").SIZE
    for env in positions(name, options, every=25):
        for theme in svg.THEMES:
            drawing = env.svg(theme=theme, legal=True)
            assert f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"' in drawing
            for use in drawing.split('href="#')[1:]:
                identity = use.split('"')[0]
                assert identity.startswith(f"{name}-{theme}-")
                assert drawing.count(f'id="{identity}"') == 1
            assert "<text" not in drawing
            assert "style" not in drawing


@each_game
def test_the_size_is_that_of_the_longer_side_in_even_numbers(name):
    env = raw_env(name)
    env.reset(seed=1)
    for size in (101, 400, 640):
        root = parse(env.svg(size=size))
        sides = [int(root.attrib[side]) for side in ("width", "height")]
        assert max(sides) in (size, size - 1, size + 1)
        assert all(side % 2 == 0 for side in sides)


def test_kirche_shows_each_piece_on_its_square_along_its_ridge():
    for env in positions("kirche", {}, every=9):
        root, snapshot = parse(env.svg()), env.snapshot()
        assert sorted(fields(root)) == list(range(49))
        drawn = set()
        for name, x, y, turn in pieces(root):
            square = at(root, x, y)
            if square is not None and name != "cross":
                drawn.add((name, square, turn))
        expected = {("pastor", snapshot["pastor"], 0.0)}
        for player, own in zip(("light", "dark"), snapshot["pieces"], strict=True):
            for piece in own:
                turn = 0.0 if piece["ridge"] == "h" else -90.0
                expected.add((f"{piece['kind']}-{player}", piece["square"], turn))
        assert drawn == expected


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_tuerme_shows_colour_symbol_and_height_of_each_stack(num_players):
    for env in positions("tuerme", {"num_players": num_players}, every=40):
        root, snapshot = parse(env.svg()), env.snapshot()
        assert sorted(fields(root)) == list(range(8 * COLUMNS))
        drawn = {(name, at(root, x, y)) for name, x, y, _ in pieces(root) if "stack" in name}
        colours = ("red", "blue", "green", "yellow")
        assert drawn == {
            (f"stack-{colours[s['colour']]}-{s['symbol']}-{s['height']}", s["square"])
            for s in snapshot["stacks"]
        }


def test_tuerme_marks_the_city_that_ended_the_game():
    ended = 0
    for seed in (37, 16):
        *_, env = positions("tuerme", {"end_on_any_full_city": True}, seed=seed, every=1000)
        if env.snapshot()["ending_city"] is None:
            continue
        ended += 1
        (frame,) = of_class(parse(env.svg()), "ending-city")
        corner = at(parse(env.svg()), float(frame.attrib["x"]) + 1, float(frame.attrib["y"]) + 1)
        lots = {corner, corner + 1, corner + COLUMNS, corner + COLUMNS + 1}
        assert lots <= {stack["square"] for stack in env.snapshot()["stacks"]}
    assert ended


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_meeples_shows_halves_blocks_and_meeples_on_their_fields(num_players):
    for env in positions("meeples", {"num_players": num_players}, every=23):
        root, snapshot = parse(env.svg()), env.snapshot()
        drawn = {(name, at(root, x, y)) for name, x, y, _ in pieces(root)}
        values, occupied = {}, set()
        for stone in snapshot["stones"]:
            values |= dict(zip(stone["fields"], stone["stone"], strict=True))
        for kind in ("blocks", "meeples"):
            for entry in snapshot[kind]:
                occupied.add(entry["field"])
                assert (f"{kind[:-1]}-{entry['player']}", entry["field"]) in drawn
        halves = {(name, field) for name, field in drawn if name.startswith("half")}
        expected = {(f"half-{v}", f) for f, v in values.items() if f not in occupied}
        assert halves == expected
        hands = [e.get("data-stone") for e in of_class(root, "stone")]
        chosen = snapshot["chosen"]["stone"] if snapshot["phase"] != "land" else None
        in_hands = [stone for hand in snapshot["hands"] for stone in hand]
        assert sorted(hands) == sorted(
            f"{a}-{b}" for a, b in in_hands + ([chosen] if chosen else [])
        )
        dice = sorted(int(name[-1]) for name, *_ in pieces(root) if name.startswith("die-"))
        assert dice == sorted(snapshot["dice"])


@pytest.mark.parametrize("num_players", [2, 4])
def test_a_viewer_s_drawing_tells_nothing_hidden(num_players):
    """Whatever others hold and have taken up, as far as the viewer knows: the same drawing."""
    differ = 0
    for env in positions("meeples", {"num_players": num_players}, every=1):
        ply = env.snapshot()["ply"]
        if ply > 40:
            break
        viewer = f"player_{ply // 2 % 2}"
        other = env.clone(hide_from=viewer, rng=5)
        drawing = env.svg(viewer=viewer, legal=True)
        assert other.svg(viewer=viewer, legal=True) == drawing
        assert "meeples-light-back" in drawing
        differ += other.svg() != env.svg()
    # Of two players each knows the other's hand by its own; only the stone taken up is open then.
    assert differ > (5 if num_players == 2 else 20)
    env = raw_env("meeples", num_players=num_players, open_hands=True)
    env.reset(seed=1)
    assert env.svg(viewer="player_1") == env.svg()


def test_the_drawing_shows_what_the_last_action_has_changed():
    for name in ("kirche", "tuerme"):
        before = None
        for env in positions(name, {}):
            now = env.snapshot()
            root = parse(env.svg())
            marks = {
                at(root, float(mark.attrib["x"]), float(mark.attrib["y"]))
                for mark in of_class(root, "last")
            }
            assert marks == (_changed(before, now) if before else set())
            assert not of_class(parse(env.svg(last_action=False)), "last")
            before = now
            if now["ply"] > 40:
                break


def _changed(before, now):
    def things(snapshot):
        if snapshot["game"] == "tuerme":
            return {stack["square"]: tuple(stack.values()) for stack in snapshot["stacks"]}
        placed = {snapshot["pastor"]: "pastor"}
        for player, own in enumerate(snapshot["pieces"]):
            placed |= {p["square"]: (player, p["kind"], p["ridge"]) for p in own}
        return placed

    old, new = things(before), things(now)
    return {square for square in old.keys() | new if old.get(square) != new.get(square)}


def test_meeples_frames_a_stone_just_laid_and_what_just_moved():
    frames = []
    for env in positions("meeples", {}):
        frames.append((env.snapshot(), env.svg().count('class="last"')))
        if len(frames) > 90:
            break
    laid = moved = 0
    for (before, _), (now, count) in pairwise(frames):
        if len(now["stones"]) > len(before["stones"]):
            laid += 1
            assert count == 1
        elif now["round"] == before["round"] and now["meeples"] != before["meeples"]:
            moved += 1
            assert count >= 1
    assert laid > 10
    assert moved > 2


def test_copies_and_restored_games_know_of_their_own_last_actions():
    env = raw_env("kirche")
    env.reset(seed=1)
    play(env, lambda n: n // 2, 20)
    twin = env.clone()
    assert twin.svg() == env.svg()
    twin.step(legal_actions(twin)[0])
    assert twin.svg() != env.svg()
    env.restore(env.snapshot())
    assert not of_class(parse(env.svg()), "last")
    env.step(legal_actions(env)[0])
    assert of_class(parse(env.svg()), "last")
    env.reset()
    assert not of_class(parse(env.svg()), "last")


@each_game
def test_a_page_can_hold_the_pieces_of_many_drawings_once(name):
    snapshots = [env.snapshot() for env in positions(name, {}, every=30)]
    shared = svg.draw_symbols(snapshots)
    for snapshot in snapshots:
        drawing = svg.draw(snapshot, symbols=False, fields=False)
        assert "<defs" not in drawing
        assert 'class="field"' not in drawing
        for use in drawing.split('href="#')[1:]:
            assert shared.count('id="' + use.split('"')[0] + '"') == 1


@each_game
def test_text_in_a_tampered_snapshot_never_reaches_the_drawing(name):
    env = raw_env(name)
    env.reset(seed=1)
    play(env, lambda n: n // 2, 30)
    script = "<script>alert(1)</script>"
    snapshot = env.snapshot()
    for key in snapshot:
        for tampered in ({**snapshot, key: script}, {**snapshot, key: [script]}):
            try:
                drawing = svg.draw(tampered)
            except (TypeError, ValueError, KeyError, AttributeError, IndexError):
                continue
            assert "script" not in drawing


@each_game
def test_notebooks_show_the_drawing(name):
    env = raw_env(name)
    assert env._repr_svg_() is None
    env.reset(seed=1)
    assert env._repr_svg_() == env.svg()
    env.close()
    assert env._repr_svg_() == env.svg()


def test_missing_packages_are_named(monkeypatch):
    env = raw_env("kirche", render_mode="rgb_array")
    env.reset(seed=1)
    for package in ("resvg", "PIL"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            patch.delitem(sys.modules, "PIL.Image", raising=False)
            with pytest.raises(ImportError, match=r"tabletop-envs\[render\]"):
                env.render()
    monkeypatch.setitem(sys.modules, "svg", None)
    with pytest.raises(ImportError, match=r"tabletop-envs\[render\]"):
        env.svg()
    assert env._repr_svg_() is None


def test_playing_imports_no_graphics():
    code = """
import sys
from tabletop_envs import kirche_v0
env = kirche_v0.env(render_mode="ansi")
env.reset(seed=1)
env.step(0)
env.render()
graphics = ("svg", "resvg", "PIL", "pygame", "tabletop_envs.render.svg")
print([name for name in graphics if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@each_game
def test_drawings_are_the_same_in_threads(name):
    environments = list(range(8))

    def draw(seed):
        env = raw_env(name)
        env.reset(seed=seed)
        return env.svg(legal=True)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(draw, environments)) == [draw(seed) for seed in environments]
