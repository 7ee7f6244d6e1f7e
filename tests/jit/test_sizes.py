"""The second size seen makes a dimension dynamic; a size needed as a Python number stays part of the key."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ShapeError

from .models import Scale, counted


def rows(n, m=3):
    return paddle.arange(n * m, dtype="float32").reshape([n, m])


def test_many_batch_sizes_need_two_programs():
    f, runs = counted(lambda x: (x * 2).sum(axis=1))
    for n in (4, 7, 1, 9, 100, 4, 0):
        assert np.array_equal(f(rows(n)).numpy(), (rows(n).numpy() * 2).sum(1))
    assert len(f.program_cache) == len(runs) == 2
    assert f.concrete_program.inputs[0].shape == [-1, 3]


def test_the_first_program_keeps_its_exact_sizes():
    f, _ = counted(lambda x: x * 2)
    f(rows(4))
    assert f.concrete_program.inputs[0].shape == [4, 3]


def test_each_dimension_varies_on_its_own():
    f, _ = counted(lambda x: x * 2)
    for n, m in ((2, 3), (4, 3), (4, 5), (6, 7)):
        assert f(rows(n, m)).shape == [n, m]
    assert len(f.program_cache) == 3
    assert f.concrete_program.inputs[0].shape == [-1, -1]


@pytest.mark.parametrize("spec", [None, [paddle.static.InputSpec([None, 3])]], ids=["no spec", "spec"])
def test_a_size_of_one_that_is_squeezed_has_a_program_of_its_own(spec):
    f = paddle.jit.to_static(lambda x: paddle.squeeze(x) * 2, input_spec=spec, full_graph=True)
    assert [f(rows(n)).shape for n in (4, 5, 1, 6, 1, 7)] == [[4, 3], [5, 3], [3], [6, 3], [3], [7, 3]]
    assert len(f.program_cache) == (2 if spec else 3)


@pytest.mark.parametrize("cut", [paddle.unbind, paddle.unstack])
def test_a_number_of_outputs_that_is_needed_behind_a_change_is_part_of_the_key(cut):
    seen = []

    def f(x):
        seen.append(1)
        return cut(x * 2)[0]

    static = paddle.jit.to_static(f, input_spec=[paddle.static.InputSpec([None, 3])], full_graph=True)
    for n in (2, 4, 3, 2):
        assert np.array_equal(static(rows(n)).numpy(), f(rows(n)).numpy())
    assert len(seen) == 8 and len(static.program_cache) == 3


def test_nearly_equal_parts_of_an_unknown_size_are_one_program():
    f = paddle.jit.to_static(
        lambda x: paddle.tensor_split(x, 3), input_spec=[paddle.static.InputSpec([None, 2])], full_graph=True
    )
    for n in (7, 3, 2, 0):
        parts = np.array_split(rows(n, 2).numpy(), 3)
        assert all(np.array_equal(got.numpy(), part) for got, part in zip(f(rows(n, 2)), parts, strict=True))
    assert len(f.program_cache) == 1


def test_a_tensor_that_cannot_hold_a_result_stays_as_it_was():
    specs = [paddle.static.InputSpec([None, 3])] * 2
    f = paddle.jit.to_static(lambda x, y: x.add_(y) * 2, input_spec=specs, full_graph=True)
    assert f(rows(2), rows(1)).shape == [2, 3]
    x = rows(1)
    with pytest.raises(ShapeError, match=r"add_: the result has the shape \[2, 3\], which x \[1, 3\] cannot hold"):
        f(x, rows(2))
    assert np.array_equal(x.numpy(), rows(1).numpy())


@pytest.mark.parametrize(
    "squeezed", [lambda x: paddle.squeeze(x * 2, 0), lambda x: (x * 2)[: x.shape[0] // 2].squeeze()], ids=["one", "all"]
)
@pytest.mark.parametrize("full", [True, False], ids=["whole", "segments"])
@pytest.mark.parametrize("spec", [None, [paddle.static.InputSpec([None, 3])]], ids=["no spec", "spec"])
def test_a_size_that_was_taken_for_another_has_programs_of_its_own(spec, full, squeezed, capsys):
    def f(x):
        print("seen")
        return squeezed(x) + paddle.rand([1])

    static = paddle.jit.to_static(f, input_spec=spec, full_graph=full)
    for n in (1, 4, 3, 4, 2, 1):
        paddle.seed(n)
        found = static(rows(n))
        paddle.seed(n)
        assert np.array_equal(found.numpy(), f(rows(n)).numpy())
        assert capsys.readouterr().out == "seen\nseen\n"
    assert len(static.program_cache) == 4


@pytest.mark.parametrize("asked", [lambda x: x.size, lambda x: x.nbytes, lambda x: x.size * 2 + 0.5, len])
def test_a_number_of_elements_is_a_python_number(asked):
    f = paddle.jit.to_static(asked, input_spec=[paddle.static.InputSpec([None, 3])], full_graph=True)
    for n in (2, 4):
        found, wanted = f(rows(n)), asked(rows(n))
        assert type(found) is type(wanted) and found == wanted


def test_gradients_with_unknown_sizes():
    f, _ = counted(lambda x, w: ((x * w + 1) * x).mean())
    for n in (2, 5, 3):
        grads = []
        for fn in (f, lambda x, w: ((x * w + 1) * x).mean()):
            x, w = rows(n), paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
            x.stop_gradient = False
            fn(x, w).backward()
            grads.append((x.grad.numpy(), w.grad.numpy()))
        assert np.allclose(grads[0][0], grads[1][0]) and np.allclose(grads[0][1], grads[1][1])
    assert len(f.program_cache) == 2


def test_loops_over_an_unknown_size():
    def total(x):
        s = paddle.zeros([3])
        for row in x:
            s = s + row * row
        return s, len(x)

    f, runs = counted(total)
    for n in (2, 5, 3, 8):
        s, count = f(rows(n))
        assert np.allclose(s.numpy(), (rows(n).numpy() ** 2).sum(0)) and int(count) == n
    assert len(runs) == 2


@pytest.mark.parametrize("spec", [None, [paddle.static.InputSpec([None, 3])]], ids=["no spec", "spec"])
def test_a_size_needed_by_python_is_part_of_the_key(spec):
    def f(x):
        name = "abcdef"[: x.shape[0]]
        return x * len(name)

    static = paddle.jit.to_static(f, input_spec=spec, full_graph=True)
    for n in (2, 4, 3, 2, 4):
        assert np.array_equal(static(rows(n)).numpy(), rows(n).numpy() * n)
    assert len(static.program_cache) == 3


def test_shape_arithmetic_stays_dynamic():
    f, _ = counted(lambda x: x.reshape([x.shape[0] * x.shape[1]]) / x.shape[0])
    for n in (2, 4, 3):
        assert np.allclose(f(rows(n)).numpy(), rows(n).numpy().ravel() / n)
    assert len(f.program_cache) == 2


def test_a_layer_with_many_sizes():
    net = paddle.jit.to_static(Scale())
    for n in (1, 2, 3, 4):
        assert np.allclose(net(rows(n)).numpy(), net.forward.dygraph_function(rows(n)).numpy())
    assert len(net.forward.program_cache) == 2


def test_input_spec_fixes_what_varies():
    f = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 3], name="image")])
    for n in (4, 5, 6):
        assert f(rows(n)).shape == [n, 3]
    assert len(f.program_cache) == 1
    assert [v.name for v in f.inputs] == ["image"]
    with pytest.raises((TypeError, ValueError), match=r"float32\[\?, 3\]"):
        f(rows(4, 4))
    with pytest.raises((TypeError, ValueError), match="float64"):
        f(rows(4).astype("float64"))


def test_a_failing_call_leaves_the_cache_usable():
    f, _ = counted(lambda x: x + paddle.ones([3]))
    for n in (2, 4):
        assert f(rows(n)).shape == [n, 3]
    for _ in range(2):
        with pytest.raises(ValueError, match="broadcast"):
            f(rows(2, 4))
    for n in (2, 4, 5, 6):
        assert f(rows(n)).shape == [n, 3]
    assert len(f.program_cache) <= 3


def test_ranks_and_sizes_of_several_arguments():
    f, _ = counted(lambda x, y: paddle.concat([x, y]).sum())
    for n, m in ((1, 2), (3, 4), (5, 5), (2, 9)):
        assert f(rows(n), rows(m)).item() == rows(n).sum().item() + rows(m).sum().item()
    assert len(f.program_cache) == 2


def test_an_error_of_the_users_does_not_fix_the_sizes():
    faults = {}

    def f(x):
        if faults.get("on"):
            raise ValueError("broken")
        return x * 2

    static, _ = counted(f)
    static(rows(2))
    faults["on"] = True
    with pytest.raises(ValueError, match="broken"):
        static(rows(5))
    faults["on"] = False
    for n in (3, 4, 6, 7):
        static(rows(n))
    assert static.concrete_program.inputs[0].shape == [-1, 3]


@pytest.mark.parametrize(
    "used",
    [
        lambda x: x * x.shape[1] ** -0.25,
        lambda x: x / x.shape[1] ** 0.5,
        lambda x: x * x.shape[1] ** -1,
        lambda x: x * 2.0 ** -x.shape[1],
        lambda x: paddle.scale(x, x.shape[1] ** -0.5),
        lambda x: x * int(x.shape[0] * 0.29),
        lambda x: paddle.to_tensor(x.shape[1] ** -0.5),
        lambda x: paddle.to_tensor([x.shape[1] / 3, 1]),
        lambda x: paddle.to_tensor(x.shape[1] * (1 + 2j)),
        lambda x: paddle.zeros([int(np.ceil(x.shape[0] / 8)) * 8]) + float(np.sqrt(x.shape[1])),
        lambda x: x.reshape([np.prod(x.shape)]),
        lambda x: paddle.full([2], np.prod(x.shape)),
        lambda x: x.reshape(x.shape[:1] + (1,) + x.shape[1:]),
        lambda x: x * x.shape.numel() + paddle.zeros((2,) + x.shape),
        lambda x: x.sum() / (float(x.mean()) * 2),
        lambda x: x.sum() / (x.shape[0] + 1e-6),
    ],
    ids=[
        *("root", "quotient", "inverse", "negated", "scale", "cut", "tensor", "list", "complex"),
        *("numpy", "product", "filled", "joined", "counted", "float", "sum"),
    ],
)
def test_unknown_sizes_compute_as_python_numbers(used):
    x = rows(100)
    f = paddle.jit.to_static(used, input_spec=[paddle.static.InputSpec([None, None])], full_graph=True)
    found, wanted = f(x), used(x)
    assert found.dtype == wanted.dtype and np.allclose(found.numpy(), wanted.numpy(), rtol=1e-6)
    assert f.concrete_program.inputs[0].shape == [-1, -1]


SHAPES_ALONE = {
    "ones": lambda x: paddle.ones_like(x.squeeze([0, 1])),
    "full": lambda x: paddle.full_like(x.squeeze(0), 2.0),
    "rank": lambda x: x.sum() + len(x.squeeze(0).shape),
    "branch": lambda x: x.sum() if x.squeeze(0).ndim == 1 else x.mean(),
    "in place": lambda x: paddle.zeros_like((x * 1).squeeze_(0)),
}


@pytest.mark.parametrize("asked", SHAPES_ALONE.values(), ids=SHAPES_ALONE)
def test_a_size_taken_for_one_is_asked_for_where_only_the_shape_is_read(asked):
    """No operator needs what squeeze gives: it was left out, with what it would have raised."""
    f = paddle.jit.to_static(asked, full_graph=True, input_spec=[paddle.static.InputSpec([None, None], "float32")])
    for sizes in ([1, 4], [3, 4], [3, 1], [1, 1], [2, 4]):
        x = paddle.ones(sizes)
        found, wanted = f(x), asked(x)
        assert found.shape == wanted.shape and found.tolist() == wanted.tolist()
