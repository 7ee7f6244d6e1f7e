"""Copies of Programs: deep, equal, and without training's parts on request."""

import pytest
from hypothesis import given

from tests.ir.programs import branching, equal, valid_programs
from vitrify.core.dtype import float32
from vitrify.core.errors import ArgumentError
from vitrify.core.meta import Meta
from vitrify.ir.builder import Builder, building
from vitrify.ir.dead_code import drop_unused_blocks
from vitrify.ir.program import Program
from vitrify.ir.verify import verify
from vitrify.ops.batch_norm import batch_norm_op
from vitrify.ops.dropout import dropout
from vitrify.ops.registry import get_op

X = Meta((2,), float32)


def objects(program):
    """Everything in a program that can change."""
    found = [program, *program.blocks]
    for block in program.blocks:
        found += [*block.vars.values(), *block.ops, block.inputs, block.outputs, block.captures]
    return {id(item) for item in found}


def test_a_copy_is_equal_and_shares_nothing():
    program = branching()
    copy = program.clone()
    assert equal(copy, program)
    assert not objects(copy) & objects(program)
    copy.global_block().create_var(X, "more")
    copy.blocks[1].ops.clear()
    assert equal(program, branching())


@given(valid_programs())
def test_any_program_is_copied(program):
    assert equal(program.clone(), program)


def test_names_go_on_in_a_copy():
    assert branching().clone().global_block().create_var(X, prefix="matmul").name == "matmul_1"


def trained():
    """w <- w - d(x * w): a forward, a backward with a block of its own, an update."""
    program = branching()
    block = program.global_block()
    with program.adding("backward"):
        grad = block.create_var(X, "w_grad")
        inner = program.create_block(block)
        block.append(get_op("tanh"), [block.vars["x"]], [grad], {"block": inner})
    with program.adding("optimize"):
        block.append(get_op("assign"), [grad], [block.vars["steps"]], {})
    block.outputs.append(grad)
    return program


def test_for_test_only_the_forward_stays():
    copy = trained().clone(for_test=True)
    assert equal(copy, branching())
    verify(copy)
    assert [op.role for op in trained().global_block().ops][-2:] == ["backward", "optimize"]


def test_roles_end_with_their_block():
    program = Program()
    with program.adding("backward"):
        pass
    assert program.role == "forward"


def test_blocks_that_nobody_runs_are_dropped():
    program = branching()
    program.blocks.insert(1, program.create_block(program.global_block()))
    program.blocks.pop()
    drop_unused_blocks(program)
    assert equal(program, branching())


def test_what_a_program_lists():
    program = branching()
    assert [var.name for var in program.all_parameters()] == ["w"]
    assert {var.name for var in program.list_vars()} >= {"x", "w", "steps", "matmul_0", "tanh_0"}
    assert program.num_blocks == 3
    assert program.block(1) is program.blocks[1]


def training():
    """Two dropouts and a batch norm whose new mean is an output."""
    program = Program()
    builder = Builder(program)
    block = program.global_block()
    x = block.add_input(Meta((-1, 3, 4, 4), float32), "x", stop_gradient=False)
    mean, variance = (block.add_input(Meta((3,), float32), name) for name in ("mean", "variance"))
    with building(builder):
        kept = dropout(dropout(x, 0.5), 0.25, mode="downscale_in_infer")
        out, *_, new_mean, _ = batch_norm_op(
            kept, mean, variance, None, None, axes=(0, 2, 3), param_axes=(1,), groups=0, epsilon=1e-5, momentum=0.9
        )
    block.outputs = [out, new_mean]
    return program


def test_for_test_training_ops_become_those_of_evaluation():
    copy = training().clone(for_test=True)
    verify(copy)
    block = copy.global_block()
    assert [op.op.name for op in block.ops] == ["assign", "scale", "batch_norm_infer"]
    assert block.ops[1].attrs["scale"] == 0.75
    assert [var.name for var in block.outputs] == ["batch_norm_0", "mean"]


def test_what_only_training_makes_cannot_be_read_in_evaluation():
    program = training()
    mask = program.global_block().ops[0].outputs[1]
    with building(Builder(program)):
        program.global_block().outputs = [get_op("logical_not")(mask)]
    with pytest.raises(ArgumentError, match=r"logical_not reads %dropout_1, which only training makes"):
        program.clone(for_test=True)
