"""Sequential, LayerList, LayerDict, ParameterList, ParameterDict."""

from collections import OrderedDict

import pytest

from vitrify import nn, to_tensor
from vitrify.core.errors import ArgumentError, DTypeError, IndexRangeError
from vitrify.eager.create_parameter import create_parameter


def scale(factor):
    layer = nn.Linear(1, 1, bias_attr=False)
    layer.weight.set_value([[float(factor)]])
    return layer


def factors(layers):
    return [layer.weight.item() for layer in layers]


def names(layer):
    return [name for name, _ in layer.named_children()]


def test_sequential_calls_one_after_the_other():
    net = nn.Sequential(scale(2), scale(3), scale(5))
    assert net(to_tensor([[1.0]])).tolist() == [[30.0]] and len(net) == 3


GIVEN = [
    (lambda: nn.Sequential(scale(2), scale(3)), ["0", "1"]),
    (lambda: nn.Sequential(("a", scale(2)), ("b", scale(3))), ["a", "b"]),
    (lambda: nn.Sequential([scale(2), scale(3)]), ["0", "1"]),
    (lambda: nn.Sequential([("a", scale(2)), ("b", scale(3))]), ["a", "b"]),
    (lambda: nn.Sequential(OrderedDict(a=scale(2), b=scale(3))), ["a", "b"]),
    (lambda: nn.LayerList([scale(2), scale(3)]), ["0", "1"]),
    (lambda: nn.LayerList(layer for layer in (scale(2), scale(3))), ["0", "1"]),
]


@pytest.mark.parametrize(("make", "expected"), GIVEN)
def test_what_containers_are_made_of(make, expected):
    net = make()
    assert names(net) == expected and factors(net) == [2.0, 3.0]


@pytest.mark.parametrize("kind", [lambda *layers: nn.Sequential(*layers), lambda *layers: nn.LayerList(layers)])
def test_lists_of_layers(kind):
    net = kind(scale(2), scale(3), scale(5))
    assert net[1] is net[-2] is net["1"]
    part = net[1:]
    assert type(part) is type(net) and factors(part) == [3.0, 5.0] and names(part) == ["0", "1"]
    assert net.append(scale(7)) is net and net.extend([scale(11)]) is net
    given = net if isinstance(net, nn.Sequential) else None  # as in PaddlePaddle
    assert net.insert(0, scale(1)) is given and net.insert(-1, scale(8)) is given
    assert factors(net) == [1.0, 2.0, 3.0, 5.0, 7.0, 8.0, 11.0] and names(net) == list("0123456")
    net[0] = scale(13)
    del net[1]
    del net[-2:]
    assert factors(net) == [13.0, 3.0, 5.0, 7.0] and names(net) == list("0123")
    assert net.pop(0).weight.item() == 13.0 and len(net) == 3
    net["extra"] = scale(17)
    del net["0"]
    assert names(net) == ["0", "1", "extra"] and factors(net) == [5.0, 7.0, 17.0]
    with pytest.raises(IndexRangeError, match="index 9 is out of range for 3 entries"):
        net[9]
    with pytest.raises(IndexRangeError):
        net.insert(9, scale(1))


def test_extending_a_container_by_itself():
    net = nn.Sequential(scale(2))
    net.extend(net)
    assert factors(net) == [2.0, 2.0]


def test_a_sequential_names_its_arguments_as_paddles_does():
    net = nn.Sequential(scale(2)).append(module=scale(3)).insert(0, module=scale(1)).extend(sequential=[scale(4)])
    assert factors(net) == [1.0, 2.0, 3.0, 4.0]


def test_layer_lists_add_up():
    one, two = nn.LayerList([scale(2)]), nn.LayerList([scale(3)])
    assert factors(one + two) == [2.0, 3.0] and factors(one) == [2.0]
    one += two
    assert factors(one) == [2.0, 3.0]


def test_only_layers_are_taken():
    with pytest.raises(DTypeError, match="should be a Layer, but got int"):
        nn.Sequential(3)


def test_layer_dict():
    net = nn.LayerDict({"a": scale(2)})
    net["b"] = scale(3)
    net.update([("c", scale(5))])
    net.update(nn.LayerDict({"d": scale(7)}))
    assert list(net) == list(net.keys()) == names(net) == ["a", "b", "c", "d"] and len(net) == 4
    assert "a" in net and "z" not in net and factors(net.values()) == [2.0, 3.0, 5.0, 7.0]
    assert net.pop("a").weight.item() == 2.0 and [k for k, _ in net.items()] == ["b", "c", "d"]
    del net["b"]
    net.clear()
    assert len(net) == 0
    with pytest.raises(KeyError):
        net.pop("z")
    with pytest.raises(DTypeError, match="expects a mapping or pairs, got int"):
        net.update(5)
    with pytest.raises(ArgumentError, match="pairs of a name and an entry"):
        net.update([("a", scale(1), 3)])


def weight(value):
    return create_parameter([1], "float32", default_initializer=nn.initializer.Constant(value))


def test_parameter_list():
    held = nn.ParameterList([weight(2.0), weight(3.0)])
    assert held.append(weight(5.0)) is held and len(held) == 3
    assert [p.item() for p in held] == [2.0, 3.0, 5.0] and held[-1].item() == 5.0
    assert [p.item() for p in held[1:]] == [3.0, 5.0]
    held[0] = weight(7.0)
    assert held[0].item() == 7.0 and list(held.state_dict()) == ["0", "1", "2"]
    with pytest.raises(DTypeError):
        held.append(to_tensor([1.0]))


def test_parameter_dict():
    held = nn.ParameterDict({"a": weight(2.0)})
    held["b"] = weight(3.0)
    held.update([("c", weight(5.0))])
    assert list(held) == list(held.keys()) == ["a", "b", "c"] and len(held) == 3 and "a" in held
    assert [p.item() for p in held.values()] == [2.0, 3.0, 5.0] and held["a"].item() == 2.0
    del held["a"]
    assert [k for k, _ in held.items()] == ["b", "c"] and list(held.state_dict()) == ["b", "c"]


def test_text():
    assert repr(nn.Sequential(("a", nn.ReLU()), ("b", nn.Sequential(nn.Tanh())))) == (
        "Sequential(\n  (a): ReLU()\n  (b): Sequential(\n    (0): Tanh()\n  )\n)"
    )
    assert nn.ModuleList is nn.LayerList and nn.ModuleDict is nn.LayerDict and nn.Module is nn.Layer
