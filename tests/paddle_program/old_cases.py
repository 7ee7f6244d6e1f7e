"""Operators of PaddlePaddle 2 that 3 has no more, with inputs: what make_old.py makes files of."""

import numpy as np

R = np.random.default_rng(0)
F = "float32"
CASES = {}


def f(*shape, lo=-2, hi=2):
    return R.uniform(lo, hi, shape).astype(F)


def pos(*shape):
    return f(*shape, lo=0.1, hi=2)


def i64(*shape, hi=5):
    return R.integers(0, hi, shape).astype("int64")


def case(name, kind, inputs, outputs, attrs=None, params=()):
    """A case: arrays, or lists of them, by slots; dtypes of what is fetched, None of what is not, `=Slot` for an input
    that is written; params: slots of parameters."""
    CASES[name] = (kind, inputs, outputs, attrs or {}, params)


CONV = {
    "strides": [2, 2], "paddings": [1, 1], "dilations": [1, 1], "groups": 2, "padding_algorithm": "EXPLICIT",
    "data_format": "NCHW", "use_cudnn": False, "output_padding": [], "output_size": [],
}  # fmt: skip
SIZE = {
    "interp_method": "bilinear", "align_corners": True, "align_mode": 1, "out_h": 6, "out_w": 8, "out_d": -1,
    "scale": 0.0, "data_layout": "NCHW",
}  # fmt: skip

case("mul", "mul", {"X": f(3, 4), "Y": f(4, 5)}, {"Out": F}, {"x_num_col_dims": 1, "y_num_col_dims": 1})
case("mul_dims", "mul", {"X": f(2, 3, 4), "Y": f(4, 5, 2)}, {"Out": F}, {"x_num_col_dims": 2, "y_num_col_dims": 1})
case("mul_flat", "mul", {"X": f(3, 2, 2), "Y": f(2, 2, 5)}, {"Out": F}, {"x_num_col_dims": 1, "y_num_col_dims": 2})
case(
    "matmul",
    "matmul",
    {"X": f(3, 4), "Y": f(4, 5)},
    {"Out": F},
    {"transpose_X": False, "transpose_Y": False, "alpha": 1.0},
)
case(
    "matmul_t",
    "matmul",
    {"X": f(2, 4, 3), "Y": f(2, 5, 4)},
    {"Out": F},
    {"transpose_X": True, "transpose_Y": True, "alpha": 0.5},
)
case(
    "matmul_vec",
    "matmul",
    {"X": f(4), "Y": f(4)},
    {"Out": F},
    {"transpose_X": False, "transpose_Y": False, "alpha": 2.0},
)
case(
    "fc",
    "fc",
    {"Input": f(3, 4), "W": f(4, 5), "Bias": f(5)},
    {"Out": F},
    {"in_num_col_dims": 1, "activation_type": "relu"},
    ("W", "Bias"),
)
case(
    "fc_2", "fc", {"Input": f(2, 3, 4), "W": f(4, 5)}, {"Out": F}, {"in_num_col_dims": 2, "activation_type": ""}, ("W",)
)
case("reshape", "reshape", {"X": f(2, 6)}, {"Out": F}, {"shape": [3, -1]})
case("reshape0", "reshape", {"X": f(2, 6)}, {"Out": F}, {"shape": [0, 2, 3]})
case("flatten2", "flatten2", {"X": f(2, 3, 4)}, {"Out": F, "XShape": None}, {"axis": 1})
case("flatten2_0", "flatten2", {"X": f(2, 3, 4)}, {"Out": F, "XShape": None}, {"axis": 0})
case("transpose", "transpose", {"X": f(2, 3, 4)}, {"Out": F}, {"axis": [2, 0, 1]})
case("expand", "expand", {"X": f(2, 3)}, {"Out": F}, {"expand_times": [2, 2]})
case("expand_as_v2", "expand_as_v2", {"X": f(1, 3), "Y": f(4, 3)}, {"Out": F}, {"target_shape": [4, 3]})
case("crop", "crop", {"X": f(4, 5)}, {"Out": F}, {"offsets": [1, 2], "shape": [2, 3]})
case("reverse", "reverse", {"X": f(2, 3)}, {"Out": F}, {"axis": [1]})
case("shuffle_channel", "shuffle_channel", {"X": f(1, 6, 2, 2)}, {"Out": F}, {"group": 3})
case(
    "lookup_table",
    "lookup_table",
    {"W": f(6, 3), "Ids": i64(4, 1)},
    {"Out": F},
    {"padding_idx": -1, "is_sparse": False, "is_distributed": False},
    ("W",),
)
case(
    "lookup_table_pad",
    "lookup_table",
    {"W": f(6, 3), "Ids": i64(4, 1)},
    {"Out": F},
    {"padding_idx": 2, "is_sparse": False, "is_distributed": False},
    ("W",),
)
case(
    "shard_index",
    "shard_index",
    {"X": i64(4, 1, hi=20)},
    {"Out": "int64"},
    {"index_num": 20, "nshards": 2, "shard_id": 0, "ignore_value": -1},
)
case("minus", "minus", {"X": f(4), "Y": f(4)}, {"Out": F}, {})
case("norm", "norm", {"X": f(2, 3)}, {"Out": F, "Norm": None}, {"axis": 1, "epsilon": 1e-10})
case("l1_norm", "l1_norm", {"X": f(2, 3)}, {"Out": F})
case("top_k", "top_k", {"X": f(2, 5)}, {"Out": F, "Indices": "int64"}, {"k": 2})
case("unique", "unique", {"X": i64(8)}, {"Out": "int64", "Index": "int32"}, {"dtype": 2})
case("isinf", "isinf", {"X": f(3)}, {"Out": "bool"})
case("isnan", "isnan", {"X": f(3)}, {"Out": "bool"})
case("fill_zeros_like", "fill_zeros_like", {"X": f(2, 3)}, {"Out": F})
case(
    "fill_constant_batch_size_like",
    "fill_constant_batch_size_like",
    {"Input": f(4, 3)},
    {"Out": F},
    {"shape": [-1, 7], "value": 2.0, "dtype": 5, "input_dim_idx": 0, "output_dim_idx": 0, "str_value": "2.0"},
)
case("fill_any", "fill_any", {"X": f(2, 3)}, {"Out": F}, {"value_float": 2.0, "value_int": 0})
case(
    "depthwise_conv2d_transpose",
    "depthwise_conv2d_transpose",
    {"Input": f(1, 2, 4, 4), "Filter": f(2, 1, 3, 3)},
    {"Output": F},
    CONV,
    ("Filter",),
)
case("row_conv", "row_conv", {"X": f(2, 5, 3), "Filter": f(2, 3)}, {"Out": F}, {}, ("Filter",))
case("spp", "spp", {"X": f(1, 2, 4, 4)}, {"Out": F}, {"pyramid_height": 2, "pooling_type": "max"})
case(
    "data_norm",
    "data_norm",
    {"X": f(2, 3), "BatchSize": pos(3) + 1, "BatchSum": f(3), "BatchSquareSum": pos(3)},
    {"Y": F, "Means": None, "Scales": None},
    {"epsilon": 1e-4, "data_layout": "NCHW", "slot_dim": -1, "enable_scale_and_shift": False},
    ("BatchSize", "BatchSum", "BatchSquareSum"),
)
case(
    "lrn",
    "lrn",
    {"X": f(1, 6, 3, 3)},
    {"Out": F, "MidOut": None},
    {"n": 5, "k": 1.0, "alpha": 1e-4, "beta": 0.75, "data_format": "NCHW"},
)
case(
    "affine_channel",
    "affine_channel",
    {"X": f(1, 3, 2, 2), "Scale": f(3), "Bias": f(3)},
    {"Out": F},
    {"data_layout": "NCHW"},
    ("Scale", "Bias"),
)
case(
    "dropout_nd",
    "dropout_nd",
    {"X": f(2, 3)},
    {"Out": F, "Mask": None},
    {
        "dropout_prob": 0.3,
        "is_test": True,
        "dropout_implementation": "upscale_in_train",
        "fix_seed": False,
        "seed": 0,
        "axis": [0],
    },
)
case(
    "cross_entropy",
    "cross_entropy",
    {"X": pos(3, 4) / 4, "Label": i64(3, 1, hi=4)},
    {"Y": F},
    {"soft_label": False, "ignore_index": -100},
)
case(
    "cross_entropy_soft",
    "cross_entropy",
    {"X": pos(3, 4) / 4, "Label": pos(3, 4) / 4},
    {"Y": F},
    {"soft_label": True, "ignore_index": -100},
)
case(
    "cross_entropy2",
    "cross_entropy2",
    {"X": pos(3, 4) / 4, "Label": i64(3, 1, hi=4)},
    {"Y": F, "XShape": None, "MatchX": None},
    {"ignore_index": -100},
)
case("hinge_loss", "hinge_loss", {"Logits": f(3, 1), "Labels": (f(3, 1) > 0).astype(F)}, {"Loss": F})
case(
    "modified_huber_loss",
    "modified_huber_loss",
    {"X": f(3, 1), "Y": (f(3, 1) > 0).astype(F)},
    {"IntermediateVal": None, "Out": F},
)
case("rank_loss", "rank_loss", {"Label": (f(3, 1) > 0).astype(F), "Left": f(3, 1), "Right": f(3, 1)}, {"Out": F})
case("bpr_loss", "bpr_loss", {"X": pos(3, 4), "Label": i64(3, 1, hi=4)}, {"Y": F})
case(
    "teacher_student",
    "teacher_student_sigmoid_loss",
    {"X": f(3, 1), "Label": f(3, 1, lo=-1.5, hi=1)},
    {"Y": F},
    {"soft_max_up_bound": 15.0, "soft_max_lower_bound": -15.0},
)
case(
    "auc",
    "auc",
    {
        "Predict": np.array([[0.3, 0.7], [0.6, 0.4], [0.2, 0.8], [0.9, 0.1]], F),
        "Label": np.array([[1], [0], [0], [1]], "int64"),
        "StatPos": np.zeros((1, 4096), "int64"),
        "StatNeg": np.zeros((1, 4096), "int64"),
    },
    {"AUC": "float64", "StatPosOut": "=StatPos", "StatNegOut": "=StatNeg"},
    {"curve": "ROC", "num_thresholds": 4095, "slide_steps": 0},
    ("StatPos", "StatNeg"),
)
case("bilinear_interp", "bilinear_interp", {"X": f(1, 2, 3, 4)}, {"Out": F}, SIZE)
case(
    "nearest_interp",
    "nearest_interp",
    {"X": f(1, 2, 3, 4)},
    {"Out": F},
    {**SIZE, "interp_method": "nearest", "align_corners": False},
)
case("bicubic_interp", "bicubic_interp", {"X": f(1, 2, 3, 4)}, {"Out": F}, {**SIZE, "interp_method": "bicubic"})
case(
    "linear_interp",
    "linear_interp",
    {"X": f(1, 2, 5)},
    {"Out": F},
    {**SIZE, "interp_method": "linear", "out_w": 9, "out_h": -1},
)
case(
    "trilinear_interp",
    "trilinear_interp",
    {"X": f(1, 2, 3, 3, 3)},
    {"Out": F},
    {**SIZE, "interp_method": "trilinear", "out_d": 5, "out_h": 5, "out_w": 4},
)
case(
    "anchor_generator",
    "anchor_generator",
    {"Input": f(1, 2, 2, 2)},
    {"Anchors": F, "Variances": F},
    {
        "anchor_sizes": [32.0, 64.0],
        "aspect_ratios": [0.5, 1.0],
        "variances": [0.1, 0.1, 0.2, 0.2],
        "stride": [16.0, 16.0],
        "offset": 0.5,
    },
)
case(
    "iou_similarity",
    "iou_similarity",
    {"X": np.sort(pos(2, 4), 1), "Y": np.sort(pos(3, 4), 1)},
    {"Out": F},
    {"box_normalized": True},
)
case("polygon_box", "polygon_box_transform", {"Input": f(1, 8, 2, 2)}, {"Output": F})
case("fsp", "fsp", {"X": f(1, 2, 3, 3), "Y": f(1, 4, 3, 3)}, {"Out": F})
case("add_position_encoding", "add_position_encoding", {"X": f(2, 3, 4)}, {"Out": F}, {"alpha": 1.0, "beta": 0.5})
case("cvm", "cvm", {"X": pos(2, 5), "CVM": pos(2, 2)}, {"Y": F}, {"use_cvm": True})
case(
    "gru_unit",
    "gru_unit",
    {"Input": f(2, 9), "HiddenPrev": f(2, 3), "Weight": f(3, 9), "Bias": f(1, 9)},
    {"Gate": None, "ResetHiddenPrev": None, "Hidden": F},
    {"activation": 2, "gate_activation": 1, "origin_mode": False},
    ("Weight", "Bias"),
)
case("fq_abs_max", "fake_quantize_abs_max", {"X": f(3, 4)}, {"Out": F, "OutScale": F}, {"bit_length": 8})
case("fqd_abs_max", "fake_quantize_dequantize_abs_max", {"X": f(3, 4)}, {"Out": F, "OutScale": F}, {"bit_length": 8})
case(
    "fcwqd",
    "fake_channel_wise_quantize_dequantize_abs_max",
    {"X": f(3, 4)},
    {"Out": F, "OutScale": F},
    {"bit_length": 8, "quant_axis": 0},
)
case(
    "fdeq",
    "fake_dequantize_max_abs",
    {"X": np.round(f(3, 4) * 50), "Scale": np.array([0.7], F)},
    {"Out": F},
    {"max_range": 127.0},
    ("Scale",),
)
case(
    "fcwdeq",
    "fake_channel_wise_dequantize_max_abs",
    {"X": np.round(f(3, 4) * 50), "Scales": [pos(3)]},
    {"Out": F},
    {"quant_bits": [8], "quant_axis": 0, "x_num_col_dims": 1},
    ("Scales",),
)
case(
    "quantize_linear",
    "quantize_linear",
    {"X": f(3, 4), "Scale": np.array([1.5], F), "ZeroPoint": np.array([0], F)},
    {"Y": F},
    {"quant_axis": -1, "bit_length": 8, "round_type": 0, "is_test": True, "only_observer": False},
    ("Scale", "ZeroPoint"),
)
case(
    "dequantize_linear",
    "dequantize_linear",
    {"X": np.round(f(3, 4) * 50), "Scale": np.array([1.5], F), "ZeroPoint": np.array([0], F)},
    {"Y": F},
    {"quant_axis": -1, "bit_length": 8, "round_type": 0, "is_test": True, "only_observer": False},
    ("Scale", "ZeroPoint"),
)
case(
    "fqma",
    "fake_quantize_dequantize_moving_average_abs_max",
    {"X": f(3, 4), "InScale": np.array([1.5], F)},
    {"Out": F, "OutScale": "=InScale"},
    {"bit_length": 8, "is_test": True, "moving_rate": 0.9},
    ("InScale",),
)
case(
    "maos",
    "moving_average_abs_max_scale",
    {"X": f(3, 4)},
    {"Out": F, "OutScale": None},
    {"is_test": True, "moving_rate": 0.9},
)
case(
    "fused_elemwise",
    "fused_elemwise_activation",
    {"X": f(2, 3), "Y": f(2, 3)},
    {"Out": F, "IntermediateOut": None},
    {"functor_list": ["elementwise_add", "relu"], "axis": -1, "scale": 1.0, "save_intermediate_out": False},
)
case("partial_concat", "partial_concat", {"X": [f(2, 4), f(2, 4)]}, {"Out": F}, {"start_index": 1, "length": 2})
case("partial_sum", "partial_sum", {"X": [f(2, 4), f(2, 4)]}, {"Out": F}, {"start_index": 1, "length": 2})
case(
    "unique_with_counts",
    "unique_with_counts",
    {"X": i64(8)},
    {"Out": "int64", "Index": "int32", "Count": "int32"},
    {"dtype": 2},
)
case("soft_relu", "soft_relu", {"X": f(2, 3)}, {"Out": F}, {"threshold": 2.0})
