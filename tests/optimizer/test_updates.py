"""Every optimizer changes parameters, and keeps state, as Paddle does; its op does the same on copies."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from vitrify.optimizer import adaptive_rules, corrected_rules, rules
from vitrify.optimizer.update import BLOCK, UpdateRule

from .update_cases import CASES, STEPS, parameters, state, train

PADDLE = json.loads((Path(__file__).parent / "updates_paddle.json").read_text())


def _alike(name):
    return re.sub(r"_\d+$", "_0", name)


@pytest.mark.parametrize("name", CASES)
def test_parameters_and_state_are_paddles(name):
    params = parameters(paddle)
    optimizer = CASES[name](paddle, params)
    for ours, theirs in zip(train(paddle, params, optimizer), PADDLE[name]["params"]):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)
    found, expected = state(optimizer), {_alike(k): v for k, v in PADDLE[name]["state"].items()}
    assert sorted(found) == sorted(expected)
    for key, value in expected.items():  # Paddle keeps some counters once an element
        ours = np.broadcast_to(found[key], np.shape(value))
        np.testing.assert_allclose(ours, value, rtol=2e-5, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("name", CASES)
def test_state_dict_goes_on_exactly(name):
    params = parameters(paddle)
    first = CASES[name](paddle, params)
    train(paddle, params, first, 2)
    saved = {k: v if k == "LR_Scheduler" else v.numpy() for k, v in first.state_dict().items()}
    copies = parameters(paddle)
    for copy, param in zip(copies, params):
        copy.set_value(param)
    second = CASES[name](paddle, copies)
    second.set_state_dict(saved)
    assert train(paddle, copies, second, 2, start=2) == train(paddle, params, first, 2, start=2)
    assert state(second) == state(first)


RULES = [
    rule
    for family in (rules, adaptive_rules, corrected_rules)
    for rule in vars(family).values()
    if isinstance(rule, UpdateRule)
]
COUNTERS = {name for rule in RULES for name in rule.counters}


def _op_inputs(op, shape=(3, 2)):
    rng = np.random.default_rng(0)
    arrays = {}
    for name in op.inputs[3:]:
        one = name in COUNTERS
        arrays[name] = np.full(1, 0.9, np.float32) if one else rng.random(shape).astype(np.float32)
    return [rng.random(shape).astype(np.float32) for _ in range(2)] + [0.1, *arrays.values()]


RPROP = {"shrink": 0.5, "grow": 1.2, "lowest": 0.01, "highest": 1.0}
ATTRS = {
    **RPROP,
    "momentum_decay": 0.1,
    "momentum": 0.9,
    "rescale_grad": 1.0,
    "beta1": 0.9,
    "beta2": 0.99,
    "epsilon": 1e-3,
    "decay": 0.1,
    "rho": 0.9,
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_op_leaves_its_inputs_alone_and_gives_new_values(rule):
    op = rule.op
    inputs = _op_inputs(op)
    before = [np.copy(x) for x in inputs]
    attrs = {k: {**ATTRS, "mu": 0.5, "always_adapt": False}[k] for k in op.attrs if k not in ("l1", "l2")}
    outs = op.kernel(np, *inputs, **attrs, l1=0.0, l2=0.1)
    outs = outs if op.multiple else (outs,)
    assert len(outs) == len(op.outputs) == len(op.inputs) - 2
    for old, kept in zip(before, inputs):
        np.testing.assert_array_equal(old, kept)
    assert not np.array_equal(outs[0], inputs[0])
    assert all(a.dtype == b.dtype and a.shape == b.shape for a, b in zip(outs[1:], inputs[3:]))


def _one_step(make, data, grad):
    param = paddle.create_parameter(list(data.shape), str(data.dtype))
    param.set_value(paddle.to_tensor(data))
    param.grad = paddle.to_tensor(grad)
    make([param]).step()
    return param.numpy()


@pytest.mark.parametrize("make", [
    lambda ps: paddle.optimizer.Adam(0.1, parameters=ps, weight_decay=0.1),
    lambda ps: paddle.optimizer.SGD(0.1, ps, weight_decay=paddle.regularizer.L1Decay(0.1)),
])  # fmt: skip
def test_large_parameters_go_block_by_block(make):
    rng = np.random.default_rng(0)
    data, grad = rng.standard_normal((2, 2 * BLOCK + 3)).astype(np.float32)
    whole = _one_step(make, data, grad)
    pieces = [_one_step(make, data[i : i + 1000], grad[i : i + 1000]) for i in range(0, len(data), 1000)]
    np.testing.assert_array_equal(whole, np.concatenate(pieces))


def test_step_count_goes_on():
    params = parameters(paddle)
    optimizer = paddle.optimizer.Adam(0.1, parameters=params)
    train(paddle, params, optimizer)
    beta = optimizer.state_dict()["w_beta1_pow_acc_0"]
    assert beta.shape == [1]
    assert beta.item() == pytest.approx(0.9 ** (STEPS + 1))


def test_update_as_part_of_a_program():
    param, grad = paddle.static.InputSpec([None, 2], "float32"), paddle.static.InputSpec([4, 2], "float32")

    @paddle.jit.to_static(input_spec=[param, grad])
    def step(param, grad):
        return rules.SGD.op(param, grad, 0.5, l1=0.0, l2=0.0)

    assert step(paddle.ones([4, 2]), paddle.ones([4, 2])).tolist() == [[0.5, 0.5]] * 4


def test_update_wants_a_gradient_like_the_parameter():
    for shape in ([3], [2, 1]):
        with pytest.raises(ValueError, match=r"sgd_update: param is float32\[2\], its gradient"):
            rules.SGD.op(paddle.ones([2]), paddle.ones(shape), 0.5, l1=0.0, l2=0.0)


@pytest.mark.parametrize("name", ["nadam", "radam"])
def test_counters_that_paddle_holds_once_for_each_element_are_taken_over(name):
    params = parameters(paddle)
    optimizer = CASES[name](paddle, params)
    optimizer.set_state_dict(PADDLE[name]["state"])
    train(paddle, params, optimizer, 1)
