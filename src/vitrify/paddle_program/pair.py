"""What ties the two files of a program to each other: one from another save is refused, and no kill mixes two saves.

PaddlePaddle's formats are a program and, beside it, the tensors that it takes. Our programs name the checksum of
theirs, in a place that PaddlePaddle does not look at; PaddlePaddle's own name none, so they take what lies beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import FileFormatError

PARAMS_SUFFIX = ".pdiparams"
NEXT = ".next"
"""What the file of tensors is called until the program that belongs to it is there."""
CHECKSUM = "params_checksum"
_LONGEST = 64


def checksum_in(values: Mapping[str, Any]) -> str | None:
    """The checksum among the attributes of a program; None where it names none. Raises FileFormatError."""
    found = values.get(CHECKSUM)
    if found is None or (isinstance(found, str) and len(found) <= _LONGEST):
        return found
    raise FileFormatError("the checksum of its parameters is none")
