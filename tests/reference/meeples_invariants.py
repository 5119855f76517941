"""What must hold in every position of meeples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reference.meeples_table import NEIGHBOURS, STONES

if TYPE_CHECKING:
    from tests.reference.meeples import Reference

SPECIALS = {"teleport": 1, "clone": 2, "sidestep": 3, "land": 4}


def check_invariants(game: Reference) -> None:
    """Assert everything that must hold in every position."""
    check_stones(game)
    check_meeples_and_blocks(game)
    check_dice(game)
    check_progress(game)


def check_stones(game: Reference) -> None:
    """M1–M3: each stone in one place, its halves side by side on the table, none upon another."""
    laid = list(game.table.stones)
    held = [stone for hand in game.hands for stone in hand]
    if game.chosen_stone is not None and game.phase != "land":
        held.append(game.chosen_stone)
    assert len(set(laid + held)) == len(laid + held)
    assert set(laid + held) <= set(STONES)
    assert len(laid + held) == (27 if len(game.players) == 3 else 28)
    for first, second in game.table.stones.values():
        assert second in NEIGHBOURS[first]
    assert len(game.table.layout()) == 2 * len(laid)


def check_meeples_and_blocks(game: Reference) -> None:
    """M4–M6: ten meeples each; nothing on a 0; one colour side by side only after a clone."""
    table = game.table
    values = table.values()
    assert not table.meeples.keys() & table.blocks.keys()
    for field in (*table.meeples, *table.blocks):
        assert values[field] > 0
    for player in game.players:
        assert 0 <= game.supply[player] <= 10
        assert game.supply[player] + len(table.fields_of_meeples(player)) == 10
    for field, player in table.meeples.items():
        for near in NEIGHBOURS[field]:
            if table.meeples.get(near) == player:
                assert frozenset((field, near)) in table.pairs


def check_dice(game: Reference) -> None:
    """M4, M9, M12: no die is lost, and each block has cost one."""
    total = len(game.players) * game.options["dice_per_player"]
    assert all(1 <= die <= 6 for die in game.dice)
    if game.phase == "setup":
        assert not game.dice
        assert not game.table.blocks
    elif game.phase == "stones":
        assert len(game.dice) == total
        assert not game.table.blocks
    else:
        taken = total - len(game.dice)
        assert taken >= len(game.table.blocks)


def check_progress(game: Reference) -> None:
    """Who acts, what has been chosen and counted so far, fits the phase."""
    over = game.outcome is not None
    assert game.to_move in game.players
    assert over == (not game.legal_actions())
    assert 0 <= game.ply <= game.options["max_plies"]
    assert (game.round == 0) == (game.phase == "setup")
    assert 0 <= game.stale_rounds <= 3
    if game.phase not in ("blocks", "give_up"):
        assert not any(game.passed)
        assert not any(game.set_block)
        assert all(allowed is None for allowed in game.dice_allowed)
        assert game.fails == 0
        assert not game.rerolled
    elif not over:
        check_blocks_phase(game)
    if game.phase in SPECIALS:
        assert SPECIALS[game.phase] in game.fired
        assert game.table.values()[game.source] == SPECIALS[game.phase]
        assert over or game.table.meeples[game.source] == game.to_move
    else:
        assert game.source is None
        assert not game.fired
    assert not game.moved or game.phase in ("meeples", *SPECIALS)
    assert game.phase == "setup" or not game.setup_stones
    if game.chosen_stone is not None:
        assert game.phase in ("setup", "stones", "land")
    elif game.chosen_field is not None:
        assert game.phase in ("meeples", "sidestep")
        assert game.chosen_field in game.table.meeples


def check_blocks_phase(game: Reference) -> None:
    """M12–M17: the phase goes on only while somebody may take a die that is there."""
    assert game.dice
    assert game.dice_allowed[game.to_move] != 0
    still_in = sum(allowed != 0 for allowed in game.dice_allowed)
    # The turn that fails as the last one is still to give up its block before the phase ends.
    assert game.fails < still_in or game.phase == "give_up"
    assert any(game.passed) == any(allowed is not None for allowed in game.dice_allowed)
    for player in game.players:
        if game.passed[player]:
            assert game.dice_allowed[player] == 0
        if game.table.fields_of_blocks(player):
            assert game.set_block[player]
