"""What a Program says, as one short string."""

from __future__ import annotations

import hashlib

from .attributes import check_storable
from .program import Program
from .text import Style, program_text


def content_hash(program: Program) -> str:
    """SHA-256 (hexadecimal) of the program's text without locations: equal for equal programs in any process.

    Names count, lines of the user's source don't. Raises DTypeError for attributes that are no plain data.

    >>> content_hash(Program()) == content_hash(Program().clone())
    True
    """
    check_storable(program)  # the text would show two different functions alike
    return hashlib.sha256(program_text(program, Style(locs=False)).encode()).hexdigest()
