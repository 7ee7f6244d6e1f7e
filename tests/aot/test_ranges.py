"""Sizes left open: a program refuses those for which it would compute something else than what it was made of."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.aot import load
from vitrify.core.errors import ShapeError, UnsupportedError, VitrifyError
from vitrify.static import InputSpec


def saved(function, path, *specs, **settings):
    paddle.jit.save(function, str(path), input_spec=list(specs), format="native", **settings)
    return load(str(path))


def rows(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


TABLE = rows(300, 2)
LIMITED = {  # what is computed of x [2, n], sizes that are well, sizes that are refused and why
    "first": (lambda x: x[:, :5] * 2.0, (5, 6, 200), {4: "at least 5", 1: "at least 5"}),
    "last": (lambda x: x[:, -7:-2] * 2.0, (7, 150), {6: "at least 7"}),
    "one": (lambda x: x[:, 3] * 2.0, (4, 150), {3: "at least 4"}),
    "at most": (lambda x: x[:, :150] * 2.0, (1, 2, 150), {151: "at most 150", 1000: "at most 150"}),
    "table": (
        lambda x: x.sum(0).reshape([-1, 1]) * paddle.to_tensor(TABLE)[: x.shape[1]],
        (1, 300),
        {301: "at most 300"},
    ),
    "any": (lambda x: paddle.concat([x, x * 2.0], 1).sum(0), (1, 2, 150, 5000), {0: "at least 1"}),
}


@pytest.mark.parametrize("name", LIMITED)
def test_sizes_that_would_be_cut_otherwise_are_refused(name, tmp_path):
    function, well, refused = LIMITED[name]
    program = saved(function, tmp_path / "f", InputSpec([2, None], name="x"))
    for n in well:
        np.testing.assert_allclose(program(rows(2, n))[0], function(paddle.to_tensor(rows(2, n))).numpy(), 1e-5)
    for n, reason in refused.items():
        with pytest.raises(ShapeError, match=f"input x: dimension 1 must be {reason}, got {n}"):
            program(rows(2, n))


def test_two_sizes_of_which_the_smaller_decides_are_refused(tmp_path):
    axes = {"x": {0: "a"}, "y": {0: "b"}}
    with pytest.raises(UnsupportedError, match="which of them is larger"):
        specs = [InputSpec([None], name=name) for name in axes]
        saved(lambda x, y: x[: y.shape[0]] * 2.0, tmp_path / "f", *specs, dynamic_axes=axes)


def test_what_is_large_is_asked_for_at_sizes_that_fit_in_memory(tmp_path):
    """65537 rows of each would take 68 GB."""
    weight = paddle.create_parameter([2048, 2048], "float32")
    program = saved(lambda x: (x @ weight)[:, :, :3], tmp_path / "f", InputSpec([None, 128, 2048], name="x"))
    x = rows(1, 128, 2048) / 1e6
    np.testing.assert_allclose(program(x)[0], (x @ weight.numpy())[:, :, :3], 1e-3, 1e-4)


def looked_up(count):
    table = paddle.create_parameter([count, 3], "float32")
    return lambda x: x + table[: x.shape[0]]


def test_a_table_limits_the_size(tmp_path):
    """Sizes from 101 on are looked at first, and small ones where those are refused."""
    function = looked_up(32)
    program = saved(function, tmp_path / "f", InputSpec([None, 3], name="x"))
    for n in (1, 2, 19, 32):
        np.testing.assert_allclose(program(rows(n, 3))[0], function(paddle.to_tensor(rows(n, 3))).numpy(), 1e-6)
    with pytest.raises(ShapeError, match="at most 32, got 33"):
        program(rows(33, 3))


def test_a_table_that_the_run_looks_into(tmp_path):
    table = paddle.create_parameter([32, 3], "float32")
    function = lambda x: x + paddle.nn.functional.embedding(paddle.arange(x.shape[0]), table)  # noqa: E731
    program = saved(function, tmp_path / "f", InputSpec([None, 3], name="x"))
    np.testing.assert_allclose(program(rows(32, 3))[0], function(paddle.to_tensor(rows(32, 3))).numpy(), 1e-6)
    with pytest.raises(VitrifyError, match="outside"):
        program(rows(33, 3))


def test_a_table_shorter_than_the_sizes_to_look_at(tmp_path):
    with pytest.raises(UnsupportedError, match="cannot be compiled ahead of time: shape mismatch"):
        saved(looked_up(5), tmp_path / "f", InputSpec([None, 3], name="x"))


def test_parameters_as_large_as_an_open_size(tmp_path):
    """A token in front of every sequence of a batch, whose size is open."""
    token = paddle.create_parameter([1, 1, 3], "float32")
    function = lambda x: paddle.concat([token.expand([x.shape[0], -1, -1]), x], 1)  # noqa: E731
    program = saved(function, tmp_path / "f", InputSpec([None, 2, 3], name="x"))
    for n in (1, 4, 9):
        x = rows(n, 2, 3)
        np.testing.assert_allclose(program(x)[0], function(paddle.to_tensor(x)).numpy(), 1e-6)


def test_what_is_known_of_single_elements_alone_is_computed_at_all_sizes(tmp_path):
    """Numbers that a program makes of open sizes are known where those are 1, and left to the run elsewhere."""
    table = paddle.to_tensor(TABLE)

    def embedded(ids):
        kinds = paddle.zeros_like(ids)
        places = paddle.cumsum(paddle.ones_like(ids), axis=1) - 1
        return sum(paddle.nn.functional.embedding(index, table) for index in (ids, kinds, places))

    program = saved(embedded, tmp_path / "f", InputSpec([None, None], "int64", name="x"))
    for shape in ((1, 1), (2, 3), (1, 5)):
        ids = np.ones(shape, "int64")
        np.testing.assert_allclose(program(ids)[0], embedded(paddle.to_tensor(ids)).numpy())
