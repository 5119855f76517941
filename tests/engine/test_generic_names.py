"""Generic names of kernels and heuristics are for compiled code: in Python they say so."""

from __future__ import annotations

import numpy as np
import pytest

from tabletop_envs import evaluation, kernels, registry

GENERIC = {
    kernels.start: 1,
    kernels.legal_actions: 2,
    kernels.step: 2,
    kernels.observe: 3,
    kernels.deal_hidden: 3,
    kernels.num_actions: 1,
    kernels.word_bits: 1,
    kernels.observation_size: 1,
    kernels.key_masks: 1,
    evaluation.evaluate: 2,
    evaluation.is_settled: 1,
}


@pytest.mark.parametrize("function", GENERIC, ids=lambda function: function.__qualname__)
def test_called_from_python_a_generic_name_says_that_it_is_for_compiled_code(function):
    states = registry.get_game("kirche").new_states(1, {"num_houses": 1})
    before = states.copy()
    arguments = [states[0], *[np.zeros(1)] * (GENERIC[function] - 1)]
    with pytest.raises(TypeError, match=rf"{function.__name__} is for compiled code"):
        function(*arguments)
    assert states == before
