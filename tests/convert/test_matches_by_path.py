"""What regular expressions find in a text that a path chose, and slices that a path chose."""

import re

import pytest

from tests.end_to_end.differential import compare


def matched(x):
    text = "abc123" if x.sum() > 0 else "x9"
    found = re.match(r"([a-z]+)(\d+)", text)
    return found.group(1), int(found.group(2)) + 1, re.sub(r"\d", "#", text), found.span()


def not_always(x):
    pattern = re.compile("a+")
    text = "caat" if x.sum() > 0 else "xyz"
    found = pattern.search(text)
    return found.span() if found else None, found is None, pattern.split(text)


def of_two_patterns(x):
    pattern = re.compile("a+") if x.sum() > 0 else re.compile("b")
    return pattern.findall("aabab"), pattern.pattern


def sliced(x):
    part = slice(0, 2) if x.sum() > 0 else slice(1, None)
    return x[part], [1, 2, 3][part], "abc"[part], part.start


@pytest.mark.parametrize("function", [matched, not_always, of_two_patterns, sliced], ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, ([1.0, 2.0, 0.5],), ([-1.0, -2.0, 0.5],), ([0.5, 0.5, 4.0],))
