"""Parameters: what they hold, their names, and how they are made."""

import numpy as np
import pytest

from vitrify.core.errors import ArgumentError, DTypeError
from vitrify.core.names import guard
from vitrify.core.rng import rng_guard
from vitrify.eager.create_parameter import create_parameter
from vitrify.eager.initializer import Constant, Initializer, XavierUniform, fans, set_global_initializer
from vitrify.eager.layer import Layer
from vitrify.eager.param_attr import ParamAttr, as_param_attr
from vitrify.eager.parameter import Parameter
from vitrify.eager.tensor import Tensor, to_tensor


def test_a_parameter_wants_a_gradient_and_persists():
    w = Parameter([2, 3], "float32")
    assert w.trainable and not w.stop_gradient and w.persistable and w.is_leaf
    assert (w.shape, w.dtype.name) == ([2, 3], "float32")
    assert w.optimize_attr == {"learning_rate": 1.0} and w.regularizer is None
    assert w.need_clip and not w.is_distributed and w.do_model_average is None
    assert repr(w).startswith("Parameter containing:\nTensor(shape=[2, 3]")


def test_a_parameter_on_a_tensors_memory():
    x = to_tensor([1.0, 2.0])
    w = Parameter(x)
    x.add_(to_tensor([1.0, 1.0]))
    assert w.tolist() == [2.0, 3.0]
    assert Parameter(x, False).stop_gradient and not Parameter.from_tensor(x, trainable=False).trainable
    assert Parameter().shape == [0] and Parameter(shape=[2], dtype="int32", name="n").name == "n"


def test_trainable_is_the_opposite_of_stop_gradient():
    w = Parameter([1], "float32")
    w.trainable = False
    assert w.stop_gradient
    w.stop_gradient = False
    assert w.trainable
    with pytest.raises(DTypeError, match="trainable: expects a bool, got int"):
        w.trainable = 1


def test_ops_on_parameters_give_tensors():
    w = Parameter([2], "float32")
    for made in (w + 1, w.clone(), w.detach(), w.astype("float64"), w[0]):
        assert type(made) is not Parameter


# --- making ---------------------------------------------------------------------------------------------------------


def test_names_follow_owner_and_kind():
    with guard():
        layer = Layer(name_scope="fc")
        made = [layer.create_parameter([1]), layer.create_parameter([1]), layer.create_parameter([1], is_bias=True)]
        assert [p.name for p in made] == ["fc_0.w_0", "fc_0.w_1", "fc_0.b_0"]
        assert create_parameter([1], "float32").name == "create_parameter_0.w_0"
        assert create_parameter([1], "float32", name="mine").name == "mine"


def test_attributes_reach_the_parameter():
    attr = ParamAttr("w", Constant(3.0), learning_rate=0.5, regularizer="l2", trainable=False, need_clip=False)
    w = create_parameter([2], "float64", attr=attr)
    assert w.name == "w" and w.tolist() == [3.0, 3.0] and w.optimize_attr == {"learning_rate": 0.5}
    assert w.regularizer == "l2" and not w.trainable and not w.need_clip and w.do_model_average


def test_what_may_stand_for_an_attribute():
    assert as_param_attr(None).name is None and as_param_attr(True).name is None and as_param_attr(False) is None
    assert as_param_attr("w").name == "w"
    constant = Constant(1.0)
    assert as_param_attr(constant).initializer is constant
    decay = type("Decay", (), {"coefficients": (0.0, 0.1)})()
    assert as_param_attr(decay).regularizer is decay
    with pytest.raises(DTypeError, match="int cast to ParamAttr"):
        as_param_attr(3)
    assert create_parameter([1], "float32", attr=False) is None


def test_integers_need_an_initializer():
    with pytest.raises(DTypeError, match="int64 has no default initializer"):
        create_parameter([1], "int64")
    assert create_parameter([2], "int64", default_initializer=Constant(7)).tolist() == [7, 7]


# --- initial values -------------------------------------------------------------------------------------------------


def test_weights_are_xaviers_and_biases_zero():
    with rng_guard(1):
        w = create_parameter([200, 300], "float32")
    assert create_parameter([3], "float32", is_bias=True).tolist() == [0.0, 0.0, 0.0]
    limit = np.sqrt(6 / 500)
    assert abs(w.numpy()).max() <= limit and abs(w.numpy()).max() > 0.99 * limit
    np.testing.assert_allclose(w.numpy().std(), limit / np.sqrt(3), rtol=0.02)


def test_a_seed_means_the_same_weights():
    drawn = []
    for _ in range(2):
        with rng_guard(7):
            drawn.append(create_parameter([4, 5], "float32").numpy())
    assert (drawn[0] == drawn[1]).all()


@pytest.mark.parametrize(
    ("shape", "expected"),
    [([], (1, 1)), ([5], (5, 5)), ([3, 4], (3, 4)), ([8, 4, 3, 3], (36, 72)), ([8, 4, 5], (20, 40))],
)
def test_fans(shape, expected):
    assert fans(shape) == expected


def test_explicit_fans_and_gain():
    with rng_guard(1):
        drawn = XavierUniform(fan_in=2, fan_out=4, gain=2.0).values((10_000,), to_tensor(1.0).dtype)
    assert 1.99 < abs(drawn).max() <= 2.0


def test_the_global_initializer_yields_to_attributes_alone():
    try:
        set_global_initializer(Constant(2.0), Constant(3.0))
        assert create_parameter([1], "float32", default_initializer=Constant(9.0)).tolist() == [2.0]
        assert create_parameter([1], "float32", is_bias=True).tolist() == [3.0]
        assert create_parameter([1], "float32", attr=Constant(5.0)).tolist() == [5.0]
    finally:
        set_global_initializer(None)
    assert create_parameter([1], "float32", default_initializer=Constant(9.0)).tolist() == [9.0]
    with pytest.raises(ArgumentError, match="weight_init must be an Initializer"):
        set_global_initializer(1.0)


def test_users_write_initializers():
    class Halves(Initializer):
        def forward(self, param, block=None):
            param.set_value(np.full(param.shape, 0.5, "float32"))

    class Count(Initializer):
        def values(self, shape, dtype):
            return np.arange(np.prod(shape)).reshape(shape)

    assert create_parameter([2], "float32", attr=Halves()).tolist() == [0.5, 0.5]
    x = to_tensor([[9.0, 9.0], [9.0, 9.0]])
    Count()(x)
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]] and repr(Constant(2)) == "Constant(value=2)"
    with pytest.raises(NotImplementedError, match="Initializer must define values"):
        Initializer()(x)


def test_a_name_belongs_to_one_eager_parameter():
    first = create_parameter([2], "float32", name="taken")
    for make in (
        lambda: create_parameter([2], "float32", name="taken"),
        lambda: Layer().create_parameter([2], attr=ParamAttr(name="taken")),
    ):
        with pytest.raises(ArgumentError, match="'taken' is taken"):
            make()
    with guard():
        assert create_parameter([2], "float32", name="taken").name == first.name


def test_the_class_of_tensors_makes_parameters():
    assert isinstance(Tensor.create_parameter([2, 3], "float32"), Parameter)
