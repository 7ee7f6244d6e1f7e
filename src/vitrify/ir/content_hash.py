"""What a Program says, as one short string."""

from __future__ import annotations

import xxhash

from .program import Program
from .serialize import encode_program


def hash_of_bytes(data: memoryview) -> str:
    """XXH3-128 (hexadecimal) of bytes that lie together."""
    return xxhash.xxh3_128_hexdigest(data)


def content_hash(program: Program, *, locs: bool = False) -> str:
    """XXH3-128 (hexadecimal) of the serialized program: equal for equal programs in any process.

    Names count; lines of the user's source do with `locs`. It tells programs apart, it does not protect from forgery.
    Raises DTypeError for attributes that are no plain data.

    >>> content_hash(Program()) == content_hash(Program().clone())
    True
    """
    return xxhash.xxh3_128_hexdigest(encode_program(program, locs=locs))
