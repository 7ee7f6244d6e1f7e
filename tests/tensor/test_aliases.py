"""Parameters by the names that PyTorch code uses, which PaddlePaddle 3.3.1 takes as its own.

tests/data/paddle_aliases.tsv: the functions and methods, and the other names that each takes.
"""

import csv
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.tensor.test_names import resolve
from vitrify.core.alias import aliased

DATA = Path(__file__).parents[1] / "data" / "paddle_aliases.tsv"
X = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
AT = paddle.to_tensor([[1, 0]])


def test_every_alias_is_taken():
    with DATA.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    pairs = [(row["name"], alias) for row in rows for alias in row["aliases"].split()]
    assert len(pairs) > 400
    assert [pair for pair in pairs if not is_taken(*pair)] == []


def is_taken(path, name):
    try:
        resolve(path)(**{name: None})
    except TypeError as err:
        return f"unexpected keyword argument '{name}'" not in str(err)
    except Exception:  # noqa: BLE001 - None is no argument for most of them
        return True
    return True


CALLS = {
    "sum": (lambda x: paddle.sum(input=x, dim=1, keepdim=True), [[3.0], [7.0]]),
    "method": (lambda x: x.mean(dim=0), [2.0, 3.0]),
    "concat": (lambda x: paddle.concat(tensors=[x, x], dim=1), [[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]]),
    "stack": (lambda x: paddle.stack(tensors=[x[0], x[1]], dim=1), [[1.0, 3.0], [2.0, 4.0]]),
    "elementwise": (lambda x: paddle.maximum(input=x, other=x * 0 + 2), [[2.0, 2.0], [3.0, 4.0]]),
    "in place": (lambda x: (x * 1).cumsum_(dim=0), [[1.0, 2.0], [4.0, 6.0]]),
    "gather": (lambda x: paddle.gather(x, 0, AT), [[3.0, 2.0]]),
    "gather by name": (lambda x: x.gather(dim=1, index=AT), [[2.0, 1.0]]),
    "scatter": (lambda x: x.scatter(0, AT, x * 2), [[1.0, 4.0], [2.0, 4.0]]),
    "scatter a number": (lambda x: paddle.scatter(x, 0, AT, value=9.0, reduce="add"), [[1.0, 11.0], [12.0, 4.0]]),
    "scatter in place": (lambda x: (x * 1).scatter_(dim=1, index=AT, src=x), [[2.0, 1.0], [3.0, 4.0]]),
    "index_add": (lambda x: paddle.index_add(x, 0, AT[0, :1], x[:1]), [[1.0, 2.0], [4.0, 6.0]]),
    "index_add by name": (lambda x: x.index_add(dim=0, index=AT[0, :1], source=x[:1]), [[1.0, 2.0], [4.0, 6.0]]),
    "index_add by Paddle's": (lambda x: x.index_add(index=AT[0, :1], dim=0, value=x[:1]), [[1.0, 2.0], [4.0, 6.0]]),
    "in place, first by name": (lambda x: paddle.multiply_(input=x * 1, other=x), [[1.0, 4.0], [9.0, 16.0]]),
    "in place, all by name": (lambda x: paddle.t_(input=x * 1), [[1.0, 3.0], [2.0, 4.0]]),
    "method whose second is x": (lambda x: (x * 1).addmm_(y=x, x=x), [[8.0, 12.0], [18.0, 26.0]]),
    "cross": (lambda x: paddle.cross(x.new_ones([1, 3]), x.new_zeros([1, 3]), dim=1), [[0.0, 0.0, 0.0]]),
    "lp_pool": (lambda x: paddle.nn.functional.lp_pool1d(input=x[None], norm_type=1, kernel_size=2)[0], [[3.0], [7.0]]),
    "median": (lambda x: paddle.median(x.flip(1), dim=1)[1], [1, 1]),
    "median over all": (lambda x: paddle.median(input=x), 2.0),
    "median of a given kind": (lambda x: x.median(dim=1, mode="avg"), [1.5, 3.5]),
    "times and a name": (lambda x: x[0].tile(2, 1), [1.0, 2.0, 1.0, 2.0]),
    "view": (lambda x: x.view(size=[4]), [1.0, 2.0, 3.0, 4.0]),
}


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("static", [False, True])
def test_the_other_names_mean_the_same(call, expected, static):
    run = paddle.jit.to_static(call, full_graph=True) if static else call
    np.testing.assert_array_equal(run(X).numpy(), expected)


@pytest.mark.parametrize("layer", [paddle.nn.LayerNorm(2, eps=0.1), paddle.nn.GroupNorm(1, 2, eps=0.1)])
def test_norms_take_eps(layer):
    assert layer._epsilon == 0.1


def test_a_parameter_by_two_names_is_refused():
    with pytest.raises(ValueError, match="'axis' is given a second time, by its other name 'dim'"):
        paddle.sum(X, axis=0, dim=1)
    with pytest.raises(TypeError, match="multiple values for argument 'axis'"):
        paddle.sum(X, 0, dim=1)


def test_defaults_and_plain_calls_stay():
    @aliased(axis="dim dims")
    def total(x, axis=0):
        return x, axis

    assert total(1) == (1, 0) and total(1, 2) == (1, 2) and total(1, dims=3) == (1, 3) and total(1, axis=4) == (1, 4)
