"""Exceptions made of tensors on one path of a branch: behind it they hold what the branch gives for those tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...core.pytree import all_leaves
from ..values.base import Undefined, builder


@dataclass(frozen=True, eq=False)
class ErrorSlot:
    """Stands for an exception until the branch is recorded; `held`: its arguments and attributes, with slots."""

    error: BaseException
    held: Any

    def filled(self, held: Any) -> BaseException:
        """The exception, which holds `held` from now on."""
        self.error.args, attributes = held
        vars(self.error).update(attributes)
        left(self.error)
        return self.error


def left(value: Any) -> Any:
    """`value`; an exception that left its path is made again of what it holds, no more of what the path knew."""
    errors = builder().errors
    if isinstance(value, BaseException) and id(value) in errors:
        errors[id(value)] = (value, None, errors[id(value)][2])
    return value


def error_slot(error: BaseException, alone: Callable[[Any], Any]) -> ErrorSlot | None:
    """What stands for `error`, whose parts leave their path by `alone`; None if one of them cannot."""
    held = alone((error.args, dict(vars(error))))
    return None if any(isinstance(leaf, Undefined) for leaf in all_leaves(held)) else ErrorSlot(error, held)
