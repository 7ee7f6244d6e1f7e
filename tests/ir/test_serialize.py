"""Programs as bytes: the same program comes back, equal programs give equal bytes, bad bytes give one error."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ir.programs import any_programs, branching, equal, valid_programs
from vitrify.core.dtype import float32
from vitrify.core.errors import DTypeError, FileFormatError
from vitrify.core.meta import Meta
from vitrify.ir import program_pb2, serialize
from vitrify.ir.content_hash import content_hash
from vitrify.ir.program import Program
from vitrify.ir.serialize import decode_program, encode_program, program_from_bytes, program_to_bytes
from vitrify.ir.verify import verify
from vitrify.ops.registry import get_op


def test_a_program_comes_back():
    program = branching()
    assert equal(program_from_bytes(program_to_bytes(program)), program)


def test_locations_may_stay_behind():
    program = branching()
    small = program_to_bytes(program, locs=False)
    assert len(small) < len(program_to_bytes(program))
    assert b"model.py" not in small
    assert equal(program_from_bytes(small), program, locs=False)


@given(valid_programs())
def test_any_built_program_comes_back(program):
    data = encode_program(program)
    again = decode_program(data)
    assert equal(again, program)
    assert encode_program(again) == data
    assert content_hash(again) == content_hash(program)


@settings(max_examples=50)
@given(any_programs())
def test_everything_that_can_be_written_is_kept(program):
    def unchecked(program):
        return None

    held = serialize.verify, serialize.check_owners
    serialize.verify = serialize.check_owners = unchecked  # attributes at random fit no op
    try:
        assert equal(decode_program(encode_program(program)), program)
    finally:
        serialize.verify, serialize.check_owners = held


def test_bytes_and_hash_are_the_same_in_every_process():
    code = (
        "import hashlib\n"
        "from tests.ir.programs import branching\n"
        "from vitrify.ir.content_hash import content_hash\n"
        "from vitrify.ir.serialize import program_to_bytes\n"
        "program = branching()\n"
        "print(content_hash(program), hashlib.sha256(program_to_bytes(program)).hexdigest())\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert content_hash(branching()) in outputs.pop()


def test_the_hash_sees_everything_but_locations():
    base = content_hash(branching())
    assert content_hash(program_from_bytes(program_to_bytes(branching(), locs=False))) == base
    changed = branching()
    changed.global_block().vars["steps"].persistable = False
    assert content_hash(changed) != base
    changed = branching()
    changed.random_seed = 1
    assert content_hash(changed) != base
    changed = branching()
    changed.blocks[1].ops[0].role = "backward"
    assert content_hash(changed) != base


def test_objects_are_not_stored():
    program = Program()
    program.global_block().append(get_op("print"), [], [], {"fn": len})
    for store in (program_to_bytes, content_hash):
        with pytest.raises(DTypeError, match="print: attribute fn holds a builtin_function_or_method"):
            store(program)


def test_text_that_is_no_text_is_refused():
    program = Program()
    program.global_block().add_input(Meta((), float32), "\ud800")
    with pytest.raises(DTypeError, match="the program cannot be stored"):
        program_to_bytes(program)


# --- bad bytes -------------------------------------------------------------------------------------------------------


def test_every_truncation_and_every_changed_byte_is_noticed():
    data = program_to_bytes(branching())
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        for bad in (data[:at], bytes(changed)):
            with pytest.raises(FileFormatError):
                program_from_bytes(bad)


def message():
    found = program_pb2.Program()
    found.ParseFromString(encode_program(branching()))
    return found


def refused(change, match):
    forged = message()
    change(forged)
    with pytest.raises(FileFormatError, match=match):
        decode_program(forged.SerializeToString())


def set_to(**values):
    def change(target):
        for name, value in values.items():
            setattr(target, name, value)

    return change


OP = "blocks[0].ops[0]"
FORGERIES = {
    "another format": (lambda m: set_to(format=2)(m), "it has format 2, this vitrify reads 1"),
    "an unknown op": (lambda m: set_to(name="launch")(m.ops[0]), "uses op 'launch', which this vitrify does not have"),
    "another version of an op": (lambda m: set_to(version=7)(m.ops[0]), "version 7 of op 'matmul', this vitrify has 1"),
    "no blocks": (lambda m: m.ClearField("blocks"), "starts with a block"),
    "a block inside itself": (lambda m: set_to(parent=2)(m.blocks[1]), "does not come before it"),
    "a block inside a later one": (lambda m: set_to(parent=9)(m.blocks[1]), "does not come before it"),
    "block 0 inside a block": (lambda m: set_to(parent=1)(m.blocks[0]), "does not come before it"),
    "one name twice": (lambda m: set_to(name="x")(m.blocks[0].vars[1]), "two variables 'x'"),
    "no name": (lambda m: set_to(name="")(m.blocks[0].vars[1]), "no proper name"),
    "a long name": (lambda m: set_to(name="x" * 5000)(m.blocks[0].vars[1]), "no proper name"),
    "no dtype": (lambda m: set_to(dtype="float31")(m.blocks[0].vars[0].meta), "'float31' is no dtype"),
    "a negative size": (lambda m: m.blocks[0].vars[0].meta.shape.append(-2), "a variable has shape"),
    "too many dimensions": (lambda m: m.blocks[0].vars[0].meta.shape.extend([1] * 70), "a variable has shape"),
    "lists of lists": (lambda m: set_to(lists=99)(m.blocks[0].vars[0].meta), "a variable has shape"),
    "an input from nowhere": (lambda m: m.blocks[0].inputs.append(99), "refers to variable 99 of"),
    "an output from nowhere": (lambda m: m.blocks[0].outputs.append(99), "refers to variable 98 of"),
    "a capture from nowhere": (lambda m: m.blocks[1].captures.add(outer=99), "refers to variable 99 of"),
    "a capture of block 0": (lambda m: m.blocks[0].captures.add(), "refers to variable 0 of 0"),
    "an op from nowhere": (lambda m: set_to(op=99)(m.blocks[0].ops[0]), "refers to op 99 of"),
    "a location from nowhere": (lambda m: m.blocks[0].ops[0].frames.append(99), "refers to location 99 of"),
    "a file from nowhere": (lambda m: set_to(file=99)(m.frames[0]), "refers to string 99 of"),
    "an operand from nowhere": (lambda m: set_to(var=99)(m.blocks[0].ops[0].inputs[0]), "refers to variable 99 of"),
    "an operand of no kind": (lambda m: m.blocks[0].ops[0].inputs.add(), "neither a variable nor a number"),
    "a literal of text": (
        lambda m: set_to(text="1")(m.blocks[0].ops[2].inputs[1].literal.value),
        "neither a variable nor a number",
    ),
    "a literal without dtype": (lambda m: set_to(dtype="x")(m.blocks[0].ops[2].inputs[1].literal), "is no dtype"),
    "an attribute of no kind": (lambda m: m.blocks[0].ops[0].attrs.add(name="a"), "an attribute has no value"),
    "a slice of one": (
        lambda m: m.blocks[0].ops[0].attrs[0].value.slice.items.add(none=True),
        "a slice has no three parts",
    ),
    "a number with letters": (
        lambda m: set_to(big_integer="12x")(m.blocks[0].ops[0].attrs[0].value),
        "a number is no number",
    ),
    "a number with many digits": (
        lambda m: set_to(big_integer="9" * 5000)(m.blocks[0].ops[0].attrs[0].value),
        "a number is no number",
    ),
    "a block from nowhere": (lambda m: set_to(block=99)(m.blocks[0].ops[3].attrs[0].value), "refers to block 99 of"),
    "a block that runs itself": (lambda m: set_to(block=0)(m.blocks[0].ops[3].attrs[0].value), "block 0 runs itself"),
    "a block that two operators run": (
        lambda m: set_to(block=m.blocks[0].ops[3].attrs[1].value.block)(m.blocks[0].ops[3].attrs[0].value),
        "is run by two operators",
    ),
    "an unknown attribute": (lambda m: m.blocks[0].ops[0].attrs.add(name="b").value.SetInParent(), "no value"),
    "an attribute too many": (
        lambda m: set_to(boolean=True)(m.blocks[0].ops[0].attrs.add(name="b").value),
        r"matmul: has no attribute \['b'\]",
    ),
    "an attribute too few": (lambda m: m.blocks[0].ops[0].ClearField("attrs"), "matmul: needs the attributes"),
    "an attribute of another type": (
        lambda m: set_to(text="all")(m.blocks[0].ops[1].attrs[0].value),
        "sum: its inputs or attributes don't fit",
    ),
    "an input too few": (lambda m: m.blocks[0].ops[0].inputs.pop(), "matmul: takes 2 to 2 inputs"),
    "a use before the definition": (lambda m: m.blocks[0].ops.pop(0) and None, "before it is defined"),
    "another shape": (lambda m: set_to(dtype="int8")(m.blocks[0].vars[3].meta), "is declared int8"),
}


@pytest.mark.parametrize(("change", "match"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_program_is_refused(change, match):
    refused(change, match)


def test_deep_attributes_are_refused():
    def nest(target, levels):
        value = target.blocks[0].ops[0].attrs[0].value
        for _ in range(levels):
            value = value.tuple.items.add()
        value.none = True

    refused(lambda m: nest(m, 20), "nested deeper than 16 levels")
    forged = message()
    nest(forged, 40)
    data = forged.SerializeToString()
    with pytest.raises(FileFormatError):
        decode_program(data)
    value = ()
    for _ in range(30):
        value = (value,)
    program = branching()
    program.blocks[0].ops[0].attrs["deep"] = value
    with pytest.raises(DTypeError, match="nested deeper than 16 levels"):
        encode_program(program)


def test_bottomless_bytes_are_refused():
    data = b""
    for _ in range(5000):  # Attribute.tuple of Items.items of Attribute.tuple of ...
        data = b"\x0a" + varint(len(data)) + data
        data = b"\x62" + varint(len(data)) + data
    attr = b"\x12" + varint(len(data)) + data
    operator = b"\x22" + varint(len(attr)) + attr
    block = b"\x32" + varint(len(operator)) + operator
    with pytest.raises(FileFormatError, match="nested too deeply"):
        decode_program(b"\x32" + varint(len(block)) + block)


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


@given(st.binary(max_size=200))
def test_noise_is_refused(noise):
    for read in (decode_program, program_from_bytes):
        with pytest.raises(FileFormatError):
            read(noise)


def fields_of(target):
    """Every (message, field) below a message."""
    for field, value in target.ListFields():
        yield target, field
        if field.message_type is not None:
            for part in value if hasattr(value, "append") else [value]:
                yield from fields_of(part)


@settings(max_examples=300)
@given(st.data())
def test_a_message_with_any_field_changed_is_read_or_refused(data):
    forged = message()
    for _ in range(data.draw(st.integers(1, 3))):
        target, field = data.draw(st.sampled_from(list(fields_of(forged))))
        _change(data.draw, target, field)
    try:
        verify(decode_program(forged.SerializeToString()))
    except FileFormatError:
        pass


def _change(draw, target, field):
    value = getattr(target, field.name)
    if hasattr(value, "append"):
        if field.message_type is None or draw(st.booleans()):
            del value[draw(st.integers(0, len(value) - 1))]
        else:
            value.append(value[draw(st.integers(0, len(value) - 1))])
    elif field.message_type is not None:
        target.ClearField(field.name)
    else:
        kind = {str: st.sampled_from(["", "x", "float32", "tanh"]), bool: st.booleans(), float: st.floats()}
        setattr(target, field.name, draw(kind.get(type(value), st.integers(0, 40))))


def test_the_generated_code_is_that_of_the_proto_file():
    source = (Path(serialize.__file__).parent / "program.proto").read_text(encoding="utf-8")
    for name, body in re.findall(r"message (\w+) \{(.*?)\n\}", source, flags=re.DOTALL):
        fields = {field: int(number) for field, number in re.findall(r"(\w+) = (\d+);", body)}
        descriptor = program_pb2.DESCRIPTOR.message_types_by_name[name]
        assert fields == {field.name: field.number for field in descriptor.fields}
