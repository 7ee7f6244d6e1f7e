"""What optimizers share: learning rates, groups, gradients, state dicts, 16-bit parameters, errors."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import optimizer as opt
from vitrify.core.errors import StaleBackwardError, UnsupportedError
from vitrify.eager.parameter import Parameter
from vitrify.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from vitrify.regularizer import L1Decay, L2Decay


def param(values=(1.0, 2.0), dtype="float32", name=None, **attrs):
    made = Parameter(paddle.to_tensor(list(values), dtype), **attrs)
    if name is not None:
        made.name = name
    return made


def with_grad(grad, **options):
    made = param(**options)
    made.grad = paddle.to_tensor(list(grad), made.dtype)
    return made


# -- learning rate ----------------------------------------------------------------------------------------------------


def test_learning_rate():
    sgd = opt.SGD(0.5, [param()])
    assert sgd.get_lr() == 0.5
    sgd.set_lr(1)
    assert sgd.get_lr() == 1.0
    sgd.set_lr_scheduler(opt.lr.StepDecay(0.25, 1))
    assert sgd.get_lr() == 0.25
    with pytest.raises(RuntimeError, match="set by StepDecay"):
        sgd.set_lr(0.1)
    with pytest.raises(TypeError, match="must be an LRScheduler"):
        sgd.set_lr_scheduler(0.1)


def test_scheduler_decides_each_step():
    p = with_grad([1.0, 1.0], values=[0.0, 0.0])
    schedule = opt.lr.StepDecay(1.0, 1, 0.5)
    sgd = opt.SGD(schedule, [p])
    for expected in (-1.0, -1.5, -1.75):
        sgd.step()
        schedule.step()
        assert p.tolist() == [expected, expected]


def test_scheduler_state_is_part_of_the_state():
    first, second = (opt.SGD(opt.lr.StepDecay(1.0, 1, 0.5), [param()]) for _ in range(2))
    first._learning_rate.step()
    second.set_state_dict(first.state_dict())
    assert first.state_dict() == {"LR_Scheduler": {"last_epoch": 1, "last_lr": 0.5}}
    assert second.get_lr() == 0.5


def test_factors_of_parameters_and_groups():
    slow = with_grad([1.0], values=[0.0], optimize_attr={"learning_rate": 0.5})
    opt.SGD(1.0, [slow]).step()
    assert slow.tolist() == [-0.5]
    grouped = with_grad([1.0], values=[0.0], optimize_attr={"learning_rate": 0.5})
    opt.SGD(1.0, [{"params": [grouped], "learning_rate": 0.25}]).step()
    assert grouped.tolist() == [-0.25]


# -- gradients --------------------------------------------------------------------------------------------------------


def test_parameters_without_gradient_or_frozen_stay():
    idle, frozen = param(), with_grad([1.0, 1.0])
    frozen.stop_gradient = True
    sgd = opt.Adam(0.5, parameters=[idle, frozen])
    sgd.step()
    assert idle.tolist() == frozen.tolist() == [1.0, 2.0]
    assert sgd.state_dict() == {}


def test_state_comes_with_the_first_gradient():
    early, late = with_grad([1.0], values=[1.0], name="early"), param([1.0], name="late")
    adam = opt.Adam(0.5, parameters=[early, late])
    adam.step()
    assert adam.get_opti_var_name_list()[0] == "early_moment1_0"
    assert not any("late" in key for key in adam.state_dict())
    late.grad = paddle.ones([1])
    adam.step()
    assert adam.state_dict()["late_beta1_pow_acc_0"].item() == pytest.approx(0.81)


def test_clear_grad():
    p = with_grad([1.0, 1.0])
    sgd = opt.SGD(0.5, [p])
    sgd.clear_grad()
    assert p.grad.tolist() == [0.0, 0.0]
    sgd.clear_grad(set_to_zero=False)
    assert p.grad is None


def test_zero_grad_leaves_none_unless_told_otherwise():
    p = with_grad([1.0, 1.0])
    sgd = opt.SGD(0.5, [p])
    sgd.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0.0, 0.0]
    sgd.zero_grad()
    assert p.grad is None


def test_minimize_uses_the_gradients_there_are():
    p, q = param([1.0], name="p"), param([1.0], name="q")
    sgd = opt.SGD(0.5, [p, q])
    loss = (p * 2.0 + q * 4.0).sum()
    loss.backward()
    operators, pairs = sgd.minimize(loss, no_grad_set={"q"})
    assert (operators, [pair[0] for pair in pairs]) == ([], [p])
    assert (p.tolist(), q.tolist()) == ([0.0], [1.0])
    sgd.minimize(loss, parameters=[q])
    assert (p.tolist(), q.tolist()) == ([0.0], [-1.0])
    with pytest.raises(TypeError, match="loss must be a Tensor, got int"):
        sgd.minimize(3)


def test_apply_gradients():
    p = param([1.0])
    assert opt.SGD(0.5, [p]).apply_gradients([(p, paddle.ones([1]))]) == []
    assert p.tolist() == [0.5]


def test_a_step_makes_an_older_graph_stale():
    p = param([1.0, 2.0])
    loss = (p * p).sum()
    p.grad = paddle.ones([2])
    opt.SGD(0.5, [p]).step()
    with pytest.raises(StaleBackwardError, match="modified in place"):
        loss.backward()


def test_views_see_the_step():
    p = with_grad([1.0, 1.0])
    alias = p.detach()
    opt.SGD(0.5, [p]).step()
    assert alias.tolist() == [0.5, 1.5]


@pytest.mark.parametrize("clip", [None, ClipGradByNorm(1.0), ClipGradByValue(1.0)])
def test_gradients_are_left_as_they_are(clip):
    p = with_grad([3.0, 4.0])
    opt.SGD(0.5, [p], weight_decay=0.1, grad_clip=clip).step()
    assert p.grad.tolist() == [3.0, 4.0]


def test_the_global_norm_clips_gradients_where_they_are():
    """As PaddlePaddle 3.3.1 does; decay is not put into them."""
    p = with_grad([3.0, 4.0])
    opt.SGD(0.5, [p], weight_decay=0.1, grad_clip=ClipGradByGlobalNorm(1.0)).step()
    np.testing.assert_allclose(p.grad, [0.6, 0.8], rtol=1e-6)


def test_rescaled_gradient():
    p = with_grad([2.0], values=[1.0])
    opt.Momentum(0.5, 0.9, [p], rescale_grad=0.5).step()
    assert p.tolist() == [0.5]


def test_learning_rate_ratio():
    p, q = with_grad([1.0], values=[1.0], name="p"), with_grad([1.0], values=[1.0], name="q")
    opt.AdamW(0.5, parameters=[p, q], weight_decay=0.0, lr_ratio=lambda x: 0.5 if x.name == "p" else 1.0).step()
    assert p.tolist() == pytest.approx([0.75], rel=1e-5)
    assert q.tolist() == pytest.approx([0.5], rel=1e-5)


def test_numbers_may_be_tensors():
    p, q = with_grad([1.0, 2.0]), with_grad([1.0, 2.0])
    opt.AdamW(0.5, paddle.to_tensor(0.5), 0.5, 0.25, [p], paddle.to_tensor(0.125)).step()
    opt.AdamW(0.5, 0.5, paddle.to_tensor(0.5), paddle.to_tensor(0.25), [q], 0.125).step()
    assert p.tolist() == q.tolist()


# -- odd parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [np.float32(3.0), np.zeros((0, 3), "float32"), np.ones((3, 4), "float32").T])
def test_shapes_and_layouts(data):
    p = Parameter(paddle.to_tensor(np.asarray(data)))
    p._data = np.asarray(data).copy(order="K")
    p.grad = paddle.ones_like(p)
    opt.Adam(0.5, parameters=[p], weight_decay=0.1).step()
    np.testing.assert_allclose(p.numpy(), np.asarray(data) - 0.5, rtol=1e-5)


def test_read_only_memory_is_copied():
    p = with_grad([1.0, 1.0])
    p._data = np.frombuffer(np.array([1.0, 2.0], np.float32).tobytes(), np.float32)
    opt.SGD(0.5, [p]).step()
    assert p.tolist() == [0.5, 1.5]


def test_float64_and_mixed_gradients():
    p = param([1.0], "float64")
    p.grad = paddle.ones([1], "float32")
    adam = opt.Adam(0.5, parameters=[p])
    adam.step()
    assert p.dtype is paddle.float64
    assert {state.dtype for state in adam.state_dict().values()} == {paddle.float64}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_small_steps_survive_with_a_master_copy(dtype):
    kept, rounded = (with_grad([1.0], values=[1.0], dtype=dtype, name=name) for name in ("kept", "rounded"))
    with_master, without = opt.SGD(2**-12, [kept], multi_precision=True), opt.SGD(2**-12, [rounded])
    for _ in range(64):
        with_master.step()
        without.step()
    assert kept.dtype.name == dtype
    assert kept.item() == pytest.approx(1 - 64 / 2**12, abs=2**-8)
    assert rounded.item() == 1.0
    master = with_master.state_dict()["master_weights"]["kept"]
    assert (master.name, master.dtype) == ("kept_fp32_master_0", paddle.float32)
    assert without.state_dict() == {}


def test_master_copies_are_part_of_the_state():
    def made():
        return with_grad([1.0], values=[1.0], dtype="float16", name="p")

    p, q = made(), made()
    first, second = (opt.Adam(2**-12, parameters=[x], multi_precision=True) for x in (p, q))
    for _ in range(3):
        first.step()
    assert "p_fp32_master_0_moment1_0" in first.state_dict()
    second.set_state_dict(first.state_dict())
    first.step()
    second.step()
    assert q.item() == p.item()
    assert second.state_dict()["master_weights"]["p"].item() == first.state_dict()["master_weights"]["p"].item()


# -- state dicts ------------------------------------------------------------------------------------------------------


def test_state_shares_memory_and_loading_copies():
    p = with_grad([1.0], values=[1.0], name="p")
    momentum = opt.Momentum(0.5, 0.5, [p])
    momentum.step()
    state = momentum.state_dict()
    momentum.step()
    assert state["p_velocity_0"].item() == 1.5
    other = opt.Momentum(0.5, 0.5, [p])
    other.set_state_dict(state)
    momentum.step()
    other.step()
    assert other.state_dict()["p_velocity_0"].item() == 0.5 * 1.5 + 1


def test_state_is_called_by_the_optimizers_name_too():
    p = with_grad([1.0], values=[1.0], name="p")
    momentum = opt.Momentum(0.5, 0.5, [p], name="fast")
    momentum.set_state_dict({"p_fast_velocity_0": np.array([2.0])})
    momentum.step()
    assert {key: value.item() for key, value in momentum.state_dict().items()} == {"p_fast_velocity_0": 2.0}


def test_state_into_a_running_optimizer():
    p = with_grad([1.0], values=[1.0], name="p")
    momentum = opt.Momentum(0.5, 0.5, [p])
    momentum.step()
    momentum.set_state_dict({"p_velocity_3": np.array([4.0])})  # Paddle counts optimizers at the end of a key
    assert momentum.state_dict()["p_velocity_0"].item() == 4.0


def test_state_must_fit():
    p = with_grad([1.0], values=[1.0], name="p")
    for state, kind, message in (
        ({"q_velocity_0": np.ones(1)}, RuntimeError, "no 'p_velocity_0'"),
        ({"p_velocity_0": np.ones(3)}, ValueError, r"shape \[3\], expected \[1\]"),
    ):
        momentum = opt.Momentum(0.5, 0.5, [p])
        momentum.set_state_dict(state)
        with pytest.raises(kind, match=message):
            momentum.step()


# -- errors -----------------------------------------------------------------------------------------------------------

P = param()
BAD = {
    "no parameters": (ValueError, lambda: opt.SGD(0.1)),
    "rate": (TypeError, lambda: opt.SGD("a", [P])),
    "no rate": (TypeError, lambda: opt.Adam(None, parameters=[P])),
    "a tensor": (TypeError, lambda: opt.SGD(0.1, P)),
    "a dict": (TypeError, lambda: opt.SGD(0.1, {"params": [P]})),
    "numbers": (TypeError, lambda: opt.SGD(0.1, [1.0])),
    "a set in a group": (TypeError, lambda: opt.SGD(0.1, [{"params": {P}}])),
    "two groups": (ValueError, lambda: opt.SGD(0.1, [{"params": [P]}, {"params": P}])),
    "clip": (TypeError, lambda: opt.SGD(0.1, [P], grad_clip=3)),
    "clip of a group": (TypeError, lambda: opt.SGD(0.1, [{"params": [P], "grad_clip": 3}])),
    "decay": (TypeError, lambda: opt.SGD(0.1, [P], weight_decay="a")),
    "beta1": (ValueError, lambda: opt.Adam(0.1, beta1=1.0, parameters=[P])),
    "beta2": (ValueError, lambda: opt.Adam(0.1, beta2=-0.1, parameters=[P])),
    "epsilon": (ValueError, lambda: opt.Adam(0.1, epsilon=-1.0, parameters=[P])),
    "momentum": (ValueError, lambda: opt.Momentum(0.1, momentum=None, parameters=[P])),
    "decoupled decay": (TypeError, lambda: opt.AdamW(0.1, weight_decay=None, parameters=[P])),
    "chosen": (TypeError, lambda: opt.AdamW(0.1, apply_decay_param_fun=3, parameters=[P])),
    "ratio": (TypeError, lambda: opt.AdamW(0.1, lr_ratio=3, parameters=[P])),
    "rho": (ValueError, lambda: opt.RMSProp(0.1, rho=None, parameters=[P])),
    "adagrad": (ValueError, lambda: opt.Adagrad(0.1, epsilon=-1.0, parameters=[P])),
    "momentum decay": (ValueError, lambda: opt.NAdam(0.1, momentum_decay=-1.0, parameters=[P])),
    "etas": (ValueError, lambda: opt.Rprop(0.1, parameters=[P], etas=(0.5, 0.6))),
    "rate range": (ValueError, lambda: opt.Rprop(0.1, (0.2, 0.3), [P])),
    "set_lr": (TypeError, lambda: opt.SGD(0.1, [P]).set_lr("x")),
    "set_lr with a scheduler": (TypeError, lambda: opt.SGD(0.1, [P]).set_lr(opt.lr.StepDecay(0.1, 1))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name):
    kind, make = BAD[name]
    with pytest.raises(kind) as caught:
        make()
    assert type(caught.value).__module__.startswith("vitrify")


def test_the_base_class_does_not_update():
    base = opt.Optimizer(0.1, [with_grad([1.0, 1.0])])
    for use in (base.step, base.state_dict):
        with pytest.raises(NotImplementedError, match="use a subclass"):
            use()


def test_no_parameters_is_fine():
    sgd = opt.SGD(0.1, [])
    sgd.step()
    sgd.clear_grad()


# -- decay and clipping -----------------------------------------------------------------------------------------------


def test_a_parameters_own_regularizer_comes_first():
    p = with_grad([1.0], values=[2.0], regularizer=L1Decay(0.5))
    opt.SGD(1.0, [p], weight_decay=L2Decay(10.0)).step()
    assert p.tolist() == [0.5]
    assert (str(L1Decay(0.1)), str(L2Decay(0.1))) == ("L1Decay, coeff=0.100000", "L2Decay, coeff=0.100000")


def test_the_weight_decay_of_a_dict_comes_before_regularizers():
    for group, expected in (({"weight_decay": 0.25}, 0.5), ({}, -19.0)):
        p = with_grad([1.0], values=[2.0], regularizer=L1Decay(0.5))
        opt.SGD(1.0, [{"params": [p], **group}], weight_decay=L2Decay(10.0)).step()
        assert p.tolist() == [expected]


def pairs(*grads):
    return [(param(), paddle.to_tensor(g)) for g in grads]


@pytest.mark.parametrize(
    ("clip", "expected", "text"),
    [
        (ClipGradByNorm(1.0), [[0.6, 0.8], [[0.6, 0.8]]], "Gradient Clip By Norm, clip_norm=1.000000"),
        (ClipGradByValue(5.0), [[3, 4], [[5, 5]]], "Clip Gradient By Value, min = -5.000000, max=5.000000"),
        (ClipGradByValue(5.0, 3.5), [[3.5, 4], [[5, 5]]], "Clip Gradient By Value, min = 3.500000, max=5.000000"),
        (
            ClipGradByGlobalNorm(1.0),
            [[0.26832816, 0.35777089], [[0.53665632, 0.71554178]]],
            "Gradient Clip By GlobalNorm, global_norm=1.000000",
        ),
        (ClipGradByGlobalNorm(100.0), [[3, 4], [[6, 8]]], "Gradient Clip By GlobalNorm, global_norm=100.000000"),
    ],
)
def test_clipping_is_paddles(clip, expected, text):
    for (_, grad), values in zip(clip(pairs([3.0, 4.0], [[6.0, 8.0]])), expected):
        np.testing.assert_allclose(grad.numpy(), values, rtol=1e-6)
    assert str(clip) == text


def test_clipping_passes_over_parameters_that_say_so():
    given = [(param(need_clip=False), paddle.to_tensor([30.0])), (param(), None), *pairs([3.0], [4.0])]
    found = ClipGradByGlobalNorm(1.0)(given)
    assert found[0][1].tolist() == [30.0]
    assert [g.item() for _, g in found[1:]] == pytest.approx([0.6, 0.8])
    assert ClipGradByNorm(1.0)(given[:2]) == given[:1]


def test_clipping_in_16_bits_sums_in_32():
    found = ClipGradByNorm(1.0)([(param(), paddle.full([4096], 1.0, "float16"))])[0][1]
    assert found.dtype is paddle.float16
    assert found.numpy()[0] == pytest.approx(1 / 64)
    with pytest.raises(ValueError, match="max must be positive"):
        ClipGradByValue(-1.0)


def test_clipping_each_group_by_itself():
    p, q = with_grad([3.0, 4.0], values=[0.0, 0.0]), with_grad([3.0, 4.0], values=[0.0, 0.0])
    opt.SGD(1.0, [{"params": [p]}, {"params": [q]}], grad_clip=ClipGradByGlobalNorm(1.0)).step()
    for x in (p, q):
        np.testing.assert_allclose(x.numpy(), [-0.6, -0.8], rtol=1e-6)


def test_a_line_search_inside_a_program_is_refused():
    p = with_grad([1.0])
    lbfgs = opt.LBFGS(0.1, parameters=[p])

    @paddle.jit.to_static(full_graph=True)
    def train(x):
        lbfgs.step(lambda: (p * p).sum())
        return x

    with pytest.raises(UnsupportedError, match=r"LBFGS\.step cannot be part of a program"):
        train(paddle.ones([1]))
