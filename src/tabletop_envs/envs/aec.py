"""The PettingZoo AEC environment of every game: all bookkeeping, once."""

from __future__ import annotations

import copy
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error, spaces
from pettingzoo import AECEnv

from tabletop_envs import checks, registry
from tabletop_envs.envs.drawing import RENDER_MODES, Drawing, require_render_mode
from tabletop_envs.game import (
    Game,
    ObservationView,
    Snapshot,
    State,
    find_game,
    rewards_of_illegal,
    rewards_of_scores,
)
from tabletop_envs.kernels import BY_LIMIT, RUNNING, TERMINATED, engine
from tabletop_envs.lanes import ON_ILLEGAL
from tabletop_envs.threads import Turn, busy, one_at_a_time

__all__ = ["TabletopEnv"]

MASK_PLACES = ("observation", "info")
_NO_MASK = np.empty(0, np.int8)
_NO_OBSERVATION = np.empty(0, np.float32)


class TabletopEnv(ObservationView, Drawing, AECEnv):
    """A game as an AEC environment (`pettingzoo.AECEnv`).

    Made by a game's `env` and `raw_env`; the game's module has the manual. Agents are `player_0`,
    `player_1`, ….

    Args:
        game: The game, or its name or id.
        render_mode: None, `"ansi"` (`render()` returns a string), `"rgb_array"` (an array
            `uint8[height, width, 3]` of the same shape at every call) or `"human"` (a window, drawn
            at every `reset` and `step`, at most `metadata["render_fps"]` times a second).
        mask_in: `"observation"`: observations are `Dict(observation, action_mask)`; `"info"`: they
            are the flat `Box` alone, and the mask is in `infos[agent]["action_mask"]`.
        obs_key: The name of the first key of the `Dict`.
        on_illegal: What an illegal action does. `"raise"`: `ValueError`, the state untouched.
            `"lose"`: the game ends, the offender gets −1 and the others +1/(players − 1) each.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown or invalid option, naming it and what is allowed.

    Observations are `float32[L]`, masks `int8[n]`; a mask is all zeros for an agent that is not to
    act and all ones for all agents once the game is over. What is not an action at all (a number
    outside the action space, `3.5`, or None from an agent that lives) raises `ValueError` whatever
    `on_illegal` says.
    """

    agent_selection: str

    def __init__(
        self,
        game: Game | str,
        *,
        render_mode: str | None = None,
        mask_in: str = "observation",
        obs_key: str = "observation",
        on_illegal: str = "raise",
        **options: Any,
    ) -> None:
        super().__init__()
        require_render_mode(render_mode)
        checks.choice("mask_in", mask_in, MASK_PLACES)
        checks.choice("on_illegal", on_illegal, ON_ILLEGAL)
        checks.text("obs_key", obs_key, other_than="action_mask")
        self.game = game = find_game(game)
        self.render_mode = render_mode
        self.mask_in = mask_in
        self.obs_key = obs_key
        self.on_illegal = on_illegal
        self.metadata: dict[str, Any] = {
            "name": registry.module_name(game.name),
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.num_actions = game.kernel.num_actions
        self.options = game.parse_options(options)
        players = game.num_players(self.options)
        self.possible_agents = [f"player_{player}" for player in range(players)]
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self.rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self._skip_agent_selection: str | None = None
        self._spaces: dict[str, spaces.Space[Any]] | None = None
        self._players = {agent: player for player, agent in enumerate(self.possible_agents)}
        self._turn = Turn()
        self._started = False
        self._offender: int | None = None
        self._before = None
        self._window = None
        self._states = game.new_states(1, self.options)
        self._legal = engine.new_legal(game.kernel)
        self._result = np.zeros(3 + players, np.int64)
        self._scratch = np.zeros(game.kernel.observation_size, np.int8)

    # Spaces

    def _make_spaces(self) -> dict[str, spaces.Space[Any]]:
        if self._spaces is None:
            low, high = (bound.astype(np.float32) for bound in self.game.bounds())
            box = spaces.Box(low, high, dtype=np.float32)
            mask = spaces.Box(0, 1, (self.num_actions,), dtype=np.int8)
            self._spaces = {
                "observation": box
                if self.mask_in == "info"
                else spaces.Dict({self.obs_key: box, "action_mask": mask}),
                "action": spaces.Discrete(self.num_actions),
                "state": spaces.Box(low, high, dtype=np.float32),
            }
        return self._spaces

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of observations: the same object for all agents and at every call."""
        self._player(agent)
        return self._make_spaces()["observation"]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """`Discrete(n)`: the same object for all agents and at every call."""
        self._player(agent)
        return self._make_spaces()["action"]

    @property
    def observation_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The space of observations of every possible agent."""
        return {agent: self.observation_space(agent) for agent in self.possible_agents}

    @property
    def action_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The action space of every possible agent."""
        return {agent: self.action_space(agent) for agent in self.possible_agents}

    @property
    def state_space(self) -> spaces.Space[Any]:
        """The space of `state()`."""
        return self._make_spaces()["state"]

    # Playing

    @one_at_a_time
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game.

        With a `seed` (0 … 2^64 − 1) everything that follows is reproducible; without one, the
        random stream continues (at the first reset: from fresh entropy). `options` is there for
        PettingZoo's sake and has no meaning here: a game's options belong to the constructor.

        Raises:
            TypeError, ValueError: For an invalid seed; nothing is changed then.
        """
        if seed is not None:
            self._seed(checks.seed("seed", seed))
        elif not self._started:
            self._seed(secrets.randbits(64))
        self._offender = None
        self._begin(engine.START)
        if self.render_mode == "human":
            self.render()

    def _seed(self, seed: int) -> None:
        # The generator of random actions is for batches: it is not used here.
        engine.seed_lanes(self._states, np.zeros(1, np.uint64), np.array([seed], np.uint64))

    def _advance(self, command: int, action: int = 0) -> Any:
        return engine.advance_one(self._states, self._legal, command, action, self._result)

    def _begin(self, command: int) -> None:
        """Start a game or show a restored one, and make everything that PettingZoo shows fit it."""
        self._started = True
        self._before = None
        self.agents = self.possible_agents[:]
        self._skip_agent_selection = None
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._advance(command)
        status, to_move, ply, *scores = self._result.tolist()
        self.agent_selection = self.possible_agents[to_move]
        if status != RUNNING:
            self._finish(scores)
        self._inform(ply, scores)

    def step(self, action: Any) -> None:
        """Play an action of the agent to move; None for an agent whose game is over.

        Raises:
            gymnasium.error.ResetNeeded: Before the first `reset`, and when no agent is left.
            ValueError: For what is no action of the action space, for None from an agent that
                lives, for an action after the game's end, and with `on_illegal="raise"` for an
                illegal action. The state is untouched.
            RuntimeError: While another call is running in this environment
                (`threads.one_at_a_time`).
        """
        lock = self._turn.lock
        if lock.locked():
            raise busy(self, "step")
        with lock:
            self._step(action)

    def _step(self, action: Any) -> None:
        agent = self.agent_selection
        if not self.agents:
            raise error.ResetNeeded("there is no game to step in: call reset() first")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = self._parse_action(action)
        before = self._states.tobytes()
        if not self._advance(engine.STEP, number):
            self._play_illegal(number)
            return
        self._before = before
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        status, to_move, ply, *scores = self._result.tolist()
        self.agent_selection = self.possible_agents[to_move]
        if status != RUNNING:
            self._finish(scores)
            self._accumulate_rewards()
        self._inform(ply, scores)
        if self.render_mode == "human":
            self.render()

    def _parse_action(self, action: Any) -> int:
        return checks.action(action, self.num_actions, self.agent_selection)

    def _play_illegal(self, action: int) -> None:
        agent = self.agent_selection
        if self.on_illegal == "raise":
            name = self.game.action_to_str(self._states[0], action)
            raise ValueError(
                f"action {action} ({name}) of {agent} is illegal here: "
                f"it is not among the {int(self.action_mask().sum())} legal actions"
            )
        self._cumulative_rewards[agent] = 0.0
        self._offender = self._players[agent]
        self._states["status"] = TERMINATED
        self._advance(engine.REFRESH)
        _, _, ply, *scores = self._result.tolist()
        self._finish(scores)
        self._accumulate_rewards()
        self._inform(ply, scores)
        if self.render_mode == "human":
            self.render()

    def _finish(self, scores: list[int]) -> None:
        """Write the end of the game: rewards and terminations (by `max_plies` as well: K11, T14,
        M29).
        """
        self.rewards = dict(zip(self.agents, self._final_rewards(scores), strict=True))
        self.terminations = dict.fromkeys(self.agents, True)

    def _final_rewards(self, scores: list[int]) -> list[float]:
        if self._offender is not None:
            return rewards_of_illegal(self._offender, len(scores))
        return rewards_of_scores(scores)

    def _inform(self, ply: int, scores: list[int]) -> None:
        self.infos = {
            agent: {"score": score, "ply": ply}
            for agent, score in zip(self.possible_agents, scores, strict=False)
        }
        if self.mask_in == "info":
            for agent, info in self.infos.items():
                info["action_mask"] = self.action_mask(agent)

    @property
    def _over(self) -> bool:
        return bool(self._result[0] != RUNNING)

    # Looking

    def _player(self, agent: str) -> int:
        try:
            return self._players[agent]
        except (KeyError, TypeError):  # TypeError: of what has no hash
            raise ValueError(
                f"there is no agent {checks.shown(agent)}: the agents are "
                f"{', '.join(self.possible_agents)}"
            ) from None

    def _require_started(self) -> None:
        if not self._started:
            raise error.ResetNeeded("there is no game yet: call reset() first")

    def observe(self, agent: str) -> Any:
        """What an agent sees, in fresh arrays: for every possible agent, at any time after the
        first `reset`.
        """
        player = self._player(agent)
        self._require_started()
        observation = np.empty(self._scratch.size, np.float32)
        if self.mask_in == "info":
            self._look(self._states, player, observation, _NO_MASK)
            return observation
        mask = np.empty(self.num_actions, np.int8)
        self._look(self._states, player, observation, mask)
        return {self.obs_key: observation, "action_mask": mask}

    def _look(self, states: Any, player: int, observation: Any, mask: Any) -> None:
        engine.observe_one(states, self._legal, player, self._scratch, observation, mask)

    def action_mask(self, agent: str | None = None) -> npt.NDArray[np.int8]:
        """The mask `int8[n]` of an agent, by default the agent to move."""
        player = self._player(self.agent_selection if agent is None else agent)
        self._require_started()
        mask = np.empty(self.num_actions, np.int8)
        self._look(self._states, player, _NO_OBSERVATION, mask)
        return mask

    def state(self) -> npt.NDArray[np.float32]:
        """The full state `float32[L]`, hidden parts included: what player 0 would see if nothing
        were hidden.
        """
        self._require_started()
        observation = np.empty(self._scratch.size, np.float32)
        self._look(self.game.open_state(self._states), 0, observation, _NO_MASK)
        return observation

    def action_to_str(self, action: int) -> str:
        """A short readable name of an action at the present position; ValueError if it is no
        action.
        """
        self._require_started()
        return self.game.action_to_str(self._states[0], self._parse_action(action))

    def str_to_action(self, text: str) -> int:
        """The legal action with that name; ValueError, with the nearest legal name, if there is
        none.
        """
        self._require_started()
        legal = [] if self._over else np.flatnonzero(self.action_mask()).tolist()
        names = {self.game.action_to_str(self._states[0], action): action for action in legal}
        if isinstance(text, str) and text in names:
            return int(names[text])
        import difflib

        close = difflib.get_close_matches(text if isinstance(text, str) else "", names, 1, 0.0)
        hint = f"; the nearest is {close[0]!r}" if close else ""
        raise ValueError(f"no legal action is called {checks.shown(text)}{hint}")

    # Positions and copies

    def snapshot(self) -> Snapshot:
        """The position as plain JSON types."""
        self._require_started()
        snapshot = self.game.snapshot(self._states, self.options)
        if self._over:
            scores = self._result.tolist()[3:]
            snapshot["outcome"] = {
                "scores": scores,
                "rewards": self._final_rewards(scores),
                "by_limit": bool(self._result[0] == BY_LIMIT),
            }
        return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot. Its options are taken over, except `num_players`, which must be
        this environment's.

        Raises:
            ValueError: Naming what is invalid; the environment stays as it was.
        """
        states, options, offender = self.game.restore(snapshot, secrets.randbits(64))
        players = self.game.num_players(options)
        if players != len(self.possible_agents):
            raise ValueError(
                f"num_players is {players} in the snapshot, but must be "
                f"{len(self.possible_agents)} as in this environment"
            )
        if not self.game.has_chance:
            # No randomness is left in the position; later resets continue the present stream.
            states["rng"] = self._states["rng"] if self._started else secrets.randbits(64)
        self._states, self.options, self._offender = states, options, offender
        self._begin(engine.REFRESH)

    def clone(
        self, hide_from: str | None = None, rng: int | np.random.Generator | None = None
    ) -> TabletopEnv:
        """An independent environment with the same game, which plays on identically (fast: for tree
        search).

        Spaces are made again when they are asked for.

        Args:
            hide_from: An agent. What this agent cannot see (the others' hands in meeples) is
                resampled in the copy, at random among all that agrees with what the agent has seen,
                as is randomness to come: a guess at the game from that agent's seat, for search
                under hidden information.
            rng: Where that guess comes from: a seed 0 … 2^64 − 1, a NumPy generator, or None for
                fresh entropy.

        Raises:
            TypeError, ValueError: For an unknown agent, an invalid `rng`, or one without
                `hide_from`.
        """
        if hide_from is None and rng is not None:
            raise ValueError("rng is for what is hidden: give hide_from, too")
        twin = self._twin()
        if hide_from is not None:
            player = self._player(hide_from)
            self._require_started()
            if rng is None:
                rng = secrets.randbits(64)
            elif isinstance(rng, np.random.Generator):
                rng = int(rng.integers(2**64, dtype=np.uint64))
            twin.game.deal_hidden(twin._states, player, checks.seed("rng", rng))
            twin._advance(engine.REFRESH)
            _, _, ply, *scores = twin._result.tolist()
            twin._inform(ply, scores)  # masks in infos are those of the copy
        return twin

    def lane(self) -> tuple[State, npt.NDArray[np.uint64]]:
        """The game as the engine keeps it, for game agents and search: not to be written to.

        Returns:
            The state, an array of one record, and the set of legal actions as one row of `uint64`
            words (none once the game is over).
        """
        self._require_started()
        return self._states, self._legal[np.newaxis]

    def put(self, states: State, offender: int | None = None, before: bytes | None = None) -> None:
        """Go on from a game as the engine keeps it, such as a lane of a batch, whose options must
        be this environment's.

        Args:
            states: An array of one record, which is copied.
            offender: The player who has lost it by an illegal action.
            before: The bytes of the record before the last action, for drawings that mark what it
                changed.

        Raises:
            TypeError, ValueError: For what is no such game, or one with other options; nothing is
                changed then.
        """
        self.game.require_states(states, self.options)
        if states.shape != (1,):
            raise ValueError(f"states must be one game, not of the shape {states.shape}")
        self._states[:] = states
        self._offender = offender
        self._begin(engine.REFRESH)
        self._before = before

    def _twin(self) -> TabletopEnv:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._spaces = None
        twin._turn = Turn()
        # NumPy copies records field by field: their bytes are copied twenty times as fast.
        states = self._states
        twin._states = np.frombuffer(bytearray(states.tobytes()), states.dtype)
        for name in ("_legal", "_result", "_scratch", "agents"):
            setattr(twin, name, self.__dict__[name].copy())
        for name in ("rewards", "terminations", "truncations", "_cumulative_rewards"):
            setattr(twin, name, dict(self.__dict__[name]))
        # A search through copies must not show them on the screen.
        twin._window = None
        if twin.render_mode == "human":
            twin.render_mode = None
        twin.infos = {agent: dict(info) for agent, info in self.infos.items()}
        twin.options = dict(self.options)
        twin.metadata = copy.deepcopy(self.metadata)
        return twin
