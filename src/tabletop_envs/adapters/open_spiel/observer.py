"""What OpenSpiel's observers and information states tell of a game: tensors and words, by who may know what."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Any

import numpy as np

from tabletop_envs.adapters.open_spiel.position import Position, Rules
from tabletop_envs.kernels import engine

NOBODY, OBSERVER, EVERYBODY = range(3)
_NO_MASK = np.empty(0, np.int8)


class TabletopObserver:
    """Writes observations of a game's states into `tensor` (`float32`), whose named parts `dict` has.

    The parts are the game's own (`Game.observation`) as in the other environments. With `perfect_recall` they are
    followed by what makes of the observation an information state:

    - `deal`: the deal as far as it is known, in 0 and 1 (`Chance.deal_shape`);
    - `moves` `(max_plies, d)`: for each ply its action plus 1 in `d` binary digits, lowest first; zeros before it is played or
      seen;
    - `rolls` `(max_plies, 6)`, in games with dice: how many show 1 … 6 of those that the action of that ply has rolled.

    Args:
        rules: The game.
        public: Whether to tell what everybody sees.
        secrets: Whose secrets to tell: `NOBODY`'s, the `OBSERVER`'s or `EVERYBODY`'s.
        perfect_recall: Whether to tell what has happened, too.
    """

    def __init__(self, rules: Rules, public: bool, secrets: int, perfect_recall: bool) -> None:
        game = rules.game
        self._rules, self._public, self._secrets = rules, public, secrets
        self._recall = perfect_recall
        self._scratch = np.zeros(game.kernel.observation_size, np.int8)
        self._whole = np.zeros(game.kernel.observation_size, np.float32)
        self._whole_parts = game.split_observation(self._whole)
        shapes = {name: part.shape for name, part in game.observation.items()}
        if not public:
            shapes = {name: shapes[name] for name in rules.chance.secret_parts}
        self._parts = tuple(shapes)
        if perfect_recall:
            plies = int(rules.options["max_plies"])
            if public or rules.chance.has_secrets:
                shapes["deal"] = rules.chance.deal_shape()
            if public:
                shapes["moves"] = (plies, game.kernel.num_actions.bit_length())
            if public and rules.chance.has_dice:
                shapes["rolls"] = (plies, 6)
        sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
        self.tensor = np.zeros(sum(sizes.values()), np.float32)
        self.dict: dict[str, Any] = {}
        start = 0
        for name, shape in shapes.items():
            # Nothing is dealt in some games: OpenSpiel takes no empty parts.
            if sizes[name]:
                self.dict[name] = self.tensor[start : start + sizes[name]].reshape(shape)
                start += sizes[name]

    def _viewers(self, player: int) -> Collection[int]:
        if self._secrets == EVERYBODY:
            return range(self._rules.players)
        return (player,) if self._secrets == OBSERVER else ()

    def set_from(self, state: Any, player: int) -> None:
        """Write what `player` sees of an OpenSpiel state into `tensor`."""
        position: Position = state.position
        self._look(position, player)
        if self._public:
            self.tensor[: self._whole.size] = self._whole
        else:
            for name in self._parts:
                self.dict[name][...] = self._whole_parts[name]
        if self._recall:
            self._recollect(position, player)

    def _look(self, position: Position, player: int) -> None:
        rules, chance = self._rules, self._rules.chance
        states = position.seen(everybody=self._secrets == EVERYBODY)
        if self._secrets == EVERYBODY:
            states = rules.game.open_state(states)
        engine.observe_one(states, position.legal, player, self._scratch, self._whole, _NO_MASK)
        if not chance.secret_parts:
            return
        if self._secrets == EVERYBODY:
            self._whole_parts["open_hands"][:] = rules.options["open_hands"]
        laying_unseen = chance.unseen_moves(position.states, ()) > 0
        for name in chance.secret_parts:
            chosen = name.startswith("chosen")
            secret = chance.has_secrets and (laying_unseen or not chosen)
            hidden = self._secrets == NOBODY if secret else not self._public
            if hidden:
                self._whole_parts[name][...] = 0

    def _recollect(self, position: Position, player: int) -> None:
        chance, viewers = self._rules.chance, self._viewers(player)
        if "deal" in self.dict:
            self.dict["deal"][...] = 0
            chance.write_deal(self._deal_seen(position, viewers), player, self.dict["deal"])
        if "moves" not in self.dict:
            return
        moves = self._moves_seen(position, viewers)
        actions = [move for move in moves if not isinstance(move, tuple)]
        numbers = np.array([0 if a is None else a + 1 for a in actions], np.int64)
        rows = self.dict["moves"]
        rows[...] = 0
        rows[: len(actions)] = numbers[:, np.newaxis] >> np.arange(rows.shape[1]) & 1
        if "rolls" in self.dict:
            self.dict["rolls"][...] = 0
            ply = -1
            for move in moves:
                if isinstance(move, tuple):
                    self.dict["rolls"][ply] = move
                else:
                    ply += 1

    def _deal_seen(self, position: Position, viewers: Collection[int]) -> list[int | None]:
        chance = self._rules.chance
        if self._public or chance.has_secrets:
            return chance.deal_seen(position.deal, viewers)
        return []

    def _moves_seen(self, position: Position, viewers: Collection[int]) -> list[Any]:
        moves: list[Any] = list(position.move_list())
        unseen = self._rules.chance.unseen_moves(position.states, viewers)
        unseen = min(unseen, len(moves))  # play may have begun while a stone was being laid
        if unseen:
            moves[-unseen:] = [None] * unseen
        if position.roll is not None:
            moves.append(position.roll.action)
        return moves

    def string_from(self, state: Any, player: int) -> str:
        """What `player` sees of an OpenSpiel state, in words.

        With perfect recall: who observes, then the deal and all actions and rolls, `?` where they
        are not seen. Of two information states that began alike the words are equal exactly where
        the tensors are, at chance nodes too: where the player has seen the same.
        """
        position: Position = state.position
        chance, viewers = self._rules.chance, self._viewers(player)
        if self._recall:
            lines = [f"player_{player}"]
            if position.root is not None:
                lines.append(f"from {self._fingerprint(position.root, player)}")
            deal = self._deal_seen(position, viewers)
            if deal:
                lines.append(f"deal {_words(deal)}")
            if self._public:
                lines.append(f"moves {_words(self._moves_seen(position, viewers))}")
            return "\n".join(line.rstrip() for line in lines)
        lines = []
        if self._public:
            viewer = {NOBODY: -1, OBSERVER: player, EVERYBODY: None}[self._secrets]
            lines.append(position.text(viewer))
        elif self._secrets != NOBODY:
            states = position.seen(everybody=self._secrets == EVERYBODY)
            lines += [chance.secrets_of(states, seat) for seat in sorted(viewers)]
        return "\n".join(lines)

    def _fingerprint(self, position: Position, player: int) -> str:
        """What `player` sees of a position, in few letters."""
        self._look(position, player)
        parts = [self._whole] if self._public else [self._whole_parts[name] for name in self._parts]
        seen = b"".join(part.tobytes() for part in parts)
        return hashlib.blake2b(seen, digest_size=8).hexdigest()


def _words(events: list[Any]) -> str:
    """Numbers, rolls and what is not seen, in a row."""
    return " ".join(
        "?"
        if event is None
        else ",".join(map(str, event))
        if isinstance(event, tuple)
        else str(event)
        for event in events
    )
