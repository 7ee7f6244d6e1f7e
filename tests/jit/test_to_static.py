"""to_static on everything that can be called."""

import copy
import functools
import pickle

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import DTypeError

from .models import Scale, Stack, tensor

X = (1.0, 2.0, 3.0)


@paddle.jit.to_static
def double(x, k=2, *rest, bias=0, **more):
    """Doubles."""
    y = x * k + bias
    for r in rest:
        y = y + r
    for value in more.values():
        y = y * value
    if y.sum() > 0:
        return y
    return -y


def test_a_function():
    assert double(tensor(*X)).tolist() == [2, 4, 6]
    assert double.__name__ == "double" and double.__doc__ == "Doubles."


def test_all_kinds_of_parameters():
    x = tensor(*X)
    assert double(x, 3).tolist() == double(x, k=3).tolist() == double(k=3, x=x).tolist() == [3, 6, 9]
    assert double(x, 1, x, x).tolist() == [3, 6, 9]
    assert double(x, bias=1).tolist() == [3, 5, 7]
    assert double(x, factor=x).tolist() == [2, 8, 18]


def test_positional_and_named_arguments_share_a_program():
    @paddle.jit.to_static
    def f(x, k=2):
        return x * k

    x = tensor(*X)
    for result in (f(x), f(x, 2), f(x, k=2), f(x=x, k=2)):
        assert result.tolist() == [2, 4, 6]
    assert len(f.program_cache) == 1


def keyed(x, *, k):
    return x * k


class Keyed:
    def scale(self, x, k=1):
        return x * k


@pytest.mark.parametrize("function", [lambda x: x, keyed, Keyed().scale])
@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 2}), ((1,), {"z": 2})])
def test_wrong_arguments_are_pythons_own_error(function, args, kwargs):
    with pytest.raises(TypeError) as expected:
        function(*args, **kwargs)
    with pytest.raises(TypeError) as found:
        paddle.jit.to_static(function)(*args, **kwargs)
    assert str(found.value) == str(expected.value)


def test_wrong_arguments_of_a_wrapper_are_told_by_its_signature():
    @functools.wraps(keyed)
    def wrapper(*args, **kwargs):
        return keyed(*args, **kwargs)

    with pytest.raises(TypeError, match=r"keyed\(\) missing a required argument: 'x'"):
        paddle.jit.to_static(wrapper)(k=1)


def test_a_decorator_with_arguments():
    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None])])
    def f(x):
        return x + 1

    assert f(tensor(*X)).tolist() == [2, 3, 4]
    assert f.concrete_program.inputs[0].shape == [-1]


@pytest.mark.parametrize(("given", "name"), [((1, 2), "b"), ((2, 1), "a"), ((1, 1, 2), "rest"), ((1, 1, 1, 2), "rest")])
def test_an_argument_that_the_input_spec_does_not_allow_is_named(given, name):
    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([1])] * 4)
    def f(a, b, *rest):
        return a

    message = rf"argument `{name}` is float32\[2\], input_spec asks for float32\[1\]"
    with pytest.raises(DTypeError, match=message):
        f(*map(paddle.ones, [[n] for n in given]))


class Plain:
    """A class that is no Layer."""

    def __init__(self, k):
        self.k = k

    @paddle.jit.to_static
    def scaled(self, x):
        if x.sum() > 0:
            return x * self.k
        return x

    @staticmethod
    @paddle.jit.to_static
    def static(x):
        return x + 1

    @paddle.jit.to_static
    @staticmethod
    def static_inside(x):
        return x + 2

    @classmethod
    def made(cls, x):
        return x * 7

    def plain(self, x):
        return x * self.k if x.sum() > 0 else x

    renamed = paddle.jit.to_static(plain)


def test_methods_of_a_plain_class():
    a, b = Plain(2), Plain(3)
    x = tensor(*X)
    for _ in range(2):
        assert a.scaled(x).tolist() == [2, 4, 6]
        assert b.scaled(x).tolist() == [3, 6, 9]
    assert Plain.scaled(b, x).tolist() == [3, 6, 9]


def test_each_instance_keeps_its_programs():
    a = Plain(2)
    a.scaled(tensor(*X))
    a.scaled(tensor(*X))
    assert len(a.scaled.program_cache) == 1
    assert len(Plain(2).scaled.program_cache) == 0


def test_a_method_under_another_name():
    a = Plain(2)
    assert a.renamed(tensor(*X)).tolist() == [2, 4, 6]
    assert a.plain(tensor(*X)).tolist() == [2, 4, 6]
    assert len(a.renamed.program_cache) == 1
    assert not isinstance(a.plain, paddle.jit.StaticFunction)


def test_static_and_class_methods():
    assert Plain.static(tensor(*X)).tolist() == Plain(1).static(tensor(*X)).tolist() == [2, 3, 4]
    assert Plain.static_inside(tensor(*X)).tolist() == [3, 4, 5]
    assert paddle.jit.to_static(Plain.made)(tensor(*X)).tolist() == [7, 14, 21]


def test_a_bound_method():
    a = Plain(4)
    f = paddle.jit.to_static(a.plain)
    assert f(tensor(*X)).tolist() == [4, 8, 12]


class Slotted:
    """An instance without a `__dict__`."""

    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    @paddle.jit.to_static
    def scaled(self, x):
        return x * self.k


def test_instances_without_dict():
    a = Slotted(2)
    assert a.scaled(tensor(*X)).tolist() == [2, 4, 6]


class Base(paddle.nn.Layer):
    """A Layer whose forward is converted."""

    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([3])

    @paddle.jit.to_static
    def forward(self, x):
        if x.sum() > 0:
            return x * self.w
        return x


class Derived(Base):
    """Calls its parent's converted forward."""

    @paddle.jit.to_static
    def forward(self, x):
        return super().forward(x) + 1


def test_inheritance():
    net = Derived()
    x = tensor(*X)
    assert np.allclose(net(x).numpy(), x.numpy() * net.w.numpy() + 1)
    assert np.allclose(net(x).numpy(), x.numpy() * net.w.numpy() + 1)
    assert len(net.forward.program_cache) == 1


def test_a_layer_is_converted_in_place():
    net = Scale()
    eager = net(tensor(*X))
    assert paddle.jit.to_static(net) is net
    assert isinstance(net.forward, paddle.jit.StaticFunction)
    assert net(tensor(*X)).tolist() == eager.tolist()
    assert list(net.state_dict()) == ["w", "b"]


def test_a_sublayer_alone():
    net = Stack()
    net.eval()
    eager = net(tensor(*X))
    net.scale = paddle.jit.to_static(net.scale)
    assert net(tensor(*X)).tolist() == eager.tolist()
    assert len(net.scale.forward.program_cache) == 1


def test_hooks_run_around_a_converted_forward():
    net = paddle.jit.to_static(Scale())
    net.register_forward_post_hook(lambda layer, inputs, output: output * 0)
    assert net(tensor(*X)).tolist() == [0, 0, 0]


def test_a_partial_and_a_lambda():
    f = paddle.jit.to_static(functools.partial(Plain.made.__func__, Plain))
    assert f(tensor(*X)).tolist() == [7, 14, 21]
    assert paddle.jit.to_static(lambda x: x * 2 if x.sum() > 0 else x)(tensor(*X)).tolist() == [2, 4, 6]


class Callable:
    """An object that is called."""

    def __call__(self, x):
        if x.sum() > 0:
            return x * 3
        return x


def test_a_callable_object():
    assert paddle.jit.to_static(Callable())(tensor(*X)).tolist() == [3, 6, 9]


def test_what_cannot_be_converted():
    with pytest.raises(TypeError, match="expects a function or a Layer, got int"):
        paddle.jit.to_static(3)


def test_converting_twice_changes_nothing():
    assert paddle.jit.to_static(double) is double


def test_rollback():
    net = paddle.jit.to_static(Scale())
    net.forward.rollback()
    assert not isinstance(net.forward, paddle.jit.StaticFunction)
    base = Base()
    base(tensor(*X))
    base.forward.rollback()
    assert not isinstance(base.forward, paddle.jit.StaticFunction)
    assert base(tensor(*X)).shape == [3]
    assert double.rollback() is double.dygraph_function


def test_deepcopy_of_a_layer():
    net = paddle.jit.to_static(Scale())
    net(tensor(*X))
    other = copy.deepcopy(net)
    with paddle.no_grad():
        other.w.set_value(net.w * 0 + 5)
    assert np.allclose(other(tensor(*X)).numpy(), 5 * np.array(X))
    assert not np.allclose(net(tensor(*X)).numpy(), 5 * np.array(X))


def test_pickling_an_instance_after_a_call():
    a = Plain(3)
    a.scaled(tensor(*X))
    again = pickle.loads(pickle.dumps(a))
    again.k = 5
    assert again.scaled(tensor(*X)).tolist() == [5, 10, 15]


def test_nested_static_functions_become_one_program():
    @paddle.jit.to_static
    def inner(x):
        if x.sum() > 0:
            return x * 2
        return x

    @paddle.jit.to_static
    def outer(x):
        for _ in range(4):
            if inner(x).sum() > 20:
                break
            x = inner(x)
        return x

    assert outer(tensor(*X)).tolist() == [2, 4, 6]
    assert len(inner.program_cache) == 0 and len(outer.program_cache) == 1


def test_a_layer_whose_forward_is_decorated_in_another_function():
    class Bent(Scale):
        @paddle.jit.to_static
        def forward(self, x):
            return x * self.w if x.sum() > 0 else x

    net = Bent()
    twice = paddle.jit.to_static(lambda x: net(x) * 2, full_graph=True)
    assert twice(tensor(*X)).tolist() == (tensor(*X) * net.w * 2).tolist()


def test_no_arguments_and_no_tensors():
    f = paddle.jit.to_static(lambda: paddle.ones([2]) * 3)
    assert f().tolist() == f().tolist() == [3, 3]
    assert paddle.jit.to_static(lambda a, b: a + b)(1, 2) == 3


def test_numpy_arguments():
    f = paddle.jit.to_static(lambda x: x * 2)
    assert f(np.array([1.0, 2.0], "float32")).tolist() == [2, 4]
    assert len(f.program_cache) == 1
    assert f(np.array([3.0, 2.0], "float32")).tolist() == [6, 4]
    assert len(f.program_cache) == 1
