"""Views: what an op gives that shares memory with its first input, and what a change of the one is for the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import UnsupportedError
from ..core.modes import grad_enabled, scoped
from .like import full_like
from .registry import OpDef, Rule, Vjp
from .select import where


@dataclass(frozen=True)
class View:
    """How a tensor follows from the one that it shares memory with."""

    op: OpDef
    base: Any
    others: tuple[Any, ...]
    attrs: Mapping[str, Any]

    def of(self, base: Any) -> Any:
        """The same view of another base."""
        with scoped(grad_enabled, True):
            return self.op(base, *self.others, **self.attrs)

    def transposed(self, like: Any, values: Any) -> Any:
        """`values` at the places of `like` that the view shows, zeros elsewhere: the view's vjp."""
        rules = self.op.vjp
        rule: Rule | None = rules.per_input.get(self.op.inputs[0]) if isinstance(rules, Vjp) else None
        if rule is None or any(r not in self.attrs and not r.endswith("_like") for r in rule.residuals):
            raise UnsupportedError(
                f"an in-place change of a tensor made by {self.op.name}(), which shares memory with another one",
                hint="change a copy of it (x.clone()), or change the tensor that it was made from",
            )
        return rule.fn(values, **{r: self.attrs.get(r, like) for r in rule.residuals})

    def put_back(self, base: Any, value: Any, is_whole: bool) -> Any:
        """`base` with what the view shows of it replaced by `value`; `is_whole`: it shows all of it."""
        if is_whole:
            return self.transposed(base, value)
        shown = self.transposed(base, full_like(value, 1)).astype("bool")
        return where(shown, self.transposed(base, value), base)


__all__ = ["View"]
