"""What is too small to pay for a call of a program stays Python, and costs nothing beyond that."""

import sys

import numpy as np
import pytest

import vitrify as paddle
from benchmarks import segments
from vitrify.jit.split import CONVINCED, PATIENCE, SMALLEST_PART


@pytest.fixture(autouse=True)
def small_parts_stay_python(compiled_however_small):
    """As users have it."""
    SMALLEST_PART.set(compiled_however_small)


@paddle.jit.not_to_static
def value_of(x):
    return float(x.numpy().sum())


def small(x):
    y = x * 2
    if value_of(y) > 3:
        y = y + 1
    return y - 1


def uneven(x):
    y = x * 2
    print(end="" if value_of(y) > 3 else " ")
    for _ in range(4):
        y = y * y + 1
    return y


def settled(function, *args, calls=4 * PATIENCE):
    static = paddle.jit.to_static(function)
    for _ in range(calls):
        static(*args)
    return static


def test_small_segments_stay_python():
    static = settled(small, paddle.ones([3]))
    assert static.split_state.driver() is None
    assert static(paddle.ones([3])).tolist() == [2, 2, 2]
    assert static(paddle.zeros([3])).tolist() == [-1, -1, -1]


def test_large_segments_stay_compiled():
    static = settled(uneven, paddle.ones([3]))
    (segment,) = static.split_state.code.segments
    assert segment.ins == ("y",)
    assert "y = x * 2" in static.split_state.code.source


def test_a_function_that_settled_is_not_asked_what_it_is_called_with():
    static = settled(uneven, paddle.ones([3]), calls=CONVINCED + 4 * PATIENCE)
    for x in (paddle.ones([3]), paddle.zeros([2, 2]), paddle.ones([2], "int64")):
        np.testing.assert_array_equal(static(x).numpy(), uneven(x).numpy())
    with pytest.raises(TypeError, match="argument"):
        static()


def test_keyword_arguments_and_defaults():
    def scaled(x, k=2, *, shift=1):
        y = x * k
        if value_of(y) > 100:
            y = y * 0
        return y + shift

    static = settled(scaled, paddle.ones([1]), calls=CONVINCED + 4 * PATIENCE)
    assert static(paddle.ones([1])).item() == 3
    assert static(paddle.ones([1]), shift=5).item() == 7
    assert static(k=3, x=paddle.ones([1])).item() == 4


def test_errors_show_the_users_frames_alone():
    def fails(x, at):
        y = x * 2
        if value_of(y) > at:
            raise KeyError("no")
        return y

    static = settled(fails, paddle.ones([1]), 5, calls=CONVINCED + 4 * PATIENCE)
    with pytest.raises(KeyError, match="no") as found:
        static(paddle.ones([1]), 1)
    kept = ["_called"] if sys.version_info < (3, 11) else []  # Python 3.10 keeps the frame that the exception left last
    assert [entry.name for entry in found.traceback][1:] == [*kept, "fails"]


def test_pieces_on_both_sides_of_a_break_stay_compiled():
    static = settled(segments.large_pieces(segments.value_of), paddle.ones([8, 16]))
    assert len(static.split_state.code.segments) == 3  # the statement in the branch is one, too


@pytest.mark.slow
def test_the_benchmark_runs():
    found = segments.main(["--rounds", "3"])
    assert {t.name for t in found} == {f.__name__ for f in segments.FUNCTIONS}
    assert all(t.eager > 0 and t.split > 0 and t.whole > 0 for t in found)
