"""Small functions, an operator or two each: name -> (function(paddle, *tensors), its inputs as (shape, dtype)).

Run by Paddle to make the files in tests/data/paddle_program, and by vitrify to say what these files should compute.
"""

import numpy as np


def F32(*shape):
    return list(shape), "float32"


def I64(*shape):
    return list(shape), "int64"


def B(*shape):
    return list(shape), "bool"


C = {}


def c(name, *specs):
    def enter(f):
        C[name] = (f, specs)
        return f

    return enter


X = F32(2, 3, 4)
for n in [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "round",
    "rsqrt",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "isfinite",
    "isinf",
    "isnan",
    "trunc",
    "rad2deg",
    "deg2rad",
    "neg",
    "digamma",
    "lgamma",
    "logit",
    "erfinv",
]:
    c(n, X)(lambda P, x, n=n: getattr(P, n)(x))
for n in [
    "relu",
    "relu6",
    "silu",
    "softplus",
    "softsign",
    "mish",
    "hardswish",
    "hardsigmoid",
    "elu",
    "celu",
    "selu",
    "leaky_relu",
    "gelu",
    "log_sigmoid",
    "sigmoid",
    "swish",
    "hardtanh",
    "hardshrink",
    "softshrink",
    "tanhshrink",
    "thresholded_relu",
]:
    c("F." + n, X)(lambda P, x, n=n: getattr(P.nn.functional, n)(x))
c("gelu_tanh", X)(lambda P, x: P.nn.functional.gelu(x, approximate=True))
for n in [
    "add",
    "subtract",
    "multiply",
    "divide",
    "pow",
    "maximum",
    "minimum",
    "mod",
    "floor_divide",
    "equal",
    "not_equal",
    "less_than",
    "less_equal",
    "greater_than",
    "greater_equal",
    "atan2",
    "fmax",
    "fmin",
]:
    c(n, X, F32(4))(lambda P, x, y, n=n: getattr(P, n)(x, y))
for n in ["add", "subtract", "multiply", "divide", "mod", "floor_divide", "equal", "less_than", "maximum"]:
    c(n + "_int", I64(2, 3), I64(3))(lambda P, x, y, n=n: getattr(P, n)(x, y))
for n in ["logical_and", "logical_or", "logical_xor"]:
    c(n, B(2, 3), B(3))(lambda P, x, y, n=n: getattr(P, n)(x, y))
c("logical_not", B(2, 3))(lambda P, x: P.logical_not(x))
for n in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
    c(n, I64(2, 3), I64(3))(lambda P, x, y, n=n: getattr(P, n)(x, y))
c("bitwise_not", I64(2, 3))(lambda P, x: P.bitwise_not(x))
c("scale", X)(lambda P, x: x * 2.0 + 1.0)
c("rsub", X)(lambda P, x: 1.0 - x)
c("rdiv", X)(lambda P, x: 1.0 / x)
c("pow2", X)(lambda P, x: x**2)
c("pow_scalar", X)(lambda P, x: x**2.5)
c("mod_scalar", X)(lambda P, x: x % 2.0)
c("gt_scalar", X)(lambda P, x: x > 0.5)
for n in ["sum", "mean", "max", "min", "prod", "all", "any", "amax", "amin"]:
    sp = B(2, 3, 4) if n in ("all", "any") else X
    c(n, sp)(lambda P, x, n=n: getattr(P, n)(x))
    c(n + "_axis", sp)(lambda P, x, n=n: getattr(P, n)(x, axis=1, keepdim=True))
    if n != "prod":
        c(n + "_axes", sp)(lambda P, x, n=n: getattr(P, n)(x, axis=[0, -1]))
c("sum_int", I64(2, 3))(lambda P, x: x.sum())
c("logsumexp", X)(lambda P, x: P.logsumexp(x, axis=-1, keepdim=True))
c("argmax", X)(lambda P, x: P.argmax(x, axis=-1))
c("argmax_all", X)(lambda P, x: P.argmax(x))
c("argmin", X)(lambda P, x: P.argmin(x, axis=0, keepdim=True, dtype="int32"))
c("cumsum", X)(lambda P, x: P.cumsum(x, axis=1))
c("cumsum_flat", X)(lambda P, x: P.cumsum(x))
c("cumprod", X)(lambda P, x: P.cumprod(x, dim=1))
c("p_norm", X)(lambda P, x: P.linalg.norm(x, p=2, axis=-1))
c("p_norm_keep", X)(lambda P, x: P.linalg.norm(x, p=3, axis=1, keepdim=True))
c("fro", X)(lambda P, x: P.linalg.norm(x))
c("std", X)(lambda P, x: P.std(x, axis=-1))
c("var", X)(lambda P, x: P.var(x, axis=-1))
c("softmax", X)(lambda P, x: P.nn.functional.softmax(x, axis=1))
c("log_softmax", X)(lambda P, x: P.nn.functional.log_softmax(x))
c("matmul", X, F32(2, 4, 5))(lambda P, x, y: P.matmul(x, y))
c("matmul_t", X, F32(2, 5, 4))(lambda P, x, y: P.matmul(x, y, transpose_y=True))
c("matmul_tx", X, F32(3, 5))(lambda P, x, y: P.matmul(x, y, transpose_x=True))
c("bmm", X, F32(2, 4, 5))(lambda P, x, y: P.bmm(x, y))
c("mv", F32(3, 4), F32(4))(lambda P, x, y: P.mv(x, y))
c("dot", F32(4), F32(4))(lambda P, x, y: P.dot(x, y))
c("addmm", F32(3, 5), F32(3, 4), F32(4, 5))(lambda P, a, x, y: P.addmm(a, x, y, beta=0.5, alpha=2.0))
c("einsum", X, F32(2, 4, 5))(lambda P, x, y: P.einsum("bij,bjk->bik", x, y))
c("linear", X, F32(4, 5), F32(5))(lambda P, x, w, b: P.nn.functional.linear(x, w, b))
c("reshape", X)(lambda P, x: P.reshape(x, [0, -1]))
c("reshape2", F32(None, 3, 4))(lambda P, x: P.reshape(x, [x.shape[0], 12]))
c("reshape_t", F32(None, 3, 4))(lambda P, x: P.reshape(x, [-1, P.shape(x)[2], 3]))
c("transpose", X)(lambda P, x: P.transpose(x, [2, 0, 1]))
c("flatten", X)(lambda P, x: P.flatten(x, 1))
c("flatten0", X)(lambda P, x: P.flatten(x))
c("squeeze", F32(2, 1, 4))(lambda P, x: P.squeeze(x, 1))
c("unsqueeze", X)(lambda P, x: P.unsqueeze(x, [0, 2]))
c("concat", X, F32(2, 1, 4))(lambda P, x, y: P.concat([x, y], axis=1))
c("stack", X, X)(lambda P, x, y: P.stack([x, y], axis=1))
c("split", X)(lambda P, x: P.split(x, 2, axis=-1))
c("split_n", X)(lambda P, x: P.split(x, [1, -1], axis=2))
c("chunk", X)(lambda P, x: P.chunk(x, 3, axis=1))
c("unstack", X)(lambda P, x: P.unstack(x, axis=0))
c("unbind", X)(lambda P, x: P.unbind(x, axis=1))
c("expand", F32(1, 3, 1))(lambda P, x: P.expand(x, [2, 3, 4]))
c("expand_dyn", F32(None, 1))(lambda P, x: P.expand(x, [-1, 4]))
c("tile", X)(lambda P, x: P.tile(x, [2, 1, 3]))
c("broadcast_to", F32(3, 1))(lambda P, x: P.broadcast_to(x, [2, 3, 4]))
c("flip", X)(lambda P, x: P.flip(x, [0, 2]))
c("roll", X)(lambda P, x: P.roll(x, 1, axis=1))
c("gather", X, I64(2))(lambda P, x, i: P.gather(x, i % 3, axis=1))
c("gather_nd", X, I64(2, 2))(lambda P, x, i: P.gather_nd(x, i % 2))
c("index_select", X, I64(2))(lambda P, x, i: P.index_select(x, i % 3, axis=1))
c("take_along", X, I64(2, 3, 1))(lambda P, x, i: P.take_along_axis(x, i % 4, 2))
c("put_along", X, I64(2, 3, 1))(lambda P, x, i: P.put_along_axis(x, i % 4, 1.0, 2))
c("scatter", F32(4, 3), I64(2), F32(2, 3))(lambda P, x, i, u: P.scatter(x, i % 2, u))
c("where", B(2, 3, 4), X, X)(lambda P, m, x, y: P.where(m, x, y))
c("masked_fill", X, B(2, 3, 4))(lambda P, x, m: P.masked_fill(x, m, -1.0))
c("topk", X)(lambda P, x: P.topk(x, 2, axis=-1))
c("sort", X)(lambda P, x: P.sort(x, axis=1, descending=True))
c("argsort", X)(lambda P, x: P.argsort(x, axis=1))
c("slice", X)(lambda P, x: x[:, 1:, ::2])
c("index_int", X)(lambda P, x: x[0, :, -1])
c("index_none", X)(lambda P, x: x[:, None, 1])
c("index_neg", X)(lambda P, x: x[:, :, ::-1])
c("index_tensor", X, I64(2))(lambda P, x, i: x[:, i % 3])
c("index_mask", F32(4))(lambda P, x: x[x > 0])


def _set(P, x):
    y = x * 1.0
    y[:, 1] = 0.5
    return y


c("setitem", X)(_set)
c("cast", X)(lambda P, x: x.astype("int32"))
c("cast_bool", X)(lambda P, x: x.astype("bool"))
c("full", X)(lambda P, x: x + P.full([4], 0.5))
c("ones_zeros", X)(lambda P, x: x + P.ones([4]) + P.zeros([3, 1]))
c("full_dyn", F32(None, 3))(lambda P, x: P.zeros([P.shape(x)[0], 2]) + 1.0)
c("full_like", X)(lambda P, x: P.full_like(x, 2.0))
c("zeros_like", X)(lambda P, x: P.zeros_like(x))
c("arange", F32(None, 3))(lambda P, x: P.arange(P.shape(x)[0]) + P.cast(x.sum(), "int64") * 0)
c("arange_c", F32(5))(lambda P, x: x + P.arange(0, 5, dtype="float32"))
c("linspace", F32(5))(lambda P, x: x + P.linspace(0, 1, 5))
c("eye", F32(3, 3))(lambda P, x: x @ P.eye(3))
c("to_tensor", F32(3))(lambda P, x: x + P.to_tensor([1.0, 2.0, 3.0]))
c("tril", X)(lambda P, x: P.tril(x, -1))
c("triu", X)(lambda P, x: P.triu(x))
c("one_hot", I64(4))(lambda P, x: P.nn.functional.one_hot(x % 5, 5))
c("embedding", I64(2, 3), F32(5, 4))(lambda P, i, w: P.nn.functional.embedding(i % 5, w))
c("embedding_pad", I64(2, 3), F32(5, 4))(lambda P, i, w: P.nn.functional.embedding(i % 5, w, padding_idx=1))
IM = F32(2, 4, 8, 8)
c("conv2d", IM, F32(6, 2, 3, 3), F32(6))(
    lambda P, x, w, b: P.nn.functional.conv2d(x, w, b, stride=2, padding=1, groups=2)
)
c("conv2d_same", IM, F32(6, 4, 3, 3))(lambda P, x, w: P.nn.functional.conv2d(x, w, padding="SAME", dilation=1))
c("conv2d_asym", IM, F32(6, 4, 3, 3))(lambda P, x, w: P.nn.functional.conv2d(x, w, padding=[0, 1, 1, 0]))
c("dwconv", IM, F32(4, 1, 3, 3))(lambda P, x, w: P.nn.functional.conv2d(x, w, padding=1, groups=4))
c("conv1d", F32(2, 4, 8), F32(6, 4, 3), F32(6))(lambda P, x, w, b: P.nn.functional.conv1d(x, w, b, padding=1))
c("conv3d", F32(1, 2, 4, 4, 4), F32(3, 2, 3, 3, 3))(lambda P, x, w: P.nn.functional.conv3d(x, w, padding=1))
c("conv2d_t", IM, F32(4, 3, 3, 3), F32(3))(
    lambda P, x, w, b: P.nn.functional.conv2d_transpose(x, w, b, stride=2, padding=1, output_padding=1)
)
c("max_pool", IM)(lambda P, x: P.nn.functional.max_pool2d(x, 3, stride=2, padding=1))
c("max_pool_ceil", IM)(lambda P, x: P.nn.functional.max_pool2d(x, 3, stride=2, ceil_mode=True))
c("avg_pool", IM)(lambda P, x: P.nn.functional.avg_pool2d(x, 2, stride=2))
c("avg_pool_incl", IM)(lambda P, x: P.nn.functional.avg_pool2d(x, 3, stride=2, padding=1, exclusive=False))
c("ad_avg1", IM)(lambda P, x: P.nn.functional.adaptive_avg_pool2d(x, 1))
c("ad_avg3", IM)(lambda P, x: P.nn.functional.adaptive_avg_pool2d(x, [3, 2]))
c("ad_max", IM)(lambda P, x: P.nn.functional.adaptive_max_pool2d(x, 2))
c("max_pool1d", F32(2, 4, 8))(lambda P, x: P.nn.functional.max_pool1d(x, 2))
c("avg_pool1d", F32(2, 4, 8))(lambda P, x: P.nn.functional.avg_pool1d(x, 2))
c("batch_norm", IM, F32(4), F32(4), F32(4), F32(4))(
    lambda P, x, m, v, w, b: P.nn.functional.batch_norm(x, m, P.abs(v) + 1, w, b)
)
c("layer_norm", X, F32(4), F32(4))(lambda P, x, w, b: P.nn.functional.layer_norm(x, [4], w, b))
c("layer_norm_no", X)(lambda P, x: P.nn.functional.layer_norm(x, [3, 4]))
c("group_norm", IM, F32(4), F32(4))(lambda P, x, w, b: P.nn.functional.group_norm(x, 2, weight=w, bias=b))
c("instance_norm", IM)(lambda P, x: P.nn.functional.instance_norm(x))
c("dropout", X)(lambda P, x: P.nn.functional.dropout(x, 0.5, training=False))
c("prelu", IM, F32(4))(lambda P, x, w: P.nn.functional.prelu(x, w))
c("pad2", IM)(lambda P, x: P.nn.functional.pad(x, [1, 2, 0, 1]))
c("pad_reflect", IM)(lambda P, x: P.nn.functional.pad(x, [1, 2, 0, 1], mode="reflect"))
c("pad_all", X)(lambda P, x: P.nn.functional.pad(x, [0, 0, 1, 1, 2, 0], value=1.5))
c("interp_nearest", IM)(lambda P, x: P.nn.functional.interpolate(x, scale_factor=2, mode="nearest"))
c("interp_bilinear", IM)(lambda P, x: P.nn.functional.interpolate(x, size=[5, 7], mode="bilinear"))
c("interp_corners", IM)(lambda P, x: P.nn.functional.interpolate(x, size=[5, 7], mode="bilinear", align_corners=True))
c("pixel_shuffle", IM)(lambda P, x: P.nn.functional.pixel_shuffle(x, 2))
c("normalize", X)(lambda P, x: P.nn.functional.normalize(x, axis=-1))
c("clip", X)(lambda P, x: P.clip(x, -0.5, 0.5))
c("shape", F32(None, 3))(lambda P, x: P.shape(x))
c("numel", F32(None, 3))(lambda P, x: P.numel(x))
c("sdpa", F32(2, 3, 2, 4), F32(2, 3, 2, 4), F32(2, 3, 2, 4))(
    lambda P, q, k, v: P.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
)
c("assign", X)(lambda P, x: P.assign(x))
c("meshgrid", F32(3), F32(2))(lambda P, x, y: P.meshgrid(x, y))
c("kron", F32(2, 2), F32(2, 2))(lambda P, x, y: P.kron(x, y))
c("lerp", X, X)(lambda P, x, y: P.lerp(x, y, 0.3))
c("nonzero", F32(4))(lambda P, x: P.nonzero(x > 0))
c("unfold", IM)(lambda P, x: P.nn.functional.unfold(x, 2))
c("cross_entropy", F32(3, 5), I64(3))(lambda P, x, y: P.nn.functional.cross_entropy(x, y % 5))
c("mse", X, X)(lambda P, x, y: P.nn.functional.mse_loss(x, y))


def _iff(P, x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


c("if", X)(_iff)


def _wh(P, x):
    i = P.zeros([], "int64")
    while i < 3:
        x = x * 2
        i = i + 1
    return x


c("while", X)(_wh)
c("identity_out", X)(lambda P, x: (x, x * 2))


def inputs(name):
    """The arrays that a function is called with."""
    rng = np.random.default_rng(0)
    return [_array(rng, [2 if s in (None, -1) else s for s in shape], dtype) for shape, dtype in C[name][1]]


def _array(rng, shape, dtype):
    if dtype == "bool":
        return rng.random(shape) > 0.5
    if dtype == "int64":
        return rng.integers(1, 5, shape)
    return (rng.random(shape) * 0.8 + 0.1).astype(dtype)
