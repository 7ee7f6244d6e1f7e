"""Plain data as JSON and back."""

import json
import math
from collections import OrderedDict, namedtuple
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.core import dtype as dtypes
from vitrify.core.errors import DTypeError, FileFormatError
from vitrify.core.plain import from_json, to_json

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(), st.binary(),
    st.sampled_from(dtypes.ALL), st.just(...),
)  # fmt: skip
Pair = namedtuple("Pair", "left right")
Renamed = namedtuple("Renamed", "def of", rename=True)


class Point(NamedTuple):
    x: int
    y: Any


KEYS = st.one_of(st.text(), st.integers(), st.booleans(), st.tuples(st.text(), st.integers()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3).map(OrderedDict),
        st.tuples(inner, inner, inner).map(lambda parts: slice(*parts)),
    ),
    max_leaves=12,
)


def through_json(value):
    return from_json(json.loads(json.dumps(to_json(value), allow_nan=False)))


def test_kinds_are_kept():
    value = {"a": (1, 1.0, True, None), 2: [slice(None, 3), ...], (1, "b"): OrderedDict(z=1j, y=b"\0")}
    assert repr(through_json(value)) == repr(value)
    assert math.isnan(through_json([float("nan")])[0])


def test_namedtuples_keep_their_names():
    value = Renamed(Pair([1], 2.0), Point(0, None))
    found = through_json([value, {"x": Pair(1, 2)}])
    assert repr(found) == repr([value, {"x": Pair(1, 2)}])
    assert type(found[0]._0) is type(found[1]["x"]) and found[0].of._fields == ("x", "y")


@given(VALUES)
def test_what_goes_in_comes_out(value):
    assert repr(through_json(value)) == repr(value)


def test_errors_name_the_place():
    with pytest.raises(DTypeError, match=r"obj\['layers'\]\[1\] is a set, which cannot be saved"):
        to_json({"layers": [1, {2}]}, root="obj")
    with pytest.raises(DTypeError, match="a key of obj is a frozenset"):
        to_json({frozenset(): 1}, root="obj")
    endless = []
    endless.append(endless)
    with pytest.raises(DTypeError, match="nested deeper than 64 levels"):
        to_json(endless)


def test_leaves_of_ones_own():
    data = to_json(["x", {1, 2}], lambda value, where: ("set", sorted(value)) if isinstance(value, set) else None)
    assert data == ["x", {"set": [1, 2]}]
    assert from_json(data, {"set": set}) == ["x", {1, 2}]


@pytest.mark.parametrize(
    "data",
    [
        {"tuple": 3},
        {"dict": [1]},
        {"dict": [[[], 1]]},
        {"dict": [[1, 2, 3]]},
        {"float": "1.0"},
        {"float": []},
        {"complex": [1]},
        {"complex": ["x", "y"]},
        {"bytes": "!"},
        {"bytes": 3},
        {"dtype": "float31"},
        {"slice": [1]},
        {"namedtuple": [1]},
        {"namedtuple": [["A", "b"], [1, 2]]},
        {"namedtuple": [["A", 3], [1]]},
        {"namedtuple": ["Ab", [1]]},
        {"namedtuple": [["A", "b=print()"], [1]]},
        {"namedtuple": [["A"] + ["b"] * 300, []]},
        {"unknown": 1},
        {"list": [1], "tuple": [1]},
        {},
    ],
    ids=str,
)
def test_nonsense_is_refused(data):
    with pytest.raises(FileFormatError):
        from_json([data])


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["tuple", "dict", "OrderedDict", "namedtuple", "slice", "float", "complex", "bytes", "dtype", "x"]
            ),
            inner,
            max_size=2,
        ),
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(data):
    try:
        value = from_json(data)
    except FileFormatError:
        return
    assert repr(through_json(value)) == repr(value)


def test_nesting_is_bounded():
    data = []
    for _ in range(200):
        data = [data]
    with pytest.raises(FileFormatError, match="nested deeper"):
        from_json(data)
