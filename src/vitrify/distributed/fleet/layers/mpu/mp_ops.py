"""What tensor-parallel model code does with its part of a tensor: the one process has all of it."""

from __future__ import annotations

from typing import Any

from ....environment import Group


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


__all__ = ["_c_concat", "_c_identity", "_c_split", "_mp_allreduce"]
