"""What all tests of the stacks start from: the same chance."""

import random
import sys

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def seeded():
    """The global generators, from which stacks draw their networks and exploration."""
    random.seed(1)
    np.random.seed(1)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(1)
