"""Paddle's forms of random numbers: its programs draw them from PaddlePaddle's generators."""

from __future__ import annotations

from typing import Any

from ..core.dtype import DType, bool_
from ..core.meta import Meta
from .emitter import FORMS, Emitter, Value, known


@FORMS("uniform")
def uniform(g: Emitter, *, shape: Any, dtype: DType, low: float, high: float, seed: int) -> Value:
    """uniform."""
    return _uniform(g, g.sizes(shape), g.metas[0], low, high, seed)


def _uniform(g: Emitter, sizes: Any, meta: Meta, low: float, high: float, seed: int) -> Value:
    return g.op("uniform", sizes, float(low), float(high), meta=meta, dtype=meta.dtype, seed=seed)


@FORMS("gaussian")
def gaussian(g: Emitter, *, shape: Any, dtype: DType, mean: float, std: float, seed: int) -> Value:
    """gaussian."""
    return g.op("gaussian", g.sizes(shape), meta=g.metas[0], mean=mean, std=std, seed=seed, dtype=dtype)


@FORMS("randint")
def randint(g: Emitter, *, shape: Any, low: Any, high: Any, dtype: DType) -> Value:
    """randint."""
    return g.op("randint", g.sizes(shape), meta=g.metas[0], low=known(low), high=known(high), dtype=dtype)


@FORMS("randperm")
def randperm(g: Emitter, *, n: Any, dtype: DType) -> Value:
    """randperm."""
    return g.op("randperm", meta=g.metas[0], n=known(n), dtype=dtype)


@FORMS("multinomial")
def multinomial(g: Emitter, x: Value, *, num_samples: Any, replacement: bool) -> Value:
    """multinomial."""
    return g.op("multinomial", x, known(num_samples), meta=g.metas[0], replacement=replacement)


@FORMS("bernoulli", "poisson", "standard_gamma")
def of_one_tensor(g: Emitter, x: Value) -> Value:
    """The operator of the same name."""
    return g.op(g.op_name, x, meta=g.metas[0])


@FORMS("binomial")
def binomial(g: Emitter, count: Value, prob: Value) -> Value:
    """binomial, whose operands are of one dtype and shape there."""
    out = g.metas[0]
    sizes = [g.size(max(count, prob, key=lambda v: v.ndim), i) for i in range(len(out.shape))]
    if count.ndim == prob.ndim:
        sizes = [g.size(count if c != 1 else prob, i) for i, c in enumerate(count.shape)]
    given = (g.expand(g.cast(v, prob.dtype), g.sizes(sizes), out.shape) for v in (count, prob))
    return g.op("binomial", *given, meta=out)


@FORMS("dropout")
def dropout(g: Emitter, x: Value, *, p: float, factor: float, axes: Any) -> list[Value]:
    """Comparing uniform numbers with p: what runs programs for inference takes dropout out of them."""
    mask = g.metas[1]
    sizes = [1 if m == 1 else g.size(x, i) for i, m in enumerate(mask.shape)]
    drawn = _uniform(g, g.sizes(sizes), Meta(mask.shape, x.dtype), 0.0, 1.0, 0)
    kept = g.op("greater_equal", drawn, g.vector(g.full(p, x.dtype), x), meta=Meta(mask.shape, bool_))
    out = g.op("multiply", x, g.cast(kept, x.dtype), meta=x.meta)
    return [out if factor == 1 else g.op("scale", out, factor, bias=0.0, bias_after_scale=True), kept]
