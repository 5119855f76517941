"""The rules of meeples written out plainly, to check the compiled game against (M1–M29)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.reference.chance import Chance, state_from_seed
from tests.reference.meeples_invariants import check_invariants
from tests.reference.meeples_snapshot import read_snapshot, write_snapshot
from tests.reference.meeples_table import STONES, Place, Stone, Table, fields_of

FIRST_STONE_ACTION = 576
FIRST_DIRECTION_ACTION = 604
PASS = 608  # also: end the turn, decline a sidestep
REROLL = 609
HAND_SIZE = {2: 14, 3: 9, 4: 7}  # M2
MEEPLES_EACH = 10  # M4
STALE_ROUNDS_TO_END = 3  # M27
SPECIAL_OF_VALUE = {1: "teleport", 2: "clone", 3: "sidestep", 4: "land"}  # M21–M24


class Reference:
    """A game of meeples, slow and obvious."""

    def __init__(
        self,
        seed: int = 0,
        *,
        num_players: int = 2,
        dice_per_player: int = 3,
        open_hands: bool = False,
        max_plies: int = 1000,
    ) -> None:
        self.options = {
            "num_players": num_players,
            "dice_per_player": dice_per_player,
            "open_hands": open_hands,
            "max_plies": max_plies,
        }
        self.players = range(num_players)
        self.chance = Chance(state_from_seed(seed))
        self.ply = 0
        self.to_move = 0
        self.outcome: dict[str, Any] | None = None
        self.table = Table()
        stones = list(STONES)
        self.chance.shuffle(stones)
        size = HAND_SIZE[num_players]
        self.hands = [set(stones[player * size :][:size]) for player in self.players]
        self.dice: list[int] = []
        self.supply = [MEEPLES_EACH for _ in self.players]
        self.round = 0
        self.phase = "setup"
        self.chosen_stone: Stone | None = None
        self.chosen_field: int | None = None
        self.setup_stones: list[Stone] = []
        self.new_meeples = 0
        self.stale_rounds = 0
        self.moved = False
        self._end_chain()
        self._clear_blocks_phase()

    @classmethod
    def from_snapshot(cls, snapshot: dict[str, Any]) -> Reference:
        """A game that goes on from a snapshot, which is trusted."""
        game = cls(**snapshot["options"])
        read_snapshot(game, snapshot)
        return game

    def snapshot(self) -> dict[str, Any]:
        """The whole position in the format of ENVS.md, its lists sorted."""
        return write_snapshot(self)

    # What may be asked of a game

    def scores(self) -> list[int]:
        """M28: each meeple counts the value of its field."""
        values = self.table.values()
        return [
            sum(values[field] for field in self.table.fields_of_meeples(player))
            for player in self.players
        ]

    def check_invariants(self) -> None:
        """Assert what must hold in every position."""
        check_invariants(self)

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; none once the game is over."""
        if self.outcome is not None:
            return []
        return sorted(set(getattr(self, f"_{self.phase}_actions")()))

    def step(self, action: int) -> None:
        """Carry out one action."""
        if action not in self.legal_actions():
            raise ValueError(f"meeples: action {action} is not legal in phase {self.phase}")
        self.ply += 1
        getattr(self, f"_{self.phase}_step")(action)
        # M29: the limit counts only where the action itself has not ended the game.
        if self.outcome is None and self.ply >= self.options["max_plies"]:
            self._end(by_limit=True)

    # Stones: laying one is a stone, then the field of its first half, then a direction

    def _lay_actions(self, places_of_stone: dict[Stone, list[Place]]) -> Iterable[int]:
        """The actions that lead to one of these places, as far as the choice has come."""
        if self.chosen_stone is None:
            return [stone_action(stone) for stone, places in places_of_stone.items() if places]
        places = places_of_stone[self.chosen_stone]
        if self.chosen_field is None:
            return [first for first, _ in places]
        return [
            FIRST_DIRECTION_ACTION + direction
            for first, direction in places
            if first == self.chosen_field
        ]

    def _choose_place(self, action: int) -> Place | None:
        """Note a choice of stone or field; at the direction return the whole place."""
        if self.chosen_stone is None:
            self.chosen_stone = STONES[action - FIRST_STONE_ACTION]
            return None
        if self.chosen_field is None:
            self.chosen_field = action
            return None
        return self.chosen_field, action - FIRST_DIRECTION_ACTION

    def _lay_from_hand(self, action: int) -> Stone | None:
        """One action of laying a stone from the hand; the stone, once it lies."""
        place = self._choose_place(action)
        stone = self.chosen_stone
        if place is None:
            self.hands[self.to_move].discard(stone)
            return None
        self.table.stones[stone] = fields_of(place)
        self.chosen_stone = self.chosen_field = None
        return stone

    def _stones_to_lay(self) -> set[Stone]:
        """The stone chosen already, else the hand. For a place all stones are alike."""
        return self.hands[self.to_move] if self.chosen_stone is None else {self.chosen_stone}

    # Setup (M7–M9)

    def _setup_actions(self) -> Iterable[int]:
        if len(self.setup_stones) == 2:  # M8
            values = self.table.values()
            return [
                field
                for stone in self.setup_stones
                for field in self.table.stones[stone]
                if values[field] > 0
            ]
        if not self.setup_stones:
            places = self.table.first_setup_places()
        else:
            places = self.table.second_setup_places(self.setup_stones[0])
        return self._lay_actions(dict.fromkeys(self._stones_to_lay(), places))

    def _setup_step(self, action: int) -> None:
        if len(self.setup_stones) < 2:
            laid = self._lay_from_hand(action)
            if laid is not None:
                self.setup_stones.append(laid)
            return
        self._put_from_supply(action)
        self.setup_stones = []
        if self.to_move + 1 in self.players:
            self.to_move += 1
        else:
            self._begin_round()

    # The round (M10, M11)

    def _begin_round(self) -> None:
        self.round += 1
        self.new_meeples = 0
        self.table.blocks = {}
        self.dice = self._roll(len(self.players) * self.options["dice_per_player"])
        self._lay_or_set_blocks(0)

    def _roll(self, count: int) -> list[int]:
        return [self.chance.below(6) + 1 for _ in range(count)]

    def _lay_or_set_blocks(self, first_player: int) -> None:
        """M11: the next player from this one on with stones in hand lays one; then the blocks."""
        for player in self.players[first_player:]:
            if self.hands[player]:
                self.phase, self.to_move = "stones", player
                return
        self.phase, self.to_move = "blocks", 0

    def _stones_actions(self) -> Iterable[int]:
        places = self.table.stone_places(self.to_move)
        return self._lay_actions(dict.fromkeys(self._stones_to_lay(), places))

    def _stones_step(self, action: int) -> None:
        if self._lay_from_hand(action) is not None:
            self._lay_or_set_blocks(self.to_move + 1)

    # Blocks (M12–M17)

    def _clear_blocks_phase(self) -> None:
        self.passed = [False for _ in self.players]
        self.set_block = [False for _ in self.players]
        self.dice_allowed: list[int | None] = [None for _ in self.players]
        self.fails = 0
        self.rerolled = False

    def _blocks_actions(self) -> Iterable[int]:
        fields = self.table.block_fields(self.to_move, self.dice)
        if fields:
            return [*fields, PASS]
        # M13, M16; not rolled again in this turn so far, for then the turn would have failed.
        return [PASS, REROLL]

    def _blocks_step(self, action: int) -> None:
        player = self.to_move
        if action == REROLL:
            self.dice = self._roll(len(self.dice))
            self.rerolled = True
            if not self.table.block_fields(player, self.dice):
                self._fail()
            return
        if action == PASS:  # M14, M15
            if not any(self.passed):
                self.dice_allowed = [
                    1 if allowed is None else allowed for allowed in self.dice_allowed
                ]
            self.passed[player] = True
            self.dice_allowed[player] = 0
        else:  # M12
            self.dice.remove(self.table.values()[action])
            self.table.blocks[action] = player
            self.set_block[player] = True
            self.fails = 0
            if self.dice_allowed[player] is not None:
                self.dice_allowed[player] -= 1
        self._end_blocks_turn()

    def _fail(self) -> None:
        """M13: nothing fits after the re-roll either."""
        self.fails += 1
        self.rerolled = False
        if self.set_block[self.to_move] and self.table.fields_of_blocks(self.to_move):
            self.phase = "give_up"
        else:
            self._end_blocks_turn()

    def _give_up_actions(self) -> Iterable[int]:
        return self.table.fields_of_blocks(self.to_move)

    def _give_up_step(self, action: int) -> None:
        del self.table.blocks[action]
        self.dice.append(self.table.values()[action])
        self.phase = "blocks"
        self._end_blocks_turn()

    def _end_blocks_turn(self) -> None:
        self.rerolled = False
        still_in = [player for player in self.players if self.dice_allowed[player] != 0]
        if not self.dice or not still_in or self.fails >= len(still_in):  # M17
            self._clear_blocks_phase()
            self.phase, self.to_move = "meeples", 0
            return
        later = [player for player in still_in if player > self.to_move]
        self.to_move = (later or still_in)[0]

    # Meeples (M18)

    def _meeples_actions(self) -> Iterable[int]:
        table, player = self.table, self.to_move
        if self.chosen_field is not None:
            return table.move_targets(self.chosen_field)
        actions = [PASS]
        if self.supply[player] > 0:
            actions += [
                field
                for field in table.fields_of_blocks(player)
                if table.meeple_may_stand(player, field)
            ]
        if not self.moved:
            actions += [
                field for field in table.fields_of_meeples(player) if table.move_targets(field)
            ]
        return actions

    def _meeples_step(self, action: int) -> None:
        if action == PASS:
            self._end_meeples_turn()
        elif self.chosen_field is not None:
            del self.table.blocks[action]
            self.table.move_meeple(self.chosen_field, action)
            self.chosen_field = None
            self.moved = True
            self._occupied(action)
        elif action in self.table.blocks:
            del self.table.blocks[action]
            self._put_from_supply(action)
            self._occupied(action)
        else:
            self.chosen_field = action

    def _put_from_supply(self, field: int) -> None:
        self.table.meeples[field] = self.to_move
        self.supply[self.to_move] -= 1
        if self.phase != "setup":
            self.new_meeples += 1

    def _end_meeples_turn(self) -> None:
        self.moved = False
        if self.to_move + 1 in self.players:
            self.to_move += 1
            return
        if self.new_meeples == 0 and not any(self.hands):
            self.stale_rounds += 1
        else:
            self.stale_rounds = 0
        if self._round_ends_game():
            self._end(by_limit=False)
            self.to_move = 0  # Player 0 begins every round.
        else:
            self._begin_round()

    # Special actions (M19–M26)

    def _occupied(self, field: int) -> None:
        """M19, M26: a field newly occupied sets off its value, which goes off once in a chain."""
        value = self.table.values()[field]
        if value not in SPECIAL_OF_VALUE or value in self.fired:
            self._end_chain()
            return
        self.fired.add(value)
        self.source = field
        self.phase = SPECIAL_OF_VALUE[value]
        if not set(self.legal_actions()) - {PASS}:  # M25: what cannot be carried out falls away
            self._end_chain()

    def _end_chain(self) -> None:
        self.source: int | None = None
        self.fired: set[int] = set()
        if self.phase != "setup":
            self.phase = "meeples"

    def _land_actions(self) -> Iterable[int]:
        stones = self.table.stones if self.chosen_stone is None else [self.chosen_stone]
        return self._lay_actions({stone: self.table.land_places(stone) for stone in stones})

    def _land_step(self, action: int) -> None:
        place = self._choose_place(action)
        if place is not None:
            self.table.move_stone(self.chosen_stone, place)
            self.chosen_stone = self.chosen_field = None
            self._end_chain()

    def _sidestep_actions(self) -> Iterable[int]:
        if self.chosen_field is not None:
            return self.table.sidestep_targets(self.chosen_field)
        movers = [field for field in self.table.meeples if self.table.sidestep_targets(field)]
        return [PASS, *movers]

    def _sidestep_step(self, action: int) -> None:
        if action == PASS:
            self._end_chain()
        elif self.chosen_field is None:
            self.chosen_field = action
        else:
            self.table.move_meeple(self.chosen_field, action)
            self.chosen_field = None
            if self.table.meeples[action] == self.to_move:
                self._occupied(action)
            else:
                self._end_chain()

    def _clone_actions(self) -> Iterable[int]:
        if self.supply[self.to_move] == 0:
            return []
        return self.table.clone_targets(self.source)

    def _clone_step(self, action: int) -> None:
        self._put_from_supply(action)
        self.table.pairs.add(frozenset((self.source, action)))
        self._occupied(action)

    def _teleport_actions(self) -> Iterable[int]:
        return self.table.teleport_targets(self.source)

    def _teleport_step(self, action: int) -> None:
        self.table.move_meeple(self.source, action)
        self._end_chain()

    # The end (M27–M29)

    def _round_ends_game(self) -> bool:
        return (
            0 in self.supply
            or not any(self._has_field_for_meeple(player) for player in self.players)
            or self.stale_rounds >= STALE_ROUNDS_TO_END
        )

    def _has_field_for_meeple(self, player: int) -> bool:
        """M27: blocks do not matter here, since they go before the next round."""
        return any(
            value > 0
            and field not in self.table.meeples
            and self.table.meeple_may_stand(player, field)
            for field, value in self.table.values().items()
        )

    def _end(self, by_limit: bool) -> None:
        scores = self.scores()
        rewards = rewards_from_scores(scores)
        self.outcome = {"scores": scores, "rewards": rewards, "by_limit": by_limit}


def stone_action(stone: Stone) -> int:
    """The action that chooses a stone."""
    return FIRST_STONE_ACTION + STONES.index(stone)


def rewards_from_scores(scores: list[int]) -> list[float]:
    """T15: the players with the top score share the gain, all others pay for it."""
    players = len(scores)
    winners = scores.count(max(scores))
    return [
        (players / winners - 1) / (players - 1) if score == max(scores) else -1 / (players - 1)
        for score in scores
    ]
