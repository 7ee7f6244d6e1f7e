"""Why ops have no ONNX form: each op without one stands here."""

from __future__ import annotations

from ..ops.registry import OpDef, get_op
from .scalars import MISSING

_GRADIENT = "only gradients use it, and an exported model has none"
_TRAINING = "only training uses it: the model is exported in evaluation mode"
_OPTIMIZER = "it is an optimizer's step, and an exported model does not train"
_LINALG = "ONNX has no matrix decompositions or solvers"
_COMPLEX = "ONNX operators take no complex numbers"
_FOURIER = "its spectra are complex, and ONNX operators take no complex numbers"
_RAGGED = "how many results there are depends on the data in a way that no ONNX operator has"
_DETECTION = "ONNX has no operator for it, and its loops over boxes make no graph"
_IN_OTHERS = "it is written in other ops, as far as the sizes that it needs are known, else not at all"
_NESTED = "ONNX has no sequences of sequences"
_HOST = "it calls Python, which an ONNX model cannot"
_SAYS = "it prints and raises, which ONNX operators do not"
_LATE = "it calls a function with numbers that only a run knows, which are attributes in ONNX"
_PYTHON = "it computes with ints as long as they need to be, which ONNX has not"
_HASHED = "it finds keys as Python's dicts and sets do, by hash and order, which no ONNX operator does"
_FRAMES = "ONNX functions may not call themselves"
_RANDOM = "an ONNX runtime draws other random numbers, so results would differ"
_LOSS = "it sums over all alignments, which no ONNX operator does"
_RUNTIME = "the runtime puts it into programs as it runs them; those that are exported have none"
_SPECIAL = "ONNX has no operator for it"
_AXIS = "the axes of ONNX operators are attributes, known when the model is written"
_BYTES = "ONNX operators do not read the bytes of one dtype as another"

_REASONS: dict[str, str] = {
    **dict.fromkeys(
        (
            "adaptive_avg_pool_grad", "adaptive_avg_pool_like", "as_strided_adjoint", "avg_pool_grad",
            "channel_spread", "channel_sum", "conv_input_grad", "conv_weight_grad", "diagonal_adjoint",
            "embedding_grad", "first_places", "fold_windows", "gather_adjoint", "half_spectrum_weight",
            "index_get_adjoint", "last_writers", "list_add", "list_fill", "list_gap", "list_one", "list_pick",
            "list_spread", "list_split", "list_unorder", "list_unpluck", "list_unput", "list_unslice", "list_zero_at",
            "list_zeros_like", "masked_gather", "max_pool_gather", "max_pool_grad", "norm_grad", "pad_adjoint",
            "place_scatter", "plane_gather", "plane_scatter", "psroi_pool_adjoint",
            "region_pick", "region_put", "resize_adjoint", "resize_axes_like", "resize_like", "roi_align_adjoint",
            "softmax_cross_entropy_grad", "sum_repeats", "sum_tiles", "sum_to_like", "take_along_axis_adjoint",
            "window_places_adjoint", "window_shift", "fold_patches_like", "nonzero_envelope", "fit_like", "gelu_grad",
            "split_like", "long_attention_grad", "long_attention_mask_grad", "dropped_attention_grad",
            "dropped_attention_mask_grad", "dropped_factors", "absent", "fill_missing", "if_run",
            "is_given", "list_present",
        ),
        _GRADIENT,
    ),
    **dict.fromkeys(
        (
            "batch_norm", "dropout", "dropped_attention", "keep_mask", "keep_mask_by", "probability", "masked_scale",
            "embedding_by_frequency", "embedding_renorm",
        ),
        _TRAINING,
    ),
    **dict.fromkeys(("unscale_and_check", "initialize", "top_k_hits", "tree_path"), _TRAINING),
    "unless_single": _TRAINING,
    **dict.fromkeys(
        ("clip_gradients_by_global_norm", "clip_gradients_by_norm", "clip_gradients_by_value"), _OPTIMIZER
    ),
    **dict.fromkeys(
        (
            "eig", "eigh", "lstsq", "lu", "lu_pack", "lu_permutation", "lu_triangles", "qr", "svd",
        ),
        _LINALG,
    ),
    **dict.fromkeys(("as_complex", "as_real", "complex"), _COMPLEX),
    **dict.fromkeys(("fft_c2c", "fft_c2r", "fft_r2c"), _FOURIER),
    **dict.fromkeys(("histogram", "mode"), _RAGGED),
    **dict.fromkeys(
        (
            "distribute_fpn_proposals", "generate_proposals", "matrix_nms", "multiclass_nms", "prior_box",
            "psroi_pool", "roi_pool", "box_decode", "box_encode", "gather_tree",
        ),
        _DETECTION,
    ),
    **dict.fromkeys(
        (
            "class_targets", "corner", "frexp", "gcd", "histogram_bin_edges", "histogramdd", "lcm", "nearest_gather",
            "place_gather", "sample_positions", "cholesky", "inverse", "matrix_exp", "slogdet_parts", "solve",
            "triangular_solve", "viterbi_decode", "window_places", "yolo_targets",
        ),
        _IN_OTHERS,
    ),
    **dict.fromkeys(("list_zip", "list_pluck"), _NESTED),
    **dict.fromkeys(("host_callback", "host_draw", "host_effect", "host_value", "differentiable_host_callback"), _HOST),
    "py_func": _HOST,
    "check_numerics": _SAYS,
    **dict.fromkeys(("key_place", "set_has", "set_order", "set_popped"), _HASHED),
    **dict.fromkeys(("call", "pack_frame", "unpack_frame"), _FRAMES),
    **dict.fromkeys(("ctc", "rnnt"), _LOSS),
    **dict.fromkeys(
        (
            "overlap_add", "resize_axes",
        ),
        _SPECIAL,
    ),
    **dict.fromkeys(
        ("feed", "fetch", "fused", "memcpy_d2h", "memcpy_h2d", "stand_in", "transfer_dtype", "transfer_layout"),
        _RUNTIME,
    ),
    **dict.fromkeys(("axis_from_front", "axis_to_front"), _AXIS),
    "view_dtype": _BYTES,
    "late_call": _LATE,
    **dict.fromkeys(("number_pow_modulo", "number_round"), _PYTHON),
}  # fmt: skip

# Elementwise ops whose expression asks for a primitive that ONNX has not: op -> primitive.
_EXPRESSIONS: dict[str, str] = {
    "gammainc": "gammainc", "gammaincc": "gammaincc", "logical_right_shift": "lshr", "nextafter": "nextafter",
    "polygamma": "zeta",
}  # fmt: skip


def reason_without_form(op: OpDef) -> str | None:
    """Why an op has no ONNX form; None for those that have one."""
    if op.name in _REASONS:
        return _REASONS[op.name]
    if op.name in _EXPRESSIONS:
        return f"ONNX has no operator for {MISSING[_EXPRESSIONS[op.name]]}"
    if op.random:
        return _RANDOM
    if op.name.endswith("_update"):
        return _OPTIMIZER
    return None


def reasons() -> dict[str, str]:
    """The listed ops with their reasons; raises for a name that is no op."""
    listed = (*_REASONS, *_EXPRESSIONS)
    found = {name: reason_without_form(get_op(name)) for name in listed}
    return {name: reason for name, reason in found.items() if reason is not None}
