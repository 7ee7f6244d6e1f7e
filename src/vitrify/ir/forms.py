"""The operators of another format that write ops: one table a format, entered by decorators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from ..ops.registry import OpDef

Form = TypeVar("Form")


class Forms(Generic[Form]):
    """The forms by op name."""

    def __init__(self) -> None:
        self._forms: dict[str, Form] = {}

    def __call__(self, *names: str) -> Callable[[Form], Form]:
        """Enter the decorated function as the form of these ops."""

        def enter(form: Form) -> Form:
            self._forms.update(dict.fromkeys(names, form))
            return form

        return enter

    def get(self, op: OpDef) -> Form | None:
        """The form of an op; None where it has none of its own."""
        return self._forms.get(op.name)

    def names(self) -> frozenset[str]:
        """The ops with a form of their own."""
        return frozenset(self._forms)


__all__ = ["Forms"]
