"""Random tensors. Kernels take `key`, a Generator, and draw from it with `advance`: the same seed, the same numbers."""

from __future__ import annotations

import math
from typing import Any

from ..core import philox
from ..core.alias import aliased
from ..core.dtype import DType, as_dtype, bool_, complex64, complex128, default_dtype, float32, float64, int64
from ..core.errors import ArgumentError, DTypeError
from ..core.lazy import lazy_module
from ..core.meta import Meta, known_dim
from ..core.rng import Generator
from .arguments import as_int, as_ints, entries, finish, is_tensor, is_unknown, packs_shape, shape_dims
from .like import cast
from .registry import NoGradient, define_op, get_op
from .sizes import sizes_of

_forms = lazy_module("vitrify.ops.random_forms")  # of native programs only
DRAWN = NoGradient("random numbers do not depend on the values of any input")


def draw(key: Generator, words: int, seed: int = 0) -> philox.Key:
    """The key of a draw of so many 32-bit words: the generator's next, or the start of the stream of a fixed seed."""
    return philox.Key(seed) if seed else key.advance(words)


def _need_float(op: str, dtype: DType) -> DType:
    if not dtype.is_floating:
        raise DTypeError(f"{op}: dtype must be floating, got {dtype.name}")
    return dtype


# -- uniform ---------------------------------------------------------------------------------------------------------


def _uniform_kernel(xp: Any, *, key: Any, shape: Any, dtype: DType, low: float, high: float, seed: int) -> Any:
    sizes = entries(shape)
    start = draw(key, philox.word_count(sizes, dtype), seed)
    return philox.uniform(xp, start, sizes, dtype, low, high)


uniform_op = define_op(
    "uniform",
    kernel=_uniform_kernel,
    meta=lambda *, shape, dtype, low, high, seed: Meta(shape_dims("uniform", shape), _need_float("uniform", dtype)),
    vjp=DRAWN,
    dynamic=("shape",),
    random=True,
    maps={"onnx": "RandomUniform", "paddle": "uniform_random"},
    native=lambda n, **attrs: _forms.uniform_form(n, **attrs),
    native_alone=True,
)


def uniform(
    shape: Any, dtype: Any = None, min: float = 0, max: float = 1.0, seed: int = 0, name: str | None = None, *,
    out: Any = None, device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Numbers uniformly distributed in [min, max). A seed other than 0 gives the same numbers each time.

    Source: paddle.uniform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.uniform([2, 3], min=0.0, max=1.0).shape
        paddle.Size([2, 3])
    """
    wanted = default_dtype() if dtype is None else as_dtype(dtype)
    sizes = as_ints("uniform", shape, "shape")
    if is_unknown(min) or is_unknown(max):
        share = uniform_op(shape=sizes, dtype=wanted, low=0.0, high=1.0, seed=int(seed))
        made = cast(min + share * (max - min), wanted)
    else:
        made = uniform_op(shape=sizes, dtype=wanted, low=float(min), high=float(max), seed=int(seed))
    return finish("uniform", made, out, device, requires_grad)


@aliased(shape="size")
@packs_shape
def rand(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Numbers uniformly distributed in [0, 1). Source: paddle.rand.

    Example:
        >>> import vitrify as paddle
        >>> paddle.rand([2, 3]).shape
        paddle.Size([2, 3])
    """
    return uniform(shape, dtype, 0.0, 1.0, out=out, device=device, requires_grad=requires_grad)


def rand_like(
    input: Any, name: str | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Any:
    """`rand` in input's shape, and its dtype unless another is given. Source: paddle.rand_like.

    Example:
        >>> import vitrify as paddle
        >>> paddle.rand_like(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """
    return rand(sizes_of(input), input.dtype if dtype is None else dtype, device=device, requires_grad=requires_grad)


# -- normal ----------------------------------------------------------------------------------------------------------


def _gaussian_kernel(xp: Any, *, key: Any, shape: Any, dtype: DType, mean: float, std: float, seed: int) -> Any:
    sizes = entries(shape)
    pairs = -(-math.prod(sizes) // 2)
    start = draw(key, pairs * (4 if dtype is float64 else 2), seed)
    return philox.normal(xp, start, sizes, dtype, mean, std)


gaussian_op = define_op(
    "gaussian",
    kernel=_gaussian_kernel,
    meta=lambda *, shape, dtype, mean, std, seed: Meta(shape_dims("gaussian", shape), _need_float("gaussian", dtype)),
    vjp=DRAWN,
    dynamic=("shape",),
    random=True,
    maps={"onnx": "RandomNormal", "paddle": "gaussian_random"},
    native=lambda n, **attrs: _forms.gaussian_form(n, **attrs),
    native_alone=True,
)

PARTS = {complex64: float32, complex128: float64}


def gaussian(
    shape: Any, mean: Any = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = None, name: str | None = None
) -> Any:
    """Normally distributed numbers; complex ones have independent parts whose variances add up to std ** 2."""
    wanted = default_dtype() if dtype is None else as_dtype(dtype)
    sizes = as_ints("gaussian", shape, "shape")
    if not wanted.is_complex:
        return gaussian_op(shape=sizes, dtype=wanted, mean=float(mean), std=float(std), seed=int(seed))
    center = complex(mean)
    parts = (
        gaussian_op(shape=sizes, dtype=PARTS[wanted], mean=at, std=float(std) / math.sqrt(2), seed=int(seed))
        for at in (center.real, center.imag)
    )
    return get_op("complex")(*parts)


@aliased(shape="size")
@packs_shape
def randn(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Numbers of the standard normal distribution. Source: paddle.randn.

    Example:
        >>> import vitrify as paddle
        >>> paddle.randn([2, 3]).shape
        paddle.Size([2, 3])
    """
    return finish("randn", gaussian(shape, dtype=dtype), out, device, requires_grad)


def standard_normal(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Numbers of the standard normal distribution. Source: paddle.standard_normal.

    Example:
        >>> import vitrify as paddle
        >>> paddle.standard_normal([2, 3]).shape
        paddle.Size([2, 3])
    """
    return randn(shape, dtype, out=out, device=device, requires_grad=requires_grad)


@aliased(x="input")
def randn_like(
    x: Any, dtype: Any = None, name: str | None = None, *, device: Any = None, requires_grad: bool = False
) -> Any:
    """`randn` in x's shape, and its dtype unless another is given. Source: paddle.randn_like.

    Example:
        >>> import vitrify as paddle
        >>> paddle.randn_like(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """
    return randn(sizes_of(x), x.dtype if dtype is None else dtype, device=device, requires_grad=requires_grad)


@aliased(shape="size")
def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: str | None = None, *, out: Any = None) -> Any:
    """Normally distributed numbers. Mean and std may be tensors, which then give the shape (and gradients).

    Source: paddle.normal.

    Example:
        >>> import vitrify as paddle
        >>> paddle.normal(0.0, 2.0, [2, 3]).shape
        paddle.Size([2, 3])
    """
    likes = [v for v in (mean, std) if is_tensor(v)]
    if likes:
        like = likes[0] if len(likes) == 1 else likes[0] + likes[1]
        made = gaussian(sizes_of(like), dtype=like.dtype) * std + mean
    else:
        kind = complex64 if isinstance(mean, complex) else None
        made = gaussian([1] if shape is None else shape, mean, std, dtype=kind)
    return finish("normal", made, out)


def log_normal(mean: Any = 1.0, std: Any = 2.0, shape: Any = None, name: str | None = None) -> Any:
    """exp of `normal(mean, std, shape)`. Source: paddle.log_normal.

    Example:
        >>> import vitrify as paddle
        >>> paddle.log_normal(0.0, 1.0, [2]).shape
        paddle.Size([2])
    """
    return get_op("exp")(normal(mean, std, shape))


# -- integers --------------------------------------------------------------------------------------------------------


def _randint_kernel(xp: Any, *, key: Any, shape: Any, low: Any, high: Any, dtype: DType) -> Any:
    sizes, first, last = entries(shape), int(low), int(high)
    _need_range(first, last)
    return philox.randint(xp, draw(key, philox.word_count(sizes, dtype)), first, last, sizes, dtype)


def _need_range(low: int, high: int) -> None:
    if low >= high:
        raise ArgumentError(f"randint: low must be less than high, got low={low} and high={high}")
    if high - low >= 1 << 64:
        raise ArgumentError(f"randint: fewer than 2**64 integers may lie in [low, high), got low={low} and high={high}")


def _randint_meta(*, shape: Any, low: Any, high: Any, dtype: DType) -> Meta:
    if isinstance(low, int) and isinstance(high, int):
        _need_range(low, high)
    if not (dtype.is_integer or dtype is bool_):
        raise DTypeError(f"randint: dtype must be an integer type, got {dtype.name}")
    return Meta(shape_dims("randint", shape), dtype)


randint_op = define_op(
    "randint",
    kernel=_randint_kernel,
    meta=_randint_meta,
    vjp=DRAWN,
    dynamic=("shape", "low", "high"),
    random=True,
    maps={"paddle": "randint"},
    native=lambda n, **attrs: _forms.randint_form(n, **attrs),
    native_alone=True,
)


def _range(op: str, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds as ints; one that only a run of the program knows as a tensor."""
    first, last = (as_int(op, v, name) if is_unknown(v) else v for v, name in ((low, "low"), (high, "high")))
    if last is None:
        first, last = 0, first
        if not is_unknown(last) and last <= 0:
            raise ArgumentError(f"{op}: without high, low must be greater than 0, got {last}")
    return first if is_unknown(first) else int(first), last if is_unknown(last) else int(last)


def randint(
    low: int = 0, high: int | None = None, shape: Any = (1,), dtype: Any = None, name: str | None = None
) -> Any:
    """Integers uniformly distributed in [low, high), or [0, low) when high is left out; int64 by default.

    Source: paddle.randint.

    Example:
        >>> import vitrify as paddle
        >>> paddle.randint(0, 10, [3]).shape
        paddle.Size([3])
    """
    first, last = _range("randint", low, high)
    wanted = int64 if dtype is None else as_dtype(dtype)
    return randint_op(shape=as_ints("randint", shape, "shape"), low=first, high=last, dtype=wanted)


def randint_like(x: Any, low: int = 0, high: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """`randint` in x's shape, and its dtype (whatever that is) unless another is given. Source: paddle.randint_like.

    Example:
        >>> import vitrify as paddle
        >>> paddle.randint_like(paddle.ones([3]), 10).dtype
        paddle.float32
    """
    first, last = _range("randint_like", low, high)
    made = randint_op(shape=sizes_of(x), low=first, high=last, dtype=int64)
    return cast(made, x.dtype if dtype is None else dtype)


randperm_op = define_op(
    "randperm",
    kernel=lambda xp, *, key, n, dtype: philox.permutation(xp, draw(key, 2 * n), n, dtype),
    meta=lambda *, n, dtype: Meta((known_dim(n),), dtype),
    vjp=DRAWN,
    dynamic=("n",),
    random=True,
    maps={"paddle": "randperm"},
)


def randperm(
    n: Any, dtype: Any = "int64", name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """The integers 0 to n - 1 in random order. Source: paddle.randperm.

    Example:
        >>> import vitrify as paddle
        >>> sorted(paddle.randperm(4).tolist())
        [0, 1, 2, 3]
    """
    count = as_int("randperm", n, "n")
    if isinstance(count, int) and count < 0:
        raise ArgumentError(f"randperm: n must be >= 0, got {count}")
    return finish("randperm", randperm_op(n=count, dtype=as_dtype(dtype)), out, device, requires_grad)


# -- choices ---------------------------------------------------------------------------------------------------------


def _bernoulli_kernel(xp: Any, x: Any, *, key: Any) -> Any:
    if x.size and not (float(x.min()) >= 0.0 and float(x.max()) <= 1.0):
        raise ArgumentError(f"bernoulli: probabilities must be in [0, 1], got {float(x.min())} to {float(x.max())}")
    return philox.bernoulli(xp, draw(key, x.size), x, x.shape).astype(x.dtype)


def float_input(op: str, x: Meta) -> Meta:
    if not x.dtype.is_floating:
        raise DTypeError(f"{op}: x is {x}, expected a floating dtype")
    return x


bernoulli_op = define_op(
    "bernoulli",
    kernel=_bernoulli_kernel,
    meta=lambda x: float_input("bernoulli", x),
    vjp=DRAWN,
    random=True,
    maps={"onnx": "Bernoulli", "paddle": "bernoulli"},
    native=lambda n, x: _forms.bernoulli_form(n, x),
    native_alone=True,
)


def bernoulli(x: Any, p: float | None = None, name: str | None = None) -> Any:
    """1 with the probability that each element of x (or p) gives, else 0; in x's dtype.

    Raises ArgumentError for probabilities outside [0, 1]. Source: paddle.bernoulli.

    Example:
        >>> import vitrify as paddle
        >>> paddle.bernoulli(paddle.to_tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
    """
    return bernoulli_op(x if p is None else get_op("full")(shape=sizes_of(x), fill_value=float(p), dtype=x.dtype))


def _multinomial_kernel(xp: Any, x: Any, *, key: Any, num_samples: int, replacement: bool) -> Any:
    _check_samples(num_samples)
    rows = x.reshape(-1, x.shape[-1]).astype(xp.float64)
    _check_weights(rows, num_samples, replacement)
    sample = _with_replacement if replacement else _without_replacement
    return sample(xp, key, rows, num_samples).reshape((*x.shape[:-1], num_samples)).astype(xp.int64, copy=False)


def _check_samples(num_samples: Any) -> None:
    if isinstance(num_samples, int) and num_samples < 1:
        raise ArgumentError(f"multinomial: num_samples must be positive, got {num_samples}")


def _check_weights(rows: Any, num_samples: int, replacement: bool) -> None:
    if rows.size and not bool((rows >= 0).all()):
        raise ArgumentError("multinomial: weights must not be negative")
    if rows.size and not bool((rows.sum(axis=1) > 0).all()):
        raise ArgumentError("multinomial: the weights of each row must have a positive sum")
    if not replacement and rows.shape[0] and int((rows > 0).sum(axis=1).min()) < num_samples:
        raise ArgumentError(
            f"multinomial: cannot draw {num_samples} different categories: a row has fewer positive weights",
            hint="pass replacement=True",
        )


def units(xp: Any, key: Any, shape: tuple[int, ...]) -> Any:
    """float64 numbers in [0, 1)."""
    return philox.uniform(xp, draw(key, philox.word_count(shape, float64)), shape, float64)


def _with_replacement(xp: Any, key: Any, rows: Any, num_samples: int) -> Any:
    bounds = xp.cumsum(rows, axis=1)
    aims = units(xp, key, (rows.shape[0], num_samples)) * bounds[:, -1:]
    found = (bounds[:, None, :] <= aims[:, :, None]).sum(axis=2)
    last = rows.shape[1] - 1 - xp.argmax(rows[:, ::-1] > 0, axis=1)
    return xp.minimum(found, last[:, None])


def _without_replacement(xp: Any, key: Any, rows: Any, num_samples: int) -> Any:
    """The categories whose exponential waiting times are the shortest (a race with the weights as rates)."""
    waits = -xp.log1p(-units(xp, key, rows.shape))
    times = xp.where(rows > 0, waits / xp.where(rows > 0, rows, 1), xp.inf)
    return xp.argsort(times, axis=1, kind="stable")[:, :num_samples]


def _multinomial_meta(x: Meta, *, num_samples: Any, replacement: bool) -> Meta:
    if x.ndim not in (1, 2):
        raise ArgumentError(f"multinomial: x is {x}, expected 1 or 2 dimensions")
    _check_samples(num_samples)
    return Meta((*float_input("multinomial", x).shape[:-1], known_dim(num_samples)), int64)


multinomial_op = define_op(
    "multinomial",
    kernel=_multinomial_kernel,
    meta=_multinomial_meta,
    vjp=DRAWN,
    dynamic=("num_samples",),
    random=True,
    maps={"paddle": "multinomial"},
)


@aliased(x="input")
def multinomial(
    x: Any, num_samples: Any = 1, replacement: bool = False, name: str | None = None, *, out: Any = None
) -> Any:
    """Categories drawn with the weights x: [k] -> [num_samples], [n, k] -> [n, num_samples], int64.

    Raises ArgumentError for negative weights, or too few positive ones to draw without replacement.
    Source: paddle.multinomial.

    Example:
        >>> import vitrify as paddle
        >>> paddle.multinomial(paddle.to_tensor([0.0, 1.0, 0.0]), 2, replacement=True).tolist()
        [1, 1]
    """
    count = as_int("multinomial", num_samples, "num_samples")
    return finish("multinomial", multinomial_op(x, num_samples=count, replacement=bool(replacement)), out)


METHODS = {"bernoulli": bernoulli, "multinomial": multinomial}
__all__ = [
    "bernoulli",
    "log_normal",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "standard_normal",
    "uniform",
]
