"""Each model, eager and static side by side: outputs, gradients, training, both ways to save, its other methods."""

import copy

import pytest

import vitrify as paddle
from tests.models import checks
from tests.models.zoo import all_cases

CASES = all_cases()
MODELS = [pytest.param(c, id=c.name, marks=[pytest.mark.slow] if c.slow else []) for c in CASES]
CALLS = [pytest.param(c, call, id=f"{c.name}-{call.method}-{i}") for c in CASES for i, call in enumerate(c.calls)]
EVERY_MODEL = pytest.mark.parametrize("case", MODELS)


def specs(case):
    made = case.inputs(checks.np.random.default_rng(0), 2)
    return [paddle.static.InputSpec(shape, str(x.dtype)) for shape, x in zip(case.shapes(), made)]


@EVERY_MODEL
def test_static_equals_eager(case):
    """First with the sizes of each call, then from one program for all sizes."""
    eager, model = checks.twins(case)
    varying = checks.compiled(copy.deepcopy(model), input_spec=specs(case))
    static = checks.compiled(model)
    for n in (case.sizes[0], case.sizes[0], *case.sizes[1:]):
        expected = checks.observed(case, eager, eager, n)
        checks.agree(expected, checks.observed(case, static, static, n))
        checks.agree(expected, checks.observed(case, varying, varying, n))
    assert len(varying.forward.program_cache) == 1


@EVERY_MODEL
def test_it_trains(case):
    eager, static = checks.twins(case)
    losses = checks.curve(case, eager, checks.as_it_is, case.steps)
    assert losses[-1] < losses[0]
    checks.np.testing.assert_allclose(checks.curve(case, static, checks.compiled, case.steps), losses, 1e-3, 1e-4)


@EVERY_MODEL
def test_its_state_reloads(case, tmp_path):
    model = checks.built(case)
    paddle.seed(12)
    other = case.build()
    paddle.save(model.state_dict(), str(tmp_path / "model.pdparams"))
    missing, unexpected = other.set_state_dict(paddle.load(str(tmp_path / "model.pdparams")))
    assert not missing
    assert not unexpected
    model.eval()
    other.eval()
    inputs, _ = checks.batch(case, case.sizes[0])
    checks.equal_outputs(checks.outputs_of(model, inputs), checks.outputs_of(other, inputs))


# What a model notes on itself, such as the last inputs, is not in the file, and saving says so.
@pytest.mark.filterwarnings("ignore:jit.save leaves out")
@EVERY_MODEL
def test_its_program_reloads(case, tmp_path):
    model = checks.built(case)
    model.eval()
    paddle.jit.save(copy.deepcopy(model), str(tmp_path / "model"), input_spec=specs(case))
    loaded = paddle.jit.load(str(tmp_path / "model"))
    for n in case.sizes:
        inputs, _ = checks.batch(case, n)
        checks.equal_outputs(checks.outputs_of(model, inputs), checks.outputs_of(loaded, inputs))


@pytest.mark.parametrize(("case", "call"), CALLS)
def test_its_methods_convert(case, call):
    model = checks.built(case)
    model.eval()
    static = checks.compiled(getattr(model, call.method))
    for n in (case.sizes[0], case.sizes[0], *case.sizes[1:]):
        checks.same(checks.called(call, getattr(model, call.method), n), checks.called(call, static, n))
