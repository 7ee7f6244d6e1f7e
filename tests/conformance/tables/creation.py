"""Creation, random numbers, facts about tensors and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.spec import EVERY, Array, Dtype, each, literal, row, t, unset

DTYPES = each(unset, None, "float32", "float64", "int64", "int32", "bool", "complex64", "float16", "bfloat16", Dtype("int64"), "uint8", "nonsense")
SHAPES = each([2, 3], (2,), [], 3, [0, 2], literal([2, 3], "int64"), [2, literal(3, "int32")], literal(2, "int64"), [-1])


def to_tensor(paddle: Any, data: Any, **options: Any) -> Any:
    """Return `to_tensor` of data, which may be a list of tensors."""
    return paddle.to_tensor(data, **options)


def moments(paddle: Any, name: str, *args: Any, **options: Any) -> Any:
    """Return dtype, shape and statistics of 40000 random numbers, none of which is near zero."""
    paddle.seed(7)
    found = getattr(paddle, name)(*args, **options)
    values = found.astype("float64").numpy()
    spread = float(values.std())
    return found.dtype, list(found.shape), float(values.mean()) + 5 * spread, spread



def permuted(paddle: Any, n: int, **options: Any) -> Any:
    """Return a sorted permutation."""
    return paddle.sort(paddle.randperm(n, **options))


def properties(paddle: Any, x: Any) -> Any:
    """Return what a tensor says about itself."""
    return [x.shape, x.ndim, x.dim(), x.size, x.dtype, x.stop_gradient, x.is_leaf, x.grad, x.element_size(), x.rank(),
            x.numel(), x.is_floating_point(), x.is_complex(), x.is_integer(), x.T, x.mT if x.ndim > 1 else None]  # fmt: skip


def itself(paddle: Any, x: Any, name: str, *args: Any, **options: Any) -> Any:
    """Return what a method gives."""
    return getattr(x, name)(*args, **options)


DATA = each(
    1, 1.5, True, 1 + 2j, [1, 2], [1.0, 2], [[1, 2], [3, 4]], (1, 2.5), [True, False], [], [[]], [1 + 1j, 2], [True, 2], [2**40],
    np.float64(1.5), np.float32(1.5), np.int32(3), np.array([1, 2]), np.array([1.5]), np.array(2.0), np.array([True]),
    np.array([1, 2], "int8"), np.array([1, 2], "uint16"), np.array([], "float32"), [np.float32(1.5), 2], [np.array([1, 2]), np.array([3, 4])],
    "text", None, [[1, 2], [3]], t(2), [t(), t()], range(3), {"a": 1},
)  # fmt: skip
TENSORS = each(t(2, 3), t(), t(0, 3))

ROWS = [
    row("paddle.to_tensor", DATA, dtype=each(unset, "float32", "int64", "bool", "float16", "complex64", "bfloat16", Dtype("float64")), stop_gradient=each(unset, False)).limited_to(200).through(to_tensor),
    row("paddle.to_tensor", each(Array(t(2, 3)), Array(t()))).over(*EVERY).through(to_tensor),
    row("paddle.as_tensor", each([1, 2.5], t(2)), dtype=each(unset, "float64")).as_function_only(),
    row("paddle.asarray", each([1, 2.5], t(2)), dtype=each(unset, "float64")).as_function_only(),
    row("paddle.zeros", SHAPES, dtype=DTYPES).limited_to(60),
    row("paddle.ones", SHAPES, dtype=DTYPES).limited_to(60),
    row("paddle.empty", SHAPES, dtype=DTYPES).limited_to(40).shapes_only(),
    row("paddle.full", SHAPES, each(1.5, 2, True, 1 + 1j, "3", literal(2.5, "float32"), -1), dtype=DTYPES).limited_to(120),
    row("paddle.zeros_like", TENSORS, dtype=DTYPES).over(*EVERY),
    row("paddle.ones_like", TENSORS, dtype=DTYPES).over(*EVERY),
    row("paddle.empty_like", TENSORS, dtype=DTYPES).over(*EVERY).shapes_only(),
    row("paddle.full_like", TENSORS, each(1.5, 2, True, literal(2.5, "float32")), dtype=DTYPES).limited_to(60).over(*EVERY),
    row("paddle.arange", each(5, 5.0, 0, -3, literal(4, "int64"), literal(4.0, "float32"), True), dtype=DTYPES).limited_to(60),
    row("paddle.arange", each(1, 0.5, 5), each(4, 5.5, -2, None), each(1, 2, 0.5, -1, 0), dtype=each(unset, "int64", "float32")).limited_to(80),
    row("paddle.range", each(0, 1), each(4, 4.5), each(1, 2)),
    row("paddle.linspace", each(0, 1.5, -2, literal(1.0, "float32"), literal(1, "int64")), each(5, 2.5, literal(3.0, "float64")), each(5, 1, 2, literal(4, "int32"), 0, -1), dtype=each(unset, "float64", "int64", "int32", "float16")).limited_to(90),
    row("paddle.logspace", each(0, 1.5), each(2, 3.5), each(4, 1), base=each(unset, 2.0), dtype=each(unset, "float64", "int32")),
    row("paddle.eye", each(3, 0, 2), each(unset, None, 2, 4), dtype=each(unset, "float64", "int64", "bool", "complex64")),
    row("paddle.eye", each(-1, 2), -1),
    *[row(f"paddle.{name}_window", each(0, 1, 5, 64), each(unset, False), dtype=each(unset, "float64")) for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")],
    row("paddle.tril_indices", each(3, 4), each(4, 2), each(unset, 1, -1), dtype=each(unset, "int32")),
    row("paddle.triu_indices", each(3, 4), each(4, unset), each(unset, 1), dtype=each(unset, "int32")),
    row("paddle.vander", each(t(3), t(0)), each(unset, 2, 4), each(unset, True)).over("float32", "int64"),
    row("paddle.complex", each(t(2, 3), t(3), t()), each(t(2, 3), t(), t(2, 3, dtype="float64"))).over("float32", "float64", "int64"),
    row("paddle.polar", each(t(2, 3), t()), each(t(2, 3), t())).over("float32", "float64"),
    row("paddle.assign", each(t(2, 3), [1, 2], 1.5, np.array([1.0]), True, [1.5, 2], (1, 2), None), each(unset)),
    row("paddle.from_numpy", each(np.array([1.0]), np.array([1, 2]))),
    row("paddle.increment", each(t(1), t()), each(unset, 2.0)).over("float32", "int64").in_place(),
    *(row("Tensor." + name, t(2, 3), *args).over("float32", "int64").in_place() for name, args in
      {"fill_": (2.5,), "zero_": (), "fill_diagonal_": (1.5,), "set_value": (t(2, 3, seed=3),)}.items()),
    row("Tensor.new_zeros", t(2), each([2, 3], (1,)), dtype=each(unset, "int64")).over("float32", "int64"),
    row("Tensor.new_ones", t(2), each([2, 3], (1,)), dtype=each(unset, "int64")).over("float32", "int64"),
    row("Tensor.new_full", t(2), [2, 3], each(1.5, 2), dtype=each(unset, "int64")).over("float32", "int64"),
    row("Tensor.numpy", TENSORS).over(*EVERY).without_gradients(),
    row("Tensor.tolist", TENSORS).over(*EVERY),
    row("Tensor.item", each(t(), t(1), t(1, 1), t(2)), each(unset, 0, 1, 5)).over(*EVERY),
    row("Tensor.properties", TENSORS).over(*EVERY).through(properties),
    *(row("Tensor." + name, TENSORS).over(*EVERY).through(itself_of) for name, itself_of in
      ((name, lambda paddle, x, name=name: itself(paddle, x, name)) for name in
       "float double half bfloat16 int long bool cpu detach clone contiguous is_contiguous __len__ __bool__ __int__ __float__ __index__ __hash__ __invert__ __neg__ __abs__".split() if name != "__hash__")),
    row("Tensor.to", t(2), each("float64", "int64", "cpu", Dtype("float16"))).over("float32", "int64"),
    row("paddle.is_tensor", each(t(2), 1, [1], None)).as_function_only(),
    row("paddle.is_floating_point", t(2)).over(*EVERY),
    row("paddle.is_complex", t(2)).over(*EVERY),
    row("paddle.is_integer", t(2)).over(*EVERY),
    row("paddle.broadcast_shape", each([2, 3], [1], []), each([3], [2, 1], [4])),
    row("paddle.broadcast_shapes", each([2, 3], [1]), each([3], [2, 1], [4])),
    row("paddle.finfo", each(Dtype("float32"), Dtype("float16"), Dtype("bfloat16"), "float64", "int32")).through(lambda paddle, dtype: [getattr(paddle.finfo(dtype), name) for name in "min max eps tiny smallest_normal resolution bits dtype".split()]),
    row("paddle.iinfo", each(Dtype("int32"), Dtype("uint8"), "int64", "float32")).through(lambda paddle, dtype: [getattr(paddle.iinfo(dtype), name) for name in "min max bits dtype".split()]),
]
BIG = [200, 200]
ROWS += [
    row("paddle.rand", each("rand"), each(BIG, (40000,)), dtype=each(unset, "float64")).through(moments).loosely(0.03),
    row("paddle.randn", each("randn", "standard_normal"), each(BIG), dtype=each(unset, "float64")).through(moments).loosely(0.03),
    row("paddle.uniform", "uniform", BIG, dtype=each(unset, "float64"), min=each(unset, -2, -1.0), max=each(unset, 3)).through(moments).loosely(0.03),
    row("paddle.normal", "normal", each(0.0, 2), each(1.0, 0.5), each(BIG)).through(moments).loosely(0.03),
    row("paddle.normal", each(t(2, 3), 0.0), each(t(2, 3, values="positive"), 2.0), each(unset, [2, 3])).shapes_only().as_function_only(),
    row("paddle.log_normal", "log_normal", 0.0, 0.25, BIG).through(moments).loosely(0.03),
    row("paddle.randint", "randint", each(0, -3, 5), each(unset, 10, 3), each(BIG), dtype=each(unset, "int32", "float32")).through(moments).loosely(0.03),
    row("paddle.randint_like", each(t(2, 3)), each(5, 0), each(unset, 9), dtype=each(unset, "int64", "float32")).over("float32", "int32").shapes_only(),
    row("paddle.randperm", each(5, 1, 0), dtype=each(unset, "int32", "float32")).through(permuted),
    row("paddle.rand_like", t(2, 3), dtype=each(unset, "float64")).shapes_only(),
    row("paddle.randn_like", t(2, 3), dtype=each(unset, "float64")).shapes_only(),
    row("paddle.bernoulli", each(t(200, 200, values="ones"), t(3, values="zeros"))).as_function_only(),
    row("paddle.bernoulli", t(2, 3, values="probability"), p=each(unset, 0.3)).over("float32", "float64").shapes_only(),
    row("paddle.poisson", t(2, 3, values="positive")).over("float32", "float64").shapes_only(),
    row("paddle.binomial", t(2, 3, dtype="int64", values="positive"), t(2, 3, values="probability")).shapes_only(),
    row("paddle.standard_gamma", t(2, 3, values="positive")).over("float32", "float64").shapes_only(),
    row("paddle.multinomial", each(t(4, values="positive"), t(2, 4, values="positive")), each(unset, 2, 4, 7), replacement=each(unset, True)).over("float32", "float64").shapes_only(),
    *(row(f"Tensor.{name}", t(2, 3), *args).over("float32", "float64").shapes_only() for name, args in
      {"uniform_": (), "normal_": (), "exponential_": (), "bernoulli_": (), "cauchy_": (), "geometric_": (0.3,), "log_normal_": (), "random_": (0, 9)}.items()),
]  # fmt: skip
