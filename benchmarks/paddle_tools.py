"""What every workload does with Paddle's interface, in vitrify and in Paddle itself."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.data import Floats


def load(layer: Any, arrays: list[Floats]) -> None:
    """Set the layer's parameters, in order."""
    for parameter, array in zip(layer.parameters(), arrays, strict=True):
        parameter.set_value(array)


def training(paddle: Any, compiled: bool, layer: Any, optimizer: Any, *inputs: Any) -> Case:
    """Return the case of one training step of a layer whose forward returns the loss."""
    forward = paddle.jit.to_static(layer, full_graph=True) if compiled else layer

    def step() -> Any:
        loss = forward(*inputs)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return Case(step, float)


def plain(paddle: Any, compiled: bool, function: Callable[..., Any], *inputs: Any) -> Case:
    """Return the case of calling a function, whose results are averaged for comparison."""
    call = paddle.jit.to_static(function, full_graph=True) if compiled else function
    return Case(lambda: call(*inputs), lambda result: float(result.astype("float64").mean()))
