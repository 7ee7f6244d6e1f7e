"""Every op has an ONNX form that ONNX Runtime computes alike, or a reason why not; by the cases of tests/ops."""

import pytest

from tests.onnx.harness import check_program, program_of
from tests.onnx.page import PAGE, form_of, ops, with_tables
from tests.ops.test_cases import CASES
from vitrify.onnx.reasons import reason_without_form, reasons
from vitrify.onnx.write import has_form
from vitrify.ops.registry import get_op

# Ops that no case of the tables reaches with real numbers of known sizes and without gradients; see test_control_flow.
ELSEWHERE = {
    "getitem_adjoint",  # tests/onnx/test_models.py
    "number_divide", "number_floor_divide", "number_mod", "number_pow",  # tests/onnx/test_python_numbers.py
    "assert", "detach", "expand_like", "given", "if", "imag", "isreal", "one_element", "print", "print_tensor", "raise",
    "real", "sized", "sized_like", "while", "with_gradient", "with_ones", "without_ones",
}  # fmt: skip
# What ONNX Runtime itself cannot: atan of float64; tensors without elements reshaped by sizes of 0, or by its own
# fusion of MatMul and Add. Its Relu of NaN is NaN, PaddlePaddle's 0 (docs/onnx.md).
NOT_THERE = {"atan2/int", "reshape empty", "linear of nothing", "relu/nan"}


def test_every_op_has_a_form_or_a_reason():
    assert not [op.name for op in ops() if has_form(op) == (reason_without_form(op) is not None)]
    assert all(reason and not has_form(get_op(name)) for name, reason in reasons().items())


def test_the_page_has_the_tables():
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text, "run `python -m tests.onnx.page`"
    assert all(form_of(op) for op in ops() if has_form(op))


def test_each_form_computes_what_we_compute():
    left = {op.name for op in ops() if has_form(op) and not op.name.startswith("list_")} - ELSEWHERE
    for case in CASES:
        if not case.static or case.name in NOT_THERE:
            continue
        recorded, arrays = program_of(case)
        used = {op.op.name for block in recorded.program.blocks for op in block.ops}
        if used & left and check_program(recorded, arrays):
            left -= used
        if not left:
            break
    assert not left


@pytest.mark.slow
@pytest.mark.parametrize(("third", "opset"), [(0, 17), (1, 18), (2, 21)])
@pytest.mark.parametrize("unknown", [False, True])
def test_all_cases(third, opset, unknown):
    """Each case either exports and agrees, or is refused: by an op with a reason, or because of its attributes."""
    cases = [c for c in CASES if c.static and c.name not in NOT_THERE and (c.dynamic or not unknown)]
    agreed = sum(check_program(*program_of(case, unknown), opset=opset) for case in cases[third::3])
    assert agreed > 350
