"""`paddle.distributed.fleet.utils.sequence_parallel_utils`: split sequences, whole in the one process."""

from __future__ import annotations

from typing import Any

from ..meta_parallel import ColumnParallelLinear, RowParallelLinear


class _Whole:
    """What takes a part of a sequence from or to other processes: the sequence itself."""

    @staticmethod
    def apply(input: Any, *args: Any, **kwargs: Any) -> Any:
        """The input."""
        return input


class ScatterOp(_Whole):
    """The part of this process; backward gathers. Source: paddle.distributed.fleet.utils.sequence_parallel_utils."""


class GatherOp(_Whole):
    """The parts of all; backward takes this process's. Source: as ScatterOp."""


class AllGatherOp(_Whole):
    """The parts of all; backward adds up and takes this process's. Source: as ScatterOp."""


class ReduceScatterOp(_Whole):
    """The sum, of which this process takes its part; backward gathers. Source: as ScatterOp."""


scatter = all_gather = reduce_scatter = _Whole.apply


class ColumnSequenceParallelLinear(ColumnParallelLinear):
    """ColumnParallelLinear of a split sequence. Source: as ScatterOp.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.fleet.utils.sequence_parallel_utils import ColumnSequenceParallelLinear
        >>> list(ColumnSequenceParallelLinear(4, 6, gather_output=False)(paddle.ones([2, 4])).shape)
        [2, 6]
    """


class RowSequenceParallelLinear(RowParallelLinear):
    """RowParallelLinear of a split sequence. Source: as ScatterOp.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.fleet.utils.sequence_parallel_utils import RowSequenceParallelLinear
        >>> list(RowSequenceParallelLinear(4, 6, input_is_parallel=True)(paddle.ones([2, 4])).shape)
        [2, 6]
    """


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Note that the parameter's gradient is a sum over parts of a sequence. Source: as ScatterOp."""
    parameter.sequence_parallel = True


def is_sequence_parallel_parameter(parameter: Any) -> bool:
    """Whether the parameter was marked. Source: as ScatterOp."""
    return getattr(parameter, "sequence_parallel", False)


def register_sequence_parallel_allreduce_hooks(model: Any, *args: Any, **kwargs: Any) -> None:
    """Add up gradients of marked parameters over processes: nothing to do for one. Source: as ScatterOp."""


__all__ = [
    "AllGatherOp", "ColumnSequenceParallelLinear", "GatherOp", "ReduceScatterOp", "RowSequenceParallelLinear",
    "ScatterOp", "all_gather", "is_sequence_parallel_parameter", "mark_as_sequence_parallel_parameter",
    "reduce_scatter", "register_sequence_parallel_allreduce_hooks", "scatter",
]  # fmt: skip
