"""Training steps whose program ends in the updates: one native call does what program and updates do without it."""

from itertools import chain

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.config import flags_guard

RUNS = 30
"""So many runs, after 20 of which a program is optimized."""
MAKERS = {
    "SGD": lambda p: paddle.optimizer.SGD(0.1, parameters=p, weight_decay=0.01),
    "Momentum": lambda p: paddle.optimizer.Momentum(0.1, parameters=p, use_nesterov=True),
    "AdamW": lambda p: paddle.optimizer.AdamW(0.01, parameters=p),
    "Adagrad": lambda p: paddle.optimizer.Adagrad(0.1, parameters=p),
    "RMSProp": lambda p: paddle.optimizer.RMSProp(0.01, parameters=p),  # has no native form
    "Lamb": lambda p: paddle.optimizer.Lamb(0.01, parameters=p),  # nor has this: it needs norms
    "clipped": lambda p: paddle.optimizer.SGD(0.1, parameters=p, grad_clip=paddle.nn.ClipGradByNorm(0.5)),  # nor it
}
JOINT = ("SGD", "Momentum", "AdamW", "Adagrad")


def made(maker):
    """A model, its optimizer, and its step as one program."""
    paddle.seed(0)
    model = paddle.nn.Sequential(paddle.nn.Linear(4, 5), paddle.nn.Tanh(), paddle.nn.Linear(5, 3))
    optimizer = maker(model.parameters())

    def step(x):
        out = model(x)
        loss = (out * out).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
        return loss, out > 0.1

    return model, optimizer, paddle.jit.to_static(step, full_graph=True)


def trained(maker, batches, native=True):
    """What each step gives, and the parameters and state behind all; whether it was one call in the end."""
    with flags_guard({"native": native, "native_after_ms": 0, "cache_mb": 0}):
        model, optimizer, step = made(maker)
        given = [[t.numpy() for t in step(paddle.to_tensor(x))] for x in batches]
    state = [np.array(v) for v in optimizer.state_dict().values() if isinstance(v, paddle.Tensor)]
    joints = [p._joint for p in step.program_cache.programs()]
    is_joint = any(j is not None and j._function is not None for j in joints)
    return [*chain(*given), *[p.numpy() for p in model.parameters()], *state], is_joint


def batches(*sizes):
    rng = np.random.default_rng(0)
    return [rng.standard_normal((n, 4)).astype("float32") for n in sizes]


@pytest.mark.parametrize("name", MAKERS)
def test_one_call_does_what_the_two_do(name):
    found, is_joint = trained(MAKERS[name], batches(*[6] * RUNS))
    wanted, _ = trained(MAKERS[name], batches(*[6] * RUNS), native=False)
    assert is_joint == (name in JOINT)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_counters_are_those_of_the_steps_done():
    """A call that fits no plan has advanced nothing: batches of other sizes come between."""
    sizes = (*[6] * RUNS, 2, 6, 2, 3, 6)
    found, _ = trained(MAKERS["AdamW"], batches(*sizes))
    wanted, _ = trained(MAKERS["AdamW"], batches(*sizes), native=False)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_a_rate_that_changes_and_arrays_that_are_exchanged():
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        model, optimizer, step = made(MAKERS["SGD"])
        twin, other, _ = made(MAKERS["SGD"])
        x = paddle.to_tensor(batches(6)[0])
        for n in range(RUNS + 8):
            if n == RUNS + 2:
                optimizer.set_lr(0.5)
                other.set_lr(0.5)
            if n in (RUNS + 4, RUNS + 5):
                for p in model.parameters():
                    p._data = p._data.copy()
                    p._data.flags.writeable = n % 2 == 1  # copied by who updates it
            step(x)
            (twin(x) ** 2).mean().backward()
            other.step()
            other.clear_grad()
        for p, q in zip(model.parameters(), twin.parameters(), strict=True):
            np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=2e-5, atol=2e-6)


def test_tensors_on_a_parameter_see_what_was_written_and_what_was_given_stays():
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        model, _, step = made(MAKERS["SGD"])
        x = paddle.to_tensor(batches(6)[0])
        weight = model.parameters()[0]
        view, version = weight.detach(), weight.inplace_version
        given = [step(x)[1] for _ in range(RUNS)]
        kept = [g.numpy().copy() for g in given]
        step(x)
        assert view._data is weight._data and weight.inplace_version > version
        assert all(np.array_equal(g.numpy(), k) for g, k in zip(given, kept, strict=True))
