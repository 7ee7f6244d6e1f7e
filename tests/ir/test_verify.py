"""The verifier: what it says about each way in which a Program can be wrong."""

import pytest
from hypothesis import given

from tests.ir.programs import branching, valid_programs
from vitrify.core.dtype import float32, int64
from vitrify.core.errors import InternalError
from vitrify.core.meta import ListMeta, Meta, Ref
from vitrify.ir.program import Block, Program, Variable
from vitrify.ir.verify import VerifyError, agree, verify
from vitrify.ops.registry import get_op

X = Meta((2, 3), float32)


def test_a_wrong_type_is_reported_like_a_type_checker_does():
    program = branching()
    program.blocks[0].ops[0].outputs[0].meta = Meta((-1, 7), float32)
    with pytest.raises(VerifyError) as caught:
        verify(program)
    assert str(caught.value).splitlines()[:5] == [
        "matmul: output %matmul_0 is declared float32[-1, 7], but these inputs give float32[-1, 2]",
        "  operator 0 of block 0:",
        "  > %matmul_0 : float32[-1, 7] = matmul(%x, %w) {transpose_x=False, transpose_y=False}",
        "    %sum_0 : float32[] = sum(%matmul_0) {axis=(0, 1), keepdim=False}",
        "  at /home/ada/model.py:41 in forward",
    ]
    assert isinstance(caught.value, InternalError)


@given(valid_programs())
def test_what_a_builder_made_is_well_formed(program):
    verify(program)
    verify(program.clone())


def one(op="tanh", inputs=None, attrs=None, outputs=None):
    """A program with x, y of [2, 3], n of [] and one operator."""
    program = Program()
    block = program.global_block()
    x, y = block.add_input(X, "x"), block.add_input(X, "y")
    block.add_input(Meta((), int64), "n")
    block.add_input(Meta((2,), int64), "sizes")
    found = {"x": x, "y": y, "n": block.vars["n"], "sizes": block.vars["sizes"]}
    given = [found.get(v, v) for v in (inputs if inputs is not None else ["x"])]
    made = outputs if outputs is not None else [block.create_var(X, "out")]
    block.append(get_op(op), given, [found.get(v, v) for v in made], attrs or {})
    return program


def reshape(shape, *more):
    return one("reshape", ["x", *more], {"shape": shape}, None)


def foreign():
    return Program().global_block().create_var(X, "elsewhere")


def cases():
    yield "takes 1 to 1 inputs (x), got 2", one(inputs=["x", "y"])
    yield "takes 1 to 1 inputs (x), got 0", one(inputs=[])
    yield "takes 1 or more inputs (pred, captured), got 0", one("if", [], {"then": None, "orelse": None})
    yield "has no attribute ['axis'], only []", one(attrs={"axis": 1})
    yield "needs the attributes ['shape']", one("reshape")
    yield "reads %elsewhere of block 0, and blocks are closed", one(inputs=[foreign()])
    yield "its output %elsewhere is no variable of this block", one(outputs=[foreign()])
    yield "defines %x a second time", one(outputs=["x"])
    yield "gives 1 outputs, and 0 are declared", one(outputs=[])
    yield "its inputs or attributes don't fit", one("reshape", ["x"], {"shape": (7,)})
    yield "its inputs or attributes don't fit: TypeError", one("sum", ["x"], {"axis": 1, "keepdim": False})
    yield "its attributes make 3 the dtype of output %out", one("cast", ["x"], {"dtype": 3})
    yield "sections=1000000000 is more than", one("split", ["x"], {"sections": 10**9, "axis": 0})
    yield "attribute keepdim is %1, but must be known", one("sum", ["x", "n"], {"axis": None, "keepdim": Ref(1)})
    yield "an attribute is %7, which is no input that holds numbers", reshape((Ref(7), -1), "n")
    yield "an attribute is %1, and input 1 is int64[2]", reshape((Ref(1), -1), "sizes")
    yield "an attribute is %1[2], and input 1 is int64[2]", reshape((Ref(1, 2), -1), "sizes")
    yield "its attributes name the inputs [1], expected [1, 2]", reshape((Ref(1), -1), "n", "n")


CASES = list(cases())


@pytest.mark.parametrize(("message", "program"), CASES, ids=[message for message, _ in CASES])
def test_messages(message, program):
    with pytest.raises(VerifyError) as caught:
        verify(program)
    assert message in caught.value.message


def test_a_use_before_the_definition():
    program = one()
    block = program.global_block()
    block.append(get_op("tanh"), [block.vars["out"]], [block.create_var(X, "later")], {})
    block.ops.reverse()
    with pytest.raises(VerifyError, match="tanh: reads %out before it is defined"):
        verify(program)


def test_metas_are_left_alone_on_request():
    program = one()
    program.global_block().vars["out"].meta = Meta((9,), float32)
    verify(program, infer=False)


def test_persistable_variables_may_be_written_twice():
    program = Program()
    block = program.global_block()
    x = block.add_input(X, "x")
    state = block.create_var(X, "state", persistable=True)
    for value in (x, state):
        block.append(get_op("tanh"), [value], [state], {})
    block.outputs = [state]
    verify(program)


def broken(change):
    program = branching()
    change(program, program.global_block())
    return program


def _cycle(program, block):
    inner = program.blocks[1]
    inner.ops[0].attrs["then"] = inner


def _stranger(program, block):
    block.ops[-1].attrs["then"] = Block(program, 1, block)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("a program starts with a block", lambda p, b: p.blocks.clear()),
        ("a program starts with a block", lambda p, b: setattr(b, "parent", p.blocks[1])),
        ("block 1 says that it is block 5", lambda p, b: setattr(p.blocks[1], "index", 5)),
        ("block 1 lies inside block 2", lambda p, b: setattr(p.blocks[1], "parent", p.blocks[2])),
        ("block 1 runs itself", _cycle),
        ("runs a block that is not in the program's list", _stranger),
        ("block 0: an input is listed twice", lambda p, b: b.inputs.append(b.inputs[0])),
        ("block 0: output %tanh_0 is not defined in it", lambda p, b: b.outputs.append(p.blocks[1].outputs[0])),
        ("belongs to another block", lambda p, b: b.vars.update(z=b.vars["x"])),
        ("persistable, which only variables of block 0 are", lambda p, b: p.blocks[1].create_var(X, persistable=True)),
        ("captures %steps", lambda p, b: p.blocks[1].captures.update({b.vars["steps"]: b.vars["x"]})),
        ("its block 'then' takes 2 values, 1 are given", lambda p, b: p.blocks[1].add_input(X)),
        ("its blocks give 1 and 2 values", lambda p, b: p.blocks[2].outputs.append(None)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_blocks(message, change):
    with pytest.raises(VerifyError) as caught:
        verify(broken(change))
    assert message in caught.value.message


def test_agreement_of_types():
    known, open_ = Meta((2, 3), float32), Meta((-1, 3), float32)
    assert agree(known, open_) and agree(open_, open_)
    assert not agree(known, Meta((2, 4), float32))
    assert not agree(known, Meta((2,), float32))
    assert not agree(known, Meta((2, 3), int64))
    assert agree(ListMeta(known), ListMeta(open_))
    assert not agree(ListMeta(known), known)
    assert not agree(known, None)


def test_a_variable_that_nobody_lists():
    program = one()
    block = program.global_block()
    block.ops[0].inputs = (Variable(block, "ghost", X),)
    with pytest.raises(VerifyError, match="reads %ghost before it is defined"):
        verify(program)
