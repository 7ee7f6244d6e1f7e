"""auto_cast: ops inside compute in float16 or bfloat16 where that is safe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.errors import ArgumentError
from ..core.modes import AmpState, Scoped
from ..core.modes import amp_state as _state
from ..core.place import CUDAPlace, as_place, current_place
from .op_names import our_op_names

LEVELS = ("O0", "OD", "O1", "O2")
DTYPES = ("float16", "bfloat16")


def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: str = "float16",
    use_promote: bool = True,
) -> Scoped[AmpState | None]:
    """A context (or decorator) in which ops compute in `dtype` where that is safe, on every place.

    level: "O1" casts for ops that gain (matmul, convolution) and back to float32 for those that need the range (exp,
    softmax, losses); "O2" computes in `dtype` but for the latter, with parameters cast by `decorate`; "OD" computes
    everything but the gaining ops in float32; "O0" changes nothing. custom_white_list, custom_black_list: op names
    that gain or need the range, in addition. use_promote: at O2 an op with a float32 input computes in float32.
    Raises ArgumentError for other levels and dtypes and for a name in both lists. Source: paddle.amp.auto_cast.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([2, 2])
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     print(paddle.matmul(x, x).dtype, paddle.exp(x).dtype)
        paddle.bfloat16 paddle.float32
    """
    if level not in LEVELS:
        raise ArgumentError(f"auto_cast: level must be O0, OD, O1 or O2, got {level!r}")
    if enable and dtype not in DTYPES:
        raise ArgumentError(f"auto_cast: dtype must be 'float16' or 'bfloat16', got {dtype!r}")
    allow, deny = our_op_names(custom_white_list), our_op_names(custom_black_list)
    if allow & deny:
        raise ArgumentError(f"auto_cast: these ops are in both custom lists: {', '.join(sorted(allow & deny))}")
    off = not enable or level == "O0"
    return Scoped(_state, None if off else AmpState(level, dtype, allow, deny, use_promote))


def autocast(
    device_type: Any = None, dtype: str = "float16", enabled: bool = True, cache_enabled: bool = True
) -> Scoped[AmpState | None]:
    """`auto_cast` at level O1, on every place; cache_enabled has no effect. Source: paddle.autocast.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.autocast("cpu", "bfloat16"):
        ...     print(paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])).dtype)
        paddle.bfloat16
    """
    return auto_cast(enabled, dtype=dtype)


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether auto_cast is in force here. Source: paddle.amp.is_autocast_enabled.

    Example:
        >>> import vitrify as paddle
        >>> paddle.amp.is_autocast_enabled()
        False
    """
    return _state.get() is not None


def amp_state() -> dict[str, Any] | None:
    """What `auto_cast` was told, by the names of its arguments; None where it is not in force.

    Source: paddle.amp.auto_cast.amp_state.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.amp.auto_cast import amp_state
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     print(amp_state()["dtype"], amp_state()["level"])
        bfloat16 O1
    """
    state = _state.get()
    if state is None:
        return None
    return {
        "enable": True, "custom_white_list": set(state.allow) or None, "custom_black_list": set(state.deny) or None,
        "level": state.level, "dtype": state.dtype, "use_promote": state.promote,
    }  # fmt: skip


def get_autocast_dtype(device_type: Any = None) -> str:
    """The dtype that auto_cast computes in here; "float16" outside of it. Source: paddle.amp.get_autocast_dtype.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     paddle.amp.get_autocast_dtype()
        'bfloat16'
    """
    state = _state.get()
    return "float16" if state is None else state.dtype


get_autocast_cpu_dtype = get_autocast_dtype
get_autocast_gpu_dtype = get_autocast_dtype


def is_float16_supported(device: str | None = None) -> bool:
    """Whether float16 computes faster than float32 on this kind of device: on GPUs.

    Every op takes float16 on every device. Source: paddle.amp.is_float16_supported.

    Example:
        >>> import vitrify as paddle
        >>> paddle.amp.is_float16_supported("cpu")
        False
    """
    return _on_gpu(device)


def is_bfloat16_supported(device: str | None = None) -> bool:
    """Whether this kind of device computes in bfloat16: every one does, CPUs as in PaddlePaddle.

    Raises ArgumentError for what is no device. Source: paddle.amp.is_bfloat16_supported.

    Example:
        >>> import vitrify as paddle
        >>> paddle.amp.is_bfloat16_supported("cpu")
        True
    """
    if device is not None:
        as_place(device)
    return True


def _on_gpu(device: str | None) -> bool:
    place = current_place() if device is None else as_place(device)
    return isinstance(place, CUDAPlace)
