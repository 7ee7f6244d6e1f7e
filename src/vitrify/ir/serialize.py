"""Programs as bytes and back; the only module that knows protobuf (program.proto). docs/format.md explains the file.

Reading trusts nothing: an op must exist here and have the same version, indices must lie inside their tables, and
`verify` must accept the result. Whatever is wrong gives FileFormatError. Nothing in a file can name code to run other
than the ops of this package.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..core.container import Kind, read_container, write_container
from ..core.dtype import ALL, DType
from ..core.errors import DTypeError, FileFormatError, InternalError
from ..core.lazy import lazy_module
from ..core.meta import UNKNOWN, FrameMeta, ListMeta, Meta, Ref
from ..core.source import Loc
from ..ops.registry import OpDef, get_op
from .attributes import check_storable, is_block
from .names import resume_names
from .program import AnyMeta, Block, Literal, Operator, Program, Variable
from .text import FORWARD
from .verify import VerifyError, check_owners, verify

FORMAT = 1
PROGRAM = Kind(b"\x93VTPROGR", 1, "program file")
MAX_NESTING = 16  # of tuples and lists in attributes; protobuf itself stops a little later
MAX_LISTS = 8
MAX_NAME = 4096
MAX_DIMS = 64
_INT64 = 2**63
_DTYPES = {dtype.name: dtype for dtype in ALL}
# Many programs never meet protobuf, which takes its time to be imported.
_pb = lazy_module("vitrify.ir.program_pb2")
_protobuf = lazy_module("google.protobuf.message")


def program_to_bytes(program: Program, *, locs: bool = True) -> bytes:
    """The program as a small file in memory: the same bytes for equal programs.

    locs: keep the user's source locations. Raises DTypeError for attributes that are no plain data.

    >>> program_from_bytes(program_to_bytes(Program()))
    <Program: 1 blocks, 0 operators>
    """
    out = io.BytesIO()
    write_container(out, PROGRAM, {}, [encode_program(program, locs=locs)])
    return out.getvalue()


def program_from_bytes(data: bytes) -> Program:
    """The program that `program_to_bytes` stored; raises FileFormatError for any other bytes."""
    container = read_container(io.BytesIO(data), PROGRAM)
    if len(container.blocks) != 1:
        raise FileFormatError(f"a program file has one block, this one has {len(container.blocks)}")
    return decode_program(container.blocks[0])


def encode_program(program: Program, *, locs: bool = True) -> bytes:
    """The bare protobuf message, for files that have checksums of their own."""
    check_storable(program)
    try:
        return bytes(_Writer(program, locs).message().SerializeToString(deterministic=True))
    except ValueError as err:  # protobuf's word for text that is no UTF-8, and for sizes beyond its limits
        raise DTypeError(f"the program cannot be stored: {err}") from None


def decode_program(data: bytes | memoryview) -> Program:
    """The verified program of a bare message; raises FileFormatError."""
    message = _pb.Program()
    try:
        message.ParseFromString(bytes(data))
    except (_protobuf.DecodeError, RecursionError):  # protobuf in pure Python recurses
        raise _bad("it is no program message, or is nested too deeply") from None
    if message.format != FORMAT:
        raise _bad(f"it has format {message.format}, this vitrify reads {FORMAT}")
    program = _Reader(message).program()
    try:
        verify(program)
        check_owners(program)
    except VerifyError as err:
        raise FileFormatError(f"the stored program is not well formed: {err.message}", loc=err.loc) from err
    return program


def _bad(reason: str) -> FileFormatError:
    return FileFormatError(f"the stored program cannot be read: {reason}")


# --- writing ---------------------------------------------------------------------------------------------------------


class _Table:
    """Positions of values in a list that grows as new ones are asked for."""

    def __init__(self) -> None:
        self.positions: dict[Any, int] = {}

    def __getitem__(self, value: Any) -> int:
        return self.positions.setdefault(value, len(self.positions))


class _Writer:
    def __init__(self, program: Program, locs: bool) -> None:
        self.program = program
        self.locs = locs
        self.ops = _Table()
        self.frames = _Table()
        self.strings = _Table()
        self.vars: dict[Block, dict[Variable, int]] = {}

    def message(self) -> Any:
        out = _pb.Program(format=FORMAT, random_seed=self.program.random_seed)
        for block in self.program.blocks:
            self.vars[block] = {var: i for i, var in enumerate(_variables_in_order(block))}
            out.blocks.append(self.block(block))
        op: OpDef
        for op in self.ops.positions:
            out.ops.add(name=op.name, version=op.version)
        for loc in list(self.frames.positions):
            out.frames.append(self.frame(loc))
        out.strings.extend(self.strings.positions)
        return out

    def frame(self, loc: Loc) -> Any:
        known = loc.col is not None and loc.end_col is not None
        return _pb.Frame(
            file=self.strings[_utf8(loc.file)],
            line=loc.line,
            function=self.strings[_utf8(loc.function)],
            columns_known=int(known),
            col=loc.col if known else 0,
            end_col=loc.end_col if known else 0,
        )

    def block(self, block: Block) -> Any:
        at = self.vars[block]
        out = _pb.Block(
            parent=0 if block.parent is None else block.parent.index + 1,
            name=block.name,
            vars=[_variable_message(var) for var in at],
            inputs=[at[var] for var in block.inputs],
            outputs=[0 if var is None else at[var] + 1 for var in block.outputs],
            ops=[self.operator(operator, at) for operator in block.ops],
        )
        for outer, inner in block.captures.items():
            out.captures.add(outer=self.vars[outer.block][outer], inner=at[inner])
        return out

    def operator(self, operator: Operator, at: dict[Variable, int]) -> Any:
        attrs = sorted(operator.attrs.items())
        return _pb.Operator(
            op=self.ops[operator.op],
            inputs=[_operand_message(value, at) for value in operator.inputs],
            outputs=[at[var] for var in operator.outputs],
            attrs=[_pb.Attr(name=name, value=_attribute_message(value)) for name, value in attrs],
            frames=[self.frames[loc] for loc in operator.locs] if self.locs else [],
            role="" if operator.role == FORWARD else operator.role,
        )


def _utf8(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()  # names of files need not be text


def _variables_in_order(block: Block) -> Iterable[Variable]:
    """Each variable once, in an order that does not depend on how the program came to be."""
    made = [var for operator in block.ops for var in operator.outputs]
    made_set = set(made)
    declared = [var for var in block.vars.values() if var.persistable or var not in made_set]
    return dict.fromkeys([*block.inputs, *declared, *made])


def _variable_message(var: Variable) -> Any:
    return _pb.Variable(
        name=var.name,
        meta=_meta_message(var.meta),
        stop_gradient=var.stop_gradient,
        persistable=var.persistable,
        parameter=var.is_parameter,
    )


def _meta_message(meta: AnyMeta) -> Any:
    lists = 0
    while isinstance(meta, ListMeta):
        meta, lists = meta.item, lists + 1
    if isinstance(meta, FrameMeta):
        return _pb.Meta(frame=True, lists=lists)
    return _pb.Meta(dtype=meta.dtype.name, shape=meta.shape, lists=lists)


def _operand_message(value: Any, at: dict[Variable, int]) -> Any:
    if value is None:
        return _pb.Operand(missing=True)
    if isinstance(value, Literal):
        return _pb.Operand(literal=_pb.Literal(value=_attribute_message(value.value), dtype=value.dtype.name))
    return _pb.Operand(var=at[value])


def _attribute_message(value: Any, depth: int = 0) -> Any:
    if depth > MAX_NESTING:
        raise DTypeError(f"an attribute is nested deeper than {MAX_NESTING} levels")
    if isinstance(value, np.generic):
        value = value.item()
    if is_block(value):
        return _pb.Attribute(block=value.index)
    field, convert = _FIELDS[type(value)]
    if field in _NESTED:
        items = [_attribute_message(item, depth + 1) for item in convert(value)]
        return _pb.Attribute(**{field: _pb.Items(items=items)})
    return _pb.Attribute(**{field: convert(value)}) if field != "integer" else _integer_message(value)


def _integer_message(value: int) -> Any:
    if -_INT64 <= value < _INT64:
        return _pb.Attribute(integer=value)
    return _pb.Attribute(big_integer=str(value))


_NESTED = frozenset({"slice", "tuple", "list"})
# How each type of attribute is stored: the field of the message, and the field's content.
_FIELDS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    type(None): ("none", lambda v: True),
    bool: ("boolean", bool),
    int: ("integer", int),
    float: ("real", float),
    complex: ("complex", lambda v: _pb.Complex(real=v.real, imag=v.imag)),
    str: ("text", str),
    DType: ("dtype", lambda v: v.name),
    Ref: ("ref", lambda v: _pb.Ref(index=v.index, item=0 if v.item is None else v.item + 1)),
    type(...): ("ellipsis", lambda v: True),
    Meta: ("meta", _meta_message),
    ListMeta: ("meta", _meta_message),
    FrameMeta: ("meta", _meta_message),
    slice: ("slice", lambda v: (v.start, v.stop, v.step)),
    tuple: ("tuple", list),
    list: ("list", list),
}


# --- reading ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Builds a Program from a message whose every number may be wrong."""

    def __init__(self, message: Any) -> None:
        self.message = message
        self.result = Program()
        self.vars: list[list[Variable]] = []
        self.ops = [_known_op(use.name, use.version) for use in message.ops]
        strings = list(message.strings)
        self.frames = [self.loc(frame, strings) for frame in message.frames]

    def program(self) -> Program:
        self.result.random_seed = self.message.random_seed
        self.result.blocks.clear()
        for index, block in enumerate(self.message.blocks):
            if block.parent > index:
                raise _bad(f"block {index} lies inside block {block.parent - 1}, which does not come before it")
            self.declare(index, block)
        for block, stored in zip(self.result.blocks, self.message.blocks):
            self.fill(block, stored)
        resume_names(self.result)
        return self.result

    def loc(self, frame: Any, strings: Sequence[str]) -> Loc:
        columns = (frame.col, frame.end_col) if frame.columns_known else (None, None)
        file, function = _at(strings, frame.file, "string"), _at(strings, frame.function, "string")
        return Loc(file, frame.line, function, *columns)

    def declare(self, index: int, stored: Any) -> None:
        parent = self.result.blocks[stored.parent - 1] if stored.parent else None
        if len(stored.name) > MAX_NAME:
            raise _bad(f"block {index} has a name of {len(stored.name)} characters")
        block = Block(self.result, index, parent, name=stored.name)
        for var in stored.vars:
            if not 0 < len(var.name) <= MAX_NAME or var.name in block.vars:
                raise _bad(f"block {index} has two variables {var.name[:80]!r}, or one with no proper name")
            new = Variable(
                block, var.name, _meta(var.meta), stop_gradient=var.stop_gradient, persistable=var.persistable
            )
            if var.parameter:
                new.__dict__["is_parameter_"] = True
            block.vars[var.name] = new
        self.result.blocks.append(block)
        self.vars.append(list(block.vars.values()))

    def fill(self, block: Block, stored: Any) -> None:
        own = self.vars[block.index]
        block.inputs = [_at(own, i, "variable") for i in stored.inputs]
        block.outputs = [_at(own, i - 1, "variable") if i else None for i in stored.outputs]
        outer = [] if block.parent is None else self.vars[block.parent.index]
        for capture in stored.captures:
            block.captures[_at(outer, capture.outer, "variable")] = _at(own, capture.inner, "variable")
        block.ops = [self.operator(op, own) for op in stored.ops]

    def operator(self, stored: Any, own: Sequence[Variable]) -> Operator:
        return Operator(
            _at(self.ops, stored.op, "op"),
            tuple(self.operand(value, own) for value in stored.inputs),
            tuple(_at(own, i, "variable") for i in stored.outputs),
            {attr.name: self.attribute(attr.value) for attr in stored.attrs},
            tuple(_at(self.frames, i, "location") for i in stored.frames),
            stored.role or FORWARD,
        )

    def operand(self, stored: Any, own: Sequence[Variable]) -> Any:
        kind = stored.WhichOneof("kind")
        if kind == "var":
            return _at(own, stored.var, "variable")
        if kind == "literal":
            value = self.attribute(stored.literal.value)
            if isinstance(value, (bool, int, float, complex)):
                return Literal(value, _dtype(stored.literal.dtype))
        return None if kind == "missing" else _fail("an input is neither a variable nor a number")

    def attribute(self, stored: Any, depth: int = 0) -> Any:
        if depth > MAX_NESTING:
            raise _bad(f"an attribute is nested deeper than {MAX_NESTING} levels")
        kind = stored.WhichOneof("kind")
        if kind in _NESTED:
            items = [self.attribute(item, depth + 1) for item in getattr(stored, kind).items]
            return _SEQUENCES[kind](items)
        if kind == "block":
            return _at(self.result.blocks, stored.block, "block")
        return _VALUES[kind](getattr(stored, kind)) if kind in _VALUES else _fail("an attribute has no value")


def _fail(reason: str) -> NoReturn:
    raise _bad(reason)


def _at(items: Sequence[Any], index: int, what: str) -> Any:
    return items[index] if 0 <= index < len(items) else _fail(f"it refers to {what} {index} of {len(items)}")


def _known_op(name: str, version: int) -> OpDef:
    try:
        op = get_op(name)
    except InternalError:
        raise FileFormatError(
            f"the stored program uses op {name[:80]!r}, which this vitrify does not have",
            hint="it was made by another version: update vitrify, or save the model again",
        ) from None
    if op.version != version:
        raise FileFormatError(
            f"the stored program uses version {version} of op {name!r}, this vitrify has {op.version}",
            hint="update vitrify, or save the model again with this version",
        )
    return op


def _dtype(name: str) -> DType:
    return _DTYPES[name] if name in _DTYPES else _fail(f"{name[:80]!r} is no dtype")


def _meta(stored: Any) -> AnyMeta:
    if len(stored.shape) > MAX_DIMS or any(dim < UNKNOWN for dim in stored.shape) or stored.lists > MAX_LISTS:
        raise _bad(f"a variable has shape {list(stored.shape)[: MAX_DIMS + 1]}")
    meta: AnyMeta = FrameMeta() if stored.frame else Meta(tuple(stored.shape), _dtype(stored.dtype))
    for _ in range(stored.lists):
        meta = ListMeta(meta)
    return meta


def _big_integer(text: str) -> int:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 400 else _fail("a number is no number")


_SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "list": list,
    "slice": lambda items: slice(*items) if len(items) == 3 else _fail("a slice has no three parts"),
}
_VALUES: dict[str, Callable[[Any], Any]] = {
    "none": lambda v: None,
    "boolean": bool,
    "integer": int,
    "big_integer": _big_integer,
    "real": float,
    "complex": lambda v: complex(v.real, v.imag),
    "text": str,
    "dtype": _dtype,
    "ref": lambda v: Ref(v.index, v.item - 1 if v.item else None),
    "ellipsis": lambda v: ...,
    "meta": _meta,
}
