"""Programs as bytes and back, as `desc.serialize_to_string()` and `Program.parse_from_string` have them in Paddle."""

from __future__ import annotations

from typing import Any

from ..core.errors import DTypeError
from ..ir.program import Program
from ..ir.serialize import PROGRAM, program_from_bytes, program_to_bytes
from ..static.inference import program_of
from .importing import recorded_program
from .reading import graph_of_bytes


def program_string(program: Program) -> bytes:
    """The program as bytes, in our own format: all of it, backward and updates included."""
    return program_to_bytes(program)


def parsed_program(data: Any) -> Program:
    """The program that these bytes hold: ours, or one of PaddlePaddle 2 without what updates it.

    Raises FileFormatError for any other bytes, UnsupportedError for operators that cannot be read.
    """
    if not isinstance(data, bytes):
        raise DTypeError(f"parse_from_string takes bytes, but received {type(data).__name__}")
    if data.startswith(PROGRAM.magic):
        return program_from_bytes(data)
    what = "parse_from_string"
    return program_of(recorded_program(what, graph_of_bytes(what, data)))
