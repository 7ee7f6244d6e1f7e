"""Tensors and Python, NumPy, DLPack, copies, pickles."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from vitrify.core.dtype import default_dtype_guard
from vitrify.core.errors import ArgumentError, DTypeError
from vitrify.eager.autograd import grad
from vitrify.eager.dlpack import from_dlpack, to_dlpack
from vitrify.eager.parameter import Parameter
from vitrify.eager.tensor import Tensor, as_tensor, to_tensor
from vitrify.jit import to_static
from vitrify.static import InputSpec


def test_to_tensor_copies():
    source = np.array([1.0, 2.0])
    x = to_tensor(source)
    source[0] = 9.0
    assert x.tolist() == [1.0, 2.0] and x.numpy().dtype == np.float64


DTYPES = [
    (1.5, "float32"),
    (1, "int64"),
    (True, "bool"),
    (1j, "complex64"),
    ([1.0, 2], "float32"),
    ([[1, 2], [3, 4]], "int64"),
    (np.float64(1), "float64"),
    (np.ones(2, "float16"), "float16"),
    (np.ones(2, ml_dtypes.bfloat16), "bfloat16"),
    ([to_tensor(1.0), 2.0], "float32"),
    ([to_tensor(np.float64(1.0)), 2.0], "float64"),
    ([], "float32"),
    (range(3), "int64"),
]


@pytest.mark.parametrize(("data", "dtype"), DTYPES, ids=lambda v: repr(v)[:30])
def test_dtype_of_data(data, dtype):
    assert to_tensor(data).dtype.name == dtype


def test_python_floats_follow_the_default_dtype():
    with default_dtype_guard("float64"):
        assert to_tensor(1.5).dtype.name == "float64" and to_tensor(1j).dtype.name == "complex128"
        assert to_tensor(np.float32(1)).dtype.name == "float32"


def test_a_given_dtype_wins_and_gradients_can_be_asked_for():
    x = to_tensor([1.7, -1.7], dtype="int32", stop_gradient=False)
    assert x.tolist() == [1, -1] and not x.stop_gradient
    assert to_tensor(x, dtype="float64").dtype.name == "float64"


@pytest.mark.parametrize(
    ("bad", "error"),
    [("text", TypeError), ([[1], [2, 3]], ArgumentError), (object(), TypeError), (np.array(["a"]), ArgumentError)],
    ids=["text", "ragged", "object", "words"],
)
def test_what_is_no_tensor(bad, error):
    with pytest.raises(error, match="to_tensor: "):
        to_tensor(bad)


def test_as_tensor_makes_nothing_new_without_need():
    x = to_tensor([1.0])
    assert as_tensor(x) is x and as_tensor(x, "float32") is x
    assert as_tensor(x, "float64").dtype.name == "float64" and as_tensor([1]).tolist() == [1]


def test_the_constructor():
    assert Tensor(2, 3).shape == [2, 3] and Tensor().shape == [0]
    assert Tensor([1, 2]).dtype.name == "float32" and Tensor(np.ones(2)).dtype.name == "float64"
    x = Tensor(data=[1.0], name="x", persistable=True, stop_gradient=False)
    assert x.name == "x" and x.persistable and not x.stop_gradient
    with pytest.raises(ArgumentError, match="got 2 arguments"):
        Tensor([1], [2])


# --- Python values ----------------------------------------------------------------------------------------------------


def test_python_conversions():
    x = to_tensor([2.5])
    assert (float(x), int(x), complex(x), bool(x)) == (2.5, 2, 2.5 + 0j, True)
    assert x.item() == 2.5 and to_tensor([[1, 2]]).item(1) == 2 and to_tensor([[1, 2]]).item(0, 1) == 2
    assert [10, 20, 30][to_tensor(1)] == 20 and list(range(to_tensor(3))) == [0, 1, 2]
    assert f"{to_tensor(1.5):.3f}" == "1.500" and f"{to_tensor(3):d}" == "3"


def test_container_protocol():
    x = to_tensor([[1, 2], [3, 4]])
    assert len(x) == 2 and [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert 3 in x and 5 not in x and to_tensor(2) in x
    assert {x: "hashed by identity"}[x]


@pytest.mark.parametrize("convert", [bool, int, float, complex, lambda t: t.item()])
def test_one_element_is_needed(convert):
    with pytest.raises(ArgumentError, match=r"shape \[2\]"):
        convert(to_tensor([1.0, 2.0]))


def test_errors_of_the_wrong_kind_of_tensor():
    with pytest.raises(DTypeError, match=r"len\(\) of a 0-D tensor"):
        len(to_tensor(1.0))
    with pytest.raises(DTypeError, match="iteration over a 0-D tensor"):
        iter(to_tensor(1.0))
    with pytest.raises(DTypeError, match="got float32"):
        [1, 2][to_tensor(1.0)]
    with pytest.raises(TypeError):
        f"{to_tensor([1.0, 2.0]):.3f}"


# --- NumPy ------------------------------------------------------------------------------------------------------------


def test_numpy_reads_tensors():
    x = to_tensor([1.0, 2.0])
    copied = np.array(x)
    copied[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    assert np.asarray(x, dtype="float64").dtype == np.float64
    assert np.concatenate([x, x]).tolist() == [1.0, 2.0, 1.0, 2.0]
    assert np.shares_memory(np.array(x, copy=False), x.detach().__array__(copy=False))


def test_operators_with_arrays_give_tensors():
    x = to_tensor([1.0, 2.0], stop_gradient=False)
    array = np.array([3.0, 4.0], "float32")
    for out in (array + x, x + array, array * x, np.float32(2) * x, np.int64(2) * x, array - x, array / x):
        assert type(out) is Tensor and out.dtype.name == "float32" and not out.stop_gradient
    assert (array > x).tolist() == [True, True]
    with pytest.raises(TypeError):
        np.sin(x)


def test_numpy_gradient():
    x = to_tensor([1.0], stop_gradient=False)
    assert x.gradient() is None
    (x * 2).backward()
    assert type(x.gradient()) is np.ndarray and x.gradient().tolist() == [2.0]


# --- layout -----------------------------------------------------------------------------------------------------------


def test_what_a_tensor_says_of_its_memory():
    x = to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    assert (x.ndim, x.size, x.itemsize, x.element_size(), x.nbytes) == (2, 6, 4, 4, 24)
    assert x.strides == x.stride() == x.get_strides() == [3, 1] and x.stride(0) == 3
    row = x[1]
    assert row.offset == 12 and row.data_ptr() == x.data_ptr() + 12
    assert x.is_contiguous() and x.contiguous() is x
    assert not x.T.is_contiguous() and x.T.contiguous().is_contiguous() and x.T.contiguous().tolist() == x.T.tolist()
    assert str(x.place) == "Place(cpu)" and x.device == "cpu" and not x.is_cuda and x.layout == "NCHW"
    assert x.is_same_shape(x) and not x.is_same_shape(row)
    assert x.value() is x and x.get_tensor().data_ptr() == x.data_ptr()


@pytest.mark.parametrize("sizes", [[2, 3], [None, None], [None, 3]])
def test_a_compiled_function_is_told_whether_shapes_are_the_same(sizes):
    @to_static(full_graph=True, input_spec=[InputSpec(sizes), InputSpec([None, None])])
    def told(x, y):
        return x + 1 if x.is_same_shape(y) else x - 1

    x = to_tensor(np.zeros((2, 3), "float32"))
    assert told(x, x + 2).max() == 1 and told(x, to_tensor(np.zeros((3, 3), "float32"))).max() == -1


@pytest.mark.parametrize("sizes", [[2, 3], [None, None]])
def test_a_compiled_function_is_told_the_same(sizes):
    def told(x):
        flags = x.is_dense(), x.is_sparse(), x.is_selected_rows(), x.is_cuda, x.layout, x.device, x.is_same_shape(x)
        return x.strides, x.stride(0) * x, x.nbytes, x.itemsize, x.value() + x.data, flags

    x = to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    spec = [InputSpec(sizes, "float32")]
    made, expected = to_static(told, input_spec=spec, full_graph=True)(x), told(x)
    assert [int(s) for s in made[0]] == expected[0] and int(made[2]) == expected[2] and made[3] == expected[3]
    assert made[1].tolist() == expected[1].tolist() and made[4].tolist() == expected[4].tolist()
    assert [bool(f) if not isinstance(f, str) else f for f in made[5]] == list(expected[5])


def test_names_are_unique_and_can_be_given():
    x, y = to_tensor(1.0), to_tensor(1.0)
    assert x.name != y.name and x.name == x.name
    x.name = "mine"
    assert x.name == "mine" and not x.persistable


def test_requires_grad_is_the_opposite_of_stop_gradient():
    x = to_tensor([1.0])
    assert not x.requires_grad and x.requires_grad_() is x and not x.stop_gradient
    x.requires_grad = False
    assert x.stop_gradient


# --- moving -----------------------------------------------------------------------------------------------------------


def test_moving_nowhere_returns_the_tensor_itself():
    x = to_tensor([1.0])
    assert x.cpu() is x and x.to("cpu") is x and x.to("float32") is x and x._to(dtype="float32") is x
    assert x.to("cpu", copy_tensor=True) is not x


def test_to_casts_and_passes_gradients_on():
    x = to_tensor([1.5], stop_gradient=False)
    for y in (
        x.to("float64"),
        x.to(np.float64),
        x.to("cpu", "float64"),
        x.to(dtype="float64"),
        x.to(to_tensor(np.ones(1))),
    ):
        assert y.dtype.name == "float64" and grad(y, x)[0].tolist() == [1.0]
    assert x.to(other=to_tensor([1])).tolist() == [1]


def test_a_copy_on_another_device_passes_gradients_back(monkeypatch):
    x = to_tensor([1.0, 2.0], stop_gradient=False)
    y = x.pin_memory()  # without a GPU there is no such memory, and the copy is an ordinary one
    y.set_value([3.0, 4.0])
    assert x.tolist() == [1.0, 2.0] and grad(y * 2, x)[0].tolist() == [2.0, 2.0]


def test_moving_to_a_gpu_names_the_package_it_needs(monkeypatch):
    monkeypatch.setattr("vitrify.core.lazy.is_available", lambda module: False)
    for move in (lambda: to_tensor([1.0]).cuda(), lambda: to_tensor([1.0]).cuda(1), lambda: to_tensor([1.0]).to("gpu")):
        with pytest.raises(ImportError, match="cupy"):
            move()


def test_to_refuses_what_is_neither_device_nor_dtype():
    with pytest.raises(ArgumentError, match="got 'bogus'"):
        to_tensor([1.0]).to("bogus")


# --- DLPack -----------------------------------------------------------------------------------------------------------


def test_dlpack_out_shares_memory():
    x = to_tensor([1.0, 2.0])
    array = np.from_dlpack(x)
    x.add_(to_tensor([1.0, 1.0]))
    assert array.tolist() == [2.0, 3.0] and x.__dlpack_device__() == (1, 0)


# --- copies and pickles -----------------------------------------------------------------------------------------------


def test_deepcopy_is_a_leaf_of_its_own():
    x = to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2
    twin = copy.deepcopy(y)
    twin.set_value(np.zeros(2, "float32"))
    assert twin.is_leaf and not twin.stop_gradient and y.tolist() == [2.0, 4.0]
    y.sum().backward()
    assert x.grad is not None and copy.deepcopy(x).grad is None


def test_deepcopy_of_a_parameter_keeps_its_attributes_under_a_new_name():
    w = Parameter([2], "float32", name="w", optimize_attr={"learning_rate": 0.5}, need_clip=False)
    w.mine = [1]
    twin = copy.deepcopy(w)
    assert type(twin) is Parameter and twin.name == "w_deepcopy_0" and w.name == "w"
    assert twin.optimize_attr == {"learning_rate": 0.5} and not twin.need_clip and twin.mine == [1]
    assert twin.mine is not w.mine and twin.optimize_attr is not w.optimize_attr


def test_deepcopy_copies_shared_tensors_once():
    x = to_tensor([1.0])
    first, second = copy.deepcopy([x, x])
    assert first is second


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_hold_the_state_without_the_tape(protocol):
    x = to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2
    y.name, y.persistable = "y", True
    back = pickle.loads(pickle.dumps(y, protocol))
    assert back.tolist() == [2.0, 4.0] and back.is_leaf and not back.stop_gradient
    assert back.name == "y" and back.persistable


def test_pickled_parameters_stay_parameters():
    w = Parameter([2], "bfloat16", name="w", trainable=False)
    back = pickle.loads(pickle.dumps(w))
    assert type(back) is Parameter and back.dtype is w.dtype and back.name == "w" and not back.trainable


def test_dlpack_in_shares_memory_where_the_other_side_allows():
    array = np.arange(3.0)
    x = from_dlpack(array)
    array[0] = 9.0
    assert x.tolist() == [9.0, 1.0, 2.0]
    assert from_dlpack(array, copy=True, device="cpu").data_ptr() != x.data_ptr()
    y = to_tensor([1.0, 2.0])
    assert from_dlpack(to_dlpack(y)).data_ptr() == y.data_ptr()
    x.add_(to_tensor(np.ones(3)))  # NumPy hands out memory that may not be written: the tensor takes its own
    assert x.tolist() == [10.0, 2.0, 3.0]


def test_dlpack_refuses_other_things():
    with pytest.raises(DTypeError, match="got list"):
        from_dlpack([1.0])

    class Elsewhere:
        def __dlpack__(self, **options):
            raise AssertionError

        def __dlpack_device__(self):
            return (7, 0)

    with pytest.raises(DTypeError, match="device type 7"):
        from_dlpack(Elsewhere())
