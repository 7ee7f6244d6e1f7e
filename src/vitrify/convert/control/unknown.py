"""What is not known yet while a recursive function is recorded, and tensors that stand in for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ...core.modes import scoped
from ...core.pytree import flatten
from ...ir.builder import UNSET
from ...ir.program import Block, Variable
from ...ir.varying import KIND, Kind, facts_of, mark
from ..containers.structure import put_together
from ..values.base import Undefined, builder
from ..values.emit import unset_flag


class Signal(BaseException):
    """Goes up to whoever traces `target`; no error, so that no handler for errors stops it."""

    def __init__(self, target: Any) -> None:
        super().__init__()
        self.target = target


class Pending(Signal):
    """This path needs what the function `target` gives before any path has told."""


class Noticeable(Signal):
    """What the trial `target` evaluates may not be evaluated early."""


@dataclass
class Trial:
    """A trial whether evaluating an operand of `and` or `or` early can be noticed, and how many operators it took.

    `trials`: it and those around it, the outermost first.
    """

    trials: list[Trial]
    count: int = 0


_trial: ContextVar[Trial | None] = ContextVar("trial", default=None)


def tried() -> Trial | None:
    """The trial that what is evaluated now is part of."""
    return _trial.get()


@contextmanager
def trying() -> Iterator[Trial]:
    """Evaluate what is inside as a trial."""
    outer = _trial.get()
    trial = Trial([] if outer is None else [*outer.trials])
    trial.trials.append(trial)
    with scoped(_trial, trial):
        yield trial


def give_up_trial() -> None:
    """End the trial there may be: what follows can be noticed, as any branch or loop of a program."""
    trial = _trial.get()
    if trial is not None:
        raise Noticeable(trial)


def stand_in(value: Any) -> Any:
    """`value` with tensors of the current block, known by their metas only, for those of blocks left behind."""
    if isinstance(value, Undefined):
        return value
    leaves: list[Any] = []
    tree = flatten(value, leaves)
    visible = [_visible(leaf) for leaf in leaves]
    return value if all(a is b for a, b in zip(leaves, visible)) else put_together(tree, iter(visible))


def _visible(leaf: Any) -> Any:
    block: Block | None = builder().block
    if not isinstance(leaf, Variable):
        return leaf
    while block is not None:
        if leaf.block is block:
            return leaf
        block = block.parent
    made = builder().block.create_var(leaf.meta, prefix="unknown", stop_gradient=leaf.stop_gradient)
    held = unset_flag(leaf)
    if held is not None:
        made.__dict__[UNSET] = (_visible(held[0]), *held[1:])
    kind = leaf.__dict__.get(KIND)
    mark(made, None if kind is None else Kind(_visible(kind.code), kind.kinds), facts_of(leaf))
    return made
