"""What tensor-parallel model code does with its part of a tensor: the one process has all of it."""

from __future__ import annotations

from typing import Any

from ..ops.embedding import embedding
from ..ops.select import where
from .environment import Group


def _c_identity(tensor: Any, group: Group | None = None, skip_c_identity_dynamic: bool = False) -> Any:
    """The tensor as it is; its gradient would be summed over the processes."""
    return tensor


def _c_concat(tensor: Any, group: Group | None = None) -> Any:
    """The tensor as it is: the parts of all processes, joined along the last dimension."""
    return tensor


def _c_split(tensor: Any, group: Group | None = None) -> Any:
    """The tensor as it is: this process's part of the last dimension."""
    return tensor


def _mp_allreduce(
    tensor: Any, op: int = 0, group: Group | None = None, use_calc_stream: bool = True,
    use_model_parallel: bool = True, skip_c_identity_dynamic: bool = False,
) -> Any:  # fmt: skip
    """The tensor as it is: the sum over the processes."""
    return tensor


def _c_lookup_table(table: Any, index: Any, start_index: int = 0, vocab_size: int = -1, name: str | None = None) -> Any:
    """The rows of table [n, d] at index - start_index, zeros for those it does not have: index [*] -> [*, d]."""
    at = index - start_index
    has = (at >= 0) & (at < table.shape[0])
    return where(has.unsqueeze(-1), embedding(where(has, at, at * 0), table), 0.0)


__all__ = ["_c_concat", "_c_identity", "_c_lookup_table", "_c_split", "_mp_allreduce"]
