"""Which writes make the conversion look for a container that is, on some path, the same as the one written to."""

import random

import pytest

from vitrify.convert.state.ownership import _maybe_the_same
from vitrify.ir.notes import Fork, Forks


@pytest.mark.parametrize("seed", range(20))
def test_what_no_fork_knows_is_never_searched_for(seed):
    chosen = random.Random(seed)
    containers = [[number] for number in range(12)]
    forks = Forks()
    for _ in range(5):
        forks.append(Fork(chosen.choice(containers), tuple(chosen.choices(containers, k=2)), None))
    for owner in [None, *containers]:
        if _maybe_the_same(forks, owner):
            assert id(owner) in forks.references
    outside = [merged for merged in containers if id(merged) not in forks.references]
    assert outside and not any(_maybe_the_same(forks, owner) for owner in outside)


def test_references_are_counted_as_forks_come():
    one, other = [1], [2]
    forks = Forks()
    forks.append(Fork(one, (other, other), None))
    forks.append(Fork(other, (one,), None))
    assert forks.references == {id(one): 2, id(other): 3}
