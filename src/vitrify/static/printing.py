"""Print and Assert: what a program written by hand shows of its values when it runs."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from ..core.place import CPUPlace
from ..device.api import put
from ..eager.host_expr import FUNCTIONS, SAID
from ..ops.registry import define_op

_CPU = CPUPlace()
_FLAGS = ("name", "type", "shape", "layout", "lod")


class _Counter:
    """How often a Print has printed; it belongs to the operator, so a program with a limit cannot be stored."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def takes_one(self) -> bool:
        """Whether there is one left; it is used up."""
        self.left -= 1
        return self.left >= 0


def _shown(array: Any, summarize: int) -> str:
    flat = put(array, _CPU).reshape(-1)
    kept = flat if summarize < 0 else flat[:summarize]
    text = " ".join(map(str, kept.tolist()))
    return f"[{text}{' ...' if len(kept) < len(flat) else ''}]"


def _print_kernel(
    xp: Any, x: Any, *, label: str, message: str | None, summarize: int, shown: tuple[str, ...],
    phases: tuple[str, ...], counter: _Counter | None,
) -> tuple[Any, ...]:  # fmt: skip
    if "forward" in phases and (counter is None or counter.takes_one()):
        facts = {
            "name": f"Variable: {label}",
            "type": f"  - dtype: {x.dtype}",
            "shape": f"  - shape: {list(x.shape)}",
            "layout": "  - layout: NCHW",
            "lod": "  - lod: {}",
        }
        lines = [facts[flag] for flag in ("name", "lod", "shape", "layout", "type") if flag in shown]
        lines.append(f"  - data: {_shown(x, summarize)}")
        print("\n".join(lines) if message is None else "\n".join([message, *lines]))
    return (x,)


def _print_vjp(cts: Any, *, label: str, message: Any, summarize: Any, shown: Any, phases: Any, counter: Any) -> Any:
    if "backward" not in phases:
        return {"x": cts[0]}
    (out,) = print_tensor_op(
        cts[0], label=f"{label}@GRAD", message=message, summarize=summarize, shown=shown, phases=("forward",),
        counter=counter,
    )  # fmt: skip
    return {"x": out}


print_tensor_op = define_op(
    "print_tensor",
    kernel=_print_kernel,
    meta=lambda x, *, label, message, summarize, shown, phases, counter: (x,),
    vjp=_print_vjp,
    outputs=("*outs",),
    effect=True,
)

_PHASES = {"forward": ("forward",), "backward": ("backward",), "both": ("forward", "backward")}


def Print(
    input: Any, first_n: int = -1, message: str | None = None, summarize: int = 20, print_tensor_name: bool = True,
    print_tensor_type: bool = True, print_tensor_shape: bool = True, print_tensor_layout: bool = True,
    print_tensor_lod: bool = True, print_phase: str = "both",
) -> Any:  # fmt: skip
    """`input`, which the program prints here each time it runs, and its gradient where backward passes.

    first_n: print so many times only. message: a line before. summarize: how many elements, all for -1. The flags say
    what is printed beside the elements; print_phase is "forward", "backward" or "both". Use the result, for what nobody
    uses has no gradient. Raises ArgumentError for another phase. Source: paddle.static.Print.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = paddle.static.Print(x, message="The input:", print_tensor_layout=False, print_tensor_lod=False) * 2
        >>> _ = paddle.static.Executor().run(main, feed={"x": [1.0, 2.0]}, fetch_list=[y])
        The input:
        Variable: x
          - shape: [2]
          - dtype: float32
          - data: [1.0 2.0]
    """
    if print_phase not in _PHASES:
        raise ArgumentError(f"Print: print_phase must be 'forward', 'backward' or 'both', got {print_phase!r}")
    given = (print_tensor_name, print_tensor_type, print_tensor_shape, print_tensor_layout, print_tensor_lod)
    (out,) = print_tensor_op(
        input,
        label=input.name,
        message=message,
        summarize=summarize,
        shown=tuple(flag for flag, wanted in zip(_FLAGS, given) if wanted),
        phases=_PHASES[print_phase],
        counter=_Counter(first_n) if first_n >= 0 else None,
    )
    return out


class AssertError(ArgumentError, AssertionError):
    """The condition of an Assert does not hold."""


def _failed(summarize: int, *tensors: Any) -> AssertError:
    """The exception of an Assert that does not hold."""
    lines = ["the condition of Assert does not hold"]
    for index, tensor in enumerate(tensors):
        flat = tensor.flatten().tolist()
        kept = flat if summarize < 0 else flat[:summarize]
        text = ", ".join(map(str, kept)) + (", ..." if len(kept) < len(flat) else "")
        lines.append(f"  data {index}: {tensor.dtype.name}{list(tensor.shape)} [{text}]")
    return AssertError("\n".join(lines))


FUNCTIONS["failed Assert"] = _failed
SAID["failed Assert"] = "AssertionError: the condition of Assert does not hold"


def failed_assertion(count: int, summarize: int) -> tuple[Any, ...]:
    """The expression that makes the exception from `count` values; input 0 is the condition."""
    return ("call", "failed Assert", (("value", summarize), *(("tensor", i, True) for i in range(count))), ())


__all__ = ["Print", "failed_assertion", "print_tensor_op"]
