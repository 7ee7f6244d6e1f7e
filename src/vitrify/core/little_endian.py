"""The elements of arrays as files hold them."""

from __future__ import annotations

from typing import Any

import numpy as np


def little_endian(array: np.ndarray[Any, Any]) -> memoryview:
    r"""The elements in the order of C, little-endian, as plain bytes; a view where they lie so already.

    >>> bytes(little_endian(np.array([1, 2], "int16")))
    b'\x01\x00\x02\x00'
    """
    whole = np.ascontiguousarray(array)
    # As bytes, since buffers know no bfloat16.
    return whole.astype(whole.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8).data
