"""Activation functions and softmax."""

import numpy as np
import scipy.special as sp

from vitrify.ops import activation, softmax
from vitrify.ops.registry import get_op
from vitrify.testing import Case, away, floats

X = away(floats(3, 4, low=-4.0, high=4.0), -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0)
EXTREME = np.array([-1e4, -50.0, 0.0, 50.0, 1e4])


def softplus(x):
    return np.logaddexp(0, x)


def act(name, ref, *args, x=X, second=True, extreme=True, **options):
    fn = getattr(activation, name)
    case = f"{name}{args or ''}"
    yield Case(case, fn, (x, *args), ref=lambda a, *_: ref(a), second=second, **options)
    yield Case(f"{case}/0-d", fn, (np.array(x[1, 1]), *args), ref=lambda a, *_: ref(a), **options)
    yield Case(f"{case}/empty", fn, (x[:0], *args), ref=lambda a, *_: ref(a), **options)
    if extreme:
        with np.errstate(all="ignore"):
            yield Case(f"{case}/extreme", fn, (EXTREME, *args), ref=ref(EXTREME), grad=False, dtypes=())


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def selu(x, scale=1.0507009873554805, alpha=1.6732632423543772):
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def log_softmax(x, axis=-1):
    return sp.log_softmax(x, axis=axis)


def prelu(x, w):
    shape = [1, -1] + [1] * (x.ndim - 2) if w.size > 1 else [1] * x.ndim
    return np.where(x > 0, x, x * w.reshape(shape))


ACTIVATIONS = [
    *act("relu", lambda x: np.maximum(x, 0)),
    Case("relu/nan", activation.relu, (np.array([np.nan, -1.0, 2.0]),), ref=np.array([0.0, 0.0, 2.0]), grad=False),
    *act("relu6", lambda x: np.clip(x, 0, 6)),
    *act("leaky_relu", lambda x: np.where(x > 0, x, 0.01 * x)),
    *act("leaky_relu", lambda x: np.where(x > 0, x, 0.3 * x), 0.3),
    *act("elu", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))),
    *act("elu", lambda x: np.where(x > 0, x, 0.5 * np.expm1(np.minimum(x, 0))), 0.5),
    *act("selu", selu),
    *act("celu", lambda x: np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0) / 2)), 2.0),
    *act("gelu", lambda x: x * sp.ndtr(x), atol=1e-12),
    *act("gelu", gelu_tanh, True),
    *act("silu", lambda x: x * sp.expit(x)),
    *act("swish", lambda x: x * sp.expit(x)),
    *act("mish", lambda x: x * np.tanh(softplus(x))),
    *act("softplus", softplus),
    *act("softplus", lambda x: np.where(2 * x > 3, x, softplus(2 * x) / 2), 2.0, 3.0),
    *act("softsign", lambda x: x / (1 + np.abs(x))),
    *act("hardtanh", lambda x: np.clip(x, -1, 1)),
    *act("hardtanh", lambda x: np.clip(x, -2.25, 0.25), -2.25, 0.25),
    *act("hardsigmoid", lambda x: np.clip(0.1666667 * x + 0.5, 0, 1)),
    *act("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    *act("hardshrink", lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    *act("softshrink", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    *act("tanhshrink", lambda x: x - np.tanh(x)),
    *act("thresholded_relu", lambda x: np.where(x > 1, x, 0)),
    *act("thresholded_relu", lambda x: np.where(x > 0.25, x, -7), 0.25, -7.0),
    *act("log_sigmoid", lambda x: -softplus(-x)),
]
SOFTMAX = [
    *[
        Case(f"{fn.__name__}/axis {axis}", fn, (X, axis), ref=ref, second=True)
        for fn, ref in ((softmax.softmax, lambda x, a: sp.softmax(x, axis=a)), (softmax.log_softmax, log_softmax))
        for axis in (-1, 0, 1)
    ],
    *[
        Case(f"softmax/method {x.ndim}", lambda x: x.softmax(), (x,), ref=lambda x: sp.softmax(x, axis=0 if x.ndim in (1, 3) else 1))
        for x in (floats(4), X, floats(2, 3, 2))
    ],
    Case("straight_through", get_op("straight_through"), (np.round(X), X), ref=lambda value, slope: value, grad=False),
    Case("softmax/0-d", softmax.softmax, (np.array(3.0),), ref=np.array(1.0)),
    Case("softmax/empty", softmax.softmax, (X[:0],), ref=X[:0]),
    Case("softmax/extreme", softmax.softmax, (EXTREME,), ref=np.array([0, 0, 0, 0, 1.0]), dtypes=()),
    Case("softmax/masked", softmax.softmax, (np.array([-np.inf, 0.0, 0.0]),), ref=np.array([0, 0.5, 0.5]), grad=False),
    Case("log_softmax/extreme", softmax.log_softmax, (EXTREME,), ref=EXTREME - 1e4, dtypes=()),
    Case("softmax/dtype", lambda x: softmax.softmax(x, dtype="float32"), (X,), ref=sp.softmax(X, axis=-1), rtol=1e-6,
         grad=False),
]  # fmt: skip
CHANNELS = [
    Case("prelu", softmax.prelu, (X, np.array([0.25])), ref=prelu, second=True),
    Case("prelu/channels", softmax.prelu, (away(floats(2, 3, 2), 0.0), floats(3)), ref=prelu, second=True),
    Case("prelu/channels last", softmax.prelu, (X, floats(4), "NHWC"), ref=lambda x, w, _: np.where(x > 0, x, x * w)),
    Case("rrelu/eval", softmax.rrelu, (X, 0.1, 0.3, False), ref=lambda x, *_: np.where(x > 0, x, x * 0.2)),
    Case("maxout", softmax.maxout, (floats(2, 6, 2), 3), ref=lambda x, g: x.reshape(2, 2, 3, 2).max(2)),
    Case("maxout/last", softmax.maxout, (floats(2, 6), 2, -1), ref=lambda x, g, a: x.reshape(2, 3, 2).max(2)),
    Case("glu", softmax.glu, (X,), ref=lambda x: x[:, :2] * sp.expit(x[:, 2:]), second=True),
    Case("glu/axis", softmax.glu, (X[:2], 0), ref=lambda x, a: x[:1] * sp.expit(x[1:])),
    Case("swiglu", softmax.swiglu, (X,), ref=lambda x: x[:, :2] * sp.expit(x[:, :2]) * x[:, 2:], second=True),
    Case("swiglu/two", softmax.swiglu, (X, floats(3, 4)), ref=lambda x, y: x * sp.expit(x) * y),
]
CASES = [*ACTIVATIONS, *SOFTMAX, *CHANNELS]
