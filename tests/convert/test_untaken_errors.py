"""What Python finds wrong with plain values on a path that a tensor decides about is raised when a run comes there."""

import pytest

import vitrify as paddle
from tests.fuzz.verdict import load

EXPRESSIONS = [
    "max(())", "max([])", "min([], key=abs)", "max({})", "next(iter(()))", "next(v for v in [] if v)", "int('a')",
    "float('b')", "complex('a')", "pow(0, -1)", "divmod(1, 0)", "1 // 0", "range(1, 2, 0)", "reversed(5)", "len(5)",
    "sorted([1, 'a'])", "sum(['a'])", "dict([1])", "[*5]", "(*5,)", "abs('a')", "[].pop()", "[1].index(2)", "{}['k']",
    "{}.popitem()", "{1}.remove(2)", "'abc'.index('z')", "str.join(',', [1])", "'{}{}'.format(1)", "'{k}'.format()",
    "f'{1:q}'", "'%d' % 'a'", "math.sqrt(-1)", "math.log(0)", "functools.reduce(max, [])", "deque().popleft()",
    "json.loads('{')", "x.nope", "max(chosen)", "min(chosen, key=abs)",
    "paddle.stack([x, 0])", "paddle.concat([x, 0])", "paddle.stack([x[0], sum([])])", "paddle.where(x > 0, x)",
    "paddle.einsum('i,j', x)", "paddle.concat([x, paddle.stack([x, 0])])", "paddle.stack([x, x[0]])", "len(x[0])",
]  # fmt: skip
SOURCE = """
import functools, json, math
import vitrify as paddle
from collections import deque

def f(x):
    chosen = ()
    if x.sum() > 0:
        y = x * 2
    else:
        y = {}
    return y
"""


def outcome(function, x):
    try:
        return function(x).tolist()
    except Exception as err:  # noqa: BLE001 - whatever eager code raises
        return type(err)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_error_on_one_path(expression, full_graph):
    f = load(SOURCE.replace("{}", expression))["f"]
    static = paddle.jit.to_static(f, full_graph=full_graph)
    for x in ([1.0, 2.0], [-1.0, 0.0]) * 2:
        wanted = outcome(f, paddle.to_tensor(x))
        found = outcome(static, paddle.to_tensor(x))
        assert found == wanted or (isinstance(found, type) and issubclass(found, wanted))


def test_the_extreme_of_a_tuple_that_is_empty_on_one_path():
    def f(x):
        found = ()
        if x[0] > 0:
            found = (x[0], x[1])
        return max(found)

    static = paddle.jit.to_static(f, full_graph=True)
    for x in ([1.0, 2.0], [-1.0, 0.0]) * 2:
        assert outcome(static, paddle.to_tensor(x)) == outcome(f, paddle.to_tensor(x))
