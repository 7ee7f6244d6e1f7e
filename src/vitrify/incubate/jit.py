"""Layers and functions that only infer, each compiled at its first call. Source: paddle.incubate.jit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from ..core.errors import DTypeError
from ..eager.grad_mode import no_grad
from ..eager.layer import Layer
from ..jit import to_static

_MARK = "_only_infers"


def inference(
    function: Any = None, cache_static_model: bool = False, save_model_dir: str | None = None,
    memory_pool_init_size_mb: int = 1000, precision_mode: str = "float32", switch_ir_optim: bool = True,
    switch_ir_debug: bool = False, enable_cinn: bool = False, with_trt: bool = False,
    trt_precision_mode: str = "float32", trt_use_static: bool = False, collect_shape: bool = False,
    enable_new_ir: bool = False, exp_enable_use_cutlass: bool = False,
    delete_pass_lists: Sequence[str] | None = None, skip_prune_program: bool = False,
) -> Any:  # fmt: skip
    """The function, compiled as one program without gradients; a Layer itself, of which `forward` is that from here on.

    Also a decorator, `@inference()` or `@inference`, of functions and of methods of Layers. The other arguments are
    settings of PaddlePaddle's engines and of the files in which it keeps programs: programs stay in memory here, and
    nothing is changed by them. Raises DTypeError for what cannot be called; calls raise what `to_static` with
    full_graph=True does. Source: paddle.incubate.jit.inference.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.incubate.jit.inference(paddle.nn.Linear(2, 2))
        >>> net(paddle.ones([1, 2])).stop_gradient, paddle.incubate.jit.is_inference_mode(net.forward)
        (True, True)
    """
    if function is None:
        return _inferring
    return _inferring(function)


def _inferring(function: Any) -> Any:
    if isinstance(function, Layer):
        function.forward = _inferring(function.forward)  # type: ignore[method-assign]
        return function
    if not callable(function):
        raise DTypeError(f"inference: expects a Layer or a function, got {type(function).__name__}")
    program = to_static(function, full_graph=True)

    @wraps(function)
    def infer(*args: Any, **kwargs: Any) -> Any:
        with no_grad():
            return program(*args, **kwargs)

    setattr(infer, _MARK, True)
    return infer


def is_inference_mode(func: Callable[..., Any]) -> bool:
    """Whether `inference` made this function. Source: paddle.incubate.jit.is_inference_mode.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.jit.is_inference_mode(paddle.nn.Linear(2, 2).forward)
        False
    """
    return bool(getattr(func, _MARK, False))


__all__ = ["inference", "is_inference_mode"]
