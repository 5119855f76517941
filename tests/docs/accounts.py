"""What the tests of the pages do not run as it stands, and why. An entry that fits nothing any more
fails a test.
"""

from __future__ import annotations

# Options that set how much a command does: the values that the tests give them, in all commands
# that have them.
BUDGETS = {
    "--seconds": "0.02",
    "--games": "2",
}

# Programs that take all there is where nothing is named: what they take.
NAMED = {
    "-m benchmarks.throughput": "kirche",
    "-m benchmarks.startup": "kirche",
    # The other peers take minutes to compile; tests/examples/test_benchmarks.py has them.
    "-m benchmarks.compare": "pettingzoo",
    "-m benchmarks.scaling": "kirche",
    "-m benchmarks.search": "kirche",
    "-m benchmarks.adapters": "open_spiel",
    "-m benchmarks.ray_workers": "kirche",
}

# Programs that do too much unless told otherwise: options that they get besides, or instead.
PROGRAMS = {
    "tabletop-envs tournament": {"--option": "max_plies=20"},
    "-m benchmarks.throughput": {
        "--lanes": "8",
        "--seconds": "0.02",
        "--repeats": "1",
        "--cold-repeats": "1",
        # A busy machine is no mistake of the page.
        "--tolerance": "1000",
    },
    "-m benchmarks.startup": {"--only": "rollout", "--repeats": "1"},
    "-m benchmarks.compare": {
        "--lanes": "8",
        "--threads": "1",
        "--seconds": "0.02",
        "--repeats": "1",
    },
    "-m benchmarks.scaling": {
        "--largest": "32",
        "--seconds": "0.02",
        "--repeats": "1",
    },
    "-m benchmarks.search": {
        "--simulations": "20",
        "--lanes": "4",
        "--rounds": "4",
        "--seconds": "0.02",
        "--repeats": "1",
    },
    "-m benchmarks.adapters": {
        "--lanes": "8",
        "--seconds": "0.02",
        "--repeats": "1",
    },
    "-m benchmarks.ray_workers": {
        "--workers": "1",
        "--units": "1",
        "--set": "games=2",
    },
    "-m tests.mutation": {"--sample": "1"},
    "examples/ppo_selfplay.py": {
        "--games": "4",
        "--plies": "8",
        "--steps": "64",
        "--width": "8",
        "--threads": "1",
        "--eval-games": "2",
        "--final-games": "2",
    },
    "examples/alphazero.py": {
        "--games": "4",
        "--plies": "6",
        "--iterations": "2",
        "--simulations": "4",
        "--quick": "2",
        "--channels": "4",
        "--blocks": "1",
        "--buffer": "64",
        "--minibatch": "8",
        "--minibatches": "2",
        "--gate-every": "2",
        "--gate-games": "2",
        "--eval-games": "2",
        "--eval-simulations": "2",
        "--threads": "1",
        "--cut": "12",
        "--warm-up": "1",
    },
    "examples/ray_selfplay.py": {
        "--workers": "1",
        "--rounds": "2",
        "--units": "2",
        "--games": "3",
        "--simulations": "4",
        "--width": "8",
        "--minibatch": "16",
        "--eval-games": "2",
    },
}

# Commands that are changed in other ways.
SMALLER = {
    "OMP_NUM_THREADS=1 taskset -c 0 python -m benchmarks.adapters STACK --lanes 1 64 1024 --repeats 5 --seconds 0.2": "OMP_NUM_THREADS=1 "
    "taskset -c 0 python -m benchmarks.adapters sb3 --lanes 1 64 1024 --repeats 5 --seconds 0.2",
    "tabletop-envs play meeples --opponent greedy --web": "tabletop-envs play meeples --opponent greedy --web --no-open",
    "python -m benchmarks.learning run --folder runs/learning": "python -m benchmarks.learning run --smoke "
    "--only ppo-tuerme-2 --seeds 1 --folder runs/learning --results runs/learning",
    # With the stage of the tests that compiles least, instead of all that decide over a mutant.
    **{
        command: f"MUTATION_STAGES=1 {command}"
        for command in (
            "python -m tests.mutation kirche",
            "python -m tests.mutation kirche --again",
            "python -m tests.mutation tuerme --sample 150 --seed 1",
        )
    },
    ".venv/bin/python -m pytest -m fuzz": "FUZZ_SNAPSHOTS=200 .venv/bin/python -m pytest -m fuzz "
    "tests/fuzz/test_snapshots.py -k kirche",
    ".venv/bin/python -m pytest -m soak": "SOAK_POSITIONS=300 .venv/bin/python -m pytest -m soak "
    "tests/rules/test_lockstep.py -k kirche",
}

# What a command that asks is answered; others find an empty input.
INPUTS: dict[str, str] = {}

# Commands that go on until Ctrl-C, and what they print when they are ready for it.
SERVERS = {
    "tabletop-envs play meeples --opponent greedy --web": "until Ctrl-C",
}

# Commands that are not run.
COMMANDS_NOT_RUN = {
    ".venv/bin/python -m pytest -n auto": "the whole suite, of which these tests are a part",
    "NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(mktemp -d) .venv/bin/python -m tests.engine.wild_play 100000": "compiles "
    "everything; tests/engine/test_bounds.py runs it with fewer actions",
    ".venv/bin/pre-commit install": "writes into .git, which a copy of the checkout does not have",
    "ray get-auth-token --generate": "writes into the home folder",
    "ray start --head --port 6379 --num-cpus 0": "a machine of a cluster",
    "ray start --address HEAD:6379": "another one",
    "ray status": "asks that cluster",
    "python examples/ray_selfplay.py kirche --address auto --workers 256 --units 512 --folder runs/big": "runs on "
    "that cluster; tests/examples/test_ray.py starts a small one",
}

# Blocks that are not run: page and first line.
BLOCKS_NOT_RUN = {
    (
        "docs/training.md",
        "seed, update, steps, seconds, opponent, games, wins, draws, losses, score, low, high",
    ): "the columns of a file",
    (
        "CONTRIBUTING.md",
        "checks.py           checks of arguments and of data from outside",
    ): "the map of the package, which tests/house/test_house.py holds against it",
}

# Pages whose blocks a test of their own runs.
PAGES_OF_OTHER_TESTS = {
    "docs/add-a-game.md": "tests/docs/test_add_a_game.py",
}
