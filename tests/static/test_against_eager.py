"""Programs written by hand and run by an Executor compute what eager code does, bit for bit, whatever is fed."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from vitrify import static

STEPS = {
    "add": lambda values, a, b: values[a] + values[b],
    "multiply": lambda values, a, b: values[a] * values[b],
    "scale": lambda values, a, b: values[a] * 3 - 1,
    "largest": lambda values, a, b: paddle.maximum(values[a], values[b]),
    "sum": lambda values, a, b: values[a].sum(axis=-1, keepdim=True) + values[b],
    "transpose twice": lambda values, a, b: values[a].transpose([1, 0]).transpose([1, 0]),
    "flatten and back": lambda values, a, b: values[a].reshape([-1]).reshape(paddle.shape(values[b])),
    "concat and split": lambda values, a, b: paddle.split(paddle.concat([values[a], values[b]], axis=1), 2, axis=1)[1],
}
DTYPES = ("float32", "float64", "int64")


def computed(steps, x, y):
    """All values made from x and y: the fed ones first."""
    values = [x, y]
    for name, a, b in steps:
        values.append(STEPS[name](values, a % len(values), b % len(values)))
    return values


@given(
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8),
    st.sampled_from(DTYPES),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=3),
    st.booleans(),
    st.data(),
)
@settings(max_examples=60)
def test_runs_equal_eager_code(steps, dtype, shapes, prune, data):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        fed = [static.data(name, [None, None], dtype) for name in "xy"]
        values = computed(steps, *fed)
    wanted = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=4))
    exe = static.Executor()
    for seed, shape in enumerate([*shapes, *shapes]):
        arrays = [np.random.default_rng([seed, n]).integers(-5, 6, shape).astype(dtype) for n in range(2)]
        kept = [array.copy() for array in arrays]
        feed = {"x": arrays[0], "y": arrays[1]} if prune else {"y": arrays[1], "x": arrays[0]}
        found = exe.run(main, feed, [values[i] for i in wanted], use_prune=prune)
        eager = computed(steps, *[paddle.to_tensor(array) for array in arrays])
        for i, array in zip(wanted, found):
            want = eager[i].numpy()
            assert (array.dtype, array.shape, array.tobytes()) == (want.dtype, want.shape, want.tobytes())
            assert array.flags.owndata and array.flags.writeable
            array[...] = 0
        assert all(np.array_equal(a, b) for a, b in zip(arrays, kept))
