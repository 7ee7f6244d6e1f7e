"""Values that Python has only when the program runs: recorded as expressions over what tensors hold at this point."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar

from ...core.errors import UnsupportedError
from ...core.open_range import OpenRange
from ...core.pytree import OneOf, OpenTable, OverList, as_plain, is_open, is_partial, list_in
from ...core.size import Size
from ...core.source import Loc, user_frames
from ...eager.host_expr import name_of
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor
from ...ir.graph_tensor import is_number
from ...ir.program import Block, Variable
from ...ir.varying import CLASS, facts_of, kind_of
from ...ops.compare import equal
from ...ops.promote import SCALARS
from ...ops.registry import OpDef
from .base import Undefined, builder

Node = Any  # Input | Call | Lazy | a container of these | a plain Python value
_PLAIN = (*SCALARS, str, bytes, type(None))


@dataclass(frozen=True, eq=False)
class Input:
    """What a tensor holds at this point of the program."""

    var: Variable
    number: bool
    stop_gradient: bool


@dataclass(frozen=True, eq=False)
class Call:
    """A call made when the program runs; `function` may be a name of `host_expr.FUNCTIONS`."""

    function: Any
    args: tuple[Node, ...] = ()
    keywords: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Lazy:
    """An expression that the function called with it evaluates, or not."""

    inner: Node


class Deferred:
    """Base of the values that stand for an expression in converted code."""

    node: Node
    loc: Loc | None
    named: ClassVar[str] = "a text that only a run knows"
    """What errors call it."""

    def __init__(self, node: Node) -> None:
        frames = user_frames(2, limit=1)
        object.__setattr__(self, "node", node)
        object.__setattr__(self, "loc", frames[0] if frames else None)

    def raises_in(self) -> Block | None:
        """The block where evaluating it may raise an exception, as nowhere else; None where it raises none."""
        return None

    def region(self) -> Block | None:
        """The block where it was made, where that is known."""
        return None

    def listed(self) -> Any:
        """The value as a list that the program holds, always the same one; None where it is none of numbers."""
        return None

    def truth(self) -> Any:
        """The value as a condition: a bool of the program where it has one, or else itself."""
        return self

    def sequence(self) -> Any:
        """What a loop over the value counts through, a GraphSequence; None where Python iterates over it."""
        return None


class Joinable(Deferred):
    """One that a tensor can stand for, so that the values of two paths go by one tensor."""

    @abstractmethod
    def refused(self, use: str) -> UnsupportedError:
        """The error for a use that needs the value now."""

    @abstractmethod
    def can_join(self, other: Any) -> bool:
        """Whether it can stand on one path and `other` on another: by a tensor of each."""

    @abstractmethod
    def held_of(self, value: Any) -> Variable:
        """The tensor for one of the two, in the block being built."""

    @abstractmethod
    def joined(self, values: tuple[Any, Any], held: Variable) -> Any:
        """The value that stands for these two, of which `held` is the tensor of the path taken."""


def is_deferred(value: Any) -> bool:
    """Whether the value is known only when the program runs: a tensor of it, or made of one."""
    return isinstance(value, (Variable, Deferred, OneOf))


def holds_deferred(value: Any) -> bool:
    """Whether a value, or something inside nested containers, is known only when the program runs."""
    if isinstance(value, (Variable, Deferred, Tensor, OneOf)) or is_open(value):
        return True
    if isinstance(value, OverList):
        return any(map(holds_deferred, value.lists()))
    return any(holds_deferred(item) for item in _items(value))


def _items(value: Any) -> Sequence[Any]:
    if isinstance(value, OpenRange):
        return value.bounds()
    if isinstance(value, dict):
        return [*dict.keys(value), *dict.values(value), *getattr(value, "flags", {}).values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, f.name, None) for f in fields(value)]
    return [*value.args, *vars(value).values()] if isinstance(value, BaseException) else []


def captured(value: Any) -> Node:
    """The expression for `value` as it is now; containers are copied, objects that hide tensors refused."""
    if isinstance(value, (*_PLAIN, type)):
        return value
    if isinstance(value, OpenTable):
        return Call(Built(type(value), value.made_with() or ()), tuple(map(captured, value.lists())))
    if isinstance(value, OpenRange):
        return Call("range", tuple(map(captured, value.bounds())))
    items = list_in(value)
    if is_open(items):
        node = items.expression()
        return node if items is value else Call(value.kind, (node, *(value.made_with() or ())))
    if is_partial(value):
        raise _of_unknown_keys(value.kind.__name__)
    value = as_plain(value)
    if isinstance(value, Deferred):
        return value.node
    if isinstance(value, (Variable, Tensor)):
        return _input(value)
    if isinstance(value, Undefined):
        raise value.fail()
    if isinstance(value, OneOf):
        return _option(value)
    if not holds_deferred(value):
        return _whole(value)
    return _container(value)


@dataclass(frozen=True, eq=False)
class Built:
    """A function that makes Python's own dict or set of the lists that one of a program is made of."""

    kind: type[OpenTable]
    made_with: tuple[Any, ...]

    def __call__(self, *columns: Any) -> Any:
        """The dict or set."""
        return self.kind.built(list(columns), *self.made_with)


def _option(value: OneOf) -> Node:
    """The expression for whichever of several values it is."""
    code, *options = value.children
    found = captured(options[-1])
    for index, option in reversed(list(enumerate(options[:-1]))):
        is_it = Input(builder().value(equal(code, index)), True, True)
        found = Call("choose", (is_it, Lazy(captured(option)), Lazy(found)))
    return found


def _input(value: Any) -> Node:
    build = builder()
    if isinstance(value, Parameter) and build.latest(value) is value:
        return Call(Itself(value))  # shown with its name
    kind = kind_of(value)
    held = build.value(value) if kind is None else build.passed_on(value)
    shown = Input(held, is_number(value), bool(held.stop_gradient))
    if kind is not None:
        return Call("of_kind", (Input(build.value(kind.code), True, True), replace(shown, number=False)))
    if CLASS in facts_of(value):
        raise _of_two_classes()
    return shown


@dataclass(frozen=True, eq=False)
class Itself:
    """A function that gives a parameter."""

    parameter: Parameter

    def __call__(self) -> Parameter:
        """The parameter."""
        return self.parameter


def _container(value: Any) -> Node:
    if isinstance(value, BaseException):
        _, node, _ = builder().errors.get(id(value), (value, None, False))
        return Call(made_again, (type(value), captured(value.args), captured(vars(value)))) if node is None else node
    if type(value) in (list, tuple, set):
        return type(value)(map(captured, value))
    if type(value) is dict:
        return {captured(k): captured(v) for k, v in value.items()}
    if type(value) is Size:
        return Call(Size, (list(map(captured, value)),))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return Call(type(value), tuple(map(captured, value)))
    if is_dataclass(value):
        return Call(replace, (value,), {f.name: captured(getattr(value, f.name)) for f in fields(value) if f.init})
    if isinstance(value, dict):
        return Call(type(value), ({captured(k): captured(v) for k, v in value.items()},))
    raise _hidden(value)


def made_again(cls: type[BaseException], args: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    """A fresh exception like the one made while tracing, so that each call raises its own."""
    err = cls.__new__(cls, *args)
    err.args = args
    vars(err).update(state)
    return err


def _whole(value: Any) -> Any:
    inside = getattr(value, "__dict__", {})
    if not callable(value) and any(is_deferred(v) for v in inside.values()):
        raise _hidden(value)
    if isinstance(value, BaseException):  # it leaves the trace
        inside.update({name: as_plain(held) for name, held in inside.items()})
    return value


def _of_two_classes() -> UnsupportedError:
    return UnsupportedError(
        "the text of a value that is a number on one path of a tensor's decision and a tensor on another",
        hint="make it a tensor on both paths and before a loop, for example with paddle.zeros([])",
    )


def _of_unknown_keys(kind: str) -> UnsupportedError:
    return UnsupportedError(
        f"the text of a {kind}: what is in it differs between the paths of a tensor's decision",
        hint="put the same into it on both paths, or use what it holds one by one",
    )


def _hidden(value: Any) -> UnsupportedError:
    return UnsupportedError(
        f"a {type(value).__name__} that holds tensors cannot be shown or passed on when the program runs",
        hint="use the tensors in it, one by one",
    )


# -- recording --------------------------------------------------------------------------------------------------------


def record(op: OpDef, condition: Any = None, *, attrs: Mapping[str, Any] | None = None, **expressions: Node) -> Any:
    """Append `op`; its attributes `expressions` are evaluated when it runs, `condition` is its first input."""
    inputs = [] if condition is None else [builder().value(condition)]
    seen: list[Variable] = []
    encoded = {name: _encoded(node, seen) for name, node in expressions.items()}
    return builder().append_held(op, [*inputs, *seen], {**encoded, **(attrs or {})})


def encoded(node: Node) -> tuple[Any, list[Variable]]:
    """The expression for `host_expr.evaluate`, and the variables that it reads."""
    inputs: list[Variable] = []
    return _encoded(node, inputs), inputs


def parts(node: Node) -> Iterator[Node]:
    """An expression and what it is made of."""
    yield node
    inner: Iterable[Any] = ()
    if isinstance(node, Call):
        inner = (*node.args, *node.keywords.values())
    elif isinstance(node, Lazy):
        inner = (node.inner,)
    elif isinstance(node, (list, tuple, set, dict)):
        inner = (*node, *node.values()) if isinstance(node, dict) else node
    for part in inner:
        yield from parts(part)


def _encoded(node: Node, inputs: list[Variable]) -> Any:
    if isinstance(node, Input):
        index = next((i for i, v in enumerate(inputs) if v is node.var), len(inputs))
        if index == len(inputs):
            inputs.append(node.var)
        return ("number", index) if node.number else ("tensor", index, node.stop_gradient)
    if isinstance(node, Call):
        args = tuple([_encoded(a, inputs) for a in node.args])
        return (
            "call",
            name_of(node.function),
            args,
            tuple([(k, _encoded(v, inputs)) for k, v in node.keywords.items()]),
        )
    if isinstance(node, Lazy):
        return ("lazy", _encoded(node.inner, inputs))
    if type(node) in (list, tuple, set):
        return (type(node).__name__, *[_encoded(item, inputs) for item in node])
    if type(node) is dict:
        return ("dict", *[(_encoded(k, inputs), _encoded(v, inputs)) for k, v in node.items()])
    return node if isinstance(node, _PLAIN) else ("value", node)


__all__ = ["Call", "Deferred", "Input", "Lazy", "captured", "holds_deferred", "is_deferred", "record"]
