"""What every workload does with Paddle's interface, in vitrify and in Paddle itself."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.data import Floats


def load(layer: Any, arrays: list[Floats]) -> None:
    """Set the layer's parameters, in order; the statistics of batch norm are among them, but nothing trains those."""
    trained = [parameter for parameter in layer.parameters() if not parameter.stop_gradient]
    for parameter, array in zip(trained, arrays, strict=True):
        parameter.set_value(array)


def training(paddle: Any, compiled: bool, layer: Any, optimizer: Any, *inputs: Any) -> Case:
    """Return the case of one training step of a layer whose forward returns the loss.

    vitrify compiles the whole step; Paddle's to_static takes the forward part alone.
    """
    whole = compiled and paddle.__name__ == "vitrify"
    forward = paddle.jit.to_static(layer, full_graph=True) if compiled and not whole else layer

    def step() -> Any:
        loss = forward(*inputs)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
        return loss

    return Case(paddle.jit.to_static(step, full_graph=True) if whole else step, float)


def inference(paddle: Any, compiled: bool, layer: Any, *inputs: Any) -> Case:
    """Return the case of one evaluation of a layer, without gradients; the outputs are averaged for comparison."""
    layer.eval()
    forward = paddle.jit.to_static(layer, full_graph=True) if compiled else layer

    def step() -> Any:
        with paddle.no_grad():
            return forward(*inputs)

    return Case(step, lambda result: float(result.astype("float64").abs().mean()))


def plain(
    paddle: Any,
    compiled: bool,
    function: Callable[..., Any],
    *inputs: Any,
    value: Callable[[Any], float] | None = None,
) -> Case:
    """Return the case of calling a function; `value` of its results is compared, or their mean."""
    call = paddle.jit.to_static(function, full_graph=True) if compiled else function
    return Case(lambda: call(*inputs), value or (lambda result: float(result.astype("float64").mean())))
