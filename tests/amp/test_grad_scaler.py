"""GradScaler scales, unscales, skips bad steps and adapts."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.amp import GradScaler
from vitrify.eager.parameter import Parameter


def setting(**options):
    p = Parameter(paddle.to_tensor([1.0]))
    return p, paddle.optimizer.SGD(0.5, [p]), GradScaler(**{"init_loss_scaling": 8.0, **options})


def backward(scaler, p, factor=1.0):
    loss = scaler.scale((p * factor).sum())
    loss.backward()
    return loss.item()


def test_a_good_step():
    p, sgd, scaler = setting()
    assert backward(scaler, p) == 8.0
    assert p.grad.item() == 8.0
    scaler.step(sgd)
    scaler.update()
    assert (p.item(), p.grad.item()) == (0.5, 1.0)


def test_unscale_before_the_step():
    p, sgd, scaler = setting()
    backward(scaler, p)
    scaler.unscale_(sgd)
    assert p.grad.item() == 1.0
    with pytest.raises(RuntimeError, match="called twice"):
        scaler.unscale_(sgd)
    assert [[*part] for part in scaler.minimize(sgd, None)] == [[], [(p, p.grad) for p in sgd.parameters_with_grad()]]
    assert p.item() == 0.5
    scaler.unscale_(sgd)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_bad_step_is_skipped_and_the_scale_shrinks(bad):
    p, sgd, scaler = setting(decr_every_n_nan_or_inf=2)
    for expected in (8.0, 4.0):
        backward(scaler, p, bad)
        scaler.step(sgd)
        scaler.update()
        sgd.clear_grad()
        assert p.item() == 1.0
        assert scaler.state_dict()["scale"] == expected
    backward(scaler, p)
    scaler.step(sgd)
    assert p.item() == 0.5


def test_the_scale_grows_after_good_steps():
    p, sgd, scaler = setting(incr_every_n_steps=2, incr_ratio=4.0)
    for expected in (8.0, 32.0):
        backward(scaler, p)
        scaler.minimize(sgd)
        assert scaler.state_dict()["scale"] == expected


def test_a_fixed_scale():
    p, sgd, scaler = setting(use_dynamic_loss_scaling=False, incr_every_n_steps=1)
    backward(scaler, p)
    scaler.minimize(sgd)
    assert scaler.state_dict()["scale"] == 8.0
    assert not scaler.is_use_dynamic_loss_scaling()


def test_not_enabled():
    p, sgd, scaler = setting(enable=False)
    assert backward(scaler, p) == 1.0
    scaler.unscale_(sgd)
    scaler.step(sgd)
    scaler.update()
    assert (p.item(), scaler.state_dict(), scaler.is_enable()) == (0.5, {}, False)
    scaler.load_state_dict({})


def test_no_gradients():
    _, sgd, scaler = setting()
    scaler.minimize(sgd)
    assert scaler.state_dict()["incr_count"] == 1


def test_state():
    _, _, first = setting(incr_ratio=3.0)
    first.update()
    state = first.state_dict()
    assert state == {
        "scale": 8.0,
        "incr_ratio": 3.0,
        "decr_ratio": 0.5,
        "incr_every_n_steps": 2000,
        "decr_every_n_nan_or_inf": 1,
        "incr_count": 1,
        "decr_count": 0,
        "use_dynamic_loss_scaling": True,
    }
    second = GradScaler()
    second.load_state_dict(state)
    assert second.state_dict() == state
    with pytest.raises(RuntimeError, match="no 'scale'"):
        second.load_state_dict({})


SETTINGS = ["init_loss_scaling", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf"]


@pytest.mark.parametrize(("name", "value"), [*zip(SETTINGS, [4.0, 3.0, 0.25, 7, 3])])
def test_settings(name, value):
    scaler = GradScaler()
    getattr(scaler, f"set_{name}")(value)
    assert getattr(scaler, f"get_{name}")() == value
    assert getattr(GradScaler(**{name: value}), f"get_{name}")() == value


@pytest.mark.parametrize(("name", "value"), [*zip(SETTINGS, [-1.0, 1.0, 1.0, 0, 0])])
def test_bad_settings(name, value):
    with pytest.raises(ValueError, match=name):
        GradScaler(**{name: value})
