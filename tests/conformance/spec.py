"""The language of the tables: rows, choices, stand-ins for tensors; and the cases a row stands for."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTS = ("int32", "int64", "uint8", "int8", "int16")
COMPLEX = ("complex64", "complex128")
REAL = (*FLOATS, "int32", "int64")
EVERY = (*FLOATS, "int32", "int64", "uint8", "bool", "complex64")
OTHER_DTYPES_LIMIT = 6


@dataclass(frozen=True)
class Unset:
    """An argument that is not given."""


unset = Unset()


@dataclass(frozen=True)
class T:
    """A tensor to be made: of the case's dtype where it has none of its own; `values` names a way to fill it."""

    shape: tuple[int, ...]
    dtype: str | None = None
    values: str = "normal"
    seed: int = 0
    grad: bool = True
    literal: Any = None


def t(*shape: int, dtype: str | None = None, values: str = "normal", seed: int = 0, grad: bool = True) -> T:
    """Return a stand-in for a tensor of this shape."""
    return T(shape, dtype, values, seed, grad)


def literal(value: Any, dtype: str | None = None, grad: bool = True) -> T:
    """Return a stand-in for a tensor with just this value."""
    return T((), dtype, "literal", 0, grad, value)


def index(*shape: int, below: int, dtype: str = "int64", seed: int = 0) -> T:
    """Return a stand-in for a tensor of integers in [0, below)."""
    return T(shape, dtype, f"below {below}", seed)


@dataclass(frozen=True)
class Each:
    """Values to try in one place; `splat` ones are lists of positional arguments."""

    options: tuple[Any, ...]
    splat: bool = False


def each(*options: Any) -> Each:
    """Return a choice of these values for one argument."""
    return Each(options)


def together(*options: tuple[Any, ...]) -> Each:
    """Return a choice of these lists of positional arguments."""
    return Each(options, splat=True)


@dataclass(frozen=True)
class Dtype:
    """The framework's own dtype object of this name."""

    name: str


@dataclass(frozen=True)
class Array:
    """A NumPy array with the values that such a tensor would have."""

    tensor: T


@dataclass(frozen=True)
class Row:
    """What an API is called with, and how its results are compared."""

    api: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dtypes: tuple[str, ...] = ("float32",)
    call: Callable[..., Any] | None = None
    limit: int = 40
    rtol: float | None = None
    compare: str = "values"
    gradients: bool = True
    variants: bool = True
    changes_arguments: bool = False
    hidden: tuple[str, ...] = field(default=())

    def over(self, *dtypes: str) -> Row:
        """Return the row, tried with these dtypes."""
        return replace(self, dtypes=dtypes)

    def through(self, call: Callable[..., Any]) -> Row:
        """Return the row, calling `call(framework, *args, **kwargs)` instead of the API itself."""
        return replace(self, call=call, variants=False)

    def limited_to(self, limit: int) -> Row:
        """Return the row with at most so many choices of arguments tried."""
        return replace(self, limit=limit)

    def loosely(self, rtol: float) -> Row:
        """Return the row with this relative tolerance."""
        return replace(self, rtol=rtol)

    def shapes_only(self) -> Row:
        """Return the row with values and gradients left out: random and uninitialized results."""
        return replace(self, compare="shapes", gradients=False)

    def without_gradients(self) -> Row:
        """Return the row with gradients left out."""
        return replace(self, gradients=False)

    def as_function_only(self) -> Row:
        """Return the row with no method, no in-place method and no signature tried."""
        return replace(self, variants=False)

    def in_place(self) -> Row:
        """Return the row of a call that changes its tensors: it gets copies, which are compared as well."""
        return replace(self, changes_arguments=True)


def row(api: str, *args: Any, **kwargs: Any) -> Row:
    """Return a row: `api` is Paddle's path, `args` and `kwargs` are values, stand-ins and choices."""
    return Row(api, args, kwargs)


@dataclass(frozen=True)
class Case:
    """One call; `form` is how: function, method, in place, or a look at the signature only."""

    row: Row
    form: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dtype: str

    @property
    def api(self) -> str:
        """The API's path, that of the method for methods."""
        name = self.row.api
        if self.form == "method":
            return "Tensor." + name.rpartition(".")[2]
        if self.form == "in place":
            return "Tensor." + name.rpartition(".")[2] + "_"
        return name

    @property
    def text(self) -> str:
        """The call as one would write it."""
        if self.form == "signature":
            return f"signature of {self.api}"
        given = [describe(arg, self.dtype) for arg in self.args]
        given += [f"{name}={describe(value, self.dtype)}" for name, value in self.kwargs.items()]
        return f"{self.api}({', '.join(given)})"


def describe(value: Any, dtype: str) -> str:
    """Return the text of an argument."""
    if isinstance(value, T):
        if value.literal is not None:
            return f"{value.dtype or dtype} {value.literal}"
        kind = "" if value.values == "normal" else " " + value.values
        return f"{value.dtype or dtype}{list(value.shape)}{kind}".replace(", ", ",")
    if isinstance(value, Array):
        return f"array {describe(value.tensor, dtype)}"
    if isinstance(value, Dtype):
        return f"paddle.{value.name}"
    if isinstance(value, list):
        return f"[{', '.join(describe(item, dtype) for item in value)}]"
    if isinstance(value, tuple):
        return f"({', '.join(describe(item, dtype) for item in value)}{',' * (len(value) == 1)})"
    if isinstance(value, slice):
        return ":".join("" if part is None else describe(part, dtype) for part in (value.start, value.stop, value.step))
    return getattr(value, "__name__", None) or repr(value)


def choices(row: Row) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Return the calls that a row stands for: all if they are few, else a fixed sample that holds each option once."""
    places = [arg if isinstance(arg, Each) else Each((arg,)) for arg in (*row.args, *row.kwargs.values())]
    sizes = [len(place.options) for place in places]
    total = 1
    for size in sizes:
        total *= size
    if total <= row.limit:
        picks = list(itertools.product(*map(range, sizes)))
    else:
        picks = sample(sizes, row.limit, row.api)
    return [_call(row, places, pick) for pick in picks]


def sample(sizes: list[int], limit: int, seed: str) -> list[tuple[int, ...]]:
    """Return tuples of choices: the first of each, then each other option once, then random ones up to the limit."""
    first = (0,) * len(sizes)
    found = {first: None}
    for place, size in enumerate(sizes):
        for option in range(1, size):
            found[(*first[:place], option, *first[place + 1 :])] = None
    generator = random.Random(seed)
    for _ in range(4 * limit):
        if len(found) >= limit:
            break
        found[tuple(generator.randrange(size) for size in sizes)] = None
    return list(found)


def _call(row: Row, places: list[Each], pick: tuple[int, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    values = [place.options[number] for place, number in zip(places, pick)]
    args: list[Any] = []
    for place, value in zip(places, values[: len(row.args)]):
        args += value if place.splat else [value]
    kwargs = dict(zip(row.kwargs, values[len(row.args) :]))
    return (
        tuple(arg for arg in args if arg is not unset),
        {name: value for name, value in kwargs.items() if value is not unset},
    )


def cases_of(row: Row) -> Iterator[Case]:
    """Yield the cases of a row: the signature, the function over dtypes, the method and the in-place method."""
    if row.variants:
        yield Case(row, "signature", (), {}, row.dtypes[0])
    calls = choices(row)
    for number, dtype in enumerate(row.dtypes):
        for args, kwargs in calls if number == 0 else calls[:OTHER_DTYPES_LIMIT]:
            yield Case(row, "function", args, kwargs, dtype)
    if not row.variants or row.api.startswith("Tensor.") or not _starts_with_tensor(calls[0][0]):
        return
    for args, kwargs in [call for call in calls if _starts_with_tensor(call[0])][:4]:
        yield Case(row, "method", args, kwargs, row.dtypes[0])
    for dtype in row.dtypes:
        for args, kwargs in [call for call in calls if _starts_with_tensor(call[0])][:3]:
            yield Case(row, "in place", args, kwargs, dtype)


def _starts_with_tensor(args: tuple[Any, ...]) -> bool:
    return bool(args) and isinstance(args[0], T)
