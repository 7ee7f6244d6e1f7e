"""Control flow by `with`: the statements of a loop or case stand under it and change tensors from outside in place.

Source: paddle.static.nn.control_flow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import reduce
from typing import Any

from ...core.dispatch import in_dynamic_mode
from ...core.errors import ArgumentError, DTypeError, UnsupportedError
from ...core.lazy import lazy_module
from ...ir.program import Variable
from ...ops.arguments import is_tensor
from ...ops.compare import logical_and, logical_not, logical_or
from ...ops.creation import assign
from ...ops.sizes import numel
from .recorded import logged, recording

# Most programs have no branches and loops, and what traces these is a third of all modules.
_branches = lazy_module("vitrify.convert.control.branches")
_loops = lazy_module("vitrify.convert.control.loop_trace")
_base = lazy_module("vitrify.convert.values.base")


def flag_of(what: str, pred: Any) -> Any:
    """A condition: a tensor with one bool."""
    if not is_tensor(pred):
        raise DTypeError(f"{what} must be a tensor, but received {type(pred).__name__}")
    if not pred.dtype.is_bool:
        raise DTypeError(f"{what} must be bool, but received {pred.dtype.name}", hint="compare it: x > 0")
    return pred if not isinstance(pred, Variable) else _base.scalar_condition(pred, what)


def _nothing() -> tuple[()]:
    return ()


@logged
def _loop(pred: Variable, body: Callable[[], tuple[()]]) -> None:
    _loops.trace_loop(lambda: flag_of("While: cond", pred), body, (), ())


@logged
def _branch(pred: Variable, then: Callable[[], tuple[()]], orelse: Callable[[], tuple[()]]) -> None:
    _branches.trace_branches(flag_of("the condition", pred), then, orelse, ())


def _only_programs(what: str) -> None:
    if in_dynamic_mode():
        raise UnsupportedError(f"{what} is for programs", hint="write Python's own `while` and `if`")


def _checked(what: str, pred: Any) -> Variable:
    """A condition, which must be a bool of one element of a program."""
    _only_programs(what)
    flag_of(f"{what}: cond", pred)
    if not isinstance(pred, Variable):
        raise DTypeError(f"{what}: cond must be a Variable, but received {type(pred).__name__}")
    return pred


@contextmanager
def _under(pred: Variable, on: bool) -> Iterator[None]:
    """The context of statements for runs in which `pred` is `on`."""
    with recording() as body:
        yield
    _branch(pred, body, _nothing) if on else _branch(pred, _nothing, body)


def _now(pred: Variable) -> Variable:
    """What a condition is now, whatever is assigned to it later."""
    copied: Variable = assign(pred)
    return copied


class While:
    """A loop over the statements under `with while_op.block()`, as long as `cond` holds, which they change in place.

    cond: a bool tensor of one element. Tensors made inside are known there alone: `paddle.assign(value, output)` to one
    from outside hands a value on. Raises DTypeError for a condition that is no bool tensor, or has more
    elements. Source: paddle.static.nn.control_flow.While.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     i, n = paddle.full([1], 0, "int64"), paddle.full([1], 10, "int64")
        ...     cond = paddle.less_than(i, n)
        ...     while_op = paddle.static.nn.control_flow.While(cond=cond)
        ...     with while_op.block():
        ...         i = paddle.increment(i, 3)
        ...         _ = paddle.assign(paddle.less_than(i, n), output=cond)
        >>> paddle.static.Executor().run(main, fetch_list=[i])[0].tolist()
        [12]
    """

    def __init__(self, cond: Any, is_test: bool = False, name: str | None = None) -> None:
        try:
            self.cond_var = _checked("While", cond)
        except ArgumentError as err:  # of several elements, which is a TypeError here in Paddle
            raise DTypeError(err.message, hint=err.hint) from None

    @contextmanager
    def block(self) -> Iterator[None]:
        """The context in which the statements of the loop stand."""
        with recording() as body:
            yield
        _loop(self.cond_var, body)


class If:
    """Statements under `with if_op.true_block()` and `with if_op.false_block()`, of which a run takes one.

    cond: a bool tensor of one element; it decides as it is when the If is made. Raises DTypeError for a condition that
    is no bool tensor, ArgumentError for one of more elements. Source: paddle.static.nn.control_flow.If.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x, y = paddle.static.data("x", [1]), paddle.zeros([1])
        ...     if_op = paddle.static.nn.control_flow.If(x > 0)
        ...     with if_op.true_block():
        ...         _ = paddle.assign(x * 2, output=y)
        ...     with if_op.false_block():
        ...         _ = paddle.assign(-x, output=y)
        >>> exe = paddle.static.Executor()
        >>> [exe.run(main, feed={"x": [v]}, fetch_list=[y])[0].item() for v in (3.0, -4.0)]
        [6.0, 4.0]
    """

    def __init__(self, cond: Any) -> None:
        self.cond_var = _now(_checked("If", cond))

    def true_block(self) -> AbstractContextManager[None]:
        """The context of the statements for runs in which the condition holds."""
        return _under(self.cond_var, True)

    def false_block(self) -> AbstractContextManager[None]:
        """The context of the statements for runs in which it does not."""
        return _under(self.cond_var, False)


class ConditionalBlock:
    """Statements under `with conditional.block()` for runs in which all conditions hold.

    inputs: bool tensors of one element (is_scalar_condition), or tensors of any kind, which hold unless they are empty.
    Raises DTypeError for other things than tensors. Source: paddle.static.nn.control_flow.ConditionalBlock.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [1])
        ...     y = x * 1
        ...     with paddle.static.nn.control_flow.ConditionalBlock([x > 0], is_scalar_condition=True).block():
        ...         _ = paddle.assign(x * 5, output=y)
        >>> exe = paddle.static.Executor()
        >>> [exe.run(main, feed={"x": [v]}, fetch_list=[y])[0].item() for v in (3.0, -4.0)]
        [15.0, -4.0]
    """

    def __init__(self, inputs: Sequence[Any], is_scalar_condition: bool = False, name: str | None = None) -> None:
        _only_programs("ConditionalBlock")
        for value in inputs:
            if not isinstance(value, Variable):
                kind = type(value).__name__
                raise DTypeError(f"ConditionalBlock: inputs holds tensors of a program, but received {kind}")
        if not inputs:
            raise ArgumentError("ConditionalBlock: inputs must hold a tensor")
        flags = [_checked("ConditionalBlock", v) if is_scalar_condition else numel(v) > 0 for v in inputs]
        self.cond_var = _now(reduce(logical_and, flags))

    def block(self) -> AbstractContextManager[None]:
        """The context in which the statements stand."""
        return _under(self.cond_var, True)


class Switch:
    """Cases of which a run takes the first whose condition holds, else the default, if there is one.

    The statements of each stand under `with switch.case(condition)` or `with switch.default()`, and these under
    `with Switch() as switch`. Raises ArgumentError (a ValueError) for cases outside of that, and for a default
    without cases before it. Source: paddle.static.nn.control_flow.Switch.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     step, rate = paddle.static.data("step", [1]), paddle.zeros([1])
        ...     with paddle.static.nn.control_flow.Switch() as switch:
        ...         with switch.case(step < 10):
        ...             _ = paddle.assign(paddle.full([1], 0.5), output=rate)
        ...         with switch.default():
        ...             _ = paddle.assign(paddle.full([1], 0.25), output=rate)
        >>> exe = paddle.static.Executor()
        >>> [exe.run(main, feed={"step": [v]}, fetch_list=[rate])[0].item() for v in (3.0, 30.0)]
        [0.5, 0.25]
    """

    def __init__(self, name: str | None = None) -> None:
        self._is_open = False
        self._taken: Variable | None = None

    def __enter__(self) -> Switch:
        self._is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False

    def case(self, condition: Any) -> AbstractContextManager[None]:
        """The context of the statements for runs in which `condition` is the first that holds."""
        if not self._is_open:
            raise ArgumentError("Switch: case should be called inside with", hint="with Switch() as switch: ...")
        holds = _now(_checked("Switch", condition))
        before = self._taken
        self._taken = holds if before is None else logical_or(before, holds)
        return _under(holds if before is None else logical_and(logical_not(before), holds), True)

    def default(self) -> AbstractContextManager[None]:
        """The context of the statements for runs in which no condition holds."""
        if self._taken is None:
            raise ArgumentError("Switch: there should be at least one condition", hint="with switch.case(...) first")
        return _under(self._taken, False)


__all__ = ["ConditionalBlock", "If", "Switch", "While", "flag_of"]
