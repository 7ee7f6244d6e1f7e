"""A dict that makes up what is missing, filled by a loop of unknown length inside a `try` for KeyError."""

from __future__ import annotations

from collections import defaultdict

import pytest

import vitrify as paddle


def lists_by_sign(x):
    try:
        found = defaultdict(list)
        for i, v in enumerate(x):
            found["pos" if v > 0 else "neg"].append(i)
        if x[0] > 0.6:
            raise KeyError(3)
    except KeyError as err:
        return err.args[0]
    return {key: sum(value) for key, value in sorted(found.items())}


@pytest.mark.parametrize("full_graph", [True, False])
def test_keys_that_a_default_dict_makes_raise_nothing(full_graph):
    spec = [paddle.static.InputSpec([None], "float32")]
    static = paddle.jit.to_static(lists_by_sign, input_spec=spec, full_graph=full_graph)
    for values in ([0.5, 2.0, 3.0], [-1.0, 2.0], [1.0, 2.0], [-1.0, -2.0, -3.0, 4.0]) * 2:
        x = paddle.to_tensor(values)
        assert static(x) == lists_by_sign(x)
