"""Functions of a Program: they call themselves, and text, files, clones, hashes and the interpreter cope."""

import sys

import numpy as np
import pytest

from tests.ir.programs import equal
from tests.ir.texts import FACTORIAL
from vitrify.core.errors import DepthError, FileFormatError
from vitrify.ir.content_hash import content_hash
from vitrify.ir.dead_code import drop_unused_blocks, has_effect
from vitrify.ir.parse import parse_program
from vitrify.ir.program import Program
from vitrify.ir.regions import copy_ops
from vitrify.ir.serialize import decode_program, encode_program
from vitrify.ir.verify import VerifyError, verify
from vitrify.runtime.lowering import lower

PARITY = """\
program

block 0 (%n : int64[]) -> (%even_0) {
  %even_0 : bool[] = call(%n) {function=@even}
}

function @even = block 1 (%n : int64[]) -> (%if_0) {
  %equal_0 : bool[] = equal(%n, 0)
  %if_0 : bool[] = if(%equal_0, %equal_0, %n)
    then = block 2 (^%equal_0 : bool[], ^%n : int64[]) -> (%equal_0) {
    }
    orelse = block 3 (^%equal_0 : bool[], ^%n : int64[]) -> (%odd_0) {
      %subtract_0 : int64[] = subtract(%n, 1)
      %odd_0 : bool[] = call(%subtract_0) {function=@odd}
    }
}

function @odd = block 4 (%n : int64[]) -> (%logical_not_0) {
  %even_0 : bool[] = call(%n) {function=@even}
  %logical_not_0 : bool[] = logical_not(%even_0)
}
"""


def run(program, *values):
    return [np.asarray(v).item() for v in lower(program.global_block())(*map(np.asarray, values))]


def test_a_function_calls_itself():
    program = parse_program(FACTORIAL)
    verify(program)
    assert run(program, 5) == [120]
    assert run(program, 1) == [1]


def test_two_functions_call_each_other():
    program = parse_program(PARITY)
    verify(program)
    assert [run(program, n) for n in range(4)] == [[True], [False], [True], [False]]


@pytest.mark.parametrize("text", [FACTORIAL, PARITY])
def test_text_files_clones_and_hashes(text):
    program = parse_program(text)
    assert str(program) == text
    stored = decode_program(encode_program(program))
    assert equal(stored, program)
    assert [block.name for block in stored.blocks] == [block.name for block in program.blocks]
    assert equal(program.clone(), program)
    assert str(program.clone(for_test=True)) == text
    assert content_hash(stored) == content_hash(program)


def test_copying_into_another_program_copies_each_function_once():
    program = parse_program(PARITY)
    source = program.global_block()
    copy = Program()
    block = copy.global_block()
    mapping = {v: block.add_input(v.meta, v.name) for v in source.inputs}
    copy_ops(source, block, mapping)
    block.outputs = [mapping[v] for v in source.outputs]
    verify(copy)
    assert [b.name for b in copy.blocks if b.name] == ["even", "odd"]
    assert run(copy, 4) == run(program, 4)


def test_functions_that_nobody_calls_go():
    program = parse_program(FACTORIAL)
    block = program.global_block()
    assert not has_effect(block.ops[0])
    block.ops.clear()
    block.outputs = list(block.inputs)
    drop_unused_blocks(program)
    assert len(program.blocks) == 1


def test_calls_nest_deeper_than_python_does():
    program = parse_program(FACTORIAL.replace("multiply(%n, %factorial_0)", "add(%factorial_0, 1)"))
    assert run(program, 5000) == [5000]
    with pytest.raises(DepthError, match=f"calls itself more than {10 * sys.getrecursionlimit()} times"):
        run(program, 10**9)
    assert run(program, 3) == [3]


def test_names_are_unique():
    program = parse_program(FACTORIAL)
    assert program.function_name("factorial") == "factorial_2"
    program.blocks[2].name = "factorial"
    with pytest.raises(VerifyError, match="function @factorial lies in a block or captures values"):
        verify(program)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("{function=@factorial}\n}", "{function=@other}\n}"), "expected a function @other"),
        (("function @factorial =", "function factorial ="), "expected '@'"),
        (("block 1 (%n : int64[]) -> (%if_0) {", "block 1 (%n : int64[]) -> (%x) {"), "a variable defined before"),
    ],
)
def test_what_does_not_read(change, message):
    with pytest.raises(FileFormatError, match=message):
        parse_program(FACTORIAL.replace(*change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("call(%n) {function=@factorial}", "call(%n, %n) {function=@factorial}"), "takes 1 values, 2 are given"),
        (("call(%n) {function=@factorial}", "call(%n) {function=^1}"), "what it calls is no function"),
    ],
)
def test_what_is_not_well_formed(change, message):
    text = FACTORIAL.replace(*change, 1)
    if "^1" in text:
        text = text.replace("function @factorial = block 1", "block 1").replace("@factorial", "^1")
    program = parse_program(text)
    with pytest.raises(VerifyError, match=message if "^1" not in text else "block 1 runs itself"):
        verify(program)
