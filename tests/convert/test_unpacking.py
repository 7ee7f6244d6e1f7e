"""`a, b = values` of too few or too many values says what Python says, whoever knows how many there are."""

import pytest

import vitrify as paddle
from tests.end_to_end.unpacking import masked, pairs, positives


def starred(x):
    values = [v for v in x if v > 0]
    a, *_, b = values
    return a + b


def one_of_two(x):
    values = (x,) if x.sum() > 0 else (x, x, x)
    a, b = values
    return a + b


def said(fn, x):
    with pytest.raises(ValueError, match="values to unpack") as caught:
        fn(paddle.to_tensor(x))
    return str(caught.value).splitlines()[0]


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("values", [[-1.0, -2.0], [1.0, -2.0], [3.0, 1.0, 4.0], [-3.0, -1.0, 2.0, -4.0]], ids=str)
@pytest.mark.parametrize("fn", [positives, masked, pairs, starred, one_of_two])
def test_what_the_error_says(fn, values, full_graph):
    wanted = sum(v > 0 for v in values)
    agrees = {pairs: wanted == 1, starred: wanted >= 2, one_of_two: False}.get(fn, wanted == 2)
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    if not agrees:
        assert said(static, values) == said(fn, values)
    else:
        assert static(paddle.to_tensor(values)).tolist() == fn(paddle.to_tensor(values)).tolist()
