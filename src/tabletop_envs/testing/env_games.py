"""Walks through games in an AEC environment: every ply, illegal actions, the end."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game
from tabletop_envs.testing.contract import (
    MakeEnv,
    Played,
    differing,
    is_over,
    legal_actions,
    look,
    out_of_range,
    require_error,
    seed_of,
)

# Illegal actions tried in a position, and games played to find one at all.
ILLEGAL, GAMES = 2, 10
# In so many positions copies are looked at all the time, later in some.
OFTEN = 40
# What is no action at all, whatever `on_illegal` says; the first three are tried at every ply.
NO_ACTIONS: tuple[Any, ...] = (*(-1, 1.5, None, 2**70, "0", np.float64(0), [0], True, np.True_),)

# What a game's author has to look at where `restore` refuses a position.
READ_POSITION = "read_position takes every position of a game, and tells whether it is over"


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


def check_snapshot(env: TabletopEnv, played: Played) -> None:
    """Check that a snapshot is plain JSON."""
    snapshot = env.snapshot()
    try:
        plain = json.loads(json.dumps(snapshot))
    except (TypeError, ValueError) as error:
        played.fail("snapshot: plain JSON types", error)
    played.require(
        plain == snapshot,
        "snapshot: plain JSON types, which come back from a file as they were",
        [key for key in snapshot if plain.get(key) != snapshot[key]],
    )
    missing = [key for key in env.game.snapshot_keys if key not in snapshot]
    played.require(
        not missing, "snapshot: it has the keys that snapshot_keys names", f"{missing} are missing"
    )


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
        check_snapshot(env, self.played)
        while not is_over(env):
            self.check_position()
            require(
                env.agents == self.agents, "agents: all of them while the game runs", env.agents
            )
            require(
                env.rewards == dict.fromkeys(self.agents, 0.0) == env._cumulative_rewards,
                "rewards: zero before the end",
                env.rewards,
            )
            self.check_hidden()
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
            kept = {key: array.copy() for key, array in shown.items()}
            for array in shown.values():
                array[:] += 1
            again = env.observe(agent)
            require(
                all(np.array_equal(again[key], kept[key]) for key in kept),
                "observe: fresh arrays at every call",
                agent,
            )
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

    def check_hidden(self) -> None:
        """Check copies in which all that an agent cannot see is resampled, and `restore`."""
        env, require, rng = self.env, self.played.require, self.rng.getrandbits(64)
        before = look(env)
        for agent in self.agents:
            guess = env.clone(hide_from=agent, rng=rng)
            seen, shown = guess.observe(agent), before["observations"][agent]
            require(
                all(np.array_equal(seen[key], shown[key]) for key in shown)
                and guess.agent_selection == env.agent_selection
                and guess.rewards == env.rewards,
                "clone(hide_from): the agent is shown the same",
                f"{agent} sees another position",
            )
            require(
                guess.render(viewer=agent) == env.render(viewer=agent),
                "text: a viewer is not shown what is hidden",
                f"what {agent} is shown changes when all that is hidden is resampled",
            )
        # The rest takes longer: in some positions, for one agent.
        if len(self.played.actions) > OFTEN and self.rng.random() > 1 / 4 and not is_over(env):
            return
        agent = self.rng.choice(self.agents)
        guess, again = (env.clone(hide_from=agent, rng=rng) for _ in range(2))
        expected = look(guess)
        require(
            expected["snapshot"] == again.snapshot(),
            "clone(hide_from): one rng gives one copy",
            f"two copies for {agent} differ",
        )
        masks = self.other.clone(hide_from=agent, rng=rng).infos
        require(
            all(
                np.array_equal(
                    masks[one]["action_mask"], expected["observations"][one]["action_mask"]
                )
                for one in self.agents
            ),
            "clone(hide_from): the masks in infos are those of the copy",
            f"others in the copy for {agent}",
        )
        again.reset()
        for view, what in ((expected, "clone(hide_from)"), (before, "position")):
            try:
                again.restore(view["snapshot"])
            except ValueError as error:
                self.played.fail(f"restore: every {what} is taken ({READ_POSITION})", error)
            different = differing(view, look(again))
            require(not different, f"restore: every {what} is restored as it was", different)
        different = differing(before, expected)
        require(
            self.game.has_chance or not different,
            "clone(hide_from): nothing is hidden, as the game's has_chance = False says",
            different,
        )
        different = differing(before, look(env))
        require(not different, "clone(hide_from): the original stays as it is", different)

    def check_names(self, legal: list[int]) -> dict[int, str]:
        """Check that names of legal actions are readable, different and lead back; by action."""
        env, require = self.env, self.played.require
        named = legal if self.played.actions else range(env.num_actions)
        names = {action: self.name_of(action) for action in named}
        for action, name in names.items():
            require(
                isinstance(name, str) and bool(name.strip()) and name.isprintable(),
                "action_to_str: a short readable name",
                f"action {action} is called {name!r}",
            )
        owners: dict[str, int] = {}
        for action in legal:
            name = names[action]
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
        if not self.played.actions:
            require_error(self.played, "str_to_action", lambda: env.str_to_action("?"), "'?'")
            for outside in (-1, env.num_actions):
                call = partial(env.action_to_str, outside)
                require_error(self.played, "action_to_str", call, str(outside))
        return names

    def name_of(self, action: int) -> str:
        """The name of an action of the space."""
        try:
            return self.env.action_to_str(action)
        except Exception as error:  # Whatever it is, it is not what was promised.
            self.played.fail(
                "step, action_to_str: an illegal action raises ValueError in words",
                f"no name for {action}: {type(error).__name__}: {error}",
            )

    def check_illegal(self) -> None:
        """Check that illegal and impossible actions raise ValueError and change nothing."""
        env, before = self.env, self.env.snapshot()
        illegal = np.flatnonzero(env.action_mask() == 0).tolist()
        tried = self.rng.sample(illegal, min(ILLEGAL, len(illegal)))
        no_actions = NO_ACTIONS[:3] if self.played.actions else NO_ACTIONS
        for action in (*tried, env.num_actions, *no_actions):
            found = "nothing is raised"
            try:
                env.step(action)
            except ValueError as error:
                found = "the position has changed"
                words = ["action", str(action)]
                words += [self.name_of(action)] if action in tried else []
                if not all(word in str(error) for word in words):
                    found = f"a message without {' or '.join(words)}: {error}"
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
        self.check_hidden()
        require_error(self.played, "step, once the game is over", lambda: env.step(0), "None")
        for _ in self.agents:
            env.step(None)
        require(
            env.agents == [], "step: None takes an agent away once the game is over", env.agents
        )
        require(
            all(env.observe(agent)["action_mask"].all() for agent in self.agents),
            "observe: everybody still sees the end, with masks of ones",
            "zeros",
        )


def check_losing(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Check that with on_illegal="lose" an illegal action ends the game, to the offender's cost."""
    for number in range(GAMES):
        whole = random_game(make, game, options, seed_of(seed, number))
        env, _ = play_again(make, whole, 0)
        plies = []
        for ply, action in enumerate(whole.actions):
            if not env.action_mask().all():
                plies.append(ply)
            env.step(action)
        if plies:
            break
    else:
        return
    for ply in sorted({plies[0], plies[len(plies) // 2], plies[-1]}):
        _check_loss(make, *play_again(make, whole, ply, on_illegal="lose"))


def _check_loss(make: MakeEnv, env: TabletopEnv, played: Played) -> None:
    before = look(env)
    for action in (*NO_ACTIONS, env.num_actions):
        call = partial(env.step, action)
        require_error(played, 'on_illegal="lose": step, of what is no action', call, "action")
        different = differing(before, look(env))
        played.require(
            not different, 'on_illegal="lose": what is no action changes nothing', different
        )
    offender, others = env.agent_selection, len(env.possible_agents) - 1
    illegal = int(env.action_mask().argmin())
    try:
        env.step(illegal)
    except ValueError as error:
        played.fail('on_illegal="lose": an illegal action raises nothing', error)
    expected = {agent: -1.0 if agent == offender else 1.0 / others for agent in env.possible_agents}
    played.require(
        env.rewards == expected == env._cumulative_rewards
        and all(env.terminations.values())
        and not any(env.truncations.values()),
        'on_illegal="lose": an illegal action ends the game; −1 for the offender, '
        "+1 shared by the others",
        f"rewards {env.rewards}, terminations {env.terminations}",
    )
    snapshot = env.snapshot()
    played.require(
        env.possible_agents[snapshot["to_move"]] == offender
        and snapshot["outcome"]["rewards"] == list(expected.values())
        and all(env.observe(agent)["action_mask"].all() for agent in env.possible_agents),
        'on_illegal="lose": the snapshot tells the offender and the rewards, masks are all ones',
        f"to_move {snapshot['to_move']}, outcome {snapshot['outcome']}",
    )
    _check_restored(make, env, played, "lost by an illegal action")
    fresh = make(**played.options)
    for one in (env, fresh):
        one.reset(seed=played.seed)
    played.require(
        not differing(look(fresh), look(env)),
        'on_illegal="lose": the next reset has forgotten the loss',
        differing(look(fresh), look(env)),
    )


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
    different = differing(look(env), look(again))
    played.require(not different, f"restore: a game {how} is restored as such", different)
