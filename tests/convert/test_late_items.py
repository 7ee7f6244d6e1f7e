"""any() and all() over generators whose making of items shows: refused where a tensor decides on it, never wrong."""

from __future__ import annotations

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def prints(x):
    def values():
        for v in x:
            print(v)
            yield v > 1

    return any(values())


def test_items_with_effects_are_refused():
    with pytest.raises(UnsupportedError, match=r"any\(\) of a generator"):
        paddle.jit.to_static(prints, full_graph=True)(paddle.to_tensor([1.0, 2.0, 3.0]))
