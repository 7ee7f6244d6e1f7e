"""Recursion that a tensor stops: recognised while it is traced, and recorded as a function of the Program.

Calls are traced in line, so a recursive function meets itself inside a branch that a tensor decides. Where it does so
with arguments of the same kinds (`Activation.takes`), the trace of the outer call is given up and made again as that of
a function (`convert.recording`), which calls itself. Python values among the arguments tell functions apart: recursion
that they bound is unrolled. When they keep changing, as accumulators do, numbers become tensors.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType, FunctionType, MethodType
from typing import Any

from ...core.closures import content_or_cell
from ...core.errors import ArgumentError, EndlessRecursionError, InternalError, UnsupportedError, VitrifyError
from ...core.pytree import LEAF, OneOf, TreeDef, flatten, node_of
from ...core.source import repeated_user_loc
from ...ir.builder import Builder, current_builder
from ...ir.operator import place_behind
from ...ir.program import Block, Operator
from ...ops.promote import SCALARS
from ..guards.observe import current_observer
from ..state.cells import names_in, outer_variables
from ..state.journal import kept_unless_given_up
from ..values.base import builder, is_tensor
from ..values.facts import FirstIterationDiffers
from ..values.handlers import RaisedInCallError, left_to_pass
from .carried import CarriedValue
from .leaves import Leaf, shows_gradient
from .raise_ import NeverReturns, may_end
from .recording import Recording, Restart, container_of, record_function
from .unknown import Signal

# A function that calls itself this deep inside branches that tensors decide, with another number each time, is taken
# for one whose number only runs along.
MAX_UNROLLED = 12
MAX_UNROLLED_BEHIND_RAISES = 100
"""The same where tensors decide nothing but whether the calls between raise."""
MAX_RECORDED = 3
"""So many recordings of one function are made inside each other, whose arguments are of other kinds: each is attempted
several times, so that all take exponentially long."""


class Found(Signal):
    """The call `target` turned out to be that of a recursive function."""


class Given:
    """A call's function and arguments, and of what structure those are: found once, compared with every open call."""

    def __init__(self, function: FunctionType, arguments: inspect.BoundArguments) -> None:
        self.function = function
        self.arguments = arguments
        self.names = list(arguments.arguments)
        self.values = [Argument.of(value) for value in arguments.arguments.values()]


@dataclass(frozen=True)
class Argument:
    """A value with its structure and what that holds; `grows`: lists are in it, which may be of any length."""

    value: Any
    tree: TreeDef
    ends: list[Any]
    grows: bool

    @staticmethod
    def of(value: Any) -> Argument:
        """The argument that a value is."""
        ends: list[Any] = []
        tree = flatten(value, ends)
        return Argument(value, tree, ends, _has_lists(tree) or any(isinstance(end, list) for end in ends))


def _has_lists(tree: TreeDef) -> bool:
    return tree is not LEAF and (issubclass(tree[0], list) or any(map(_has_lists, tree[1])))


@dataclass(eq=False)
class Activation:
    """A call of a converted function that runs already, in progress in `block`.

    `begin`, `passes`: how many operators were there before, and what `left_to_pass` told. `raises`: how many calls
    around it may have raised before the next. `parameters` are its arguments as values carried from call to call.
    `varies`: numbers among them may differ from one call to the next. `unrolled`: recording it as a function failed.
    `differs`: the argument by which calls inside it are of another kind.
    """

    function: FunctionType
    arguments: inspect.BoundArguments
    block: Block
    parameters: list[CarriedValue]
    depth: int
    begin: int = 0
    raises: int = 0
    passes: tuple[int, int] = field(default_factory=left_to_pass)
    recording: Recording | None = None
    varies: bool = False
    unrolled: bool = False
    differs: str = ""
    seen: list[inspect.BoundArguments] = field(default_factory=list)

    def takes(self, given: Given, *, varies: bool) -> bool:
        """Whether a call is one of the same function, with arguments of the same kinds; `varies`: with any numbers."""
        if not _is_same_function(self.function, given.function) or given.names != list(self.arguments.arguments):
            return False
        return all(_fits(p, v, varies) for p, v in zip(self.parameters, given.values))

    def is_decided(self) -> bool:
        """Whether a tensor decides on what is called now: on the path taken, or whether all ended before."""
        here, (attempt, passes) = builder().block, left_to_pass()
        if here is not self.block or (attempt == self.passes[0] and passes < self.passes[1]):
            return True
        return any(map(may_end, here.ops[self.begin :]))

    def unlike(self, given: Given) -> str:
        """The name of an argument that is of another kind than in this call."""
        pairs = zip(self.parameters, given.names, given.values)
        return next((name for p, name, value in pairs if not _fits(p, value, self.varies)), "")


_open: ContextVar[tuple[Activation, ...]] = ContextVar("open_activations", default=())


def entered(function: Any) -> Any:
    """A converted function, or what follows its recursion where it may be recursive."""
    build = current_builder()
    if build is None:
        return function
    plain = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(plain, FunctionType) or inspect.isgeneratorfunction(plain) or not _may_recur(plain, build):
        return function
    if isinstance(function, MethodType):
        return partial(_call, plain, function.__self__)
    return partial(_call, plain)


def _may_recur(function: FunctionType, build: Builder) -> bool:
    """Whether the function names itself, or runs already and a tensor decides on this call."""
    return function.__name__ in names_in(function.__code__) or (
        build.block.parent is not None and _is_running(function)
    )


def _is_running(function: FunctionType) -> bool:
    frame: FrameType | None = sys._getframe(3)
    while frame is not None:
        if frame.f_code is function.__code__:
            return True
        frame = frame.f_back
    return False


def _call(function: FunctionType, /, *args: Any, **kwargs: Any) -> Any:
    """The result of calling a function that runs already."""
    try:
        arguments = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError:
        return function(*args, **kwargs)  # says what is wrong with the arguments
    arguments.apply_defaults()
    held, given = _open.get(), Given(function, arguments)
    for activation in reversed(held):
        if activation.unrolled and activation.function.__code__ is function.__code__:
            return function(*args, **kwargs)
        if activation.takes(given, varies=activation.varies):
            if activation.recording is not None:
                return activation.recording.call(list(arguments.arguments.values()))
            if activation.is_decided():
                raise Found(activation)
        elif not activation.differs and _is_same_function(activation.function, function):
            activation.differs = activation.unlike(given)
    _look_for_numbers(held, given)
    parameters = [CarriedValue.of(name, value) for name, value in arguments.arguments.items()]
    block, around = builder().block, next((a for a in reversed(held) if a.function.__code__ is function.__code__), None)
    raises = 0 if around is None else around.raises + around.is_decided()
    return _traced(Activation(function, arguments, block, parameters, len(held), len(block.ops), raises))


def _look_for_numbers(held: Sequence[Activation], given: Given) -> None:
    """Give up the outermost of many nested calls that differ in numbers only: they are one function."""
    known = [a for a in held if a.function.__code__ is given.function.__code__]
    behind_raises = bool(known) and known[-1].raises >= MAX_UNROLLED_BEHIND_RAISES
    if len({a.block for a in known}) < MAX_UNROLLED and not behind_raises:
        return  # whether they are alike is asked of all that the arguments hold
    alike = [a for a in held if a.takes(given, varies=True)]
    blocks = {a.block for a in alike} | {builder().block}
    if len(blocks) > MAX_UNROLLED or (behind_raises and len(alike) > MAX_UNROLLED):
        outermost = alike[0]
        outermost.varies = True
        outermost.seen = [a.arguments for a in alike[1:]] + [given.arguments]
        raise Found(outermost) if outermost.recording is None else Restart(outermost.recording)


def _traced(activation: Activation) -> Any:
    """The result of a call: in line, or of a function if the call turns out to be recursive."""
    token = _open.set((*_open.get(), activation))
    try:
        try:
            with _given_up_on(Found, activation, activation):
                return _in_line(activation)
        except Found as found:
            if found.target is not activation:
                raise
        result = _as_function(activation)
        if activation.recording is not None and activation.recording.never_returns:
            raise NeverReturns.made()
        return result
    except RecursionError as err:
        if isinstance(err, VitrifyError) or not activation.differs:
            raise
        raise _unbounded(activation, err) from None
    finally:
        _open.reset(token)


def _unbounded(activation: Activation, err: RecursionError) -> EndlessRecursionError:
    name = activation.function.__name__
    return EndlessRecursionError(
        f"{name} calls itself without end while it is converted: a tensor decides when it stops, and its argument "
        f"{activation.differs!r} is of another kind in each call",
        loc=repeated_user_loc(err.__traceback__),
        hint="let what stops it be a Python value, or every call have tensors of one dtype and rank in one structure",
    )


def _in_line(activation: Activation) -> Any:
    return activation.function(*activation.arguments.args, **activation.arguments.kwargs)


def _as_function(activation: Activation) -> Any:
    """The result of a recursive call; unrolled after all where that works and a function does not."""
    code = activation.function.__code__
    if sum(a.recording is not None for a in _open.get() if a.function.__code__ is code) >= MAX_RECORDED:
        raise RecursionError  # `_traced` says of what function, and why
    try:
        with _given_up_on(Exception, None, activation):
            return record_function(activation)
    except InternalError:
        raise
    except Exception as err:
        if isinstance(err, RaisedInCallError) and not activation.varies:
            raise  # each of the calls, which are alike, would say the same, one inside the other
        activation.recording, activation.unrolled = None, True
        try:
            return _in_line(activation)
        except Exception:  # noqa: BLE001 - what made it no function tells more
            raise err from None


@contextmanager
def _given_up_on(kind: type[BaseException], target: Any, activation: Activation) -> Iterator[None]:
    """Undo what is recorded inside, and changes of Python objects, when such an exception (for `target`) leaves it."""
    build = builder()
    last = build.block.ops[-1] if build.block.ops else None
    current, replaced = dict(build.current), dict(build.aliases.replaced)
    observer = current_observer()
    calls = 0 if observer is None else len(observer.calls)
    try:
        with kept_unless_given_up(outer_variables(activation.function), lambda err: _concerns(err, kind, target)):
            yield
    except kind as err:
        if _concerns(err, kind, target):
            _forget(build, last)
            build.current, build.aliases.replaced = current, replaced
            if observer is not None:
                del observer.calls[calls:]
        raise


def _concerns(err: BaseException, kind: type[BaseException], target: Any) -> bool:
    return isinstance(err, kind) and (target is None or getattr(err, "target", None) is target)


def _forget(build: Builder, last: Operator | None) -> None:
    """Take away the operators behind `last`, and what they gave."""
    ops = build.block.ops
    mark = place_behind(ops, last)
    for operator in ops[mark:]:
        for var in operator.outputs:
            del build.block.vars[var.name]
    del ops[mark:]


# --- the same function? ----------------------------------------------------------------------------------------------


def _is_same_function(a: FunctionType, b: FunctionType) -> bool:
    """Whether two functions are of one code and see the same variables."""
    if a is b:
        return True
    if a.__code__ is not b.__code__:
        return False
    pairs = zip(a.__closure__ or (), b.__closure__ or ())
    return all(x is y or content_or_cell(x) is content_or_cell(y) for x, y in pairs)


def _fits(parameter: CarriedValue, given: Argument, varies: bool) -> bool:
    """Whether an argument is of the parameter's kind: structure, tensors' dtype and rank, Python values themselves."""
    start = container_of(parameter)
    if start is not None:
        if given.value is start or not (varies or _is_built_like(start, given.tree)):
            return given.value is start
        return _fits(CarriedValue.opened(parameter.name, start), given, varies)
    if given.tree != parameter.tree or any(isinstance(leaf.start, list) for leaf in parameter.leaves):
        return varies and _can_hold(parameter, given)
    return all(_leaf_fits(leaf, end, varies) for leaf, end in zip(parameter.leaves, given.ends))


def _is_built_like(value: Any, tree: TreeDef) -> bool:
    """Whether `flatten` finds that structure; told by the first difference, where objects hold many others."""
    node = node_of(value)
    if node is None or tree is LEAF:
        return node is None and tree is LEAF
    kind, children, extra = node
    alike = kind is tree[0] and extra == tree[2] and len(children) == len(tree[1])
    return alike and all(map(_is_built_like, children, tree[1]))


def _can_hold(parameter: CarriedValue, given: Argument) -> bool:
    """Whether the parameter can become one that holds the argument, a list of another length."""
    if parameter.tree is not LEAF and len(parameter.leaves) > 1 and not given.grows:
        return False  # what follows takes long where calls nest what they were given
    trial = replace(parameter, leaves=list(parameter.leaves))
    try:
        trial.widen(given.value)
    except (ArgumentError, UnsupportedError, FirstIterationDiffers):
        return False
    return not _is_of_several(trial.tree)  # what is of another kind is told apart, by functions of their own


def _is_of_several(tree: TreeDef) -> bool:
    return tree is not LEAF and (tree[0] is OneOf or any(map(_is_of_several, tree[1])))


def _leaf_fits(leaf: Leaf, end: Any, varies: bool) -> bool:
    number = isinstance(end, SCALARS) and not isinstance(end, bool)
    if leaf.meta is not None:
        if is_tensor(end):
            is_alike = end.dtype is leaf.meta.dtype and len(end.shape) == len(leaf.meta.shape)
            return is_alike and (not is_tensor(leaf.start) or shows_gradient(leaf.start) is shows_gradient(end))
        return varies and number and leaf.meta.shape == () and isinstance(leaf.start, SCALARS)
    if is_tensor(end):
        return varies and isinstance(leaf.start, SCALARS) and len(end.shape) == 0
    if varies and number and isinstance(leaf.start, SCALARS) and not isinstance(leaf.start, bool):
        return True
    return is_same_value(leaf.start, end)


def is_same_value(a: Any, b: Any) -> bool:
    """Whether two Python values mean the same to a function: equal numbers, texts and such, else one object."""
    if a is b:
        return True
    plain = (*SCALARS, str, bytes, MethodType)
    return a.__class__ is b.__class__ and isinstance(a, plain) and bool(a == b)
