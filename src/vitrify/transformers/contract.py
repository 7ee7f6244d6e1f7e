"""What converted code calls: the border between this package and `vitrify.convert`.

Converted code has one free name, `vt`: an object with the functions of `Helpers` below. Every helper decides
by *value* whether it is plain Python (then it means exactly what the replaced construct means) or a tensor.

Control flow takes and returns values; nothing is set behind the reader's back:

    def then(x):                                        # `x`: written here, and its old value is needed
        x = x + 1
        y = 0
        return (x, y)
    (x, y) = vt.convert_ifelse(test, then, orelse, (x,), ('x', 'y'))

- `convert_ifelse(test, then, orelse, ins, names, shared=())`: both functions take the values `ins` (names
  written in a branch whose value from before is needed) and return the tuple called `names` (written in a
  branch and needed afterwards). Names only read are closed over. The functions are called at most once each
  by plain Python; a tracer may call both. All names are empty when a branch is run for effects only. A branch
  that does nothing is `vt.unchanged` where the values it takes are those it returns.
- `convert_while(test, body, values, names, shared=())`: both functions take the loop variables; `body` returns
  their new values. `convert_for(iterable, body, values, names, test=None, shared=())`: `body(item, *values)`;
  `test(*values)`, when given, is asked before each item is fetched and ends the loop when false. Flags for
  `break` and early `return` are ordinary loop variables: they start as `False` and may become tensors.
- *Shared variables* are those that cannot be passed by value: captured by the user's closures, declared
  `nonlocal`/`global`, or needed by an exception handler when the construct fails midway. They stay one cell;
  the generated functions declare them `nonlocal`/`global` and write them in place. `shared` lists those that
  the construct writes as `vt.name('n', lambda: n)`; `name` returns a place with `get()`, `set(value)` and
  `unset()` so that a tracer can run both branches from one state. Plain Python ignores it. (`x: vt.Variable`
  at the top of a function only declares that `x` is local to it; it is never evaluated.)
- *Objects* are written through helpers everywhere: `set_attr`, `del_attr`, `convert_setitem`,
  `convert_setitem_at`, `del_item`, `inplace`. Static analysis could see `self.h = ...` in a branch but not
  in a method called from it; a tracer that journals these calls sees both, undoes them after tracing one
  branch, and learns which attributes a loop carries.
- A variable that may be unset where a construct needs it starts as `vt.Undefined(name, line)`. Reads that may
  find it unset are `vt.load(x)`, which raises `UnboundLocalError` as Python would, and `vt.load_free(x)` in
  inner functions, which raises `NameError`. `del x` of such a variable is `x = vt.Undefined(...)`. The value of
  `return` inside loops starts the same way, under a generated name.
- Lazy operands are functions without arguments, called at once or never.

- `vt.attempt(f, *args, **kwargs)` gives `(None, result)`, or `(error, nothing)` where the user's function `f` raises;
  `vt.tried(lambda: a[i])` does so of an operation of Python's; `vt.returned(value)` and `vt.raised(error)` make
  such pairs.
- `vt.give(sink, item)` lets who consumes a generator have the next item; whether that one wants no more. `done, value =
  vt.delegate(sink, items)` gives all of them; `value` is what the generator returns, if it is one.
  `vt.give_watched` stands in a `try`: what the consumer raises leaves the generator as if nothing more was wanted.
- `vt.is_one(manager)` tells the first of the context managers that a tensor chooses from, on whose path it is that one.
- `raise vt.convert_raise(error, cause)`: the helper gives the exception, or leaves the path by one of its own.
  `error = vt.caught_raise(error, cause)` only gives it: a handler around takes it from the variable.

`vt.convert_call(f)(...)`: every call but those of the helpers, of `super()` (made explicit) and of methods of literals
(`join` and `format` excepted, which make text of other values). Frame-sensitive builtins (`locals`, `globals`, `eval`,
...) must come back unchanged from `convert_call`. `f(a, *values)` is `vt.convert_starred(f)(a, vt.spread(values))`,
`f(**d)` is `vt.convert_starred(f)(**vt.named(d))`; `vt.attempt_starred` is `vt.attempt` for arguments like these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

Value = Any
Values = tuple[Value, ...]
Function = Callable[..., Any]

HELPER_NAME = "vt"
THUNK_HELPERS = frozenset(
    {
        *("convert_and", "convert_or", "convert_ifexp", "convert_compare", "convert_assert", "convert_for", "name"),
        *("list_of", "set_of", "dict_of", "each", "tried"),
    }
)
"""Helpers whose lambda arguments are ours and never outlive the call."""


class Place(Protocol):
    """Somewhere a value is kept: a shared variable, an attribute, an item."""

    def get(self) -> Value: ...
    def set(self, value: Value) -> None: ...
    def unset(self) -> None: ...


class Indexer(Protocol):
    """`vt.index[1:2, ...]` is the index itself: a slice, tuple, ... as `__getitem__` receives it."""

    def __getitem__(self, key: Value) -> Value: ...


class Match(Protocol):
    """What `match` found: whether the pattern holds, and what it captured in the order of the names."""

    matched: Value
    captures: Values


class Helpers(Protocol):
    """What the convert layer provides under the name `vt`."""

    index: Indexer
    Variable: type

    # control flow
    def convert_ifelse(
        self,
        test: Value,
        then: Function,
        orelse: Function,
        ins: Values,
        names: tuple[str, ...],
        shared: tuple[Place, ...] = (),
    ) -> Values: ...
    def convert_while(
        self, test: Function, body: Function, values: Values, names: tuple[str, ...], shared: tuple[Place, ...] = ()
    ) -> Values: ...
    def convert_for(
        self,
        iterable: Iterable[Value],
        body: Function,
        values: Values,
        names: tuple[str, ...],
        test: Function | None = None,
        shared: tuple[Place, ...] = (),
    ) -> Values: ...

    def unchanged(self, *values: Value) -> Values:
        """`values`: what a branch without statements returns."""

    def new_list(self, values: list[Value]) -> list[Value]:
        """The list just made, as one whose length a tensor may come to decide; `vt.spread(xs)` in it is `*xs`."""

    def new_tuple(self, values: tuple[Value, ...]) -> Value:
        """The tuple just made, with what stands for `*xs` in it put in; a tensor may decide how much that is."""

    def kept_iterator(self, items: Value) -> Value:
        """What a builtin such as `enumerate` gave, as what is gone through once, however often its name is used."""

    def new_dict(self, *parts: dict[Value, Value]) -> dict[Value, Value]:
        """What the dicts hold in one dict, of whose keys a tensor may come to decide; later ones win."""

    def key(self, value: Value) -> Value:
        """A key in the braces of a display: what has a hash where a tensor decides which key it is."""

    def new_set(self, values: set[Value]) -> set[Value]:
        """The set just made, as one of whose items a tensor may come to decide."""

    def spread(self, values: Iterable[Value]) -> Value: ...
    def named(self, mapping: Value) -> Value: ...

    # expressions: the first operand by value, later ones lazily
    def convert_and(self, first: Value, *rest: Function, asked: bool = False) -> Value:
        """`first and rest()`; `asked`, in compiled code alone: nothing but its truth is needed."""

    def convert_or(self, first: Value, *rest: Function, asked: bool = False) -> Value: ...
    def convert_not(self, value: Value) -> Value: ...
    def convert_ifexp(self, test: Value, then: Function, orelse: Function) -> Value: ...
    def convert_compare(self, left: Value, operator: str, right: Value, *rest: str | Function) -> Value:
        """`left op right op2 rest()...`: operators as Python writes them, each later operand a function."""

    # comprehensions: `element` and `tests` are functions of the item, or of its parts if they take several
    def list_of(
        self, iterable: Iterable[Value], element: Function, *tests: Function, unpack: Function | None = None
    ) -> Value:
        """`[element for item in iterable if test...]`; `unpack(item)` gives the arguments if it is there."""

    def set_of(
        self, iterable: Iterable[Value], element: Function, *tests: Function, unpack: Function | None = None
    ) -> Value: ...
    def dict_of(
        self, iterable: Iterable[Value], element: Function, *tests: Function, unpack: Function | None = None
    ) -> Value:
        """`element` gives (key, value)."""

    def generator(
        self, iterable: Iterable[Value], element: Function, *tests: Function, unpack: Function | None = None
    ) -> Value: ...
    def each(
        self, iterable: Iterable[Value], element: Function, *tests: Function, unpack: Function | None = None
    ) -> Value:
        """What `element` returns where another `for` is nested in the comprehension."""

    # statements
    def convert_call(self, function: Value) -> Value: ...
    def convert_starred(self, function: Value) -> Value: ...
    def is_one(self, manager: Value) -> Value: ...
    def give(self, sink: Value, item: Value) -> Value: ...
    def give_watched(self, sink: Value, item: Value) -> Value: ...
    def delegate(self, sink: Value, items: Value) -> tuple[Value, Value]: ...
    def attempt(self, function: Value, /, *args: Value, **kwargs: Value) -> Values: ...
    def attempt_starred(self, function: Value, /, *args: Value, **kwargs: Value) -> Values: ...
    def tried(self, compute: Function) -> Values: ...
    def returned(self, value: Value) -> Values: ...
    def raised(self, error: BaseException | None) -> Values: ...
    def pass_on(self) -> None:
        """Raise the exception being handled again if it tells of the conversion, not of the user's code."""

    def convert_assert(self, test: Value, message: Function | None = None) -> None: ...
    def convert_raise(self, *error_and_cause: Value) -> BaseException:
        """The exception to raise; without arguments the one being handled."""

    def caught_raise(self, error: Value, *cause: Value) -> BaseException:
        """The same as a value, which a handler around the statement takes."""

    # text
    def convert_fstring(self, *parts: Value) -> Value:
        """The text of an f-string from literal text and what `formatted` gave."""

    def formatted(self, value: Value, conversion: str = "", spec: Value = "") -> Value:
        """One field of an f-string; `conversion` is '', 'str', 'repr' or 'ascii'."""

    def percent(self, template: Value, values: Value) -> Value:
        """`template % values`."""

    # match: one case's pattern, described by the functions below; plain values stand for equality
    def match(self, subject: Value, pattern: Value) -> Match: ...
    def capture(self, name: str = "", pattern: Value = None) -> Value:
        """`name`, `pattern as name`, and `_` without arguments."""

    def same(self, value: Value) -> Value:
        """`None`, `True`, `False`: compared by identity."""

    def either(self, *patterns: Value) -> Value: ...
    def sequence(self, *patterns: Value) -> Value: ...
    def mapping(self, *pairs: Value) -> Value: ...
    def star(self, name: str = "") -> Value:
        """The rest of a sequence, or (last in `mapping`) of a mapping."""

    def instance(self, cls: type, /, *patterns: Value, **attributes: Value) -> Value: ...

    # objects
    def get_attr(self, owner: Value, attribute: str) -> Value:
        """`owner.attribute`. Only in compiled code: the readable form shows the attribute (`observe.py`)."""

    def peek_attr(self, owner: Value, attribute: str) -> Value:
        """`owner.attribute`, a container that is changed without a look at what it holds."""

    def get_item(self, owner: Value, key: Value) -> Value:
        """`owner[key]`. Only in compiled code."""

    def truth(self, value: Value) -> Value:
        """What `value` says where nothing but its truth is asked for. Only in compiled code (`truths.py`)."""

    def operate(self, symbol: str, left: Value, *right: Value) -> Value:
        """`left symbol right`, or `symbol left`: operators and comparisons. Only in compiled code."""

    def unpacked(self, value: Value, count: int) -> Value:
        """`value` as what an assignment to `count` targets takes apart. Only in compiled code."""

    def unpacked_rest(self, value: Value, before: int, after: int) -> tuple[Value, ...]:
        """`before` items of `value`, the list of those between, `after` items: what an assignment to targets with one
        behind a star takes apart. Only in compiled code.
        """

    def managed(self, manager: Value) -> Value:
        """The context manager of a `with` statement. Only in compiled code."""

    def convert_shape(self, owner: Value) -> Value:
        """What `owner.shape` is (for whatever `owner` is: a tensor, an array, a module such as numpy)."""

    def set_attr(self, owner: Value, attribute: str, value: Value) -> None: ...
    def del_attr(self, owner: Value, attribute: str) -> None: ...
    def del_item(self, owner: Value, key: Value) -> None: ...
    def convert_setitem(self, owner: Value, key: Value, value: Value) -> Value:
        """`owner[key] = value`; returns what the variable holds afterwards (for Python objects: `owner` itself)."""

    def convert_setitem_at(self, place: Place, key: Value, value: Value) -> None:
        """`place.get()[key] = value`; sets the place only when `convert_setitem` gave another object."""

    def inplace(self, operator: str, left: Value, right: Value) -> Value:
        """`left += right` and its like (`operator` is '+=', '@=', ...); returns the new value."""

    # places and unset variables
    def attr(self, owner: Value, attribute: str) -> Place: ...
    def item(self, owner: Value, key: Value) -> Place: ...
    def name(self, name: str, read: Function) -> Place:
        """The variable that `read` closes over (its cell, or the global of that name)."""

    def Undefined(self, name: str = "", line: int = 0) -> Value: ...
    def load(self, value: Value) -> Value: ...
    def load_free(self, value: Value) -> Value: ...
