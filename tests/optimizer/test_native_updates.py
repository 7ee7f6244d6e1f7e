"""Updates of many parameters as one native call: the same numbers to the bit as NumPy gives, in the same memory."""

import numpy as np
import pytest

from vitrify.core.config import flags_guard
from vitrify.optimizer.adaptive_rules import ADADELTA, ADAGRAD, RMSPROP, RPROP
from vitrify.optimizer.corrected_rules import NADAM, RADAM
from vitrify.optimizer.native import NativeStep
from vitrify.optimizer.rules import ADAM, ADAMAX, AMSGRAD, MOMENTUM, NESTEROV, SGD
from vitrify.optimizer.update import together

SHAPES = [(3, 5), (17,), (1,), (), (2, 3, 4), (0,)]
ADAM_ATTRS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "decay": 0.01}
RULES = [
    (SGD, {}), (MOMENTUM, {"momentum": 0.9, "rescale_grad": 1.0}), (NESTEROV, {"momentum": 0.9, "rescale_grad": 0.5}),
    (ADAM, ADAM_ATTRS), (AMSGRAD, ADAM_ATTRS), (ADAMAX, {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}),
    (ADAGRAD, {"epsilon": 1e-6}), (ADADELTA, {"rho": 0.9, "epsilon": 1e-6}),
    (NADAM, {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "momentum_decay": 0.004}),
]  # fmt: skip
# Rules that decide by numbers or arrays, or copy: NumPy goes on with them.
REFUSED = [
    (RADAM, {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}), (RMSPROP, {"rho": 0.9, "epsilon": 1e-6, "mu": 0.1}),
    (RPROP, {"shrink": 0.5, "grow": 1.2, "lowest": 1e-6, "highest": 50.0}),
]  # fmt: skip


def calls_of(rule, dtype):
    """For each shape a parameter, its gradient, the rate, state and counters."""
    rng = np.random.default_rng(0)
    return [
        [rng.uniform(-1, 1, shape or (1,)).astype(dtype).reshape(shape) for _ in range(2)]
        + [0.1]
        + [rng.uniform(0, 1, shape or (1,)).astype(dtype).reshape(shape) for _ in rule.arrays]
        + [np.full([1], 0.5, dtype) for _ in rule.counters]
        for shape in SHAPES
    ]


def columns_of(calls):
    """What `together` takes: of all parameters each of what they have, without the rate."""
    params, grads, _, *state = zip(*calls)
    return [params, grads, *state]


def stepped(rule, attrs, dtype, decay, is_native):
    """All arrays behind three steps, and the scratch."""
    calls, scratch = calls_of(rule, dtype), {}
    before = [id(a) for call in calls for a in call]
    with flags_guard({"native": is_native, "native_after_ms": 0, "cache_mb": 0}):
        for _ in range(3):
            assert together(rule, columns_of(calls), 0.1, attrs, decay, scratch)
    assert before == [id(a) for call in calls for a in call]
    return [a for call in calls for a in call if isinstance(a, np.ndarray)], scratch


@pytest.mark.parametrize("rule, attrs", RULES)
@pytest.mark.parametrize("dtype, decay", [("float32", (0.0, 0.0)), ("float64", (0.0, 0.1)), ("float32", (0.1, 0.0))])
def test_native_updates_are_those_of_numpy(rule, attrs, dtype, decay):
    found, scratch = stepped(rule, attrs, dtype, decay, is_native=True)
    wanted, _ = stepped(rule, attrs, dtype, decay, is_native=False)
    steps = [s for s in scratch.values() if isinstance(s, NativeStep)]
    assert [s.is_none for s in steps] == [False] and steps[0]._function is not None
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("rule, attrs", REFUSED)
def test_rules_without_a_native_form_go_on_as_ever(rule, attrs):
    found, scratch = stepped(rule, attrs, "float32", (0.0, 0.0), is_native=True)
    wanted, _ = stepped(rule, attrs, "float32", (0.0, 0.0), is_native=False)
    assert [s.is_none for s in scratch.values() if isinstance(s, NativeStep)] == [True]
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_arrays_that_cannot_be_written_or_lie_otherwise_are_left_to_numpy():
    calls, scratch = calls_of(SGD, "float32"), {}
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        assert together(SGD, columns_of(calls), 0.1, {}, (0.0, 0.0), scratch)
        calls[0][0].flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            together(SGD, columns_of(calls), 0.1, {}, (0.0, 0.0), scratch)
        calls[0][0] = np.ones((5, 3), np.float32).T
        assert together(SGD, columns_of(calls), 0.1, {}, (0.0, 0.0), scratch)
        np.testing.assert_allclose(calls[0][0], 1 - 0.1 * calls[0][1], rtol=1e-6)


def test_what_no_plan_is_for_is_left_as_it_was_behind_one():
    calls, scratch = calls_of(ADAM, "float32"), {}
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        assert together(ADAM, columns_of(calls), 0.1, ADAM_ATTRS, (0.0, 0.0), scratch)
        counters = [a.copy() for call in calls for a in call[-len(ADAM.counters) :]]
        before = [call[0].copy() for call in calls]
        calls[1][1] = calls[1][1].astype(np.float64)  # a gradient of another dtype: one by one
        assert not together(ADAM, columns_of(calls), 0.1, ADAM_ATTRS, (0.0, 0.0), scratch)
        assert all(np.array_equal(call[0], b) for call, b in zip(calls, before, strict=True))
        after = [a for call in calls for a in call[-len(ADAM.counters) :]]
        assert all(np.array_equal(a, b) for a, b in zip(after, counters, strict=True))
