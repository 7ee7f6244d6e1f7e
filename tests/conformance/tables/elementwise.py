"""Functions element by element: of one tensor, of two, of comparisons and logic, of bits."""

from __future__ import annotations

from tests.conformance.spec import EVERY, FLOATS, REAL, each, literal, row, t, together, unset

SHAPES = each(t(2, 3), t(), t(0, 3), t(2, 1, 3))


def unary(name: str, values: str = "normal") -> object:
    """Return the row of a function of one tensor."""
    x = each(*(t(*shape, values=values) for shape in ((2, 3), (), (0, 3), (2, 1, 3))))
    return row(f"paddle.{name}", x).over(*EVERY)


ANYWHERE = """abs ceil cos cosh erf exp expm1 floor neg round rsqrt sign sin sinh square tan tanh trunc frac
angle conj real imag isfinite isinf isnan deg2rad rad2deg sgn signbit i0 i0e i1 i1e sinc positive isneginf isposinf isreal
logical_not bitwise_not is_empty numel rank shape stanh clone assign log1p log10 log2 log sqrt digamma lgamma reciprocal
acos asin atan acosh asinh atanh erfinv logit gammaln nan_to_num frexp""".split()
POSITIVE = "log log2 log10 log1p sqrt rsqrt digamma lgamma gammaln reciprocal".split()
UNIT = "acos asin atanh erfinv".split()

ROWS = [
    *(unary(name) for name in ANYWHERE),
    *(unary(name, "positive") for name in POSITIVE),
    *(unary(name, "unit") for name in UNIT),
    row("Tensor.sigmoid", SHAPES).over(*EVERY),
    unary("acosh", "large"),
    unary("logit", "probability"),
]
PAIRS = together(
    (t(2, 3), t(2, 3, seed=1)),
    (t(2, 3), t(3)),
    (t(2, 1), t(1, 3)),
    (t(), t(2)),
    (t(), t(seed=1)),
    (t(0, 3), t(1, 3)),
    (t(2, 3), t(2)),
    (t(2), t(2, dtype="float64")),
    (t(2), t(2, dtype="int64", values="nonzero")),
    (t(2), t(dtype="float64")),
    (t(2), t(2, dtype="bool")),
    (t(2), t(2, dtype="complex64")),
    (t(2), 2),
    (t(2), 2.5),
    (t(2), True),
    (t(2), t(2, dtype="int32", values="nonzero")),
    (t(2), t(2, dtype="float16", values="nonzero")),
)
BINARY = """add subtract multiply maximum minimum fmax fmin equal not_equal less_than less_equal greater_than greater_equal
logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor atan2 hypot copysign nextafter heaviside ldexp logaddexp
gcd lcm less equal_all inner outer kron""".split()
DIVISION = "divide floor_divide remainder mod floor_mod pow".split()
NONZERO = together(
    *((first, t(*second.shape, values="nonzero", seed=second.seed, dtype=second.dtype) if hasattr(second, "shape") else second)
      for first, second in PAIRS.options)
)  # fmt: skip
ROWS += [row(f"paddle.{name}", PAIRS).over(*EVERY) for name in BINARY]
ROWS += [row(f"paddle.{name}", NONZERO).over(*EVERY) for name in DIVISION]
ROWS += [
    row("paddle.pow", each(t(2, 3, values="positive"), t(values="positive")), each(2, 0.5, -1, t(3), t())).over(*REAL),
    row("paddle.clip", SHAPES, min=each(unset, -0.5, 1, t(1)), max=each(unset, 0.5, 0, literal(1.0))).over(*EVERY),
    row(
        "paddle.scale",
        SHAPES,
        scale=each(2.0, 3, literal(2.0, "float32")),
        bias=each(unset, 1.5, 1),
        bias_after_scale=each(unset, False),
    ).over(*EVERY),
    row("paddle.lerp", each(t(2, 3), t()), each(t(2, 3), t(3), t()), each(0.3, t(2, 3), t())).over(*FLOATS),
]
