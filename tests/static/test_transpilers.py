"""Transpilers: the base class's promises, batch norm folded away, weights of int8 with measured accuracy."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn, static
from vitrify.core.errors import InternalError

IMAGE = np.random.default_rng(0).normal(size=(3, 2, 6, 6)).astype("float32")


@pytest.fixture(autouse=True)
def _a_scope_and_names_of_its_own():
    with static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
        yield


def network(build, shape=(None, 2, 6, 6)):
    """A program, its output and an Executor; statistics and biases are what some training may leave."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        out = build(static.data("x", list(shape)))
    exe = static.Executor()
    exe.run(startup)
    rng = np.random.default_rng(1)
    for p in main.all_parameters():
        if len(p.shape) == 1:
            p.set_value(rng.uniform(0.5, 2.0, p.shape))
    return main, out, exe


def kinds(program):
    return [op.op.name for op in program.global_block().ops]


def _layers():
    return nn.Conv2D(2, 3, 3), nn.BatchNorm2D(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4), nn.BatchNorm1D(4)


BUILDS = {
    "conv": (lambda x: static.nn.batch_norm(static.nn.conv2d(x, 4, 3), act="relu"), 1),
    "conv without bias": (lambda x: static.nn.batch_norm(static.nn.conv2d(x, 4, 3, groups=2, bias_attr=False)), 1),
    "transposed": (lambda x: static.nn.batch_norm(static.nn.conv2d_transpose(x, 4, filter_size=3, stride=2)), 1),
    "transposed in groups": (lambda x: nn.BatchNorm2D(6)(nn.Conv2DTranspose(2, 6, 3, groups=2, bias_attr=False)(x)), 1),
    "layers": (lambda x: nn.Sequential(*_layers())(x), 2),
    "fc": (lambda x: static.nn.batch_norm(static.nn.fc(x, 5), epsilon=1e-3), 1),
    "no scale": (lambda x: nn.BatchNorm2D(4, weight_attr=False, bias_attr=False)(nn.Conv2D(2, 4, 1)(x)), 1),
    "nothing before": (lambda x: static.nn.batch_norm(static.nn.conv2d(paddle.tanh(static.nn.batch_norm(x)), 3, 2)), 1),
    "read twice": (lambda x: (lambda h: static.nn.batch_norm(h) + h)(static.nn.conv2d(x, 4, 3)), 0),
    "none": (lambda x: static.nn.conv2d(x, 4, 3), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", BUILDS)
def test_folding_keeps_what_is_computed(name):
    build, count = BUILDS[name]
    main, out, exe = network(build)
    (wanted,) = exe.run(main.clone(for_test=True), feed={"x": IMAGE}, fetch_list=[out])
    text, fold = str(main), static.FoldBatchNorm([out])
    folded = fold.transpile(main)
    assert fold.folded == count and str(main) == text
    assert kinds(folded).count("batch_norm_infer") == kinds(main).count("batch_norm") - count
    (found,) = exe.run(folded, feed={"x": IMAGE}, fetch_list=[out])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_folding_leaves_training_behind():
    def build(x):
        h = nn.functional.dropout(static.nn.batch_norm(static.nn.conv2d(x, 4, 3)), 0.5)
        paddle.optimizer.SGD(0.1).minimize(h.mean())
        return h

    main, out, _ = network(build)
    folded = static.FoldBatchNorm([out]).transpile(main)
    assert kinds(folded) == ["conv", "assign"]
    assert {v.name for v in folded.list_vars() if v.persistable} == {"conv2d_0.w_0.folded", "conv2d_0.b_0.folded"}


@pytest.mark.parametrize("name", BUILDS)
def test_a_program_for_testing_is_folded_without_targets(name):
    """Its statistics are written by nothing: in evaluation they stay what they are."""
    build, count = BUILDS[name]
    main, out, exe = network(build)
    test = main.clone(for_test=True)
    assert not any(v.persistable for op in test.global_block().ops for v in op.outputs)
    assert "detach" not in kinds(test)
    (wanted,) = exe.run(test, feed={"x": IMAGE}, fetch_list=[out])
    fold = static.FoldBatchNorm()
    (found,) = exe.run(fold.transpile(test), feed={"x": IMAGE}, fetch_list=[out.name])
    assert fold.folded == count
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_what_a_program_for_testing_computes_is_still_written():
    def build(x):
        kept = paddle.static.create_global_var([2], 1.0, "float32", persistable=True, name="kept")
        old = paddle.assign(kept)
        paddle.assign(kept * 2, kept)
        paddle.assign(old, kept)  # a copy of what it was before
        return paddle.assign(kept) + 1

    main, out, exe = network(build)
    test = main.clone(for_test=True)
    writes = [op for op in test.global_block().ops if any(v.name == "kept" for v in op.outputs)]
    assert len(writes) == 2
    (found,) = exe.run(test, feed={"x": IMAGE}, fetch_list=[out.name])
    np.testing.assert_array_equal(found, [2.0, 2.0])


def test_a_folded_program_is_an_inference_model(tmp_path):
    main, out, exe = network(BUILDS["conv"][0])
    folded = static.FoldBatchNorm([out]).transpile(main)
    block = folded.global_block()
    static.save_inference_model(str(tmp_path / "m"), [block.var("x")], [block.var(out.name)], exe)
    program, feeds, fetches = static.load_inference_model(str(tmp_path / "m"), exe)
    found, wanted = (
        exe.run(p, feed={feeds[0]: IMAGE}, fetch_list=f)[0] for p, f in ((program, fetches), (folded, [out]))
    )
    assert found.tobytes() == wanted.tobytes() and "batch_norm_infer" not in kinds(program)


def test_a_transpiler_keeps_its_hands_off_its_input():
    class Bad(static.Transpiler):
        def __init__(self, program):
            self.program = program

        def rewrite(self, program, scope):
            self.program.global_block().ops.pop()
            return program

    main, *_ = network(BUILDS["none"][0])
    with pytest.raises(InternalError, match="changed the program that it was made from"):
        Bad(main).transpile(main)
    with pytest.raises(TypeError, match="takes a Program, but received int"):
        static.FoldBatchNorm().transpile(3)
    with pytest.raises(NotImplementedError, match="must define rewrite"):
        static.Transpiler().transpile(main)


# --- weights of int8 -------------------------------------------------------------------------------------------------


def classifier(x):
    return nn.functional.softmax(static.nn.fc(static.nn.fc(x, 32, activation="relu"), 4))


def points(n, seed):
    """Points of four clouds, and which one each belongs to."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 4, (n, 1))
    centres = np.random.default_rng(9).normal(size=(4, 16)) * 1.2
    return (centres[label[:, 0]] + rng.normal(size=(n, 16))).astype("float32"), label


def test_a_trained_classifier_keeps_its_accuracy():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, label = static.data("x", [None, 16]), static.data("label", [None, 1], "int64")
        out = classifier(x)
        accuracy = static.accuracy(out, label)
        test = main.clone(for_test=True)
        paddle.optimizer.Adam(0.01).minimize(-paddle.log(paddle.take_along_axis(out, label, 1)).mean())
    exe = static.Executor()
    exe.run(startup)
    for step in range(60):
        a, b = points(64, step)
        exe.run(main, feed={"x": a, "label": b})
    a, b = points(2000, 1000)
    quantize = static.QuantizeWeights()
    small = quantize.transpile(main)
    full, quantized = (exe.run(p, feed={"x": a, "label": b}, fetch_list=[accuracy])[0].item() for p in (test, small))
    assert full > 0.9 and abs(full - quantized) < 0.01
    found = quantize.measure(exe, main, small, [{"x": a, "label": b}], out)
    assert found.same_choice > 0.99 and found.largest_difference < 0.05
    assert [w.name for w in quantize.weights] == ["fc_0.w_0", "fc_1.w_0"]
    assert all(w.bytes_after < 0.4 * w.bytes_before for w in quantize.weights)
    assert {v.dtype.name for v in small.list_vars() if v.name.endswith("int8")} == {"int8"}
    assert not small.global_block().has_var("fc_0.w_0") and "adam_update" not in kinds(small)


def test_errors_are_half_a_step_at_most():
    main, _, exe = network(
        lambda x: static.nn.fc(static.nn.conv2d_transpose(static.nn.conv2d(x, 8, 3), 4, filter_size=2), 6)
    )
    values = {name: value for name, value in main.state_dict().items() if value.ndim > 1}
    quantize = static.QuantizeWeights(smallest=1)
    small = quantize.transpile(main)
    assert len(quantize.weights) == 3
    for told in quantize.weights:
        value = values[told.name]
        axis = 0 if told.name.startswith("conv2d_0") else 1
        others = tuple(i for i in range(value.ndim) if i != axis)
        steps = np.abs(value).max(axis=others) / 127
        assert told.largest_error <= steps.max() * 0.5001
        assert told.bytes_before == value.nbytes and told.bytes_after == value.size + 4 * steps.size
    assert exe.run(small, feed={"x": IMAGE}) == []


def test_weights_that_are_shared_small_or_zero():
    def build(x):
        shared = paddle.ParamAttr(name="shared", initializer=nn.initializer.Constant(0.0))
        h = nn.Linear(8, 8, weight_attr=shared)(nn.Linear(8, 8, weight_attr=shared)(x))
        return nn.Linear(8, 1)(h)

    main, out, exe = network(build, (None, 8))
    quantize = static.QuantizeWeights()
    small = quantize.transpile(main)
    assert [(w.name, w.largest_error) for w in quantize.weights] == [("shared", 0.0)]
    rows = np.ones([2, 8], "float32")
    a, b = (exe.run(p, feed={"x": rows}, fetch_list=[out])[0] for p in (main, small))
    assert a.tobytes() == b.tobytes()
    with pytest.raises(ValueError, match="smallest must be positive"):
        static.QuantizeWeights(smallest=0).transpile(main)


def test_folding_and_quantizing_go_together(tmp_path):
    main, out, exe = network(lambda x: static.nn.fc(static.nn.batch_norm(static.nn.conv2d(x, 16, 3)), 6))
    (wanted,) = exe.run(main.clone(for_test=True), feed={"x": IMAGE}, fetch_list=[out])
    small = static.QuantizeWeights().transpile(static.FoldBatchNorm([out]).transpile(main))
    (found,) = exe.run(small, feed={"x": IMAGE}, fetch_list=[out])
    assert np.abs(found - wanted).max() < 0.03 * np.abs(wanted).max()
    sizes = []
    for i, program in enumerate((main, small)):
        block = program.global_block()
        path = tmp_path / str(i)
        static.save_inference_model(str(path), [block.var("x")], [block.var(out.name)], exe, program=program)
        sizes.append(path.with_suffix(".vtparams").stat().st_size)
    assert sizes[1] < 0.6 * sizes[0]
