"""Checking what a program is fed: arrays must fit their variable, Python numbers and lists are converted to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import DTypeError, FeedFetchError, ShapeError, UserCodeError
from ..core.meta import UNKNOWN, Meta
from ..ir.program import Variable
from .dense_tensor import DenseTensor


class FeedSlot:
    """What one fed variable takes.

    An array (or a Tensor, by its array) must have the variable's dtype, as Paddle demands: a float64 array where
    float32 is expected is a mistake in a data pipeline more often than a wish. Numbers and lists have no dtype of their
    own and take the variable's, where that loses nothing but precision.
    """

    __slots__ = ("_dtype", "_meta", "_seen", "name")

    def __init__(self, var: Variable) -> None:
        if not isinstance(var.meta, Meta):
            raise DTypeError(f"feed {var.name!r}: a program cannot be fed {var.meta}, only tensors")
        self.name = var.name
        self._meta = var.meta
        self._dtype = var.meta.dtype.np
        self._seen: Any = None  # the last shape that fitted: most calls repeat it

    def array_of(self, value: Any) -> Any:
        """`value` as an array that fits; raises FeedFetchError or ShapeError."""
        if value.__class__ is not np.ndarray or value.dtype != self._dtype:
            value = self._converted(value)
        if value.shape != self._seen:
            self._check_shape(value)
            self._seen = value.shape
        return value

    def _check_shape(self, array: Any) -> None:
        want, got = self._meta.shape, array.shape
        if len(want) == len(got) and all(w in (UNKNOWN, g) for w, g in zip(want, got)):
            return
        hint = "sizes shown as ? may be any, the others must be equal"
        if len(want) != len(got):
            hint = f"it takes {len(want)} dimensions, and {len(got)} were given"
        raise ShapeError(self._mismatch(array), hint=hint)

    def _mismatch(self, array: Any) -> str:
        return f"feed {self.name!r}: expected {self._meta}, got {array.dtype}{list(array.shape)}"

    def _converted(self, value: Any) -> Any:
        if isinstance(value, DenseTensor):
            value = value.array
        if isinstance(value, np.ndarray) or hasattr(value, "__cuda_array_interface__"):
            return self._of_array(value)
        try:
            return self._of_python(value)
        except UserCodeError:
            raise
        except (ValueError, TypeError, OverflowError) as err:
            raise FeedFetchError(
                f"feed {self.name!r}: expected {self._meta}, and a {type(value).__name__} is no array of it: {err}",
                hint="lists must be nested evenly and hold numbers that the dtype can hold",
            ) from None

    def _of_array(self, array: Any) -> Any:
        """An array of the right dtype in another byte order, or of bits that NumPy has no name for."""
        if array.dtype == self._dtype:
            return np.asarray(array) if isinstance(array, np.ndarray) else array
        if array.dtype.newbyteorder("=") == self._dtype:
            return array.astype(self._dtype)
        if self._meta.dtype.name == "bfloat16" and array.dtype == np.uint16:
            return array.view(self._dtype)  # as Paddle hands bfloat16 out
        name = self._meta.dtype.name
        raise FeedFetchError(self._mismatch(array), hint=f"feed={{{self.name!r}: array.astype({name!r})}}")

    def _of_python(self, value: Any) -> Any:
        """Numbers, and lists of numbers and arrays, in the variable's dtype."""
        found = np.asarray(value)
        are_integers = found.dtype.kind in "iu" and self._dtype.kind in "iu"
        if found.size and not are_integers and not np.can_cast(found.dtype, self._dtype, "same_kind"):
            what = "nothing" if value is None else f"{found.dtype}{list(found.shape)}"
            raise FeedFetchError(f"feed {self.name!r}: expected {self._meta}, got {what}")
        made = found.astype(self._dtype)
        if are_integers and (made != found).any():  # astype wraps around
            raise OverflowError(f"{found[made != found][0]} is out of range")
        return made
