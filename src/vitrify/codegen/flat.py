"""Steps in line: the blocks of branches and loops that call functions among the steps around them, with jumps between.

Other blocks stay what they are: a step runs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .calls import CALL
from .operands import STATE, Step


@dataclass(eq=False)
class Label:
    """A place among steps; `at`: which of the words is there."""

    at: int = -1


def flattened(steps: Sequence[Step]) -> Iterator[Step | Label]:
    """Yield the steps, and labels that words of them name."""
    for step in steps:
        if step.blocks and _calls(step):
            yield from _FORMS[step.function](step)
        else:
            yield step


def _calls(step: Step) -> bool:
    """Whether a step calls a function, or one of its blocks does."""
    return step.function == CALL or any(_calls(inner) for block in step.blocks for inner in block)


def _branch(step: Step) -> Iterator[Step | Label]:
    """The words of `steps.branch`."""
    orelse, end = Label(), Label()
    yield Step("jump_unless", [orelse, step.words[0]], operator=step.operator)
    yield from flattened(step.blocks[0])
    yield Step("jump", [end], operator=step.operator)
    yield orelse
    yield from flattened(step.blocks[1])
    yield end


def _while_true(step: Step) -> Iterator[Step | Label]:
    """The words of `steps.while_true`."""
    flag, *_, count, _ = step.words
    again, end = Label(), Label()
    yield Step("begun", [count], operator=step.operator)
    yield again
    yield from flattened(step.blocks[0])
    yield Step("jump_unless", [end, flag], operator=step.operator)
    yield from flattened(step.blocks[1])
    yield Step("again", [again, count, STATE], operator=step.operator)
    yield end


def _repeat(step: Step) -> Iterator[Step | Label]:
    """The words of `steps.repeat`."""
    until, *_, count, _ = step.words
    again, end = Label(), Label()
    yield Step("begun", [count], operator=step.operator)
    yield again
    yield Step("jump_after", [end, until, count], operator=step.operator)
    yield from flattened(step.blocks[1])
    yield Step("again", [again, count, STATE], operator=step.operator)
    yield end


_FORMS = {"branch": _branch, "while_true": _while_true, "repeat": _repeat}


__all__ = ["Label", "flattened"]
