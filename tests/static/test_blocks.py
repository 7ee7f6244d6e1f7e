"""While, If, Switch and ConditionalBlock: what a run computes is what the statements under each `with` say."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.core.errors import UnsupportedError
from vitrify.static.nn import control_flow
from vitrify.tensor import array_length, array_read, array_write, create_array


def whole(value=0):
    return paddle.full([1], value, "int64")


def count_to(n, body):
    """`body(i)` for each i below n, by While; the counter behind it."""
    i = whole()
    cond = i < n
    loop = control_flow.While(cond)
    with loop.block():
        body(i)
        paddle.increment(i)
        paddle.assign(i < n, output=cond)
    return i


def counted(n):
    t = whole()
    return [count_to(n, lambda i: paddle.assign(t + i, t)), t]


def switched(n):
    t = whole()

    def body(i):
        with control_flow.Switch() as switch:
            with switch.case(i == 1):
                paddle.assign(t + 10, t)
            with switch.case(i < 3):
                paddle.assign(t + 1, t)
            with switch.default():
                paddle.assign(t + 100, t)

    count_to(n, body)
    return [t]


def loop_in_case(n):
    t = whole()
    with control_flow.Switch() as switch, switch.case(n > 3):
        count_to(n, lambda i: paddle.assign(t + i, t))
    return [t]


def nested(n):
    t = whole()
    count_to(n, lambda i: count_to(i, lambda j: count_to(j, lambda k: paddle.assign(t + k + 1, t))))
    return [t]


def growing(n):
    x = whole()
    count_to(n, lambda i: paddle.assign(paddle.concat([x, i + 1]), x))
    return [x]


def written_array(n):
    array = create_array("int64")
    count_to(n, lambda i: array_write(i, i, array))
    return [array_length(array), array_read(array, n - 1)]


def array_in_branch(n):
    array = array_write(whole(1), whole())

    def body(i):
        def even():
            array_write(i * 10, array_length(array), array)

        static.nn.cond(i % 2 == 0, even)

    count_to(n, body)
    return [array_length(array), array_read(array, array_length(array) - 1)]


def array_of_each_turn(n):
    t = whole()

    def body(i):
        array = array_write(i, whole())
        array_write(i * 2, whole(1), array)
        paddle.assign(t + array_read(array, whole(1)), t)

    count_to(n, body)
    return [t]


def swapped(n):
    a, b = whole(1), whole(2)

    def body(i):
        held = a + 0
        paddle.assign(b, a)
        paddle.assign(held, b)

    count_to(n, body)
    return [a, b]


def while_loop_inside(n):
    t = whole()

    def body(i):
        _, sums = static.nn.while_loop(lambda k, s: k < i, lambda k, s: [k + 1, s + k], [whole(), whole()])
        paddle.assign(t + sums, t)

    count_to(n, body)
    return [t]


def in_functions(n):
    def loop():
        t = whole()
        count_to(n, lambda i: paddle.assign(t + 2, t))
        return t

    y = static.nn.cond(n > 2, loop, lambda: whole(-1))
    _, s = static.nn.while_loop(lambda k, s: k < n, lambda k, s: [k + 1, s + loop()], [whole(), whole()])
    return [y, s]


def kept_in_scope(n):
    total = static.create_global_var([1], 0, "int64", persistable=True, name="total")
    count_to(n, lambda i: paddle.assign(total + 1, total))
    return [total]


def either(n):
    y, holds = n * 1, n > 0
    choice = control_flow.If(holds)
    with choice.true_block():
        paddle.assign(y * 2, y)
        paddle.assign(n < 0, holds)  # which decides nothing any more
    with choice.false_block():
        paddle.assign(y * 3, y)
    return [y]


def unless_empty(n):
    y, found = whole(), paddle.masked_select(n, n > 2)
    with control_flow.ConditionalBlock([found]).block():
        paddle.assign(found + 1, y)
    return [y]


CASES = [
    (counted, {0: [[0], [0]], 1: [[1], [0]], 5: [[5], [10]]}),
    (switched, {0: [[0]], 2: [[11]], 5: [[212]]}),
    (loop_in_case, {3: [[0]], 5: [[10]]}),
    (nested, {0: [[0]], 6: [[35]]}),
    (growing, {0: [[0]], 3: [[0, 1, 2, 3]]}),
    (written_array, {1: [[1], [0]], 4: [[4], [3]]}),
    (array_in_branch, {0: [[1], [1]], 4: [[3], [20]]}),
    (array_of_each_turn, {0: [[0]], 3: [[6]]}),
    (swapped, {0: [[1], [2]], 1: [[2], [1]], 2: [[1], [2]]}),
    (while_loop_inside, {0: [[0]], 5: [[10]]}),
    (in_functions, {0: [[-1], [0]], 3: [[6], [18]]}),
    (kept_in_scope, {2: [[2]], 3: [[5]]}),
    (either, {1: [[2]], -1: [[-3]]}),
    (unless_empty, {2: [[0]], 3: [[4]]}),
]


@pytest.mark.parametrize(("build", "runs"), [pytest.param(*case, id=case[0].__name__) for case in CASES])
def test_what_stands_under_with_is_run(build, runs):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        fetched = build(static.data("n", [1], "int64"))
    exe = static.Executor()
    exe.run(startup)
    for n, wanted in runs.items():
        found = exe.run(main, feed={"n": np.array([n])}, fetch_list=fetched)
        assert [array.ravel().tolist() for array in found] == wanted


def test_gradients_of_each_order_pass_through():
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [1])
        x.stop_gradient = False
        y = x * 1
        count_to(static.data("n", [1], "int64"), lambda i: paddle.assign(y * x, y))
        (slope,) = static.gradients([y], [x])
        (bend,) = static.gradients([slope], [x])
    feed = {"x": np.array([2.0], "float32"), "n": np.array([2])}
    found = static.Executor().run(main, feed=feed, fetch_list=[y, slope, bend])
    assert [array.item() for array in found] == [8.0, 12.0, 12.0]


def test_an_error_inside_leaves_the_program_as_it_was():
    main = static.Program()
    with static.program_guard(main):
        n = whole(3)

        def body(i):
            raise KeyError("n")

        with pytest.raises(KeyError):
            count_to(n, body)
        after = n + 1
    assert static.Executor().run(main, fetch_list=[after])[0].tolist() == [4]


def test_an_array_that_python_reads_itself_is_refused():
    with static.program_guard(static.Program()):
        array = array_write(whole(1), whole())

        def body(i):
            paddle.assign(i + array[0], i)
            array_write(i, whole(), array)

        with pytest.raises(UnsupportedError, match="array_read"):
            count_to(whole(3), body)


def test_conditions_are_checked():
    with static.program_guard(static.Program()):
        for wrong in (True, paddle.ones([1]), paddle.ones([2], "bool")):
            with pytest.raises(TypeError, match="While: cond"):
                control_flow.While(wrong)
        with pytest.raises(ValueError, match="inside with"):
            control_flow.Switch().case(paddle.ones([1], "bool"))
        with control_flow.Switch() as switch, pytest.raises(ValueError, match="at least one condition"):
            switch.default()
        with pytest.raises(TypeError, match="inputs holds tensors"):
            control_flow.ConditionalBlock([True])
        with pytest.raises(ValueError, match="must hold a tensor"):
            control_flow.ConditionalBlock([])
    with pytest.raises(UnsupportedError, match="for programs"):
        control_flow.While(paddle.to_tensor([True]))
