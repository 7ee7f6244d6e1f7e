"""One thing of a working call changed at a time; pairs for keywords."""

from __future__ import annotations

import inspect
import itertools
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.conformance.generated.bases import Base, case_of
from tests.conformance.generated.names import Name
from tests.conformance.spec import Case, T

DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8", "int8", "int16", "bool", "complex64",
          "complex128")  # fmt: skip
PAIRS = 12
AXES = (0, 1, -1, -2, 5, -5, None, [0], [0, 1], (0, -1), [], 1.5, "0")
FORMATS = ("NCHW", "NHWC", "NCL", "NLC", "NCDHW", "NDHWC", "bogus")
# What parameters of these names are tried with; others are tried by the type of their default.
BY_NAME: dict[str, tuple[Any, ...]] = {
    "axis": AXES, "dim": AXES, "axes": AXES, "dtype": ("float64", "int32", "int64", "bool", "complex64", "bogus", 3),
    "reduction": ("mean", "sum", "none", "bogus", None), "data_format": FORMATS, "data_layout": FORMATS,
    "padding": (0, 1, 2, [1, 1], [1, 2], "SAME", "VALID", "bogus", -1), "stride": (1, 2, [2, 1], 0, -1, None),
    "dilation": (1, 2, [2, 1], 0), "p": (0, 1, 2, 3.5, -1, float("inf"), "fro"), "bias_attr": (False,),
    "weight_attr": (False,), "mode": ("nearest", "bilinear", "linear", "reflect", "replicate", "constant", "bogus"),
    "padding_mode": ("zeros", "reflect", "replicate", "circular", "border", "bogus"), "act": ("relu", "bogus"),
    "shape": ([2, 3], [-1], [3, 2], [6], [], [2, -1], [0, -1], [-1, -1], 6, [7]), "training": (True, False),
    "perm": ([0, 1], [1, 0], [0, 0], [0], [-1, 0], [0, 5]), "activation": ("relu", "tanh", "bogus"),
    "direction": ("forward", "bidirect", "bidirectional", "bogus"), "groups": (1, 2, 3, 0), "out": (), "device": (),
    "requires_grad": (), "pin_memory": (), "place": (), "generator": (),
}  # fmt: skip
WRONG = (None, "text", -1, 2.5, [])


def variations(name: Name, base: Base) -> Iterator[Case]:
    """Yield the cases made from a working call, each once."""
    seen: set[str] = set()
    for made, dtype in _varied(name, base):
        case = case_of(name, made, dtype)
        if case.text not in seen and _travels(case):
            seen.add(case.text)
            yield case


def _travels(case: Case) -> bool:
    try:
        pickle.dumps(case)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _varied(name: Name, base: Base) -> Iterator[tuple[Base, str]]:
    for dtype in DTYPES:
        yield base, dtype
    for made in (*_shapes(base), *_mixed(base), *_keywords(name, base), *_wrong(base)):
        yield made, "float32"


def _places(base: Base) -> list[int]:
    return [number for number, arg in enumerate(base.args) if isinstance(arg, T)]


def _with(base: Base, changes: dict[int, Any]) -> Base:
    return Base(tuple(changes.get(number, arg) for number, arg in enumerate(base.args)), base.kwargs)


def _shaped(tensor: T, shape: tuple[int, ...]) -> T:
    """The tensor with another shape; the values of one that is written out go on as its first does."""
    if tensor.literal is None:
        return replace(tensor, shape=shape)
    return T(shape, tensor.dtype, "zeros", grad=tensor.grad)


def _shape_of(tensor: T) -> tuple[int, ...]:
    sizes, here = [], tensor.literal
    while isinstance(here, list):
        sizes.append(len(here))
        here = here[0] if here else None
    return tuple(sizes) if tensor.literal is not None else tensor.shape


def _other_shapes(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    if not shape:
        return [(1,), (2,), (0,), (2, 3)]
    return [(), (0, *shape[1:]), (*shape[:-1], 0), (1, *shape[1:]), (*shape[:-1], 1), (2, *shape), shape[1:],
            (*shape[:-1], shape[-1] + 1), (1,) * len(shape)]  # fmt: skip


def _shapes(base: Base) -> Iterator[Base]:
    places = _places(base)
    for all_at_once in zip(*(_other_shapes(_shape_of(base.args[place])) for place in places)):
        yield _with(base, {p: _shaped(base.args[p], shape) for p, shape in zip(places, all_at_once)})
    for place in places if len(places) > 1 else ():
        for shape in _other_shapes(_shape_of(base.args[place])):
            yield _with(base, {place: _shaped(base.args[place], shape)})


def _mixed(base: Base) -> Iterator[Base]:
    places = _places(base)
    for place in places if len(places) > 1 else ():
        for dtype in ("int64", "float64", "float16", "bool", "int32"):
            yield _with(base, {place: replace(base.args[place], dtype=dtype)})


def values_for(parameter: inspect.Parameter) -> tuple[Any, ...]:
    """Return what a parameter is tried with."""
    default = parameter.default
    if parameter.name in BY_NAME:
        return tuple(value for value in BY_NAME[parameter.name] if repr(value) != repr(default))
    if isinstance(default, bool):
        return (not default, int(not default))
    if isinstance(default, int):
        return tuple(value for value in (0, 1, 2, -1, 5, 1.5, "text") if value != default)
    if isinstance(default, float):
        return tuple(value for value in (0.0, 0.5, 2.0, -1.0, 1, "text") if value != default)
    if isinstance(default, str):
        return ("bogus", 1)
    return (1, 0.5, [1], "text")


def _put(name: Name, base: Base, parameter: str, value: Any) -> Base:
    """The call with a parameter given: in its place where it stands there, by name otherwise."""
    names = [p.name for p in name.parameters]
    place = names.index(parameter)
    if name.kind != "layer" and place < len(base.args):
        return _with(base, {place: value})
    return Base(base.args, {**base.kwargs, parameter: value})


def _keywords(name: Name, base: Base) -> Iterator[Base]:
    tried = {p.name: values_for(p) for p in name.optional}
    for parameter, values in tried.items():
        for value in values:
            yield _put(name, base, parameter, value)
    pairs = [(one, other) for one, other in itertools.combinations(tried, 2) if tried[one] and tried[other]]
    for one, other in pairs[:PAIRS]:
        for at in (0, 1):
            first, second = (tried[p][min(at, len(tried[p]) - 1)] for p in (one, other))
            yield _put(name, _put(name, base, one, first), other, second)


def _wrong(base: Base) -> Iterator[Base]:
    for place in range(len(base.args)):
        for value in WRONG:
            yield _with(base, {place: value})
    for parameter in base.kwargs:
        for value in WRONG:
            yield Base(base.args, {**base.kwargs, parameter: value})
