"""Eager against static: outputs, gradients, mutated arguments, prints, exceptions, on the first and repeated call.

Nothing here but `paddle` itself is vitrify's, so that the same cases run under PaddlePaddle (`tests/tools`).
"""

from __future__ import annotations

import contextlib
import copy
import io
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

import vitrify as paddle

NUMBERS = (bool, int, float, complex)
OPAQUE = (type, FunctionType, MethodType, BuiltinFunctionType, ModuleType)
RTOL, ATOL = 1e-5, 1e-6


class Fresh:
    """An argument made anew for each call: for what cannot be copied, such as generators."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


@dataclass(frozen=True)
class Array:
    """What a tensor held."""

    value: np.ndarray


@dataclass(frozen=True)
class Node:
    """A container or object: its class, and what it held by name, in order."""

    kind: type
    children: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True)
class Again:
    """A container or object met before: the number of the first meeting."""

    index: int


@dataclass
class Outcome:
    """What one call did. `result` and `arguments` are Arrays, Nodes and Python values; see `content`."""

    result: Any = None
    arguments: Any = None
    gradients: tuple[np.ndarray | None, ...] = ()
    printed: str = ""
    error: BaseException | None = None


def given(arg: Any) -> Any:
    """One argument of a call: numbers in lists and arrays become tensors, containers and objects are copied."""
    if isinstance(arg, Fresh):
        return arg.make()
    if isinstance(arg, list) and not _numeric(arg):
        return [given(item) for item in arg]
    if isinstance(arg, (list, np.ndarray)):
        array = np.asarray(arg)
        array = array.astype("float32") if array.dtype == np.float64 and isinstance(arg, list) else array
        return paddle.to_tensor(array, stop_gradient=array.dtype.kind != "f")
    if isinstance(arg, tuple):
        items = [given(item) for item in arg]
        return type(arg)(*items) if hasattr(arg, "_fields") else tuple(items)
    if type(arg) is dict:
        return {key: given(value) for key, value in arg.items()}
    return arg if isinstance(arg, (*NUMBERS, str, *OPAQUE)) else copy.deepcopy(arg)


def _numeric(items: list[Any]) -> bool:
    return bool(items) and all(_numeric(i) if isinstance(i, list) else isinstance(i, NUMBERS) for i in items)


def is_tensor(value: Any) -> bool:
    """Whether `value` is an eager tensor."""
    return isinstance(value, paddle.Tensor)


def is_float(tensor: Any) -> bool:
    """Whether a tensor may have a gradient."""
    return bool(paddle.is_floating_point(tensor))


def children(value: Any) -> list[tuple[Any, Any]] | None:
    """What a container or object holds, by name; None for anything else."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple, deque)):
        return list(enumerate(value))
    if isinstance(value, (set, frozenset)):
        return list(enumerate(sorted(value, key=repr)))
    if isinstance(value, (*NUMBERS, str, bytes, *OPAQUE)) or value is None or is_tensor(value):
        return None
    held = getattr(value, "__dict__", None)
    return None if held is None else sorted(held.items())


def walk(value: Any, seen: dict[int, Any] | None = None) -> Iterator[Any]:
    """Yield every tensor that `value` is or holds, once for each place that holds it."""
    seen = {} if seen is None else seen
    if is_tensor(value):
        yield value
    if id(value) in seen:
        return
    seen[id(value)] = value
    for _, child in children(value) or ():
        yield from walk(child, seen)


def content(value: Any, seen: dict[int, tuple[int, Any]]) -> Any:
    """A copy of what `value` holds now, to be compared later; shared and cyclic objects are numbered."""
    if is_tensor(value):
        return Array(np.array(value.numpy()))
    held = children(value)
    if held is None:
        return value
    if not isinstance(value, tuple):  # which of two equal tuples it is does not matter
        if id(value) in seen:
            return Again(seen[id(value)][0])
        seen[id(value)] = (len(seen), value)
    return Node(type(value), tuple((key, content(child, seen)) for key, child in held))


@dataclass
class Given:
    """The arguments of one or more calls, and the tensors among them that may get gradients."""

    arguments: list[Any]
    inputs: list[Any]

    @staticmethod
    def of(args: tuple[Any, ...]) -> Given:
        """Return what calls with these arguments get."""
        arguments = [given(arg) for arg in args]
        return Given(arguments, [t for t in walk(arguments) if is_float(t)])


def run(fn: Callable[..., Any], args: tuple[Any, ...], kept: Given | None = None) -> Outcome:
    """One call, on fresh arguments or those `kept`, with backward of the sum of squares of its float outputs."""
    made = Given.of(args) if kept is None else kept
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            result = fn(*made.arguments)
        _backward(result, keep=kept is not None)
    except Exception as err:  # noqa: BLE001 - its class is what is compared
        return Outcome(arguments=content(made.arguments, {}), printed=out.getvalue(), error=err)
    seen: dict[int, tuple[int, Any]] = {}
    held = content(made.arguments, seen)
    gradients = tuple(None if t.grad is None else np.array(t.grad.numpy()) for t in made.inputs)
    return Outcome(content(result, seen), held, gradients, out.getvalue())


def _backward(result: Any, keep: bool) -> None:
    terms = [(t * t).sum() for t in walk(result) if is_float(t) and not t.stop_gradient]
    if terms:
        sum(terms[1:], terms[0]).backward(retain_graph=keep)


def difference(eager: Outcome, static: Outcome, strict: bool = False) -> str | None:
    """How two outcomes differ, in a line that starts with the kind; None where they agree.

    A Python number may come back as a tensor of that value, in a promoted dtype, since a tensor may have decided about
    it; with `strict`, for functions in which Python decides everything, it may not.
    """
    if _told(eager.error) != _told(static.error):
        return f"error: {_described(eager.error)} against {_described(static.error)}"
    if eager.printed != static.printed:
        return f"printed: {eager.printed!r} against {static.printed!r}"
    found = _differ(eager.result, static.result, "result", strict)
    found = found or _differ(eager.arguments, static.arguments, "arguments", strict)
    return found or _gradients_differ(eager.gradients, static.gradients)


def _told(err: BaseException | None) -> tuple[type | None, str]:
    """The class of an exception; and its text, but that of the library's own, which tell where they come from.

    Which items a sort compares first is its own affair.
    """
    is_ours = type(err).__module__.partition(".")[0] in ("vitrify", "paddle")
    text = "" if err is None or is_ours else str(err)
    return None if err is None else type(err), re.sub(r"(not supported between instances of) .*", r"\1", text)


def _described(err: BaseException | None) -> str:
    return "none" if err is None else f"{type(err).__name__}: {err}"


def _differ(a: Any, b: Any, path: str, strict: bool) -> str | None:
    if isinstance(a, Node):
        return _nodes_differ(a, b, path, strict)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return _arrays_differ(a, b, path)
    if isinstance(a, Array) and isinstance(b, Array):
        return _arrays_differ(a.value, b.value, path)
    if isinstance(b, Array) and isinstance(a, NUMBERS) and not strict and b.value.shape == ():
        promoted = "biufc".index(np.asarray(a).dtype.kind) <= "biufc".index(b.value.dtype.kind)
        alike = promoted and np.allclose(b.value, a, RTOL, ATOL, equal_nan=True)
        return None if alike else f"{path}: {a!r} against a tensor {b.value!r}"
    if type(a) is type(b) and isinstance(a, float):
        return None if np.isclose(b, a, RTOL, ATOL, equal_nan=True) else f"{path}: {a!r} against {b!r}"
    return None if type(a) is type(b) and (a is b or a == b) else f"{path}: {a!r} against {b!r}"


def _nodes_differ(a: Node, b: Any, path: str, strict: bool) -> str | None:
    if not isinstance(b, Node) or a.kind is not b.kind or [k for k, _ in a.children] != [k for k, _ in b.children]:
        return f"{path}: {a!r} against {b!r}"
    pairs = ((f"{path}[{key!r}]", x, y) for (key, x), (_, y) in zip(a.children, b.children))
    return next(filter(None, (_differ(x, y, where, strict) for where, x, y in pairs)), None)


def _arrays_differ(a: np.ndarray, b: np.ndarray, path: str, rtol: float = RTOL, atol: float = ATOL) -> str | None:
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{path}: {a.dtype}{list(a.shape)} against {b.dtype}{list(b.shape)}"
    same = np.allclose(b.astype("complex128"), a.astype("complex128"), rtol, atol, equal_nan=True)
    return None if same else f"{path}: {a!r} against {b!r}"


def _gradients_differ(a: tuple[Any, ...], b: tuple[Any, ...]) -> str | None:
    """No gradient and a gradient of zeros are the same."""
    for index, (x, y) in enumerate(zip(a, b)):
        if x is None and y is None:
            continue
        x, y = (np.zeros_like(y) if x is None else x), (np.zeros_like(x) if y is None else y)
        found = _arrays_differ(x, y, f"gradients[{index}]", 1e-4, 1e-5)
        if found:
            return found
    return None


def same(eager: Outcome, static: Outcome, strict: bool = False) -> None:
    """Assert that two outcomes are equal within float tolerance."""
    found = difference(eager, static, strict)
    if found is not None:
        raise AssertionError(found) from static.error


def outcomes(
    fn: Callable[..., Any],
    static: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    shared: bool = False,
    rounds: int = 2,
) -> Iterator[tuple[Outcome, Outcome]]:
    """Yield what eager and static do with each argument tuple, all of them twice over, or in so many `rounds`.

    With `shared`, both calls with one tuple get the very same argument objects (a set for each side): state that they
    keep from the first call is there in the second, and gradients add up.
    """
    kept = [[Given.of(args) if shared else None for args in calls] for _ in range(2)]
    for _ in range(rounds):
        for args, for_eager, for_static in zip(calls, *kept):
            yield run(fn, args, for_eager), run(static, args, for_static)


def compare(
    fn: Callable[..., Any],
    *calls: tuple[Any, ...],
    shared: bool = False,
    strict: bool = False,
    gradients: bool = True,
    full_graph: bool = True,
    rounds: int = 2,
    static: Callable[..., Any] | None = None,
) -> Any:
    """Check `to_static(fn)` against `fn` for each argument tuple, twice each or more; returns the static function.

    `shared` as in `outcomes`, `strict` as in `difference`; `gradients` says whether they are compared. `static`: what
    an earlier comparison returned, to go on with.
    """
    static = paddle.jit.to_static(fn, full_graph=full_graph) if static is None else static
    for eager, compiled in outcomes(fn, static, calls, shared, rounds):
        if not gradients:
            eager.gradients = compiled.gradients = ()
        same(eager, compiled, strict)
    return static
