"""`python -m tabletop_envs.cli`."""

from tabletop_envs.cli import main

if __name__ == "__main__":
    main()
