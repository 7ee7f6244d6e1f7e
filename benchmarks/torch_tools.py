"""What every workload does in PyTorch."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.data import Floats


def load(module: Any, arrays: list[Floats]) -> None:
    """Set the module's parameters, in order; the weights of linear layers are stored transposed here."""
    import torch

    transposed = {id(m.weight) for m in module.modules() if isinstance(m, torch.nn.Linear)}
    for parameter, array in zip(module.parameters(), arrays, strict=True):
        parameter.data = torch.tensor(array.T if id(parameter) in transposed else array).contiguous()


def training(compiled: bool, module: Any, optimizer: Any, *inputs: Any) -> Case:
    """Return the case of one training step of a module whose forward returns the loss."""
    import torch

    forward = torch.compile(module) if compiled else module

    def step() -> Any:
        loss = forward(*inputs)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return Case(step, float)


def inference(compiled: bool, module: Any, *inputs: Any) -> Case:
    """Return the case of one evaluation of a module, without gradients; the outputs are averaged for comparison."""
    import torch

    module.eval()
    forward = torch.compile(module) if compiled else module

    def step() -> Any:
        with torch.no_grad():
            return forward(*inputs)

    return Case(step, lambda result: float(result.double().abs().mean()))


def plain(
    compiled: bool,
    function: Callable[..., Any],
    *inputs: Any,
    value: Callable[[Any], float] | None = None,
) -> Case:
    """Return the case of calling a function; `value` of its results is compared, or their mean."""
    import torch

    call = torch.compile(function) if compiled else function
    return Case(lambda: call(*inputs), value or (lambda result: float(result.double().mean())))
