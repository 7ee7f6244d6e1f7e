"""Operators of optimizers and of random numbers, appended by name; PaddlePaddle 3.3.1 gave the numbers."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.common_ops_import import LayerHelper

PARAM, GRAD = np.array([0.5, -0.25], "float32"), np.array([0.1, 0.4], "float32")
STATE = np.array([0.2, 0.3], "float32")
ONE = {"Beta1Pow": np.array([0.9], "float32"), "Beta2Pow": np.array([0.999], "float32")}
MOMENTS = {"Moment1": STATE, "Moment2": STATE, **ONE}
CASES = {
    "adam": (
        MOMENTS, {"beta1": 0.8, "epsilon": 0.001},
        [[0.487267, -0.268478], [0.18, 0.32], [0.19981, 0.29986], [0.72], [0.998001]],
    ),
    "adamw": (
        MOMENTS, {"coeff": 0.05, "with_decay": True, "lr_ratio": 0.5},
        [[0.485309, -0.267277], [0.19, 0.31], [0.19981, 0.29986], [0.81], [0.998001]],
    ),
    "lamb": (
        MOMENTS, {"weight_decay": 0.02},
        [[0.464301, -0.293018], [0.19, 0.31], [0.19981, 0.29986], [0.81], [0.998001]],
    ),
    "adamax": (
        {"Moment": STATE, "InfNorm": STATE, "Beta1Pow": ONE["Beta1Pow"]}, {},
        [[-0.450951, -1.025], [0.19, 0.31], [0.1998, 0.4], [0.9]],
    ),
    "adagrad": (
        {"Moment": STATE}, {"epsilon": 1e-05},
        [[0.478179, -0.308976], [0.21, 0.46]],
    ),
    "adadelta": (
        {"AvgSquaredGrad": STATE, "AvgSquaredUpdate": STATE}, {"rho": 0.9},
        [[0.489488, -0.290967], [0.181, 0.286], [0.181105, 0.286783]],
    ),
    "rmsprop": (
        {"MeanSquare": STATE, "MeanGrad": STATE, "Moment": STATE}, {"decay": 0.8, "momentum": 0.5},
        [[0.375155, -0.476696], [0.162, 0.272], [0.2, 0.3], [0.124845, 0.226697]],
    ),
    "rmsprop centered": (
        {"MeanSquare": STATE, "MeanGrad": STATE, "Moment": STATE}, {"centered": True},
        [[0.47373, -0.34179], [0.181, 0.286], [0.19, 0.31], [0.0262703, 0.0917905]],
    ),
}  # fmt: skip


def step(kind, state, attrs):
    """What the operator makes of the parameter and of its state, in the order of the state."""
    arrays = {"Param": PARAM, "Grad": GRAD, "LearningRate": np.array([0.1], "float32"), **state}
    main = static.Program()
    with static.program_guard(main, static.Program()):
        held = {slot: static.data(slot, list(array.shape)) for slot, array in arrays.items()}
    written = {f"{slot}Out": held[slot] for slot in ("Param", *state)}
    main.global_block().append_op(type=kind, inputs=held, outputs=written, attrs=attrs)
    return static.Executor().run(main, feed=arrays, fetch_list=[v.name for v in written.values()])


@pytest.mark.parametrize("name", CASES)
def test_a_step(name):
    state, attrs, wanted = CASES[name]
    found = step(name.split()[0], state, attrs)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "attrs", "low", "high"),
    [
        ("uniform_random", {"min": 2.0, "max": 3.0, "dtype": 5}, 2, 3),
        ("gaussian_random", {"mean": 1.0, "std": 0.0, "dtype": 5}, 1, 1),
        ("randint", {"low": 4, "high": 6, "dtype": 3}, 4, 5),
    ],
)
def test_random_numbers(kind, attrs, low, high):
    main = static.Program()
    out = main.global_block().create_var(name="out")
    main.global_block().append_op(type=kind, outputs={"Out": out}, attrs={"shape": [50, 2], **attrs})
    (found,) = static.Executor().run(main, fetch_list=["out"])
    assert found.shape == (50, 2) and low <= found.min() and found.max() <= high
    assert found.dtype == (np.int64 if kind == "randint" else np.float32)


def test_a_bias_and_an_activation():
    x = paddle.to_tensor([[-1.0, 2.0]])
    helper = LayerHelper("mine", act={"type": "leaky_relu", "alpha": 0.5}, bias_attr=None)
    assert helper.append_activation(helper.append_bias_op(x)).tolist() == [[-0.5, 2.0]]
    plain = LayerHelper("mine", act=None, bias_attr=False)
    assert plain.append_activation(plain.append_bias_op(x)) is x
    assert LayerHelper("mine", act="relu").append_activation(x).tolist() == [[0.0, 2.0]]
