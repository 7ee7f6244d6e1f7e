"""Five steps of training in static mode are PaddlePaddle 3.3.1's (training_paddle.json)."""

import json
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.static import training_cases
from vitrify import static

WANTED = json.loads((Path(__file__).parent / "training_paddle.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", training_cases.CASES)
def test_the_losses_are_paddles(name):
    with static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        np.testing.assert_allclose(training_cases.losses(paddle, name), WANTED[name], rtol=1e-5)
