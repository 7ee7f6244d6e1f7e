"""Programs as Paddle's guides write them run here as written and give PaddlePaddle 3.3.1's numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.static import guides

WANTED = json.loads((Path(__file__).parent / "guides_paddle.json").read_text(encoding="utf-8"))


@pytest.fixture
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_every_program_ran_in_paddle():
    assert set(guides.CASES) == set(WANTED)


@pytest.mark.parametrize("name", guides.CASES)
def test_a_program_of_the_guides(static_mode, name):
    found = guides.run(paddle, name)
    assert len(found) == len(WANTED[name])
    for ours, theirs in zip(found, WANTED[name]):
        if isinstance(theirs, str):
            assert ours == theirs
        else:
            assert ours[0] == theirs[0]
            np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-4, atol=1e-5)
