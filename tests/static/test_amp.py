"""Mixed precision in programs written by hand: auto_cast while building, static.amp.decorate around an optimizer."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn, static
from vitrify.ir.verify import verify

X = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")


@pytest.fixture(autouse=True)
def _a_scope_and_names_of_its_own():
    with static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
        yield


def net(x):
    h = static.nn.batch_norm(nn.functional.relu(static.nn.fc(x, 8)))
    return (nn.functional.softmax(static.nn.fc(h, 3)) * static.data("weight", [3])).sum(axis=1).mean()


def training(decorate, make=lambda: paddle.optimizer.Adam(0.05)):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        loss = net(static.data("x", [None, 4]))
        optimizer = decorate(make())
        optimizer.minimize(loss)
    verify(main)
    exe = static.Executor()
    exe.run(startup)
    rng = np.random.default_rng(5)
    for p in main.all_parameters():
        if p.trainable:
            p.set_value(rng.normal(size=p.shape) / 2)
    return main, loss, optimizer, exe


def losses(main, loss, exe, steps=6, weight=(1.0, 2.0, 4.0)):
    feed = {"x": X, "weight": np.array(weight, "float32")}
    return [exe.run(main, feed=feed, fetch_list=[loss])[0].item() for _ in range(steps)]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("level", ["O1", "O2"])
def test_training_is_nearly_that_of_full_precision(level, dtype):
    main, loss, _, exe = training(lambda opt: static.amp.decorate(opt, level=level, dtype=dtype))
    products = [op for op in main.global_block().ops if op.op.name == "mul"]
    assert [op.outputs[0].dtype.name for op in products] == [dtype] * 2
    assert all(p.dtype.name == "float32" for p in main.all_parameters())
    low = losses(main, loss, exe)
    np.testing.assert_allclose(low, full_precision(), rtol=0.03 if dtype == "bfloat16" else 0.005)
    assert low[-1] < low[0]


def full_precision():
    with static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
        main, loss, _, exe = training(lambda optimizer: optimizer)
        return losses(main, loss, exe)


def test_a_step_that_is_not_finite_changes_the_scale_only():
    main, loss, optimizer, exe = training(
        lambda opt: static.amp.decorate(
            opt, init_loss_scaling=1024.0, decr_every_n_nan_or_inf=2, decr_ratio=0.5, incr_every_n_steps=3
        )
    )
    scale = optimizer.get_loss_scaling()
    trained = [v for v in main.list_vars() if v.persistable and ("moment" in v.name or "beta" in v.name)]
    trained += [p for p in main.all_parameters() if p.trainable]
    before = [v.get_value() for v in trained]
    losses(main, loss, exe, 1, (np.inf, 1.0, 1.0))
    assert scale.get_value() == 1024
    losses(main, loss, exe, 1, (np.inf, 1.0, 1.0))
    assert scale.get_value() == 512
    assert all(np.array_equal(v.get_value(), held) for v, held in zip(trained, before))
    losses(main, loss, exe, 3)
    assert scale.get_value() == 1024
    assert not any(np.array_equal(v.get_value(), held) for v, held in zip(trained, before))


def test_lists_of_ops_and_variables():
    lists = static.amp.CustomOpLists(custom_black_list=["mul"])
    main, *_ = training(lambda opt: static.amp.decorate(opt, lists, dtype="bfloat16"))
    assert all(v.dtype.name != "bfloat16" for v in main.list_vars())
    lists = static.amp.CustomOpLists(custom_black_varnames=["fc_3.w_0"])
    main, *_ = training(lambda opt: static.amp.decorate(opt, lists, dtype="bfloat16"))
    products = [op for op in main.global_block().ops if op.op.name == "mul"]
    assert [op.outputs[0].dtype.name for op in products] == ["bfloat16", "float32"]


def test_auto_cast_while_building():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.amp.auto_cast(dtype="bfloat16"):
        x = static.data("x", [None, 4])
        layer = nn.Linear(4, 2)
        low, wide = layer(x), nn.functional.softmax(layer(x))
    exe = static.Executor()
    exe.run(startup)
    found = exe.run(main, feed={"x": X}, fetch_list=[low, wide])
    eager = nn.Linear(4, 2)
    eager.set_state_dict({name: p.get_value() for name, p in layer.state_dict().items()})
    with paddle.amp.auto_cast(dtype="bfloat16"):
        t = paddle.to_tensor(X)
        wanted = [eager(t), nn.functional.softmax(eager(t))]
    for one, two in zip(found, wanted):
        assert one.dtype == two.numpy().dtype and one.tobytes() == two.numpy().tobytes()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"level": "O3"}, "level must be O1 or O2"),
        ({"dtype": "float64"}, "dtype must be 'float16' or 'bfloat16'"),
    ],
)
def test_misuse(arguments, text):
    with pytest.raises(ValueError, match=text):
        static.amp.decorate(None, **arguments)
    with pytest.raises(ValueError, match="in both lists: relu"):
        static.amp.AutoMixedPrecisionLists(["relu"], ["relu"])
    with pytest.raises(ValueError, match="no op is named 'rellu'"):
        static.amp.CustomOpLists(["rellu"])


@pytest.mark.parametrize(
    ("older", "newer"),
    [({"use_pure_fp16": True}, {"level": "O2"}), ({"use_bf16": True, "use_fp16_guard": False}, {"dtype": "bfloat16"})],
)
def test_the_older_words_mean_the_same(older, newer):
    found = []
    for words in (older, newer):
        with static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
            main, loss, _, exe = training(lambda opt, words=words: static.amp.decorate(opt, **words))
            found.append(losses(main, loss, exe))
    assert found[0] == found[1]


def test_branches_get_what_they_were_built_for():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        h = static.nn.fc(static.data("x", [4, 6]), 6)
        loss = static.nn.cond(h.mean() > 0, lambda: h * 2, lambda: h + 1).mean()
        static.amp.decorate(paddle.optimizer.SGD(0.1), dtype="bfloat16", level="O2").minimize(loss)
    verify(main)
    operator = next(op for op in main.global_block().ops if op.blocks)
    for block in operator.blocks.values():
        assert [v.dtype for v in operator.variables[1:]] == [v.dtype for v in block.inputs]
