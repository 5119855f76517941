"""Agents by name: the library's own, custom code, and checkpoints of the training examples.

`random`
    Takes every legal action with the same probability.
`greedy`, `mcts:N`, `mcts:N,RULE=VALUE`
    The library's, by the game's heuristic.
`greedy:EVALUATION`, `mcts:N:EVALUATION`
    The same by another evaluation; there is none yet.
`MODULE:OBJECT`, `FILE.py:OBJECT`
    Custom code (`named.load_object`).
`FILE.pt`, `FILE.pt,KEY=NUMBER`
    What an example has trained (`networks.load_agent`).

The object of custom code is one of these, in this order:

1. a `GameAgent`;
2. what can be called without arguments, a class for example: it makes the agent, and is called
   once; what it returns is a `GameAgent` or a callable as in 3;
3. what can be called with three arguments: `(observation, action_mask, rng) -> action`.

Names that come from a file or a request are for `own_agent`, which neither runs their code nor
opens their files.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tabletop_envs import checks, named
from tabletop_envs.agents import fingerprints
from tabletop_envs.agents.agent import Agent, GameAgent, RandomAgent, observe_to_move
from tabletop_envs.agents.greedy import GreedyAgent
from tabletop_envs.agents.mcts import MCTSAgent

if TYPE_CHECKING:
    from tabletop_envs.game import Game, State

__all__ = [
    "AgentSpec",
    "CallableAgent",
    "NamedAgent",
    "agent_names",
    "make_agent",
    "own_agent",
    "split_spec",
]

# A name, a game agent, or a name and any agent.
AgentSpec = str | GameAgent | tuple[str, GameAgent | Agent]
# The library's own names begin with one of these.
OWN = ("random", "greedy", "mcts")
CHECKPOINT = re.compile(r"(?P<file>.+\.pt)(?:,(?P<settings>.*))?", re.DOTALL)


def agent_names() -> list[str]:
    """The forms of the names that `make_agent` knows."""
    return ["random", "greedy", "mcts:N", "MODULE:OBJECT", "FILE.py:OBJECT", "FILE.pt"]


def own_names() -> list[str]:
    """The forms of the names that `own_agent` knows."""
    return agent_names()[: len(OWN)]


@overload
def make_agent(agent: str | GameAgent) -> GameAgent: ...
@overload
def make_agent(agent: Agent) -> Agent: ...
def make_agent(agent: Any) -> Any:
    """The agent that a name means; an agent that is one already as it is.

    Custom code is run, once in a process. So only names that the user has given are for this,
    never those of a record, a checkpoint or a request (`own_agent`).

    Returns:
        For a name always a `GameAgent`, whose `name` it is.

    Raises:
        ValueError: For an unknown name or invalid settings, naming what they must be; where file,
            module or object are missing or fail, saying what was looked for and what was found.
        TypeError: For what is neither a name nor callable.
        ImportError: For a checkpoint without PyTorch, naming the extra.
    """
    if not isinstance(agent, str):
        if isinstance(agent, GameAgent) or callable(agent):
            return agent
        known = ", ".join(agent_names())
        raise TypeError(f"an agent must be a name ({known}) or a callable, not {agent!r}")
    if agent.partition(":")[0] in OWN:
        return own_agent(agent)
    if (checkpoint := CHECKPOINT.fullmatch(agent)) is not None:
        return _load_checkpoint(agent, checkpoint["file"], checkpoint["settings"])
    if named.names_code(agent):
        return _load_custom(agent)
    raise ValueError(_no_agent(agent, agent_names()))


def own_agent(name: str) -> GameAgent:
    """The agent that one of the library's own names means; no code is run and no file read for it.

    ValueError for every other name.
    """
    head, colon, rest = name.partition(":")
    if name == "random":
        return RandomAgent()
    if name == "greedy":
        return GreedyAgent()
    if head == "greedy" and rest:
        _refuse_evaluation(name, rest)
    if head == "mcts" and colon:
        searched, colon, evaluation = rest.partition(":")
        if colon:
            _refuse_evaluation(name, evaluation)
        return MCTSAgent.from_name(f"mcts:{searched}")
    raise ValueError(_no_agent(name, own_names()))


def _no_agent(name: str, known: list[str]) -> str:
    return f"there is no agent {checks.shown(name)}: the agents are {', '.join(known)}"


def _refuse_evaluation(name: str, evaluation: str) -> None:
    without = checks.shown(name.removesuffix(f":{evaluation}"))
    raise ValueError(
        f"agent {checks.shown(name)}: there is no evaluation {checks.shown(evaluation)}. So far "
        f"the game's heuristic is the only one, by which {without} plays (the library's own "
        f"names are {', '.join(own_names())})"
    )


# Agents as others give them


def split_spec(spec: AgentSpec) -> tuple[str, GameAgent | Agent]:
    """The name and the agent of a name, a `GameAgent`, or a pair of a name and an agent.

    Raises:
        TypeError, ValueError, ImportError: For what is none of these, and as `make_agent`.
    """
    if isinstance(spec, tuple):
        if len(spec) != 2 or not isinstance(spec[0], str) or not spec[0]:
            raise TypeError(f"agent {spec!r} is not a pair of a name and an agent")
        return spec[0], make_agent(spec[1])
    agent = make_agent(spec)
    if isinstance(spec, str):
        return spec, agent
    if isinstance(agent, GameAgent):
        return agent.name, agent
    raise TypeError(f"agent {spec!r} has no name: give a pair (name, agent)")


class CallableAgent(GameAgent):
    """A callable `(observation, action_mask, rng) -> action` as a game agent.

    Args:
        function: The callable.
        name: What messages and records call it.
    """

    def __init__(self, function: Agent, name: str) -> None:
        self.function = function
        self.name = name

    def fingerprint(self) -> str:
        """That of the callable (`agents.fingerprint`)."""
        return fingerprints.fingerprint(self.function)

    def choose_lanes(
        self, game: Game, states: State, legal_bits: Any, rngs: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`.

        ValueError, naming the agent, where the callable returns what is no action of the space.
        """
        observations, masks = observe_to_move(game, states, legal_bits, lanes)
        seen, allowed = observations.astype(np.float32), masks.astype(np.int8)
        for row, lane in enumerate(lanes.tolist()):
            rng = np.random.default_rng(rngs[lane])
            answer = self.function(seen[row], allowed[row], rng)
            try:
                actions[lane] = checks.action(answer, game.kernel.num_actions)
            except ValueError as error:
                raise ValueError(
                    f"agent {self.name!r} answered {checks.shown(answer)}: {error}"
                ) from None
            rngs[lane] = rng.integers(2**64, dtype=np.uint64)


class NamedAgent(GameAgent):
    """An agent of custom code or of a checkpoint, together with the name that it was loaded by.

    It is pickled as its name: whoever unpickles it loads the same code or file once more, and gets
    a ValueError where that has changed.

    Attributes:
        name: The name.
        agent: The agent itself.
    """

    def __init__(self, name: str, agent: GameAgent, fingerprint: str, origin: str) -> None:
        self.name = name
        self.agent = agent
        self._fingerprint = fingerprint
        # The name from any other folder.
        self._origin = origin

    def fingerprint(self) -> str:
        """A digest of the file's content and of what it gave."""
        return self._fingerprint

    def choose_lanes(
        self, game: Game, states: State, legal_bits: Any, rngs: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        self.agent.choose_lanes(game, states, legal_bits, rngs, lanes, actions)

    def __deepcopy__(self, memo: dict[int, Any]) -> NamedAgent:
        agent = copy.deepcopy(self.agent, memo)
        return NamedAgent(self.name, agent, self._fingerprint, self._origin)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _load_same, (self.name, self._fingerprint, self._origin)


def _load_same(name: str, fingerprint: str, origin: str) -> GameAgent:
    agent = make_agent(origin)
    if fingerprints.fingerprint(agent) != fingerprint:
        raise ValueError(f"agent {name!r} has changed: what it was loaded from is another now")
    agent.name = name
    return agent


# Custom code


# The digests of files, as they were when their code was run.
_SOURCES: dict[str, str] = {}


def _load_custom(name: str) -> NamedAgent:
    place, _, words = name.rpartition(":")
    file = Path(place) if place.endswith(".py") and Path(place).is_file() else None
    before = "" if file is None else _digest(file)
    try:
        value = named.load_object(name, "GameAgent or callable", _may_be_agent)
    except ValueError as error:
        message = f"agent {error} (the library's own agents are {', '.join(own_names())})"
        raise ValueError(message) from error.__cause__
    path = file or getattr(sys.modules.get(place), "__file__", None)
    key = "" if path is None else str(Path(path).resolve())
    source = key and _SOURCES.setdefault(key, before or _digest(key))
    if key and source != _digest(key):
        raise ValueError(
            f"agent {name!r}: {key} has changed since its code was run: start a new process"
        )
    if not isinstance(value, GameAgent) and _takes(value, 0):
        try:
            made = value()
        except Exception as error:
            raise ValueError(
                f"agent {name!r}: calling it to make the agent has failed: "
                f"{type(error).__name__}: {error}"
            ) from error
        found = f"it returned {checks.shown(made)}"
    else:
        made, found = value, f"it is {checks.shown(value)}"
    if isinstance(made, GameAgent):
        agent = made
    elif not isinstance(made, type) and _takes(made, 3):
        agent = CallableAgent(made, name)
    else:
        raise ValueError(
            f"agent {name!r} must be a GameAgent, a callable (observation, action_mask, rng) -> "
            f"action, or what makes one of these when called without arguments: {found}"
        )
    # What the agent is made of may lie elsewhere in its file.
    mark = fingerprints.digest(words, source, fingerprints.fingerprint(made))
    origin = name if file is None else f"{file.absolute()}:{words}"
    return NamedAgent(name, agent, mark, origin)


def _may_be_agent(value: Any) -> bool:
    return isinstance(value, GameAgent) or callable(value)


def _digest(path: str | Path) -> str:
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()


def _takes(value: Any, count: int) -> bool:
    """Whether something can be called with so many arguments."""
    if not callable(value):
        return False
    try:
        inspect.signature(value).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a built-in one that does not say
        return count == 3
    return True


# Checkpoints


def _load_checkpoint(name: str, file: str, words: str | None) -> NamedAgent:
    path = Path(file)
    if not path.is_file():
        found = "is no file" if path.exists() else "is not there"
        raise ValueError(
            f"agent {name!r}: {path} {found} (the present folder is {Path.cwd()}); checkpoints are "
            "written by examples/ppo_selfplay.py, alphazero.py and ray_selfplay.py"
        )
    settings = _read_settings(name, words)
    # By its name: the networks are above the agents. They need PyTorch, and say so.
    networks: Any = importlib.import_module("tabletop_envs.networks")
    try:
        digest = _digest(path)
        agent = networks.load_agent(path, **settings)
    except OSError as error:
        raise ValueError(f"agent {name!r}: {path} cannot be read: {error.strerror}") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"agent {name!r}: {error}") from None
    files = map(str, sorted(Path(networks.__file__).parent.glob("*.py")))
    mark = fingerprints.of_settings(agent, {"checkpoint": digest, **settings}, *files)
    origin = str(path.absolute()) + name.removeprefix(file)
    return NamedAgent(name, agent, mark, origin)


def _read_settings(name: str, words: str | None) -> Mapping[str, float]:
    settings: dict[str, float] = {}
    for word in [] if words is None else words.split(","):
        key, _, value = word.partition("=")
        try:
            if not key.isidentifier() or key in settings:
                raise ValueError
            settings[key] = float(value) if set(value) & set(".enif") else int(value)
        except ValueError:
            raise ValueError(
                f"agent {name!r} must be FILE.pt or FILE.pt,KEY=NUMBER,…: {word!r} is not of that "
                "form or is given twice"
            ) from None
    return settings
