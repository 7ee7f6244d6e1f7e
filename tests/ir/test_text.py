"""Programs as text: pleasant to read, and read back as the same program."""

import math
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from tests.ir.programs import any_programs, branching, equal, valid_programs
from vitrify.core.dtype import float32
from vitrify.core.errors import DTypeError, FileFormatError
from vitrify.core.meta import Meta, Ref
from vitrify.ir.parse import parse_program
from vitrify.ir.program import Operator, Program
from vitrify.ir.text import Style, operator_text, program_text
from vitrify.ops.registry import get_op

TEXT = """\
program

block 0 (%x : float32[-1, 4], %w : float32[4, 2] parameter grad) -> (%if_0) {
  var %steps : int64[] persistable
  %matmul_0 : float32[-1, 2] = matmul(%x, %w) {transpose_x=False, transpose_y=False}  # model.py:41
  %sum_0 : float32[] = sum(%matmul_0) {axis=(0, 1), keepdim=False}                    # model.py:41
  %greater_than_0 : bool[] = greater_than(%sum_0, 0.0)                                # model.py:41
  %if_0 : float32[-1, 2] = if(%greater_than_0, %matmul_0)                             # model.py:41
    then = block 1 (^%matmul_0 : float32[-1, 2] grad) -> (%tanh_0) {
      %tanh_0 : float32[-1, 2] = tanh(%matmul_0)                                      # model.py:41
    }
    orelse = block 2 (^%matmul_0 : float32[-1, 2] grad) -> (%matmul_0) {
    }
}
"""


def test_a_program_reads_well():
    assert str(branching()) == TEXT


def test_details_show_whole_stacks():
    text = branching().to_string(throw_on_error=True, with_details=True)
    assert "# /home/ada/model.py:41:8-17 in forward <- /home/ada/train.py:12 in <module>\n" in text
    assert "#" not in program_text(branching(), Style(locs=False))


def test_text_reads_back():
    program = branching()
    assert equal(parse_program(program.to_string(with_details=True)), program)
    again = parse_program(TEXT)
    assert equal(again, program, locs=False)
    assert str(again) == TEXT
    assert [(loc.file, loc.line) for loc in again.blocks[1].ops[0].locs] == [("model.py", 41)]


def test_building_goes_on_after_reading():
    program = parse_program(TEXT)
    assert program.global_block().create_var(Meta((), float32), prefix="matmul").name == "matmul_1"


@settings(max_examples=100)
@given(valid_programs())
def test_any_built_program_reads_back(program):
    assert equal(parse_program(program.to_string(with_details=True)), program)
    assert equal(parse_program(str(program)), program, locs=False)


def odd_names():
    program = Program()
    block = program.global_block()
    block.ops.append(Operator(get_op("add"), (), (), {"nan.": None, "inf.x": 1.0, "nan": -math.inf}))
    return program


@settings(max_examples=50)
@given(any_programs())
@example(odd_names())
def test_any_program_at_all_reads_back(program):
    text = program.to_string(throw_on_error=True, with_details=True)
    again = parse_program(text)
    assert equal(again, program)
    assert again.to_string(with_details=True) == text


def test_long_signatures_wrap():
    program = Program()
    for i in range(8):
        program.global_block().add_input(Meta((100, 100), float32), f"a_long_name_{i}")
    text = str(program)
    assert text.splitlines()[2:5] == [
        "block 0 (",
        "    %a_long_name_0 : float32[100, 100],",
        "    %a_long_name_1 : float32[100, 100],",
    ]
    assert equal(parse_program(text), program)


def test_attributes_of_all_kinds():
    block = Program().global_block()
    x = block.add_input(Meta((2,), float32), "x y")
    attrs = {"shape": (Ref(1, 0), -1), "b": slice(None, 2), "a": [1.0, "q\n", ..., float32, (1,), 1e-7, float("inf")]}
    operator = block.append(get_op("reshape"), [x, None], [], attrs)
    assert operator_text(operator) == (
        'reshape(%"x y", None) {shape=(%1[0], -1), a=[1.0, "q\\n", ..., float32, (1,), 1e-07, inf], '
        "b=slice(None, 2, None)}"
    )


def test_what_no_text_can_hold_is_shown_and_refused():
    program = Program()
    program.global_block().append(get_op("print"), [], [], {"fn": len})
    assert "fn=<builtin_function_or_method>" in str(program)
    with pytest.raises(
        DTypeError, match="print: attribute fn holds a builtin_function_or_method, which cannot be stored"
    ):
        program.to_string(throw_on_error=True)


GOOD = "program\nblock 0 (%x : float32[2]) -> () {\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'program', found 'the end'"),
        ("program", "line 1: expected blocks numbered from 0 on without gaps"),
        ("program\nblock 1 () -> () {}", "numbered from 0"),
        ("program\nblock 0 () -> () {}\nblock 0 () -> () {}", "expected another number than 0, which is taken"),
        ("program\nblock 0 () -> () {}\nblock 1 in 7 () -> () {}", r"expected a block above, which \^7 is not"),
        ("program\nblock 0 () -> (%y) {}", r"expected a variable defined before, not %y"),
        ("program\nblock 0 (^%y : int8[]) -> () {}", "expected no capture, since no block encloses this one"),
        ("program\nblock x", "line 2: expected the block's number, found 'x'"),
        ("program\nblock 0.5", "expected the block's number"),
        ("program ?", r"line 1: unexpected '\?'"),
        ("program\nblock 0 () -> () {} 3", "expected 'block' or the end, found '3'"),
        (GOOD, "line 3: expected an operator or '}', found 'the end'"),
        (GOOD + "tanh(%x)\n", "line 4: expected an operator or '}', found 'the end'"),
        (GOOD + "thanh(%x) }", "line 3: expected an operator that exists .*'thanh'"),
        (GOOD + "tanh(%y) }", "expected a variable defined before, not %y"),
        (GOOD + "tanh(%x", r"expected '\)', found 'the end'"),
        (GOOD + "tanh(float32) }", "expected a variable or a number"),
        (GOOD + "tanh(1:float31) }", "expected a dtype, not float31"),
        (GOOD + "%x : int8[] = tanh(%x) }", "expected a new name: %x is defined already"),
        (GOOD + "%y : int9[] = tanh(%x) }", "expected a dtype, not int9"),
        (GOOD + "%y : int8[x] = tanh(%x) }", "expected a size, found 'x'"),
        (GOOD + "%y : int8[1.5] = tanh(%x) }", "expected a size"),
        (GOOD + "%y = tanh(%x) }", "expected a variable defined before, not %y"),
        (GOOD + "tanh(%x) {a=} }", "expected a value, found '}'"),
        (GOOD + "tanh(%x) {a=word} }", "expected a value, found 'word'"),
        *[(GOOD + f"tanh(%x) {{a={kind}}} }}", "expected a value") for kind in ("block", "number", "string", "ref")],
        (GOOD + "tanh(%x) {a=slice(1)} }", r"expected slice\(start, stop, step\)"),
        (GOOD + "tanh(%x) {a=complex(1)} }", r"expected complex\(real, imag\)"),
        (GOOD + "tanh(%x) {a=^5} }}", r"expected 'block' or the end"),
        (GOOD + "tanh(%x) {a=^5} }", r"expected a block above, which \^5 is not"),
        (GOOD + r'tanh(%x) {a="\x"} }', "is not a proper string"),
        (GOOD + "tanh(%x) {a=" + "9" * 5000 + "} }", "has too many digits"),
        (GOOD + "tanh(%x) {a=" + "(" * 5000, "expected at most 64 levels of nesting"),
        (GOOD + "%y : " + "list<" * 5000, "expected at most 64 levels of nesting"),
        (
            GOOD + "".join(f"tanh() a = block {i} () -> () {{" for i in range(1, 99)),
            "expected at most 64 nested blocks",
        ),
    ],
)
def test_errors_say_the_line(text, message):
    with pytest.raises(FileFormatError, match=message):
        parse_program(text)


@settings(max_examples=20)
@given(valid_programs())
def test_damaged_text_is_read_or_refused(program):
    text = program.to_string(with_details=True)
    for cut in range(0, len(text), max(1, len(text) // 10)):
        for damaged in (text[:cut], text[:cut] + text[cut + 1 :], text[:cut] + "}" + text[cut:]):
            try:
                parse_program(damaged)
            except FileFormatError:
                pass


def test_the_documentation_shows_this_text():
    page = Path(__file__).parents[2] / "docs" / "format.md"
    assert f"```\n{TEXT}```" in page.read_text(encoding="utf-8")


def test_an_attribute_may_be_called_nan():
    text = """\
program

block 0 (%x : float32[2]) -> (%y) {
  %y : float32[2] = nan_to_num(%x) {nan=0.0, posinf=inf, neginf=nan}
}
"""
    program = parse_program(text)
    assert program.blocks[0].ops[0].attrs["nan"] == 0.0
    assert program_text(program) == text
