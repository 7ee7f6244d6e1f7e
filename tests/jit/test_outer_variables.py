"""Variables outside of a function that another one, which it calls where a tensor decides, writes."""

import pytest

import vitrify as paddle

COUNT = 0


def counting(s):
    global COUNT  # noqa: PLW0603 - what is tested
    COUNT += 1


def counting_by_path(s):
    global COUNT  # noqa: PLW0603 - what is tested
    COUNT += 10
    if s > 0:
        COUNT += 1


def counting_by_loop(s):
    global COUNT  # noqa: PLW0603 - what is tested
    while s > 0:
        COUNT += 1
        s = s - 1


def in_cell():
    count = 0

    def count_in_cell(s):
        nonlocal count
        count += 10
        if s > 0:
            count += 1

    return count_in_cell


class Holder:
    def __init__(self, function):
        self.function = function


held = Holder(None)


def called_on_a_path(x):
    if x.mean() < 5:
        held.function(x.sum())
    return x


def called_in_a_loop(x):
    s = x.sum()
    while s > 0:
        held.function(s)
        s = s - 1
    return x


def called_on_a_path_that_returns(x):
    if x.mean() < 5:
        held.function(x.sum())
        return x * 2
    return x


def of_a_function_made_inside(x):
    def inner(s):
        global COUNT  # noqa: PLW0603 - what is tested
        COUNT += 10
        if s > 0:
            COUNT += 1

    here = Holder(inner)
    if x.mean() < 5:
        here.function(x.sum())
    return x


def told(run):
    """What the variables hold after each of several calls."""
    global COUNT
    COUNT, seen = 0, []
    cell = getattr(held.function, "__closure__", None)
    for value in (2.0, -1.0, 9.0, 3.0, 2.0):
        run(paddle.to_tensor([value]))
        seen.append(cell[0].cell_contents if cell else COUNT)
    return seen


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(
    "f", [called_on_a_path, called_in_a_loop, called_on_a_path_that_returns, of_a_function_made_inside]
)
@pytest.mark.parametrize("called", ["counting", "counting_by_path", "counting_by_loop", "in_cell"])
def test_what_a_called_function_writes_is_written_on_its_path_only(f, called, full_graph):
    def fresh():
        held.function = in_cell() if called == "in_cell" else globals()[called]

    fresh()
    expected = told(f)
    fresh()
    assert told(paddle.jit.to_static(f, full_graph=full_graph)) == expected
