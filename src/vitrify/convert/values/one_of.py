"""Values that are of one kind on some paths of a tensor's decision and of another kind on others: None or a cache.

No Variable can stand for both, so both leave their paths, with a number that says which of them it is. Whoever asks
something of such a value asks each of the options, where it is that one; what a path is known to exclude is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ...core.errors import ArgumentError, UnsettledError
from ...core.pytree import OneOf, OpenList, eager_class, is_open
from ...core.source import Loc, user_frames
from ...ir.builder import current_builder
from ...ir.graph_tensor import as_number
from ...ir.program import Block
from ...ops.compare import equal
from .base import builder, failing_operators, is_graph
from .cases import by_cases
from .optional import means, tell
from .user_errors import for_user, is_users, note_user_error

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)
MAX_OPTIONS = 8
DECIDED = "decided_by"
"""The attribute of a number that tells which path was taken: the condition, and the number on either path."""


@dataclass(frozen=True, eq=False)
class Excluded:
    """The fact that a value whose place among its options is `code` is not the one at `index`."""

    code: Any
    index: int

    # A code is a variable, for which == is an operator of the program: facts are about the very same one.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Excluded) and self.code is other.code and self.index == other.index

    def __hash__(self) -> int:
        return hash((id(self.code), self.index))


class GraphOneOf(OneOf):
    """A value of several kinds while a program is built. Who looks into it where its kind is known finds that one."""

    __slots__ = ("loc", "name")

    def __init__(self, children: Sequence[Any], name: str = "") -> None:
        super().__init__(children)
        self.name = name
        self.loc: Loc | None = next(iter(user_frames(2, limit=1)), None)
        builder().has_options = True

    @property
    def code(self) -> Any:
        """The number of the option that it is."""
        return self.children[0]

    @property
    def options(self) -> tuple[Any, ...]:
        """What it may be."""
        return self.children[1:]

    def __iter__(self) -> Iterator[Any]:
        found = settled(self)
        return iter(self._items() if found is self else found)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        return getattr(self._known(), attribute)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (self._known(),)

    def __reversed__(self) -> Iterator[Any]:
        found = settled(self)
        items: Iterator[Any] = reversed(self._items() if found is self else found)
        return items

    def _items(self) -> list[Any]:
        """The items, each what the option has at its place, of lists and tuples of one length.

        On the path of what has no items, such as None, it raises what Python does.
        """
        count = self.count()
        if count is None:
            raise self.fail()
        return [item_of(self, place, partial(_item, place)) for place in range(count)]

    def count(self) -> int | None:
        """How many items each option that has any has, of lists and tuples; None where they are others, or differ."""
        rows = [option for option in options_of(self).values() if hasattr(type(option), "__iter__")]
        return len(rows[0]) if all(map(_is_row, rows)) and len(set(map(len, rows))) == 1 else None

    def _known(self) -> Any:
        found = settled(self)
        if found is self:
            raise self.fail()
        return found

    def fail(self) -> UnsettledError:
        """The error for a use that cannot be made of each option by itself."""
        kinds = list(dict.fromkeys(_kind(option) for option in self.options))
        hint = "ask which it is first (`if value is not None:`, `isinstance`), or give it values of one kind"
        if len(kinds) == 1:
            kinds.append(f"a different {eager_class(self.options[0]).__name__}")
            hint = "use a list, dict or tensor: of these a tensor may decide what is in them"
        return UnsettledError(
            f"{self.name or 'a value'} depends on a tensor condition: it is {' on one path and '.join(kinds)} on "
            "another, and is used where it must be of one kind",
            loc=self.loc,
            hint=hint,
        )


def _fail(self: GraphOneOf, *args: Any) -> Any:
    raise self.fail()


for _name in failing_operators("bool", "call", "eq", "ne", "hash"):
    setattr(GraphOneOf, _name, _fail)


def _is_row(option: Any) -> bool:
    """Whether it is a list or tuple whose length no tensor decides."""
    if isinstance(option, tuple):
        return type(option).__iter__ is tuple.__iter__ and not is_open(option)
    return (type(option) is list or isinstance(option, OpenList)) and not is_open(option)


def _item(place: int, option: Any) -> Any:
    """What stands at a place; Python's error where `option` has no items."""
    return option[place] if _is_row(option) else iter(option)


def item_of(value: GraphOneOf, place: int, use: Function) -> Any:
    """What stands at a place of the option that the value is, as `use` finds it where options are no lists or tuples.

    Texts, and whatever else no tensor stands for, are of as many kinds as the value: in ("one", x) and ("two", (x, y))
    the first item then tells of what kind the second one is.
    """
    options = options_of(value)
    if len(options) > 1 and all(_is_row(option) and -len(option) <= place < len(option) for option in options.values()):
        items = {index: option[place] for index, option in options.items()}
        first, *others = items.values()
        if all(map(_is_certain, items.values())) and not all(_are_alike(first, other) for other in others):
            return GraphOneOf([value.code, *[items.get(index) for index in range(len(value.options))]], value.name)
    return each_option(value, use)


def _is_certain(item: Any) -> bool:
    """Whether it is nothing that can change."""
    return is_graph(item) or item is None or isinstance(item, (str, bool, int, float, tuple))


def _are_alike(a: Any, b: Any) -> bool:
    """Whether they are equal texts, or tensors or numbers one of which may stand for both."""
    if is_graph(a) and is_graph(b):
        return a.__class__ is b.__class__ and len(a.shape) == len(b.shape) and a.dtype is b.dtype
    return a is b or (a.__class__ is b.__class__ and not is_graph(a) and not isinstance(a, tuple) and a == b)


def _kind(option: Any) -> str:
    if option is None:
        return "None"
    return "a tensor" if is_graph(option) else f"a {eager_class(option).__name__}"


def left_of(value: GraphOneOf, block: Block | None = None) -> list[int]:
    """The places of the options that the value may be in the block, by default the current one; any of them on a path
    that no run takes, where it can be none.
    """
    excluded: set[Any] = set()
    facts = {Excluded(value.code, index) for index in range(len(value.options))}
    at: Block | None = block or builder().block
    while at is not None:
        excluded.update(fact.index for fact in facts if (at, fact) in builder().asserted)
        at = at.parent
    return [index for index in range(len(value.options)) if index not in excluded] or [0]


def settled(value: Any, block: Block | None = None) -> Any:
    """`value`, or the option that it is known to be."""
    if not isinstance(value, GraphOneOf):
        return value
    left = left_of(value, block)
    return value.options[left[0]] if len(left) == 1 else value


def options_of(value: Any, block: Block | None = None) -> dict[int | None, Any]:
    """What the value may be in the block, by place; None is the place of what it is for sure."""
    if not isinstance(value, GraphOneOf):
        return {None: value}
    return {index: value.options[index] for index in left_of(value, block)}


def each_option(value: Any, use: Function) -> Any:
    """What `use` gives for the option that the value is: it runs for each of them, on the path where it is that one."""
    value = settled(value)
    if not isinstance(value, GraphOneOf):
        return use_option(use, value)
    return each_place(value, lambda index: each_option(value.options[index], use))


def each_place(value: GraphOneOf, use: Callable[[int], Any]) -> Any:
    """What `use` gives for the place of the option that the value is."""
    first, *others = left_of(value)
    if not others:
        return use(first)
    is_first = is_option(value.code, [first], others)
    return builder().choose(is_first, lambda: use(first), lambda: each_place(value, use), value.name)


def is_option(code: Any, these: Sequence[int], others: Sequence[int]) -> Any:
    """The condition that the value with this code is one of `these` options; it tells which of all it is not."""
    found, *more = [equal(code, index) for index in these]
    for other in more:
        found = found | other
    facts = [frozenset(Excluded(code, index) for index in indices) for indices in (others, these)]
    condition = as_number(found)
    pred, then, orelse = getattr(code, "__dict__", {}).get(DECIDED, (None, -1, -1))
    if list(these) in ([then], [orelse]):
        condition = means(condition, pred, these[0] == then)
    return tell(condition, (facts[0], facts[1]))


def note_decided(code: Any, pred: Any, then: int, orelse: int) -> None:
    """Note of a number that it is `then` where the condition holds and `orelse` where it does not."""
    code.__dict__[DECIDED] = (pred, then, orelse)


def use_option(use: Function, option: Any) -> Any:
    """`use(option)`, whose error is eager code's where the option is a plain Python value."""
    try:
        return use(option)
    except TypeError as err:
        if option is None or isinstance(option, (str, bool, int, float)):
            note_user_error(err)  # eager code finds the same wrong with it
        raise


def asked(value: Any, question: Callable[[Any], Any]) -> Any:
    """What `question` says of the value: a bool, or a condition that tells paths apart."""
    if not isinstance(value, GraphOneOf):
        return question(value)
    options = options_of(value)
    if len(options) == 1:
        return asked(next(iter(options.values())), question)
    answers: dict[Any, Any] = {}
    with builder().trial() as trial:  # what may raise must not stay where another option is asked
        try:
            answers = {index: asked(option, question) for index, option in options.items()}
        except ArgumentError as err:  # of an option whose truth eager code cannot tell either: where it is that one
            if not is_users(err):
                raise
        trial.kept = bool(answers) and all(isinstance(answer, bool) for answer in answers.values())
    if not trial.kept:
        return each_option(value, question)
    these: list[Any] = [index for index, answer in answers.items() if answer]
    others: list[Any] = [index for index, answer in answers.items() if not answer]
    return is_option(value.code, these, others) if these and others else bool(these)


# --- who asks --------------------------------------------------------------------------------------------------------


def by_option(count: int) -> Callable[[F], F]:
    """Let a function work on each option of its first `count` arguments by itself."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for place in range(min(count, len(args))):
                if args[place].__class__ is GraphOneOf:
                    return each_option(args[place], partial(_with, call, args, kwargs, place))
                bound = _bound(args[place]) if args[place].__class__ is slice else None
                if bound is not None:
                    return each_option(bound, partial(_with_bound, call, args, kwargs, place, bound))
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def lazily_by_option(function: F) -> F:
    """Let a function that goes through its arguments later be asked of each option: what it gives is of several kinds.

    Nothing is read before somebody takes the items, so no path need be traced for it. Options that are gone through in
    step are one sequence instead, whose items are of several kinds.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for place, value in enumerate(args):
            if value.__class__ is GraphOneOf:
                options = options_of(value)
                have_items = all(hasattr(type(option), "__iter__") for option in options.values())
                if len(options) > 1 and have_items and value.count() is None:
                    made = {i: _with(call, args, kwargs, place, option) for i, option in options.items()}
                    return GraphOneOf([value.code, *[made.get(i) for i in range(len(value.options))]], value.name)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def _with(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], place: int, option: Any) -> Any:
    return function(*args[:place], option, *args[place + 1 :], **kwargs)


def _bound(index: slice) -> GraphOneOf | None:
    """The first bound of a slice that is of several kinds."""
    return next((v for v in (index.start, index.stop, index.step) if v.__class__ is GraphOneOf), None)


def _with_bound(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], place: int, bound: GraphOneOf, option: Any
) -> Any:
    index = args[place]
    exchanged = slice(*[option if v is bound else v for v in (index.start, index.stop, index.step)])
    return _with(function, args, kwargs, place, exchanged)


def for_options(function: Function, deep: bool) -> Function:
    """`function`, called for each option of arguments of several kinds by itself; `deep`: of those in lists, too."""
    return partial(_call, function, deep)


@for_user
def _call(function: Function, deep: bool, /, *args: Any, **kwargs: Any) -> Any:
    build = current_builder()
    if build is None or not (build.has_options or build.has_cases or build.has_optional):
        return function(*args, **kwargs)
    given = [*args, *kwargs.values()]
    found = next((held for held in (_first(value, deep) for value in given) if held is not None), None)
    if found is None:
        return by_cases(function, args, kwargs)

    def use(option: Any) -> Any:
        exchanged = [_exchanged(value, found, option, deep) for value in given]
        return _call(function, deep, *exchanged[: len(args)], **dict(zip(kwargs, exchanged[len(args) :])))

    return each_option(found, use)


def _first(value: Any, deep: bool) -> GraphOneOf | None:
    """The first value of several kinds that an argument is or, in lists and tuples, holds."""
    if isinstance(value, GraphOneOf):
        return value
    if not deep or not (type(value) in (tuple, list) or isinstance(value, OpenList)) or is_open(value):
        return None
    return next((found for found in (_first(item, deep) for item in value) if found is not None), None)


def _exchanged(value: Any, found: GraphOneOf, option: Any, deep: bool) -> Any:
    if value is found:
        return option
    if isinstance(value, GraphOneOf) or _first(value, deep) is None:
        return value
    items = [_exchanged(item, found, option, deep) for item in value]
    return tuple(items) if isinstance(value, tuple) else items
