"""Bad calls of what layers are made of: the same error when eager and when recorded, naming what was given."""

import numpy as np
import pytest

from vitrify import to_tensor
from vitrify.core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from vitrify.nn import functional as F
from vitrify.ops.viterbi import viterbi_decode
from vitrify.static import Program, data, program_guard
from vitrify.testing import check_error, floats, ints

X, W = floats(2, 3, 6, 7), floats(4, 3, 3, 3)
X1, M = floats(2, 3, 5), floats(3)
ERRORS = [
    (
        F.conv2d,
        (X, floats(4, 2, 3, 3)),
        ShapeError,
        ["conv2d: x float64[2, 3, 6, 7] has 3 channels", "expects 2", "hint"],
    ),
    (F.conv2d, (X1, W), ShapeError, ["conv2d: x is float64[2, 3, 5], expected 4 dimensions"]),
    (F.conv2d, (X, X1), ShapeError, ["conv2d: weight is float64[2, 3, 5]"]),
    (F.conv2d, (X, W.astype("float32")), DTypeError, ["conv2d: x is float64", "weight is float32", "dtypes differ"]),
    (F.conv2d, (ints(1, 1, 3, 3), W), DTypeError, ["conv2d: x is int64[1, 1, 3, 3], expected a floating dtype"]),
    (F.conv2d, (X, W, floats(3)), ShapeError, ["conv2d: bias is float64[3], expected [4]"]),
    (F.conv2d, (X, floats(4, 3, 9, 3)), ShapeError, ["conv2d: the window [9, 3] is larger than the padded x"]),
    (lambda x, w: F.conv1d(x, w, dilation=6), (X1, floats(4, 3, 2)), ShapeError, ["conv1d: the window [2] is larger"]),
    (
        F.conv2d,
        (floats(2, 4, 6, 7), floats(3, 2, 3, 3), None, 1, 0, 1, 2),
        ShapeError,
        ["3 output channels", "groups=2"],
    ),
    (lambda x, w: F.conv2d(x, w, stride=0), (X, W), ArgumentError, ["conv2d: stride must be at least 1, got 0"]),
    (lambda x, w: F.conv2d(x, w, padding=-1), (X, W), ArgumentError, ["conv2d: padding must be at least 0, got -1"]),
    (lambda x, w: F.conv2d(x, w, padding="FULL"), (X, W), ArgumentError, ["'SAME', 'VALID' or ints, got 'FULL'"]),
    (lambda x, w: F.conv2d(x, w, padding=[1, 2, 3]), (X, W), ArgumentError, ["padding must be an int or 2 ints"]),
    (
        lambda x, w: F.conv2d(x, w, padding=[[1, 1], [0, 1]]),
        (X, W),
        ArgumentError,
        ["padding as pairs needs 4 of them"],
    ),
    (lambda x, w: F.conv2d(x, w, groups=0), (X, W), ArgumentError, ["conv2d: groups must be at least 1"]),
    (lambda x, w: F.conv2d(x, w, data_format="NCWH"), (X, W), ArgumentError, ["one of NCHW, NHWC, got 'NCWH'"]),
    (F.conv2d_transpose, (X, W), ShapeError, ["conv2d_transpose: x float64[2, 3, 6, 7] has 3 channels", "expects 4"]),
    (
        lambda x, w: F.conv2d_transpose(x, w, output_padding=1),
        (X, floats(3, 4, 3, 3)),
        ArgumentError,
        ["output_padding must be less than stride or dilation, got [1, 1]"],
    ),
    (
        lambda x, w: F.conv2d_transpose(x, w, stride=2, output_size=[9, 9]),
        (X, floats(3, 4, 3, 3)),
        ArgumentError,
        ["output_size must lie in [13, 15), got 9"],
    ),
    (
        lambda x, w: F.conv2d_transpose(x, w, stride=2, output_size=[9]),
        (X, floats(3, 4, 3, 3)),
        ArgumentError,
        ["output_size"],
    ),
    (
        lambda x, w: F.conv2d_transpose(x, w, stride=2, output_padding=1, output_size=[13, 15]),
        (X, floats(3, 4, 3, 3)),
        ArgumentError,
        ["output_padding and output_size exclude each other"],
    ),
    (
        lambda x, w: F.conv2d_transpose(x, w, padding=9),
        (X, floats(3, 4, 3, 3)),
        ShapeError,
        ["padding leaves no output"],
    ),
    (F.max_pool2d, (X1, 2), ShapeError, ["max_pool2d: x is float64[2, 3, 5], expected 4 dimensions"]),
    (lambda x: F.max_pool1d(x, 7, 1), (X1,), ShapeError, ["max_pool1d: the window [7] is larger than the padded x"]),
    (lambda x: F.max_pool2d(x, 9, 1), (X,), ShapeError, ["max_pool2d: the window [9, 9] is larger than the padded x"]),
    (F.max_pool2d, (X, [2, 2, 2]), ArgumentError, ["kernel_size must be an int or 2 ints"]),
    (lambda x: F.max_pool2d(x, 2, padding="VALID", ceil_mode=True), (X,), ArgumentError, ["exclude each other"]),
    (lambda x: F.max_pool2d(x, 2, return_mask=True, data_format="NHWC"), (X,), ArgumentError, ["needs channels first"]),
    (
        lambda x: F.avg_pool2d(x, 2, divisor_override=0),
        (X,),
        ArgumentError,
        ["divisor_override must be a number other"],
    ),
    (F.lp_pool2d, (X, 0, 2), ArgumentError, ["lp_pool2d: norm_type must not be 0"]),
    (F.lp_pool1d, ([1.0], 2, 2), DTypeError, ["lp_pool1d: x must be a tensor, got list"]),
    (F.adaptive_avg_pool2d, (X, [2, 2, 2]), ArgumentError, ["output_size must be an int or 2 ints"]),
    (F.adaptive_max_pool2d, (X, -2), ArgumentError, ["output_size must not be negative"]),
    (F.adaptive_max_pool2d, (X, [2, -1]), ArgumentError, ["output_size must not be negative, got [2, -1]"]),
    (
        lambda x: F.fractional_max_pool2d(x, 3, random_u=1.0),
        (X,),
        ArgumentError,
        ["random_u must lie in (0, 1), got 1.0"],
    ),
    (F.fractional_max_pool2d, (X, 7), ArgumentError, ["7 windows of 1 do not fit into size 6"]),
    (F.max_unpool2d, (X, X, 2), DTypeError, ["max_unpool2d: indices is float64"]),
    (F.max_unpool2d, (X, ints(2, 3, 6, 6), 2), ShapeError, ["shapes differ"]),
    (F.max_unpool2d, (X, ints(2, 3, 5), 2), ShapeError, ["expected 4 dimensions each"]),
    (
        lambda x, i: F.max_unpool2d(x, i, 2, output_size=[99, 14]),
        (X, ints(2, 3, 6, 7)),
        ArgumentError,
        ["output_size must lie within a stride of [12, 14], got [99, 14]"],
    ),
    (lambda x, i: F.max_unpool2d(x, i, 2, data_format="NHWC"), (X, ints(2, 3, 6, 7)), ArgumentError, ["must be NCHW"]),
    (F.layer_norm, (X, [6]), ShapeError, ["layer_norm: normalized_shape is [6]", "expected [*, 6]"]),
    (F.layer_norm, (X, [7], floats(6)), ShapeError, ["layer_norm: weight is float64[6]", "needs 7 values"]),
    (F.layer_norm, (X, [7], ints(7)), DTypeError, ["layer_norm: weight is int64[7], expected a floating dtype"]),
    (F.layer_norm, (ints(2, 7), [7]), DTypeError, ["layer_norm: x is int64[2, 7]"]),
    (F.group_norm, (X, 2), ShapeError, ["cannot be divided into 2 groups"]),
    (F.group_norm, (X, 0), ArgumentError, ["num_groups must be at least 1"]),
    (F.batch_norm, (X, floats(4), floats(4)), ShapeError, ["running_mean is float64[4]", "has 3 channels"]),
    (
        lambda x, m, v: F.batch_norm(x, m, v, training=True),
        (X, M, floats(2)),
        ShapeError,
        ["running_var is float64[2]"],
    ),
    (lambda x, m: F.batch_norm(x, m, m, data_format="CHW"), (X, M), ArgumentError, ["data_format must be one of"]),
    (F.instance_norm, (M,), ShapeError, ["instance_norm: x has shape [3], expected at least 2 dimensions"]),
    (F.local_response_norm, (floats(2, 3), 3), ShapeError, ["expected at least 3 dimensions"]),
    (F.local_response_norm, (X, 0), ArgumentError, ["size must be at least 1"]),
    (F.linear, (X1, floats(4, 5)), ShapeError, ["linear: inner sizes differ", "(5 != 4)", "hint"]),
    (F.linear, (X1, floats(5, 4), floats(3)), ShapeError, ["linear: bias is float64[3], expected [4]"]),
    (F.linear, (X1, floats(5, 4).astype("float32")), DTypeError, ["weight is float32[5, 4]: dtypes differ"]),
    (F.bilinear, (X1, X1, X1), ShapeError, ["bilinear: x1, x2 and weight have shapes"]),
    (F.embedding, (X1, floats(4, 2)), DTypeError, ["embedding: x is float64[2, 3, 5], expected integers"]),
    (F.embedding, (ints(3), M), ShapeError, ["embedding: weight is float64[3], expected 2 dimensions"]),
    (lambda i, w: F.embedding(i, w, padding_idx=4), (ints(3), floats(4, 2)), ArgumentError, ["lie in [-4, 4), got 4"]),
    (F.label_smooth, (X1, None, 2.0), ArgumentError, ["epsilon must lie in [0, 1], got 2.0"]),
    (F.dropout, (X, 1.5), ArgumentError, ["dropout: p must lie in [0, 1], got 1.5"]),
    (F.dropout, (X, "half"), DTypeError, ["dropout: p must be a number, got str"]),
    (F.dropout, (ints(3),), DTypeError, ["dropout: x is int64[3], expected a floating dtype"]),
    (lambda x: F.dropout(x, mode="scale"), (X,), ArgumentError, ["mode must be 'upscale_in_train'"]),
    (F.dropout2d, (X1,), ShapeError, ["dropout2d: x has shape [2, 3, 5], expected 4 dimensions"]),
    (lambda x: F.dropout2d(x, data_format="NCL"), (X,), ArgumentError, ["data_format must be one of NCHW, NHWC"]),
    (F.dropout1d, (X,), ShapeError, ["dropout1d: input has shape"]),
    (F.feature_alpha_dropout, (M,), ShapeError, ["expected at least 2 dimensions"]),
    (
        F.cross_entropy,
        (X1, ints(2, 2)),
        ShapeError,
        ["cross_entropy: input is float64[2, 3, 5], label is int64[2, 2, 1]"],
    ),
    (F.cross_entropy, (X1, ints(3)), ShapeError, ["label has 1 dimensions, expected 2 or 3"]),
    (
        lambda x, y: F.cross_entropy(x, y, reduction="max"),
        (X1, ints(2, 3)),
        ArgumentError,
        ["reduction must be one of"],
    ),
    (lambda x, y: F.cross_entropy(x, y, soft_label=True), (X1, ints(2, 3, 5)), DTypeError, ["expected a floating"]),
    (lambda x, y: F.cross_entropy(x, y, ignore_index=1, soft_label=True), (X1, X1), ArgumentError, ["ignore_index"]),
    (
        lambda x, y: F.cross_entropy(x, y, label_smoothing=2),
        (X1, ints(2, 3)),
        ArgumentError,
        ["label_smoothing must lie"],
    ),
    (F.cross_entropy, (np.array(1.0), ints(1)), ShapeError, ["input has no dimension of classes"]),
    (F.cross_entropy, (ints(2, 3), ints(2)), DTypeError, ["cross_entropy: input is int64[2, 3]"]),
    (F.nll_loss, (X1, ints(2, 3)), ShapeError, ["nll_loss: input has shape [2, 3, 5], label [2, 3]"]),
    (F.scaled_dot_product_attention, (X, X1, X), ShapeError, ["have 4, 3 and 4 dimensions"]),
    (
        F.scaled_dot_product_attention,
        (floats(1, 2, 4, 3), floats(1, 2, 3, 3), floats(1, 2, 3, 3)),
        ShapeError,
        ["4 query heads do not share 3 key and value heads evenly"],
    ),
    (lambda q: F.flash_attention.flash_attention(q, q, q, return_softmax=True), (X,), ArgumentError, ["not offered"]),
    (F.flash_attn_qkvpacked, (X,), ShapeError, ["expected [b, s, h / g + 2, g, d]"]),
    (F.grid_sample, (X, floats(2, 4, 4, 3)), ShapeError, ["grid_sample: x is float64[2, 3, 6, 7], grid is"]),
    (F.grid_sample, (X, floats(1, 4, 4, 2)), ShapeError, ["batches differ (2 != 1)"]),
    (F.grid_sample, (X, floats(2, 4, 4, 2).astype("float32")), DTypeError, ["expected one floating dtype"]),
    (lambda x, g: F.grid_sample(x, g, "cubic"), (X, floats(2, 4, 4, 2)), ArgumentError, ["mode must be one of"]),
    (F.affine_grid, (floats(2, 2, 3), [2, 3, 4]), ShapeError, ["affine_grid: theta has shape [2, 2, 3]"]),
    (F.temporal_shift, (X1, 2), ShapeError, ["temporal_shift: x has shape [2, 3, 5], expected 4 dimensions"]),
    (lambda x: F.temporal_shift(x, 2, 0.7), (X,), ArgumentError, ["shift_ratio must lie in [0, 0.5]"]),
    (lambda x: F.temporal_shift(x, 2, data_format="NCL"), (X,), ArgumentError, ["data_format must be one of"]),
    (F.ctc_loss, (X, ints(2, 3), ints(2), ints(2)), ShapeError, ["ctc_loss: log_probs is", "expected [t, b, c]"]),
    (F.ctc_loss, (floats(4, 2, 3), ints(2, 3), ints(2), ints(3)), ShapeError, ["label_lengths is int64[3]"]),
    (F.ctc_loss, (floats(4, 2, 3), floats(2, 3), ints(2), ints(2)), DTypeError, ["labels is float64[2, 3]"]),
    (
        F.ctc_loss,
        (floats(4, 2, 3), ints(2, 3), ints(2), ints(2), 3),
        ArgumentError,
        ["blank must lie in [0, 3), got 3"],
    ),
    (F.rnnt_loss, (X1, ints(2, 3), ints(2), ints(2)), ShapeError, ["rnnt_loss: input is", "expected [b, t, u + 1, c]"]),
    (F.rnnt_loss, (X, ints(2, 3), ints(2), ints(2)), ShapeError, ["expected 4 states"]),
    (F.hsigmoid_loss, (X1, ints(2), 1, X1), ArgumentError, ["num_classes must be at least 2, got 1"]),
    (F.hsigmoid_loss, (floats(2, 3), floats(2, 1), 3, floats(2, 3)), DTypeError, ["label is float64[2, 1]"]),
    (
        lambda x, y, w: F.hsigmoid_loss(x, y, 3, w, path_code=y),
        (floats(2, 3), ints(2, 1), floats(2, 3)),
        ArgumentError,
        ["path_table and path_code must be given together"],
    ),
    (F.adaptive_log_softmax_with_loss, (X1, ints(2), X1, [], [2]), ShapeError, ["expected [n, d] and [n]"]),
    (F.class_center_sample, (ints(4), 5, 6), ArgumentError, ["num_samples must lie in [1, 5], got 6"]),
    (F.class_center_sample, (floats(4), 5, 3), ShapeError, ["expected 1 dimension of integers"]),
    (F.gather_tree, (ints(2, 3), ints(2, 3)), ShapeError, ["gather_tree: ids is int64[2, 3]"]),
    (F.gather_tree, (ints(2, 3, 2), floats(2, 3, 2)), DTypeError, ["gather_tree: parents is float64"]),
    (viterbi_decode, (floats(3, 2), floats(2, 2), ints(3)), ShapeError, ["potentials is float64[3, 2]"]),
    (viterbi_decode, (floats(3, 4, 2), floats(3, 3), ints(3)), ShapeError, ["tags or of sequences differs"]),
    (viterbi_decode, (floats(3, 4, 2), floats(2, 2), ints(2)), ShapeError, ["tags or of sequences differs"]),
    (viterbi_decode, (ints(3, 4, 2), floats(2, 2), ints(3)), DTypeError, ["int64[3, 4, 2]", "both floats"]),
    (viterbi_decode, (floats(3, 4, 2), floats(2, 2), floats(3)), DTypeError, ["viterbi_decode: lengths is float64[3]"]),
]


@pytest.mark.parametrize(("fn", "args", "error", "parts"), ERRORS, ids=lambda v: v if isinstance(v, str) else None)
def test_error(fn, args, error, parts):
    check_error(fn, args, error, *parts)


# What depends on values is found when they are there: eagerly, or when the program runs.
LATE = [
    (F.embedding, (np.array([4]), floats(4, 2)), ["embedding: id 4 is outside the table of 4 rows"]),
    (F.embedding, (np.array([-1]), floats(4, 2)), ["embedding: id -1 is outside"]),
    (F.cross_entropy, (floats(2, 3), np.array([1, 3])), ["cross_entropy: label 3 is outside [0, 3)"]),
    (F.cross_entropy, (floats(2, 3), np.array([-1, 2])), ["label -1 is outside [0, 3) and not ignore_index=-100"]),
    (
        F.max_unpool1d,
        (floats(1, 1, 2), np.array([[[0, 4]]]), 2),
        ["indices reach 4, an output of [4] ends at 3", "hint"],
    ),
    (F.hsigmoid_loss, (floats(1, 3), np.array([[3]]), 3, floats(2, 3)), ["label lies outside [0, 3)"]),
]


@pytest.mark.parametrize(("fn", "args", "parts"), LATE)
def test_error_of_values(fn, args, parts):
    tensors = [to_tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    with pytest.raises(IndexRangeError) as caught:
        fn(*tensors)
    assert all(part in str(caught.value) for part in parts), caught.value


def test_same_padding_of_unknown_sizes():
    with program_guard(Program(), Program()):
        x, w = data("x", [2, 3, None, 4], "float32"), data("w", [3, 2, 3, 3], "float32")
        assert F.conv2d_transpose(x, w, padding="SAME").shape == [2, 2, -1, 4]
        assert F.conv2d_transpose(x, w, stride=2, padding="SAME").shape == [2, 2, -1, 8]
        assert F.conv2d_transpose(x, data("k", [3, 2, None, 3], "float32"), padding="SAME").shape == [2, 2, -1, 4]
