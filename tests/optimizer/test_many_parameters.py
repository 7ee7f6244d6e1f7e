"""Eager steps of many small parameters: the same bits as one by one, in one call."""

import copy
import pickle

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.config import flags_guard
from vitrify.optimizer import update as module
from vitrify.optimizer.native import NativeStep

SHAPES = [(3, 5), (17,), (1,), (), (2, 3, 4), (70, 70), (9,), (4, 4)]
MAKERS = {
    "SGD": lambda p: paddle.optimizer.SGD(0.1, parameters=p, weight_decay=0.01),
    "Momentum": lambda p: paddle.optimizer.Momentum(0.1, parameters=p),
    "AdamW": lambda p: paddle.optimizer.AdamW(0.01, parameters=p, apply_decay_param_fun=lambda name: name[-1] > "3"),
    "RAdam": lambda p: paddle.optimizer.RAdam(0.01, parameters=p),
    "Lamb": lambda p: paddle.optimizer.Lamb(0.01, parameters=p),
}


def parameters(dtype="float32"):
    rng = np.random.default_rng(1)
    found = []
    for number, shape in enumerate(SHAPES):
        array = np.asarray(rng.uniform(-1, 1, shape), "float32")
        found.append(paddle.nn.Parameter(paddle.to_tensor(array).astype(dtype)))
        found[-1].name = f"weight{number}"
        found[-1].optimize_attr = {"learning_rate": 0.5 if number == 6 else 1.0}
    return found


def step(found, optimizer, number):
    rng = np.random.default_rng([2, number])
    for param in found:
        grad = np.asarray(rng.uniform(-1, 1, param.shape), "float32")
        param.grad = None if number % 3 == 2 and param.ndim == 1 else paddle.to_tensor(grad).astype(param.dtype)
    optimizer.step()


def trained(make, dtype="float32", count=7):
    found = parameters(dtype)
    optimizer = make(found)
    for number in range(count):
        step(found, optimizer, number)
    arrays = [p.astype("float32").numpy() for p in found]
    return arrays, [t.numpy() for t in optimizer.state_dict().values() if hasattr(t, "numpy")], optimizer


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("after_ms", [0, 1e9])
@pytest.mark.parametrize("name", MAKERS)
def test_many_are_updated_as_each_would_be(name, after_ms, dtype, monkeypatch):
    with flags_guard({"native_after_ms": after_ms, "cache_mb": 0}):
        arrays, state, optimizer = trained(MAKERS[name], dtype)
    monkeypatch.setattr(module, "MAX_GATHERED", -1)
    wanted, wanted_state, _ = trained(MAKERS[name], dtype)
    for a, b in zip([*arrays, *state], [*wanted, *wanted_state], strict=True):
        np.testing.assert_array_equal(a, b)
    native = [s for s in optimizer._scratch.values() if isinstance(s, NativeStep) and s._function is not None]
    assert bool(native) == (after_ms == 0 and name in ("SGD", "Momentum", "AdamW"))


def test_gathered_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MOST_GATHERED", 30)
    arrays, _, optimizer = trained(MAKERS["Momentum"])
    monkeypatch.setattr(module, "MAX_GATHERED", -1)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, trained(MAKERS["Momentum"])[0], strict=True))
    gathered = [held for key, held in optimizer._scratch.items() if key[0] == "together"]
    assert gathered and all(a.shape[1] <= 30 for a in gathered)


def test_parameters_with_one_array_are_updated_one_after_the_other():
    first, second = paddle.nn.Parameter(paddle.ones([3])), paddle.nn.Parameter(paddle.ones([3]))
    second._data = first._data
    first.grad = second.grad = paddle.ones([3])
    paddle.optimizer.SGD(0.25, parameters=[first, second]).step()
    assert first.tolist() == [0.5, 0.5, 0.5]


def test_parameters_within_one_array_are_updated_one_after_the_other():
    whole = np.ones(4, "float32")
    first, second, third = [paddle.nn.Parameter(paddle.ones([3])) for _ in range(3)]
    first._data, second._data = whole[:3], whole[1:]
    for param in (first, second, third):
        param.grad = paddle.ones([3])
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        paddle.optimizer.SGD(0.25, parameters=[first, second, third]).step()
    assert whole.tolist() == [0.75, 0.5, 0.5, 0.75]
    assert third.tolist() == [0.75] * 3


def test_drawn_weights_are_in_the_one_call(monkeypatch):
    """They are views of what was drawn; each was updated by itself, by Python."""
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Conv2D(2, 3, 3), paddle.nn.LSTM(3, 4))
    optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
    for param in net.parameters():
        param.grad = paddle.ones_like(param)
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        optimizer.step()
        monkeypatch.setattr(module.UpdateRule, "run", None)
        monkeypatch.setattr(module, "_by_numpy", None)
        optimizer.step()
    (native,) = [s for s in optimizer._scratch.values() if isinstance(s, NativeStep)]
    assert native._size[0] == len(net.parameters())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_what_was_planned_is_not_copied(copied):
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        _, _, optimizer = trained(MAKERS["Momentum"])
    steps = [s for s in copied(optimizer._scratch).values() if isinstance(s, NativeStep)]
    assert steps and all(s._function is None for s in steps)
