"""Every op in the registry is exercised by some case."""

import vitrify  # noqa: F401  (registers every op)
from tests.ops.test_cases import CASES
from vitrify.ops.registry import StructuralGradient, all_ops
from vitrify.testing import ops_of

# Ops that other tests than the tables exercise, because one call in isolation says little about them.
ELSEWHERE = {
    "adaptive_avg_pool_like": "the second derivatives of cases_adjoint",
    "channel_spread": "the second derivatives of cases_adjoint",
    "clip_gradients_by_global_norm": "tests/optimizer",
    "clip_gradients_by_norm": "tests/optimizer",
    "clip_gradients_by_value": "tests/optimizer",
    "detach": "tests/jit/test_segments",
    "embedding_renorm": "test_embedding",
    "feed": "tests/runtime/test_prepare",
    "fetch": "tests/runtime/test_prepare",
    "first_places": "test_index",
    **dict.fromkeys(("masked_scale", "probability"), "test_dropout"),
    **dict.fromkeys(("memcpy_d2h", "memcpy_h2d", "transfer_dtype", "transfer_layout"), "tests/runtime"),
    **dict.fromkeys(("key_place", "set_has", "set_order", "set_popped"), "tests/convert/test_tables"),
    "max_pool_gather": "the second derivatives of cases_adjoint",
    "region_pick": "the second derivatives of cases_vision",
    **dict.fromkeys(("given", "one_element", "sized", "sized_like", "with_ones", "without_ones"), "test_same_sizes"),
    "resize_like": "the second derivatives of cases_adjoint",
    "stand_in": "tests/runtime/test_shape_reads",
    "window_shift": "the second derivatives of cases_vision",
    "host_value": "tests/end_to_end/host_values",
    "host_draw": "tests/convert/test_draws.py",
    "late_call": "tests/convert/test_late_calls",
    **dict.fromkeys(("number_divide", "number_floor_divide", "number_mod", "number_pow"), "tests/jit/test_numbers"),
    **dict.fromkeys(("number_round", "number_pow_modulo"), "tests/end_to_end/number_calls"),
    **dict.fromkeys(("absent", "fill_missing", "if_run", "is_given"), "tests/jit/test_missing_cotangents"),
    "top_k_hits": "tests/metric",
    "unless_single": "tests/nn/test_norm",
    **dict.fromkeys(("classes", "probabilities"), "test_within"),
    "unscale_and_check": "tests/amp",
    **dict.fromkeys(
        ("dropped_attention_grad", "dropped_attention_mask_grad", "dropped_factors"), "tests/nn/test_long_attention"
    ),
    "with_gradient": "tests/static/test_pylayer_and_seeds",
}


def has_tests_of_its_own(op):
    """Random ops, ops with effects or blocks, optimizers' update rules, and ops that tests and benchmarks define."""
    special = op.random or op.effect or isinstance(op.vjp, StructuralGradient)
    is_of_lists = op.name.startswith("list_")  # test_lists
    return special or is_of_lists or op.name.endswith(("_update", "_for_tests")) or op.name in ELSEWHERE


def test_every_op_is_in_a_case():
    used = set().union(*map(ops_of, CASES))
    missing = [op.name for op in all_ops() if op.name not in used and not has_tests_of_its_own(op)]
    assert not missing
