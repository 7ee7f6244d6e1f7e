"""Functions of neural networks: convolution, pooling, normalization, losses, attention, images."""

from __future__ import annotations

from typing import Any

from tests.conformance.spec import Row, each, index, literal, row, t, unset

F = "paddle.nn.functional."
SIZES = {1: (9,), 2: (6, 7), 3: (5, 6, 5)}
FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
DOUBLE = ("float32", "float64")


def f(name: str, *args: Any, **kwargs: Any) -> Row:
    """Return the row of a function."""
    return row(F + name, *args, **kwargs).as_function_only()


def of_dimensions(n: int) -> list[Row]:
    """Return the rows of functions over n spatial dimensions."""
    x, last, w = t(2, 4, *SIZES[n]), t(2, *SIZES[n], 4), t(6, 4, *[3] * n, seed=1)
    pairs = [[0, 0], [0, 0], *[[1, 2]] * n]
    padding = each(unset, 1, "SAME", "VALID", [1] * n, pairs)
    return [
        f(f"conv{n}d", x, w, each(unset, t(6)), padding=padding, stride=each(unset, 2)).over(*DOUBLE),
        f(f"conv{n}d", x, t(6, 2, *[3] * n), groups=2, dilation=each(unset, 2), padding=2),
        f(f"conv{n}d", last, w, data_format=FORMATS[n][1]),
        f(f"conv{n}d_transpose", x, t(4, 6, *[3] * n), stride=each(unset, 2), padding=each(unset, 1, "SAME")),
        f(f"conv{n}d_transpose", x, t(4, 3, *[3] * n), groups=2, stride=2, output_padding=1),
        f(f"max_pool{n}d", x, each(2, [3] * n), stride=each(unset, 1, 2), padding=each(unset, 1, "VALID")).over(
            *DOUBLE
        ),
        f(f"max_pool{n}d", x, 2, return_mask=True),
        f(f"max_pool{n}d", x, 3, 2, ceil_mode=True),
        f(f"max_pool{n}d", x, 3, 2, "SAME", return_mask=True),
        f(f"avg_pool{n}d", x, each(2, [3] * n), stride=each(unset, 1, 2), padding=each(unset, 1, "SAME")).over(*DOUBLE),
        f(f"avg_pool{n}d", x, 3, 2, 1, exclusive=False, ceil_mode=each(unset, True)),
        f(f"avg_pool{n}d", x, 3, 2, "SAME", exclusive=False),
        f(f"adaptive_avg_pool{n}d", x, each(1, 2, [3] * n)),
        f(f"adaptive_max_pool{n}d", x, each(1, 2, [3] * n), each(unset, True)),
        f("interpolate", x, each([5] * n, [9] * n), mode=each("nearest", "area")),
        f("interpolate", last, [5] * n, mode="area", data_format=FORMATS[n][1].replace("L", "W")),
        f("instance_norm", last, data_format=FORMATS[n][1]),
        f("pad", x, [1, 2] * n, each("constant", "reflect", "replicate", "circular"), data_format=FORMATS[n][0]),
        f("local_response_norm", x, 3, data_format=FORMATS[n][0]),
    ]


ACTIVATIONS = """relu relu6 elu celu selu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid log_softmax
softmax mish sigmoid silu swish softplus softshrink softsign tanh tanhshrink thresholded_relu""".split()
REDUCTION = each(unset, "sum", "none")
CLASSES = index(4, below=5)
SIGNS = literal([1.0, -1.0, 1.0, -1.0], grad=False)
ROWS = [
    *(f(name, each(t(2, 3), t(), t(0, 3))).over(*DOUBLE) for name in ACTIVATIONS),
    *(one for n in (1, 2, 3) for one in of_dimensions(n)),
    f("softmax", t(2, 3, 4), each(0, 1, -1), each(unset, "float64")),
    f("glu", t(2, 4), each(unset, 1)),
    f("maxout", t(2, 4, 3, 3), 2),
    f("linear", each(t(2, 3), t(5, 2, 3), t(0, 3)), t(3, 4), each(unset, t(4))).over(*DOUBLE),
    f("bilinear", t(2, 3), t(2, 4), t(5, 3, 4), each(unset, t(1, 5))),
    f("embedding", index(3, 2, below=7), t(7, 4), padding_idx=each(unset, 2, -1)),
    f("one_hot", index(3, 2, below=5), 5),
    f("label_smooth", t(2, 3), epsilon=each(unset, 0.3)),
    f("cosine_similarity", t(2, 3, 4), t(2, 3, 4, seed=1), axis=each(unset, -1)),
    f("pairwise_distance", t(2, 3), t(2, 3, seed=1), p=each(unset, 1.0, float("inf")), keepdim=each(unset, True)),
    f("normalize", t(2, 3, 4), p=each(unset, 1), axis=each(unset, 0, -1)),
    f("layer_norm", t(2, 3, 4), each([4], [3, 4], 4)).over(*DOUBLE),
    f("layer_norm", t(2, 3, 4), [4], t(4), t(4, seed=1)),
    f("instance_norm", t(2, 3, 4), eps=each(unset, 0.1)),
    f("group_norm", t(2, 4, 3, 3), 2, weight=t(4), bias=t(4, seed=1)),
    f("batch_norm", t(3, 4, 5), t(4, grad=False), t(4, values="positive", grad=False), training=each(unset, True)),
    f("dropout", t(2, 3), 0.3, training=False, mode=each(unset, "downscale_in_infer")),
    f("unfold", t(2, 3, 5, 6), each(2, [2, 3]), each(unset, 2), each(unset, 1)),
    f("fold", t(2, 12, 12), [4, 5], [2, 2]),
    f("pixel_shuffle", t(2, 8, 3, 4), 2),
    f("pixel_unshuffle", t(2, 2, 6, 4), 2),
    f("channel_shuffle", t(2, 6, 3, 4), 3),
    f("interpolate", t(2, 3, 4, 5), [7, 6], mode=each("bilinear", "bicubic"), align_corners=each(unset, True)),
    f("interpolate", t(2, 3, 3, 2), scale_factor=1.3, mode=each("nearest", "bilinear", "bicubic")),
    f("interpolate", t(2, 3, 2), scale_factor=1.3, mode="linear", align_mode=each(unset, 1)),
    f("interpolate", t(2, 3, 3, 2, 2), scale_factor=1.3, mode=each("nearest", "trilinear")),
    f("log_softmax", literal([[0.0, 100.0, 30.0]])),
    f("cross_entropy", literal([[0.0, 100.0, 30.0]]), literal([0], "int64")),
    f("conv2d", t(1, 2, 4, 4), t(3, 2, 5, 2), stride=each(unset, 2)),
    f("interpolate", t(2, 3, 4, 5), scale_factor=each(2, 1.7), mode=each("nearest", "bilinear"), align_mode=each(0, 1)),
    f("grid_sample", t(2, 3, 5, 6), t(2, 4, 3, 2), padding_mode=each(unset, "border", "reflection")),
    f("affine_grid", t(2, 2, 3), [2, 3, 4, 5], align_corners=each(unset, False)),
    f("scaled_dot_product_attention", t(2, 3, 2, 4), t(2, 3, 2, 4), t(2, 3, 2, 4), is_causal=each(unset, True)),
    f("mse_loss", t(2, 3), t(2, 3, seed=1, grad=False), REDUCTION),
    f("l1_loss", t(2, 3), t(2, 3, seed=1, grad=False), REDUCTION),
    f("smooth_l1_loss", t(2, 3), t(2, 3, seed=1, grad=False), REDUCTION, delta=each(unset, 0.5)),
    f("kl_div", t(2, 3), t(2, 3, values="probability", grad=False), each(unset, "sum", "none", "batchmean")),
    f("binary_cross_entropy", t(2, 3, values="probability"), t(2, 3, values="probability", seed=1, grad=False)),
    f("binary_cross_entropy_with_logits", t(2, 3), t(2, 3, values="probability", grad=False), reduction=REDUCTION),
    f("nll_loss", t(4, 5), CLASSES, ignore_index=each(unset, 2), reduction=REDUCTION),
    f("cross_entropy", t(4, 5), CLASSES, ignore_index=each(unset, 2), label_smoothing=each(unset, 0.1)),
    f("cross_entropy", t(4, 5), CLASSES, t(5, values="positive", grad=False), reduction=REDUCTION),
    f("cross_entropy", t(4, 5), t(4, 5, values="probability", grad=False), soft_label=True, reduction=REDUCTION),
    f("cross_entropy", t(2, 5, 3), index(2, 3, below=5), axis=1),
    f("cross_entropy", t(2, 3, 4, 5), index(2, 3, 4, below=5), t(5, values="positive", grad=False), ignore_index=2),
    f("softmax_with_cross_entropy", t(4, 5), index(4, 1, below=5), return_softmax=each(unset, True)),
    f("margin_ranking_loss", t(4), t(4, seed=1), SIGNS, margin=each(unset, 0.3)),
    f("hinge_embedding_loss", t(4), SIGNS, margin=each(unset, 0.3)),
    f("cosine_embedding_loss", t(4, 3), t(4, 3, seed=1), SIGNS, margin=each(unset, 0.3)),
    f("triplet_margin_loss", t(4, 3), t(4, 3, seed=1), t(4, 3, seed=2), swap=each(unset, True)),
    f("soft_margin_loss", t(4), SIGNS),
    f("multi_margin_loss", t(4, 5), CLASSES, p=each(unset, 2)),
    f("poisson_nll_loss", t(2, 3), t(2, 3, values="positive", grad=False), full=each(unset, True)),
    f("square_error_cost", t(2, 3), t(2, 3, seed=1)),
    f("log_loss", t(4, 1, values="probability"), t(4, 1, values="probability", grad=False)).loosely(1e-3),
    f("sigmoid_focal_loss", t(4, 5), t(4, 5, values="probability", grad=False), reduction=each("mean", "none")),
    f(
        "ctc_loss",
        t(6, 2, 5),
        index(2, 3, below=4, dtype="int32"),
        literal([6, 5], "int64"),
        literal([3, 2], "int64"),
        4,
    ),
]
