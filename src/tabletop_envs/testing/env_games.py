"""Walks through games in an AEC environment: every ply, illegal actions, the end."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game
from tabletop_envs.testing.contract import MakeEnv, Played, is_over, legal_actions, out_of_range

# Illegal actions tried in a position, and games played to find one at all.
ILLEGAL, GAMES = 2, 10


def random_game(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> Played:
    """A whole game of random actions."""
    played, rng = Played(game.name, options, seed), random.Random(seed)
    env = make(**options)
    env.reset(seed=seed)
    while not is_over(env):
        played.actions.append(rng.choice(legal_actions(env)))
        env.step(played.actions[-1])
    return played


def play_again(
    make: MakeEnv, whole: Played, plies: int, **options: Any
) -> tuple[TabletopEnv, Played]:
    """The beginning of a game in a new environment, with some options changed."""
    played = Played(whole.name, {**whole.options, **options}, whole.seed, whole.actions[:plies])
    env = make(**played.options)
    env.reset(seed=played.seed)
    for action in played.actions:
        env.step(action)
    return env, played


class GameWalk:
    """One random game, looked at from all sides at every ply."""

    def __init__(self, make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
        self.game = game
        self.played = Played(game.name, options, seed)
        self.env = make(on_illegal="raise", render_mode="ansi", **options)
        self.other = make(on_illegal="raise", mask_in="info", **options)
        self.agents = self.env.possible_agents
        self.rng = random.Random(seed)

    def run(self) -> None:
        """Play the game to its end."""
        env, require, seed = self.env, self.played.require, self.played.seed
        for one in (env, self.other):
            one.reset(seed=seed)
        first = env.snapshot()
        while not is_over(env):
            self.check_position()
            require(
                env.agents == self.agents, "agents: all of them while the game runs", env.agents
            )
            require(
                set(env.rewards.values()) == {0.0} == set(env._cumulative_rewards.values()),
                "rewards: zero before the end",
                env.rewards,
            )
            legal = legal_actions(env)
            names = self.check_names(legal)
            self.check_illegal()
            action = self.rng.choice(legal)
            env.step(env.str_to_action(names[action]))
            self.other.step(action)
            self.played.actions.append(action)
        self.check_position()
        self.check_end()
        env.reset(seed=seed)
        require(env.snapshot() == first, "reset: the same seed starts the same game", "another")

    def check_position(self) -> None:
        """Check what the environment shows, to everybody."""
        env, require = self.env, self.played.require
        over = is_over(env)
        for agent in self.agents:
            shown = env.observe(agent)
            require(
                env.observation_space(agent).contains(shown),
                "observe: what an agent sees lies in its observation space",
                f"the observation of {agent} does not: "
                f"{out_of_range(self.game, shown['observation']) or 'its shape or dtype is wrong'}",
            )
            mask = shown["action_mask"]
            acts = agent == env.agent_selection and not over
            right = mask.all() if over else (mask.any() if acts else not mask.any())
            require(
                bool(right),
                "action_mask: legal actions for the agent to move, zeros for the others, "
                "ones once the game is over",
                f"{int(mask.sum())} ones for {agent}, to move is {env.agent_selection}, "
                f"over: {over}",
            )
            other = self.other.observe(agent)
            require(
                np.array_equal(other, shown["observation"])
                and np.array_equal(self.other.infos[agent]["action_mask"], mask),
                'mask_in="info": the same observation and mask as with mask_in="observation"',
                f"another one for {agent}",
            )
            kept = shown["observation"].copy()
            shown["observation"][:] += 1
            again = env.observe(agent)["observation"]
            require(np.array_equal(again, kept), "observe: fresh arrays at every call", agent)
            info = env.infos[agent]
            require(
                set(info) == {"score", "ply"} and all(type(n) is int for n in info.values()),
                "infos: the numbers score and ply, at every ply",
                info,
            )
        require(
            env.infos[self.agents[0]]["ply"] == len(self.played.actions),
            "infos: ply counts the actions",
            env.infos[self.agents[0]]["ply"],
        )
        require(
            env.state_space.contains(env.state()), "state: it lies in state_space", "it does not"
        )
        self.check_text()

    def check_text(self) -> None:
        """Check the drawing for the terminal."""
        env, require = self.env, self.played.require
        for viewer in (None, *self.agents):
            for colour in (False, True):
                text = env.render(viewer=viewer, colour=colour)
                require(
                    isinstance(text, str) and bool(text.strip()),
                    "text: a drawing of the position, for every viewer",
                    f"{text!r} for {viewer}",
                )
                require(
                    colour or "\x1b" not in str(text),
                    "text: no colours unless they are asked for",
                    "there are escape sequences",
                )
        if self.game.has_chance:
            for agent in self.agents:
                guess = env.clone(hide_from=agent, rng=self.rng.getrandbits(64))
                require(
                    guess.render(viewer=agent) == env.render(viewer=agent),
                    "text: a viewer is not shown what is hidden",
                    f"what {agent} is shown changes when all that is hidden is resampled",
                )

    def check_names(self, legal: list[int]) -> dict[int, str]:
        """Check that names of legal actions are readable, different and lead back; by action."""
        env, require = self.env, self.played.require
        names = {action: env.action_to_str(action) for action in legal}
        for action, name in names.items():
            require(
                isinstance(name, str) and bool(name.strip()) and name.isprintable(),
                "action_to_str: a short readable name",
                f"action {action} is called {name!r}",
            )
        owners: dict[str, int] = {}
        for action, name in names.items():
            require(
                name not in owners,
                "action_to_str: legal actions have different names",
                f"{owners.get(name)} and {action} are both called {name!r}",
            )
            owners[name] = action
        action = self.rng.choice(legal)
        require(
            env.str_to_action(names[action]) == action,
            "str_to_action: the inverse of action_to_str",
            f"{names[action]!r} is not {action}",
        )
        return names

    def check_illegal(self) -> None:
        """Check that illegal and impossible actions raise ValueError and change nothing."""
        env, before = self.env, self.env.snapshot()
        illegal = np.flatnonzero(env.action_mask() == 0).tolist()
        tried = self.rng.sample(illegal, min(ILLEGAL, len(illegal)))
        for action in (*tried, -1, env.num_actions, 1.5, None):
            found = "nothing is raised"
            try:
                env.step(action)
            except ValueError:
                found = "the position has changed"
            except Exception as error:  # Whatever it is, it is not what was promised.
                found = f"{type(error).__name__}: {error}"
            self.played.require(
                found == "the position has changed" and env.snapshot() == before,
                "step, action_to_str: an illegal action raises ValueError in words "
                "and changes nothing",
                f"{action!r}: {found}",
            )

    def check_end(self) -> None:
        """Check flags, rewards and what can still be done once the game is over."""
        env, require = self.env, self.played.require
        flags = (*env.terminations.values(), *env.truncations.values())
        require(
            all(env.terminations.values())
            and not any(env.truncations.values())
            and all(type(flag) is bool for flag in flags),
            "terminations, truncations: all agents terminate together, and no game is truncated",
            f"{env.terminations}, {env.truncations}",
        )
        require(
            abs(sum(env.rewards.values())) < 1e-9 and env._cumulative_rewards == env.rewards,
            "rewards: at the end their sum is zero",
            env.rewards,
        )
        outcome = env.snapshot()["outcome"]
        scores = [env.infos[agent]["score"] for agent in self.agents]
        require(
            outcome["scores"] == scores and outcome["rewards"] == list(env.rewards.values()),
            "snapshot: outcome has the scores and rewards of the end",
            outcome,
        )
        for _ in self.agents:
            env.step(None)
        require(
            env.agents == [], "step: None takes an agent away once the game is over", env.agents
        )


def check_losing(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Check that with on_illegal="lose" an illegal action ends the game, to the offender's cost."""
    env = make(on_illegal="lose", **options)
    for played in (Played(game.name, options, seed + number) for number in range(GAMES)):
        env.reset(seed=played.seed)
        rng = random.Random(played.seed)
        while env.action_mask().all() and not is_over(env):
            played.actions.append(rng.choice(legal_actions(env)))
            env.step(played.actions[-1])
        if not is_over(env):
            break
    else:
        return
    offender, others = env.agent_selection, len(env.possible_agents) - 1
    illegal = int(env.action_mask().argmin())
    try:
        env.step(illegal)
    except ValueError as error:
        played.fail('on_illegal="lose": an illegal action raises nothing', error)
    expected = {agent: -1.0 if agent == offender else 1.0 / others for agent in env.possible_agents}
    played.require(
        env.rewards == expected and all(env.terminations.values()),
        'on_illegal="lose": an illegal action ends the game; −1 for the offender, '
        "+1 shared by the others",
        f"rewards {env.rewards}, terminations {env.terminations}",
    )
    _check_restored(make, env, played, "lost by an illegal action")


def check_limit(make: MakeEnv, whole: Played) -> None:
    """Check that max_plies ends a game half-way, and that such a game is restored."""
    plies = len(whole.actions) // 2
    if plies < 1:
        return
    env, played = play_again(make, whole, plies, max_plies=plies)
    played.require(
        all(env.terminations.values())
        and not any(env.truncations.values())
        and env.snapshot()["outcome"]["by_limit"] is True,
        "max_plies: after this many actions the game terminates, and outcome says by_limit",
        f"terminations {env.terminations}, truncations {env.truncations}",
    )
    _check_restored(make, env, played, "ended by max_plies")


def _check_restored(make: MakeEnv, env: TabletopEnv, played: Played, how: str) -> None:
    again = make(**played.options)
    again.restore(env.snapshot())
    played.require(
        again.snapshot() == env.snapshot()
        and again.rewards == env.rewards
        and again.terminations == env.terminations,
        f"restore: a game {how} is restored as such",
        again.snapshot(),
    )
