"""Control flow of programs written by hand: the same branches and loops that converted code has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.dispatch import in_dynamic_mode
from ...core.errors import ArgumentError, DTypeError
from ...core.lazy import lazy_module
from ...eager.host_ops import assert_op
from ...ir.program import Variable
from ...ops.arguments import is_tensor
from ..printing import Print, failed_assertion
from .blocks import ConditionalBlock, If, Switch, While, flag_of
from .recorded import logged

Function = Callable[..., Any]
# Most programs have no branches and loops, and what traces these is a third of all modules.
_branches = lazy_module("vitrify.convert.control.branches")
_loops = lazy_module("vitrify.convert.control.loop_trace")


def _nothing() -> None:
    return None


def _callable(what: str, fn: Any) -> Function:
    if fn is None:
        return _nothing
    if not callable(fn):
        raise DTypeError(f"{what} must be callable, but received {type(fn).__name__}")
    function: Function = fn
    return function


@logged
def cond(
    pred: Any,
    true_fn: Function | None = None,
    false_fn: Function | None = None,
    name: str | None = None,
    return_names: Sequence[str] | None = None,
) -> Any:
    """What `true_fn()` gives where pred holds when the program runs, else what `false_fn()` gives.

    Both give the same structure of tensors and numbers, or None. A function left out gives None, and does nothing.
    What they change in place is changed on their path alone. Raises DTypeError for a condition that is no bool tensor,
    ArgumentError (or a more exact class) where the results do not fit each other. Source: paddle.static.nn.cond.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [1])
        ...     y = paddle.static.nn.cond(x > 0, lambda: x * 2, lambda: -x)
        >>> exe = paddle.static.Executor()
        >>> [exe.run(main, feed={"x": [v]}, fetch_list=[y])[0].tolist() for v in (3.0, -3.0)]
        [[6.0], [3.0]]
    """
    then, orelse = _callable("cond: true_fn", true_fn), _callable("cond: false_fn", false_fn)
    flag = flag_of("cond: pred", pred)
    if not isinstance(flag, Variable):
        return then() if bool(flag) else orelse()
    shapes: list[str] = []

    def checked(fn: Function, label: str) -> Function:
        def path() -> tuple[Any]:
            found = fn()
            shapes.append(f"{label} gives {_structure(found)}")
            if len({text.partition(" gives ")[2] for text in shapes}) > 1:
                raise ArgumentError(
                    f"cond: the two functions must give the same structure: {', '.join(shapes)}",
                    hint="let both return as many values, in the same nesting",
                )
            return (found,)

        return path

    (found,) = _branches.trace_branches(flag, checked(then, "true_fn"), checked(orelse, "false_fn"), (name or "cond",))
    return found


def _structure(value: Any) -> str:
    """The nesting of a result, for comparison and messages."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k!r}: {_structure(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_structure, value))}]"
    return "None" if value is None else "a value"


@logged
def while_loop(
    cond: Function, body: Function, loop_vars: Sequence[Any], is_test: bool = False, name: str | None = None
) -> Any:
    """The loop variables after `while cond(*loop_vars): loop_vars = body(*loop_vars)`.

    loop_vars: a list or tuple of tensors, numbers and nested structures of them. body gives as many, of the same
    dtypes and ranks; sizes may change. Raises ArgumentError for no loop variables and for another number of results,
    DTypeError for a condition that is no bool tensor. Source: paddle.static.nn.while_loop.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     i, n = paddle.full([1], 0, "int64"), paddle.full([1], 10, "int64")
        ...     i, n = paddle.static.nn.while_loop(lambda i, n: i < n, lambda i, n: [i + 3, n], [i, n])
        >>> paddle.static.Executor().run(main, fetch_list=[i])[0].tolist()
        [12]
    """
    test, step = _callable("while_loop: cond", cond), _callable("while_loop: body", body)
    if not isinstance(loop_vars, (list, tuple)):
        raise DTypeError(f"while_loop: loop_vars must be a list or tuple, but received {type(loop_vars).__name__}")
    if not loop_vars:
        raise ArgumentError("while_loop: loop_vars must not be empty")

    def iteration(*values: Any) -> tuple[Any, ...]:
        found = step(*values)
        results = tuple(found) if isinstance(found, (list, tuple)) else (found,)
        if len(results) != len(values):
            raise ArgumentError(f"while_loop: body gives {len(results)} values for {len(values)} loop variables")
        return results

    if in_dynamic_mode():
        values = tuple(loop_vars)
        while bool(flag_of("while_loop: what cond gives", test(*values))):
            values = iteration(*values)
        return list(values)
    names = [f"loop variable {i}" for i in range(len(loop_vars))]
    checked = lambda *values: flag_of("while_loop: what cond gives", test(*values))  # noqa: E731 - takes what test takes
    return list(_loops.trace_loop(checked, iteration, tuple(loop_vars), names))


def case(
    pred_fn_pairs: Sequence[tuple[Any, Function]], default: Function | None = None, name: str | None = None
) -> Any:
    """What the function beside the first condition that holds gives; of none, `default`, or else the last function.

    Raises DTypeError for what are no pairs of condition and function. Source: paddle.static.nn.case.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [1])
        ...     y = paddle.static.nn.case([(x < 0, lambda: -x), (x < 10, lambda: x)], default=lambda: x * 0 + 10)
        >>> exe = paddle.static.Executor()
        >>> [exe.run(main, feed={"x": [v]}, fetch_list=[y])[0].item() for v in (-3.0, 3.0, 30.0)]
        [3.0, 3.0, 10.0]
    """
    if not isinstance(pred_fn_pairs, (list, tuple)) or not pred_fn_pairs:
        raise DTypeError("case: pred_fn_pairs must be a list of pairs of a condition and a function")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise DTypeError(f"case: pred_fn_pairs holds pairs, but received {type(pair).__name__}")
        _callable("case: the function of a pair", pair[1])
    pairs = list(pred_fn_pairs)
    last = _callable("case: default", default) if default is not None else pairs.pop()[1]
    return _first_that_holds(pairs, last)


def _first_that_holds(pairs: list[tuple[Any, Function]], last: Function) -> Any:
    if not pairs:
        return last()
    (pred, fn), *rest = pairs
    return cond(pred, fn, lambda: _first_that_holds(rest, last))


def switch_case(branch_index: Any, branch_fns: Any, default: Function | None = None, name: str | None = None) -> Any:
    """What the function of number `branch_index` gives; for other numbers `default`, or else the one numbered last.

    branch_index: an integer tensor of one element. branch_fns: a dict from numbers to functions, a list of pairs of
    them, or a list of functions, numbered from 0. Raises ArgumentError for a number given twice, DTypeError for other
    kinds of arguments. Source: paddle.static.nn.switch_case.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     i = paddle.static.data("i", [1], "int64")
        ...     y = paddle.static.nn.switch_case(i, {1: lambda: paddle.ones([1]), 5: lambda: paddle.zeros([1])})
        >>> exe = paddle.static.Executor()
        >>> [exe.run(main, feed={"i": [n]}, fetch_list=[y])[0].item() for n in (1, 5, 7)]
        [1.0, 0.0, 0.0]
    """
    if not is_tensor(branch_index) or not branch_index.dtype.is_integer:
        raise DTypeError("switch_case: branch_index must be an integer tensor")
    fns = _numbered(branch_fns)
    last = fns[max(fns)] if default is None else _callable("switch_case: default", default)
    return _first_that_holds([(branch_index == number, fns[number]) for number in sorted(fns)], last)


def _numbered(branch_fns: Any) -> dict[int, Function]:
    pairs = list(branch_fns.items()) if isinstance(branch_fns, Mapping) else branch_fns
    if not isinstance(pairs, (list, tuple)) or not pairs:
        raise DTypeError("switch_case: branch_fns must be a dict or list of functions")
    if callable(pairs[0]):
        pairs = list(enumerate(pairs))
    found: dict[int, Function] = {}
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], int):
            raise DTypeError("switch_case: branch_fns holds pairs of a number and a function")
        if pair[0] in found:
            raise ArgumentError(f"switch_case: number {pair[0]} is given twice")
        found[pair[0]] = _callable("switch_case: the function of a pair", pair[1])
    return found


def Assert(cond: Any, data: Sequence[Any] | None = None, summarize: int = 20, name: str | None = None) -> None:
    """Let the program raise an AssertError where `cond` does not hold, with `summarize` elements of each of `data`.

    An AssertError is a ValueError, as in Paddle, and an AssertionError. Source: paddle.static.nn.control_flow.Assert.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     paddle.static.Assert((x > 0).all(), [x])
        >>> try:
        ...     paddle.static.Executor().run(main, feed={"x": [1.0, -1.0]})
        ... except AssertionError as error:
        ...     print(error)
        the condition of Assert does not hold
          data 0: float32[2] [1.0, -1.0]
    """
    flag = flag_of("Assert: cond", cond)
    assert_op(flag, *(data or ()), error=failed_assertion(len(data or ()), summarize))


__all__ = [
    "Assert", "ConditionalBlock", "If", "Print", "Switch", "While", "case", "cond", "switch_case", "while_loop",
]  # fmt: skip
