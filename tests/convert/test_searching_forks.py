"""Which writes make the conversion look for a container that is, on some path, the same as the one written to."""

import random

import pytest

from vitrify.convert.state.ownership import _maybe_the_same, is_in_forks
from vitrify.ir.builder import Fork


@pytest.mark.parametrize("seed", range(20))
def test_what_no_fork_knows_is_never_searched_for(seed):
    chosen = random.Random(seed)
    containers = [[number] for number in range(12)]
    forks = [Fork(chosen.choice(containers), tuple(chosen.choices(containers, k=2)), None) for _ in range(5)]
    for owner in [None, *containers]:
        if _maybe_the_same(forks, owner):
            assert is_in_forks(forks, id(owner))
    outside = [merged for merged in containers if not is_in_forks(forks, id(merged))]
    assert outside and not any(_maybe_the_same(forks, owner) for owner in outside)
