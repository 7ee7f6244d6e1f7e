"""Layer: attributes, the tree, hooks, state dicts, casts and text."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from vitrify.core.errors import ArgumentError, DTypeError
from vitrify.core.names import guard
from vitrify.eager.layer import Layer, snake_case
from vitrify.eager.layer_state import StateDictError
from vitrify.eager.layer_tree import DuplicateNameError
from vitrify.eager.parameter import Parameter
from vitrify.eager.tensor import Tensor, to_tensor


class Scale(Layer):
    """x * weight + bias, with a count of calls that is saved and a scratch buffer that is not."""

    def __init__(self, size=2, bias=True):
        super().__init__()
        self.weight = self.create_parameter([size])
        self.bias = self.create_parameter([size], attr=None if bias else False, is_bias=True)
        self.register_buffer("steps", to_tensor(0))
        self.register_buffer("scratch", to_tensor([1.0]), persistable=False)

    def forward(self, x, factor=1.0):
        out = x * self.weight * factor
        return out if self.bias is None else out + self.bias

    def extra_repr(self):
        return f"size={self.weight.shape[0]}"


class Net(Layer):
    def __init__(self):
        super().__init__()
        self.gain = self.create_parameter([1])
        self.first = Scale()
        self.second = Scale(bias=False)
        self.note = "plain"

    def forward(self, x):
        return self.second(self.first(x)) * self.gain


def names(pairs):
    return [name for name, _ in pairs]


# --- attributes ----------------------------------------------------------------------------------------------------


def test_a_layer_computes():
    net = Net()
    out = net(to_tensor([1.0, 2.0]))
    out.sum().backward()
    assert out.shape == [2] and all(p.grad is not None for p in net.parameters())


def test_attributes_go_to_their_tables():
    net = Net()
    assert names(net.named_parameters()) == ["gain", "first.weight", "first.bias", "second.weight"]
    assert names(net.named_buffers()) == ["first.steps", "first.scratch", "second.steps", "second.scratch"]
    assert names(net.named_sublayers()) == names(net.named_children()) == ["first", "second"]
    assert net.first.bias is net._sub_layers["first"]._parameters["bias"] and net.second.bias is None
    assert "gain" in dir(net) and "first" in dir(net) and net.note == "plain"


def test_a_plain_tensor_becomes_a_buffer_that_is_not_saved():
    net = Net()
    net.mask = to_tensor([1.0])
    assert "mask" in names(net.named_buffers()) and "mask" not in net.state_dict()
    net.mask = to_tensor([2.0, 3.0])
    assert net.mask.tolist() == [2.0, 3.0]
    net.mask = None
    assert net.mask is None and "mask" not in names(net.named_buffers())


def test_a_name_moves_between_tables():
    net = Net()
    net.thing = 3
    net.thing = Parameter([1], "float32")
    assert "thing" in names(net.named_parameters())
    net.thing = Scale()
    assert "thing" in names(net.named_children()) and "thing" not in names(net.named_parameters())


@pytest.mark.parametrize(("name", "kind"), [("gain", "Parameter"), ("first", "Layer"), ("first.steps", "Tensor")])
def test_entries_take_their_own_kind_or_none(name, kind):
    net = Net()
    owner, _, attribute = name.rpartition(".")
    owner = net.get_sublayer(owner)
    with pytest.raises(DTypeError, match=f"{kind} or None, (but got|not) int"):
        setattr(owner, attribute, 3)
    setattr(owner, attribute, None)
    assert getattr(owner, attribute) is None
    delattr(owner, attribute)
    with pytest.raises(AttributeError, match=f"has no attribute '{attribute}'"):
        getattr(owner, attribute)
    with pytest.raises(AttributeError):
        delattr(owner, attribute)


def test_a_tensor_is_no_parameter():
    net = Net()
    with pytest.raises(DTypeError, match="assignment to 'gain' should be a Parameter"):
        net.gain = to_tensor([1.0])


def test_properties_keep_working():
    class Shared(Layer):
        @property
        def weight(self):
            return self._held

        @weight.setter
        def weight(self, value):
            object.__setattr__(self, "_held", value)

    layer = Shared()
    layer.weight = Parameter([1], "float32")
    assert layer.weight is layer._held and not layer._parameters


def test_init_of_the_base_class_must_come_first():
    class Early(Layer):
        def __init__(self):
            self.weight = Parameter([1], "float32")

    with pytest.raises(ArgumentError, match=r"Early: super\(\).__init__\(\) should be called first"):
        Early()


def test_adding_by_method():
    net = Net()
    layer, param = Scale(), Parameter([1], "float32")
    assert net.add_sublayer("third", layer) is layer and net.third is layer
    assert net.add_parameter("extra", param) is param and net.extra is param
    assert net.add_parameter("open", None) is None and net.open is None
    net.register_buffer("seen", None)
    assert net.seen is None and "seen" not in net.state_dict()
    assert net.add_module("fourth", module=None) is None
    assert net.register_parameter("more", param=param) is param


BAD_NAMES = [
    (lambda n: n.add_parameter("a.b", None), DuplicateNameError, "cannot name a parameter"),
    (lambda n: n.add_parameter("first", None), DuplicateNameError, "attribute 'first' already exists"),
    (lambda n: n.add_parameter("ok", to_tensor(1.0)), DTypeError, "should be a Parameter, but got Tensor"),
    (lambda n: n.add_parameter(3, None), DTypeError, "name of a parameter should be a string"),
    (lambda n: n.register_buffer("", None), DuplicateNameError, "cannot name a buffer"),
    (lambda n: n.register_buffer("gain", None), DuplicateNameError, "no buffer can be added"),
    (lambda n: n.register_buffer("ok", 3), DTypeError, "should be a Tensor, but got int"),
    (lambda n: n.add_sublayer("ok", 3), DTypeError, "should be a Layer, but got int"),
]


@pytest.mark.parametrize(("add", "error", "text"), BAD_NAMES)
def test_what_cannot_be_added(add, error, text):
    with pytest.raises(error, match=text):
        add(Net())
    assert issubclass(DuplicateNameError, KeyError)


# --- the tree ------------------------------------------------------------------------------------------------------


def test_walks_visit_shared_layers_once_unless_asked():
    shared = Scale()
    net = Layer()
    net.a = net.b = shared
    assert names(net.named_sublayers()) == ["a"] and len(net.sublayers(include_self=True)) == 2
    assert names(net.named_sublayers(remove_duplicate=False)) == ["a", "b"]
    assert names(net.named_parameters()) == ["a.weight", "a.bias"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4
    assert len(list(net.children())) == 1 and len(net.buffers()) == 2
    assert list(net.state_dict()) == ["a.weight", "a.bias", "a.steps", "b.weight", "b.bias", "b.steps"]


def test_prefixes_and_depth():
    net = Net()
    assert names(net.named_sublayers(prefix="m", include_self=True)) == ["m", "m.first", "m.second"]
    assert names(net.named_parameters(prefix="m", include_sublayers=False)) == ["m.gain"]
    assert [p.shape for p in net.parameters(include_sublayers=False)] == [[1]]
    assert net.buffers(include_sublayers=False) == []
    assert names(net.named_modules()) == ["", "first", "second"] and len(list(net.modules())) == 3


def test_access_by_path():
    outer = Layer()
    outer.net = Net()
    assert outer.get_sublayer("net.first") is outer.net.first and outer.get_submodule("") is outer
    assert outer.get_parameter("net.gain") is outer.net.gain
    assert outer.get_buffer("net.first.steps") is outer.net.first.steps
    outer.set_sublayer("net.first", Scale(3))
    assert outer.net.first.weight.shape == [3]
    outer.set_sublayer("net.third", Scale())
    for call in (
        lambda: outer.get_sublayer("net.none.first"),
        lambda: outer.get_parameter("net.note"),
        lambda: outer.get_buffer("net.gain"),
        lambda: outer.set_sublayer("net.fourth", Scale(), strict=True),
        lambda: outer.set_sublayer("", Scale()),
    ):
        with pytest.raises(ArgumentError, match="has no"):
            call()


def test_apply_goes_from_the_leaves_to_the_root():
    net, seen = Net(), []
    assert net.apply(lambda layer: seen.append(type(layer).__name__)) is net
    assert seen == ["Scale", "Scale", "Net"]


def test_train_and_eval():
    net = Net()
    assert net.training and net.eval() is net and not net.training and not net.first.training
    assert net.train() is net and net.second.training
    assert not net.train(False).second.training


def test_eval_does_not_ask_a_train_of_the_users():
    class Net(Layer):
        def train(self):
            raise AssertionError

    assert not Net().eval().training


# --- hooks ---------------------------------------------------------------------------------------------------------


def test_hooks_around_forward():
    layer = Scale(1)
    layer.weight.set_value([2.0])
    pre = layer.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 10)
    post = layer.register_forward_post_hook(lambda layer, inputs, out: (inputs[0].tolist(), out.tolist()))
    assert layer(to_tensor([1.0])) == ([10.0], [20.0])
    pre.remove()
    assert layer(to_tensor([1.0])) == ([1.0], [2.0])
    post.remove()
    post.remove()
    assert layer(to_tensor([1.0])).tolist() == [2.0]


def test_hooks_run_in_order_and_may_only_look():
    layer, order = Scale(), []
    for name, prepend in (("a", False), ("b", False), ("c", True)):
        layer.register_forward_pre_hook(lambda *_, name=name: order.append(name), prepend=prepend)
        layer.register_forward_hook(lambda *_, name=name: order.append(name.upper()), prepend=prepend)
    layer(to_tensor([1.0, 1.0]))
    assert order == ["c", "a", "b", "C", "A", "B"]


def test_hooks_with_keyword_arguments():
    layer = Scale(1)
    layer.weight.set_value([1.0])
    layer.register_forward_pre_hook(lambda layer, inputs, kwargs: (inputs, {"factor": 5.0}), with_kwargs=True)
    layer.register_forward_post_hook(lambda layer, inputs, kwargs, out: (kwargs, out.tolist()), with_kwargs=True)
    assert layer(to_tensor([1.0]), factor=2.0) == ({"factor": 5.0}, [5.0])


def test_a_hook_that_is_always_called_sees_errors():
    layer, seen = Scale(), []
    layer.register_forward_post_hook(lambda layer, inputs, out: seen.append(out), always_call=True)
    with pytest.raises(TypeError):
        layer()
    assert seen == [None]


def test_a_layer_without_forward_says_so():
    with pytest.raises(NotImplementedError, match="Layer does not define forward"):
        Layer()(1)
    with pytest.raises(DTypeError, match="has no backward"):
        Layer().backward()


# --- state ---------------------------------------------------------------------------------------------------------


def test_state_dict_holds_the_tensors_themselves():
    net = Net()
    state = net.state_dict()
    assert list(state) == ["gain", "first.weight", "first.bias", "first.steps", "second.weight", "second.steps"]
    assert state["first.weight"] is net.first.weight
    assert list(net.to_static_state_dict())[3:5] == ["first.steps", "first.scratch"]
    assert list(net.state_dict(include_sublayers=False, structured_name_prefix="p.")) == ["p.gain"]
    detached = net.state_dict(keep_vars=False)["gain"]
    assert detached.stop_gradient and detached.data_ptr() == net.gain.data_ptr()
    mine = {"kept": 1}
    assert net.state_dict(mine) is mine and "gain" in mine


def test_state_moves_between_layers():
    one, two = Net(), Net()
    memory = two.gain.data_ptr()
    assert two.set_state_dict(one.state_dict()) == ([], [])
    assert all((a.numpy() == b.numpy()).all() for a, b in zip(one.state_dict().values(), two.state_dict().values()))
    assert two.gain.data_ptr() == memory and two.gain is not one.gain
    assert two.load_dict({k: v.numpy() for k, v in one.state_dict().items()}) == ([], [])


def test_keys_that_do_not_match_are_reported():
    net = Net()
    state = {key: value.numpy() for key, value in net.state_dict().items()}
    del state["gain"]
    state["more"] = np.ones(1)
    state["first.weight"] = np.ones(5, "float32")
    with pytest.warns(UserWarning, match="Skip loading for"):
        assert net.set_dict(state) == (["gain", "first.weight"], ["first.weight", "more"])
    with pytest.raises(StateDictError) as raised:
        net.load_state_dict(state)
    text = str(raised.value)
    assert (
        "Missing key(s): 'gain', 'first.weight'" in text
        and "'more'" in text
        and issubclass(StateDictError, RuntimeError)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert net.load_state_dict(state, strict=False)[0] == ["gain", "first.weight"]


def test_state_by_parameter_name():
    net = Net()
    state = {tensor.name: np.full(tensor.shape, 7, tensor.dtype.name) for tensor in net.state_dict().values()}
    assert net.set_state_dict(state, use_structured_name=False) == ([], [])
    assert net.gain.tolist() == [7.0] and net.first.steps.item() == 7


def test_floating_state_is_cast_and_other_kinds_are_not():
    layer = Scale()
    layer.set_state_dict({"weight": np.ones(2), "bias": np.ones(2, "float16"), "steps": np.array(3)})
    assert layer.weight.dtype.name == "float32" and layer.bias.tolist() == [1.0, 1.0]
    with pytest.raises(DTypeError, match="the value is float32"):
        layer.set_state_dict({**layer.state_dict(), "steps": np.float32(1)})


def test_state_dict_hooks():
    layer = Scale()
    handle = layer.register_state_dict_hook(lambda state: {k: v for k, v in state.items() if k != "bias"})
    assert list(layer.state_dict()) == ["weight", "steps"]
    assert "bias" in layer.state_dict(use_hook=False)
    handle.remove()
    assert "bias" in layer.state_dict()


def test_layers_copy_and_pickle():
    net = Net()
    net(to_tensor([1.0, 2.0])).sum().backward()
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert names(twin.named_parameters()) == names(net.named_parameters())
        x = to_tensor([1.0, 2.0])
        assert twin(x).tolist() == net(x).tolist()
        twin.gain.set_value([9.0])
        assert net.gain.tolist() != [9.0] and twin.first is twin._sub_layers["first"]


# --- casts ---------------------------------------------------------------------------------------------------------


def dtypes(layer):
    return [t.dtype.name for t in (layer.weight, layer.steps, layer.scratch)]


CASTS = [
    (lambda n: n.to(dtype="float64"), ["float64", "float64", "float64"]),
    (lambda n: n.astype("float16"), ["float16", "float16", "float16"]),
    (lambda n: n.type("int32"), ["int32", "int32", "int32"]),
    (lambda n: n.double(), ["float64", "int64", "float64"]),
    (lambda n: n.half(), ["float16", "int64", "float16"]),
    (lambda n: n.bfloat16(), ["bfloat16", "int64", "bfloat16"]),
    (lambda n: n.float16(excluded_layers=Scale), ["float32", "int64", "float32"]),
    (lambda n: n.double().float(), ["float32", "int64", "float32"]),
    (lambda n: n.to("cpu").cpu(), ["float32", "int64", "float32"]),
]


@pytest.mark.parametrize(("cast", "expected"), CASTS)
def test_casts_change_tensors_in_place(cast, expected):
    net = Net()
    weight = net.first.weight
    assert cast(net) is net and net.first.weight is weight and dtypes(net.first) == expected


def test_casts_take_gradients_along():
    layer = Scale()
    layer(to_tensor([1.0, 2.0])).sum().backward()
    layer.double()
    assert layer.weight.grad.dtype.name == "float64" and layer._dtype == "float64"
    assert layer.create_parameter([1]).dtype.name == "float64"


def test_layers_that_keep_float32_are_passed_over_by_default():
    class Statistics(Scale):
        keeps_float32 = True

    layer = Statistics()
    assert layer.bfloat16().weight.dtype.name == layer.float16().weight.dtype.name == "float32"
    assert layer.float16(excluded_layers=[]).weight.dtype.name == "float16"
    excluded = Net()
    assert excluded.bfloat16(excluded_layers=[excluded.first]).first.weight.dtype.name == "float32"
    assert excluded.second.weight.dtype.name == "bfloat16"


def test_gradients_are_cleared_and_switched_off():
    net = Net()
    net(to_tensor([1.0, 2.0])).sum().backward()
    net.clear_gradients()
    assert net.gain.grad.tolist() == [0.0]
    net.zero_grad()
    assert net.gain.grad is None
    assert net.requires_grad_(False) is net and net(to_tensor([1.0, 2.0])).stop_gradient


def test_unknown_devices_are_refused():
    with pytest.raises(ArgumentError, match="a device is named like"):
        Net().to("float64")


# --- names and text ------------------------------------------------------------------------------------------------

SNAKES = [
    ("Net", "net"), ("BatchNorm2D", "batch_norm2d"), ("LSTMCell", "lstm_cell"), ("HTTPServer", "http_server"),
    ("MyNet2", "my_net2"), ("_Priv", "__priv"), ("My_Net", "my__net"), ("ABc", "a_bc"), ("lower", "lower"),
    ("Conv2DTranspose", "conv2d_transpose"), ("ResNet50VD", "res_net50vd"), ("PReLU", "p_re_lu"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "snake"), SNAKES)
def test_snake_case_is_paddles(name, snake):
    assert snake_case(name) == snake


def test_full_names_count():
    with guard():
        assert [Scale().full_name(), Scale().full_name(), Layer("my").full_name()] == ["scale_0", "scale_1", "my_0"]


def test_create_tensor_is_empty():
    made = Layer().create_tensor(name="t", persistable=True, dtype="int32")
    assert type(made) is Tensor and (made.name, made.shape, made.persistable) == ("t", [0], True)
    assert Layer().create_variable().dtype.name == "float32"


def test_text_shows_the_tree():
    net = Net()
    net.second = None
    assert repr(net) == "Net(\n  (first): Scale(size=2)\n)"
    net.first.inner = Layer()
    assert repr(net) == "Net(\n  (first): Scale(size=2\n    (inner): Layer()\n  )\n)"
    assert repr(Layer()) == "Layer()"

    class Lines(Layer):
        def extra_repr(self):
            return "a=1\nb=2"

    assert repr(Lines()) == "Lines(\n  a=1\n  b=2\n)"


def test_helper_of_a_layer_tells_the_default_dtype():
    layer = Layer()
    assert layer._helper.get_default_dtype() == "float32"
    assert layer._helper.name == layer._helper.layer_type == layer.full_name()
    assert layer._helper.create_parameter(None, [3], is_bias=True).tolist() == [0.0, 0.0, 0.0]
