"""What is asked of every model: nothing here knows one of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import vitrify as paddle
from tests.end_to_end.differential import Outcome, content, is_float, same, walk
from tests.models.case import Call, Case, supervised, tensors

RTOL, ATOL = 1e-4, 1e-5


@dataclass
class Observed:
    """What one forward and backward of a model gave: outputs, loss, gradients of inputs and parameters, buffers."""

    outcome: Outcome
    values: dict[str, np.ndarray]


def as_it_is(fn: Any) -> Any:
    """Return `fn`: what stands for the compiler in eager runs."""
    return fn


def compiled(fn: Any, **options: Any) -> Any:
    """Return the static function of `fn`, which must become one program."""
    return paddle.jit.to_static(fn, full_graph=True, **options)


def built(case: Case) -> Any:
    """Return the model with reproducible parameters, in training mode."""
    paddle.seed(11)
    model = case.build()
    model.train()
    return model


def batch(case: Case, n: int, seed: int = 0) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Return reproducible inputs and labels for a batch of n."""
    rng = np.random.default_rng(seed)
    return case.inputs(rng, n), case.labels(rng, n)


def observed(case: Case, model: Any, forward: Callable[..., Any], n: int) -> Observed:
    """Run forward and backward once on a batch of n."""
    arrays, targets = batch(case, n)
    inputs = tensors(arrays)
    for x in inputs:
        x.stop_gradient = not is_float(x)
    paddle.seed(5)
    outputs = forward(*inputs)
    loss = case.loss(outputs, *tensors(targets))
    loss.backward()
    values = {"loss": np.array(loss.numpy())}
    leaves = [(f"input {i}", x) for i, x in enumerate(inputs)] + list(model.named_parameters())
    values.update((f"gradient of {name}", np.array(x.grad.numpy())) for name, x in leaves if x.grad is not None)
    values.update((f"buffer {name}", np.array(x.numpy())) for name, x in model.named_buffers())
    model.clear_gradients()
    return Observed(Outcome(content(outputs, {})), values)


def agree(eager: Observed, static: Observed) -> None:
    """Assert that outputs, with their structure, and all gradients and buffers are equal."""
    same(eager.outcome, static.outcome)
    equal_values(eager.values, static.values)


def equal_values(expected: dict[str, np.ndarray], got: dict[str, np.ndarray]) -> None:
    """Assert that both have the same names and, within float tolerance, the same arrays."""
    assert got.keys() == expected.keys()
    for name, value in expected.items():
        assert got[name].dtype == value.dtype
        scale = float(np.abs(value).max(initial=1.0)) if value.dtype.kind == "f" else 0.0
        np.testing.assert_allclose(got[name], value, RTOL, ATOL * scale, err_msg=name)


def outputs_of(model: Callable[..., Any], arrays: tuple[Any, ...]) -> list[np.ndarray]:
    """Return the tensors of what a model gives, in their order."""
    return [np.array(t.numpy()) for t in walk(model(*tensors(arrays)))]


def equal_outputs(expected: list[np.ndarray], got: list[np.ndarray]) -> None:
    """Assert that both are as many arrays, and equal ones."""
    assert len(expected) == len(got)
    equal_values(dict(zip(map(str, range(len(expected))), expected)), dict(zip(map(str, range(len(got))), got)))


def curve(case: Case, model: Any, compiler: Callable[[Any], Any], steps: int) -> list[float]:
    """Return the losses of so many steps on one batch."""
    paddle.seed(3)
    step = (case.trainer or supervised)(case, model, compiler)
    inputs, labels = batch(case, case.sizes[0])
    return [step(tensors(inputs), tensors(labels)) for _ in range(steps)]


def called(call: Call, method: Callable[..., Any], n: int) -> Outcome:
    """Run a method of a model once."""
    paddle.seed(9)
    with paddle.no_grad():
        result = method(*tensors(call.inputs(np.random.default_rng(1), n)), **dict(call.options))
    return Outcome(content(result, {}))


def twins(case: Case) -> tuple[Any, Any]:
    """Return two equal models."""
    model = built(case)
    return model, copy.deepcopy(model)
