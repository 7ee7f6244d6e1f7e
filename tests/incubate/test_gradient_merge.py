"""GradientMergeOptimizer: dynamic and static mode, against the merged gradients given by hand."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.incubate.optimizer import GradientMergeOptimizer

opt = paddle.optimizer
BATCHES = np.random.default_rng(0).normal(size=(8, 2, 3)).astype("float32")
MAKES = {
    "sgd": lambda p: opt.SGD(0.1, parameters=p),
    "momentum": lambda p: opt.Momentum(0.1, 0.9, p, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.3), weight_decay=0.1),
    "adam": lambda p: opt.Adam(0.1, parameters=p),
    "adamw": lambda p: opt.AdamW(0.1, parameters=p, weight_decay=0.1),
    "adagrad": lambda p: opt.Adagrad(0.1, parameters=p),
    "rmsprop": lambda p: opt.RMSProp(0.1, parameters=p, centered=True),
}


def loss_of(layer, x):
    return paddle.mean(paddle.square(layer(x)))


def new_layer():
    with paddle.utils.unique_name.guard():
        layer = paddle.nn.Linear(3, 2)
    layer.weight.set_value(np.arange(6, dtype="float32").reshape(3, 2) / 6)
    return layer


def by_hand(make, k, avg):
    """The weights after each batch, where gradients are added up by `backward` itself."""
    layer, found = new_layer(), []
    optimizer = make(layer.parameters())
    for i, batch in enumerate(BATCHES):
        (loss_of(layer, paddle.to_tensor(batch)) / (k if avg else 1)).backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.clear_grad()
        found.append(layer.weight.numpy().copy())
    return found


@pytest.mark.parametrize("avg", [True, False])
@pytest.mark.parametrize("name", MAKES)
def test_dynamic_and_static_mode(name, avg):
    make, wanted = MAKES[name], by_hand(MAKES[name], 3, avg)
    layer = new_layer()
    optimizer = GradientMergeOptimizer(make(layer.parameters()), 3, avg)
    for batch, weights in zip(BATCHES, wanted):
        loss_of(layer, paddle.to_tensor(batch)).backward()
        optimizer.step()
        optimizer.clear_grad()
        np.testing.assert_allclose(layer.weight.numpy(), weights, rtol=1e-5, atol=1e-6)

    main, startup, exe = static.Program(), static.Program(), static.Executor()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        built = paddle.nn.Linear(3, 2)
        loss = loss_of(built, static.data("x", [2, 3]))
        updates, pairs = GradientMergeOptimizer(make(None), 3, avg).minimize(loss)
    assert len(updates) == len(pairs) == 2
    with static.scope_guard(static.Scope()):
        exe.run(startup)
        static.global_scope().var("linear_0.w_0").set(np.arange(6, dtype="float32").reshape(3, 2) / 6)
        for batch, weights in zip(BATCHES, wanted):
            exe.run(main, feed={"x": batch})
            found = np.array(static.global_scope().find_var("linear_0.w_0").get_tensor())
            np.testing.assert_allclose(found, weights, rtol=1e-5, atol=1e-6)
    kinds = [op.op.name for op in main.clone(for_test=True).global_block().ops]
    assert kinds == ["linear", "square", "mean"]


def test_a_run_that_is_cut_off_goes_on_from_its_state():
    wanted = by_hand(MAKES["adam"], 3, True)
    layer = new_layer()
    optimizer = GradientMergeOptimizer(MAKES["adam"](layer.parameters()), 3)
    for i, (batch, weights) in enumerate(zip(BATCHES, wanted)):
        if i == 4:
            state = optimizer.state_dict()
            optimizer = GradientMergeOptimizer(MAKES["adam"](layer.parameters()), 3)
            optimizer.set_state_dict(state)
        loss_of(layer, paddle.to_tensor(batch)).backward()
        optimizer.step()
        layer.clear_gradients()
        np.testing.assert_allclose(layer.weight.numpy(), weights, rtol=1e-5, atol=1e-6)


def test_rates_are_the_inner_optimizers():
    schedule = opt.lr.StepDecay(0.5, 1, 0.1)
    layer = new_layer()
    optimizer = GradientMergeOptimizer(opt.SGD(schedule, layer.parameters()), 1)
    assert optimizer.get_lr() == 0.5
    schedule.step()
    assert optimizer.get_lr() == pytest.approx(0.05)
    optimizer = GradientMergeOptimizer(opt.SGD(0.5, layer.parameters()), 1)
    optimizer.set_lr(0.25)
    assert optimizer.inner_optimizer.get_lr() == 0.25


def test_other_arguments_are_refused():
    sgd = opt.SGD(0.1, parameters=new_layer().parameters())
    with pytest.raises(TypeError, match="inner_optimizer must be an Optimizer"):
        GradientMergeOptimizer(None)
    for k in (0, 1.5):
        with pytest.raises(ValueError, match="k_steps must be a positive int"):
            GradientMergeOptimizer(sgd, k)
