"""Loops whose items have effects, where no program can do it: refused."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from . import exchanged
from .differential import given

MADE = "a tensor decides whether its next item is made, and making it has effects"
REFUSED = {
    exchanged.made_by_map_with_effects: f"of a map: {MADE}",
    exchanged.counter_read_later: f"of a Counter: {MADE}",
    exchanged.given_counter: f"of a Counter: {MADE}",
    exchanged.random_items: f"of a map: {MADE}",
}
CALLS = {fn: calls[-1] for fn, calls, *_ in exchanged.CASES}


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_it_is_refused(fn):
    arguments = [given(arg) for arg in CALLS[fn]]
    with pytest.raises(UnsupportedError) as caught:
        paddle.jit.to_static(fn, full_graph=True)(*arguments)
    assert REFUSED[fn] in caught.value.message and caught.value.hint
    assert caught.value.loc is not None and caught.value.loc.file == exchanged.__file__
