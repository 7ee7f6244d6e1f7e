"""Comprehension helpers by themselves: Python's meaning on Python values."""

from __future__ import annotations

import pytest

from vitrify.convert.calls.table import convert_all, convert_any, convert_sum
from vitrify.convert.control.comprehension import dict_of, each, generator, list_of, set_of


def test_lists_sets_and_dicts():
    assert list_of([1, 2, 3], lambda x: x * 2, lambda x: x > 1) == [4, 6]
    assert set_of([1, 2, 3], lambda x: x % 2) == {0, 1}
    assert dict_of([(1, 2)], lambda k, v: (v, k)) == {2: 1}
    assert list_of("ab", lambda x: each([1, 2], lambda y: (x, y))) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def test_targets_are_taken_apart_as_an_assignment_does():
    assert list_of([(1, (2, 3))], lambda a, b, c: a + b + c, unpack=lambda i: (i[0], *i[1])) == [6]
    with pytest.raises(ValueError, match="too many values to unpack"):
        list_of([(1, 2, 3)], lambda a, b: a)
    with pytest.raises(TypeError, match="cannot unpack non-iterable int"):
        list_of([1], lambda a, b: a)


def test_generators_are_lazy_and_may_be_continued():
    seen = []
    found = generator([1, 2, 3, 4], lambda x: seen.append(x) or x)
    assert seen == []
    assert next(found) == 1
    assert seen == [1]
    assert convert_any(found) is True
    assert list(found) == [3, 4]
    with pytest.raises(TypeError):
        generator(5, lambda x: x)


def test_folds_stop_where_python_does_and_leave_the_rest():
    source = iter([1, 0, 2])
    assert convert_all(generator(source, lambda x: x)) is False
    assert list(source) == [2]
    assert convert_sum(generator([0.1] * 10, lambda x: x)) == sum([0.1] * 10)
