"""What Paddle's operators take attributes to be that nobody names: facts of its programs' format.

Files name every attribute, but code that appends operators by hand does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Operators of the same attributes stand together.
_TABLE: Mapping[str, Mapping[str, Any]] = {
    "elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_max elementwise_min "
    "elementwise_mod elementwise_floordiv elementwise_pow equal not_equal less_than less_equal "
    "greater_than greater_equal softmax log_softmax": {"axis": -1},
    "nearest_interp_v2 linear_interp_v2 bilinear_interp_v2 trilinear_interp_v2 bicubic_interp_v2": {
        "align_corners": True, "align_mode": 1, "data_layout": "NCHW", "interp_method": "bilinear", "out_d": 0,
        "out_h": 0, "out_w": 0, "scale": [],
    },
    "scale": {"bias": 0.0, "bias_after_scale": True, "scale": 1.0},
    "pow": {"factor": 1.0},
    "elu celu": {"alpha": 1.0},
    "selu": {"alpha": 1.6732632, "scale": 1.050701},
    "gelu": {"approximate": False},
    "mish": {"threshold": 20.0},
    "leaky_relu": {"alpha": 0.02},
    "hard_swish": {"offset": 3.0, "scale": 6.0, "threshold": 6.0},
    "hard_sigmoid": {"offset": 0.5, "slope": 0.2},
    "brelu": {"t_max": 24.0, "t_min": 0.0},
    "hard_shrink": {"threshold": 0.5},
    "softshrink": {"lambda": 0.5},
    "thresholded_relu": {"threshold": 1.0, "value": 0.0},
    "softplus": {"beta": 1.0, "threshold": 20.0},
    "logit": {"eps": 1e-06},
    "prelu": {"data_format": "NCHW", "mode": "all"},
    "dropout": {"dropout_implementation": "downgrade_in_infer", "dropout_prob": 0.5, "is_test": False},
    "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_all reduce_any reduce_amax "
    "reduce_amin frobenius_norm": {"dim": [0], "keep_dim": False, "out_dtype": -1, "reduce_all": False},
    "logsumexp": {"axis": [], "keepdim": False, "reduce_all": False},
    "p_norm": {"asvector": False, "axis": -1, "epsilon": 1e-12, "keepdim": False, "porder": 2.0},
    "arg_max arg_min": {"dtype": 3, "flatten": False, "keepdims": False},
    "argsort": {"axis": -1, "descending": False, "stable": False},
    "top_k_v2": {"axis": -1, "k": 1, "largest": True, "sorted": True},
    "cumsum logcumsumexp": {"axis": -1, "exclusive": False, "flatten": False, "reverse": False},
    "cumprod": {"exclusive": False, "reverse": False},
    "matmul_v2": {"trans_x": False, "trans_y": False},
    "addmm": {"Alpha": 1.0, "Beta": 1.0},
    "reshape2 expand_v2": {"shape": []},
    "squeeze2 unsqueeze2": {"axes": []},
    "concat stack unbind gather index_add": {"axis": 0},
    "split": {"axis": 0, "num": 0, "sections": []},
    "unstack": {"axis": 0, "num": 0},
    "tile": {"repeat_times": []},
    "roll": {"axis": [], "shifts": []},
    "index_select": {"dim": 0},
    "put_along_axis": {"Include_self": True, "Reduce": "assign"},
    "scatter": {"overwrite": True},
    "slice": {"decrease_axis": [], "ends": [], "infer_flags": [], "starts": []},
    "strided_slice": {"decrease_axis": [], "ends": [], "infer_flags": [], "starts": [], "strides": []},
    "set_value": {"decrease_axes": [], "dtype": 5, "ends": [], "none_axes": [], "shape": [], "starts": [], "steps": []},
    "fill_constant": {"dtype": 5, "force_cpu": False, "place_type": -1, "shape": [], "value": 0.0},
    "fill_any_like": {"dtype": -1, "value": 0.0},
    "eye": {"dtype": 5, "num_columns": -1},
    "tril_triu": {"diagonal": 0, "lower": False},
    "one_hot_v2": {"allow_out_of_range": False, "depth": -1, "dtype": 5},
    "lookup_table_v2": {"padding_idx": -1},
    "conv2d depthwise_conv2d": {
        "data_format": "NCHW", "dilations": [1, 1], "groups": 1, "padding_algorithm": "EXPLICIT", "paddings":
        [0, 0], "strides": [1, 1],
    },
    "conv3d": {
        "data_format": "NCDHW", "dilations": [1, 1, 1], "groups": 1, "padding_algorithm": "EXPLICIT",
        "paddings": [0, 0, 0], "strides": [1, 1, 1],
    },
    "conv2d_transpose depthwise_conv2d_transpose": {
        "data_format": "NCHW", "dilations": [1, 1], "groups": 1, "output_padding": [], "output_size": [],
        "padding_algorithm": "EXPLICIT", "paddings": [0, 0], "strides": [1, 1],
    },
    "pool2d": {
        "adaptive": False, "ceil_mode": False, "data_format": "NCHW", "exclusive": True, "global_pooling":
        False, "padding_algorithm": "EXPLICIT", "paddings": [0, 0], "pooling_type": "", "strides": [1, 1],
    },
    "pool3d": {
        "adaptive": False, "ceil_mode": False, "data_format": "NCDHW", "exclusive": True, "global_pooling":
        False, "padding_algorithm": "EXPLICIT", "paddings": [0, 0, 0], "pooling_type": "", "strides": [1, 1, 1],
    },
    "max_pool2d_with_index": {
        "adaptive": False, "ceil_mode": False, "global_pooling": False, "paddings": [0, 0], "strides": [1, 1],
    },
    "batch_norm": {
        "data_layout": "NCHW", "epsilon": 1e-05, "is_test": False, "momentum": 0.9, "trainable_statistics":
        False, "use_global_stats": False,
    },
    "layer_norm": {"begin_norm_axis": 1, "epsilon": 1e-05},
    "group_norm": {"data_layout": "NCHW", "epsilon": 1e-05, "groups": -1},
    "instance_norm": {"epsilon": 1e-05},
    "pad": {"pad_value": 0.0},
    "pad3d": {"data_format": "NCDHW", "mode": "constant", "value": 0.0},
    "pixel_shuffle": {"data_format": "NCHW", "upscale_factor": 1},
    "index_put": {"accumulate": False},
    "bincount": {"minlength": 0},
    "nms": {"iou_threshold": 1.0},
    "multiclass_nms3": {"background_label": 0, "nms_eta": 1.0, "nms_threshold": 0.3, "normalized": True},
    "matrix_nms": {
        "background_label": 0, "gaussian_sigma": 2.0, "normalized": True, "post_threshold": 0.0, "use_gaussian":
        False,
    },
    "prior_box": {
        "aspect_ratios": [], "clip": True, "flip": True, "max_sizes": [], "min_max_aspect_ratios_order": False,
        "offset": 0.5, "step_h": 0.0, "step_w": 0.0, "variances": [],
    },
    "box_coder": {"axis": 0, "box_normalized": True, "code_type": "encode_center_size", "variance": []},
    "distribute_fpn_proposals generate_proposals_v2": {"pixel_offset": True},
    "roi_align": {"aligned": False, "pooled_height": 1, "pooled_width": 1, "sampling_ratio": -1, "spatial_scale": 1.0},
    "psroi_pool": {"output_channels": 1, "pooled_height": 1, "pooled_width": 1, "spatial_scale": 1.0},
    "roi_pool": {"pooled_height": 1, "pooled_width": 1, "spatial_scale": 1.0},
    "yolo_box": {
        "anchors": [], "class_num": 1, "clip_bbox": True, "conf_thresh": 0.01, "downsample_ratio": 32,
        "iou_aware": False, "iou_aware_factor": 0.5, "scale_x_y": 1.0,
    },
    "cholesky": {"upper": False},
    "svd": {"full_matrices": False},
    "qr": {"mode": "reduced"},
    "eigh": {"UPLO": "L"},
    "triangular_solve": {"transpose": False, "unitriangular": False, "upper": True},
    "kthvalue": {"axis": -1, "k": 1, "keepdim": False},
    "mode": {"axis": -1, "keepdim": False},
    "searchsorted": {"out_int32": False, "right": False},
    "diag_embed": {"dim1": -2, "dim2": -1, "offset": 0},
    "diagonal": {"axis1": 0, "axis2": 1, "offset": 0},
    "softmax_with_cross_entropy": {
        "axis": -1, "ignore_index": -100, "numeric_stable_mode": True, "soft_label": False, "use_softmax": True,
    },
    "uniform_random": {"dtype": 5, "max": 1.0, "min": -1.0, "seed": 0, "shape": []},
    "gaussian_random": {"dtype": 5, "mean": 0.0, "seed": 0, "std": 1.0},
    "randint": {"dtype": 3, "seed": 0},
    "randperm": {"dtype": 3},
    "multinomial": {"replacement": False},
    "exponential": {"lambda": 1.0},
    "increment": {"step": 1.0},
    "huber_loss": {"delta": 1.0},
    "momentum": {
        "use_nesterov": False, "regularization_method": "", "regularization_coeff": 0.0, "rescale_grad": 1.0,
    },
}  # fmt: skip
DEFAULTS: Mapping[str, Mapping[str, Any]] = {kind: held for kinds, held in _TABLE.items() for kind in kinds.split()}
