"""Every Layer in a program written by hand computes what it does in eager code, on the first run and the second."""

import numpy as np
import pytest

import vitrify as paddle
from tests.nn.layer_cases import CASES
from vitrify import static
from vitrify.eager.tensor import Tensor


def arrays(case):
    rng = np.random.default_rng(0)
    return [rng.normal(size=g).astype("float32") if isinstance(g, tuple) else np.asarray(g) for g in case.inputs]


def flat(outputs):
    if isinstance(outputs, (list, tuple)):
        return [t for item in outputs for t in flat(item)]
    return [outputs] if isinstance(outputs, (Tensor, static.Variable)) else []


def started(make, given):
    """A program of the Layer, its outputs, and an Executor that has run the startup program."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        fed = [static.data(f"x{i}", a.shape, a.dtype) for i, a in enumerate(given)]
        layer = make()
        outputs = flat(layer(*fed))
    exe = static.Executor()
    paddle.seed(3)
    exe.run(startup)
    return main, layer, outputs, exe


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_program_of_the_layer(case):
    given = arrays(case)
    feed = {f"x{i}": a for i, a in enumerate(given)}
    with static.scope_guard(static.Scope()):
        main, layer, outputs, exe = started(case.make, given)
        eager = case.make()
        state = {name: p.get_value() for name, p in layer.named_parameters()}
        assert state.keys() == {name for name, _ in eager.named_parameters()}
        for name, p in eager.named_parameters():
            assert p.name.split(".")[-1] == dict(layer.named_parameters())[name].name.split(".")[-1]
            p.set_value(state[name])
        for _ in range(2):
            paddle.seed(5)
            found = exe.run(main, feed=feed, fetch_list=outputs)
            paddle.seed(5)
            wanted = flat(eager(*map(paddle.to_tensor, given)))
            assert len(found) == len(wanted)
            for one, two in zip(found, wanted):
                np.testing.assert_allclose(one, two.numpy(), rtol=1e-5, atol=1e-6)
