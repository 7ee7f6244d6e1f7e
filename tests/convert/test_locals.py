"""`locals()` in converted functions: the dict of the variables that are set."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

X = paddle.to_tensor([1.0, -2.0])


def shown(found):
    return {k: v.tolist() if isinstance(v, paddle.Tensor) else v for k, v in found.items()}


def at_the_top(x, *rest, n=2, **more):
    found = locals()
    later = x * n
    return found, later


def by_its_other_name(x, n=2):
    return vars()["n"] * x


def between(x, n=2):
    y = x * n
    if x.sum() > 0:
        y = y + 1
    found = dict(**locals(), extra=3)
    del n
    return found, locals()


def in_branches(x, n=2):
    if x.sum() < 0:
        low = x - n
        return locals()
    i = 0
    for i in range(3):
        n += i
    return locals()


def nested(x, n=2):
    k = 3

    def inner(z):
        w = z * k
        return locals()

    return inner(x), sorted(v for v in locals())


def in_a_method():
    class Layer(paddle.nn.Layer):
        def forward(self, x):
            found = locals()
            return {k: v for k, v in found.items() if k != "self"}, found["self"] is self

    return Layer().forward


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "fn", [at_the_top, by_its_other_name, between, in_branches, nested, in_a_method()], ids=lambda f: f.__name__
)
def test_the_variables_that_are_set(fn, sign):
    compiled = paddle.jit.to_static(fn, full_graph=True)
    for _ in range(2):
        flat = [paddle.utils.map_structure(lambda v: v.tolist() if isinstance(v, paddle.Tensor) else v, f(sign * X))
                for f in (fn, compiled)]  # fmt: skip
        assert flat[0] == flat[1]


def test_a_name_that_is_something_else():
    def fn(x):
        locals = lambda: x * 2  # noqa: E731
        return locals()

    assert paddle.jit.to_static(fn, full_graph=True)(X).tolist() == [2, -4]


def test_a_variable_that_may_be_set_or_not():
    def fn(x):
        if x.sum() > 0:
            y = x * 2
        found = locals()
        return found["x"], y

    with pytest.raises(UnsupportedError, match=r"locals\(\) reads the variables of the function around it"):
        paddle.jit.to_static(fn, full_graph=True)(X)
