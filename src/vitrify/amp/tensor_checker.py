"""Checks of what operators give: which ones, how loudly, in which iterations."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import Any

from ..core.dtype import DType, from_np
from ..core.errors import ArgumentError, DTypeError
from ..core.inspector import dismiss, enlist
from ..core.outside import outside_programs
from ..ops import numerics
from ..ops.numerics import Numerics, deserves_report, not_finite, report_line
from ..ops.registry import StructuralGradient
from .op_names import our_op_names


class DebugMode(Enum):
    """How loudly numbers are checked. Source: paddle.amp.debugging.DebugMode.

    CHECK_NAN_INF_AND_ABORT reports a tensor with NaN or infinities and raises NotFiniteError; CHECK_NAN_INF reports
    and goes on; CHECK_ALL_FOR_OVERFLOW also reports float32 tensors that float16 (to 65504) could not hold; CHECK_ALL
    reports every floating tensor.

    Example:
        >>> import vitrify as paddle
        >>> [mode.name for mode in paddle.amp.debugging.DebugMode][:2]
        ['CHECK_NAN_INF_AND_ABORT', 'CHECK_NAN_INF']
    """

    CHECK_NAN_INF_AND_ABORT = numerics.ABORT
    CHECK_NAN_INF = numerics.REPORT
    CHECK_ALL_FOR_OVERFLOW = numerics.OVERFLOW
    CHECK_ALL = numerics.EVERYTHING


class TensorCheckerConfig:
    """Which results of operators `enable_tensor_checker` looks at, and what it does about bad ones.

    enable: whether anything is checked. debug_mode: see DebugMode. output_dir: a folder for the reports, one file for
    each device; None prints them. checked_op_list, skipped_op_list: names of ops, ours or Paddle's, that alone are
    checked, or are not. debug_step: (first, end), the iterations to check, first <= i < end, where each
    `enable_tensor_checker` begins one and the first is number 0; iterations before `first` count, which they do not
    in PaddlePaddle 3.3. stack_height_limit: without effect, errors show the user's line always. The random seed stays
    as it is. Raises DTypeError for another debug_mode and for names or steps that are no list or tuple, ArgumentError
    for steps that are not two rising numbers. Source: paddle.amp.debugging.TensorCheckerConfig.

    Example:
        >>> import vitrify as paddle
        >>> debugging = paddle.amp.debugging
        >>> config = debugging.TensorCheckerConfig(True, debugging.DebugMode.CHECK_NAN_INF, skipped_op_list=["log"])
        >>> debugging.enable_tensor_checker(config)
        >>> x = paddle.log(paddle.to_tensor([0.0, 1.0])) * 2
        [PRECISION] [ERROR] in [device=cpu, op=multiply, tensor=, dtype=fp32], numel=2, num_nan=0, num_inf=1, ...
        >>> debugging.disable_tensor_checker()
    """

    current_step_id = 0

    def __init__(
        self, enable: bool, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT, output_dir: str | None = None,
        checked_op_list: Sequence[str] | None = None, skipped_op_list: Sequence[str] | None = None,
        debug_step: Sequence[int] | None = None, stack_height_limit: int = 1,
    ) -> None:  # fmt: skip
        if not isinstance(debug_mode, DebugMode):
            raise DTypeError(f"TensorCheckerConfig: debug_mode must be a DebugMode, got {debug_mode!r}")
        given = {"checked_op_list": checked_op_list, "skipped_op_list": skipped_op_list, "debug_step": debug_step}
        for name, value in given.items():
            if value is not None and not isinstance(value, (list, tuple)):
                raise DTypeError(f"TensorCheckerConfig: {name} must be a list or a tuple, got {value!r}")
        if debug_step is not None and (len(debug_step) != 2 or not debug_step[0] < debug_step[1]):
            raise ArgumentError(f"TensorCheckerConfig: debug_step must be (first, end), got {debug_step!r}")
        self.enable = enable
        self.debug_mode = debug_mode
        self.output_dir = output_dir
        self.checked_op_list = checked_op_list
        self.skipped_op_list = skipped_op_list
        self.debug_step = debug_step
        self.stack_height_limit = stack_height_limit
        self.start_step = None if debug_step is None else max(debug_step[0], 0)
        self.end_step = None if debug_step is None else debug_step[1]

    def update_and_check_step_id(self) -> bool:
        """Begin one more iteration; returns whether it is one to check."""
        step, self.current_step_id = self.current_step_id, self.current_step_id + 1
        if self.start_step is None or self.end_step is None:
            return self.enable
        return self.enable and self.start_step <= step < self.end_step

    def start_check_nan_inf(self) -> None:
        """Check from here on, in whatever iteration."""
        self.stop_check_nan_inf()
        enlist(TensorChecker(self))

    def stop_check_nan_inf(self) -> None:
        """Check nothing from here on."""
        dismiss(TensorChecker)


class TensorChecker:
    """Looks at the floating results of the ops that a configuration asks for."""

    def __init__(self, config: TensorCheckerConfig) -> None:
        self._mode = config.debug_mode.value
        self._only = None if config.checked_op_list is None else our_op_names(config.checked_op_list)
        self._skipped = our_op_names(config.skipped_op_list)
        self._folder = None if config.output_dir is None else Path(config.output_dir)
        self._lock = Lock()

    def saw(self, op: Any, dtype: DType | None, results: Sequence[Any]) -> None:
        """Report results with bad numbers; raises NotFiniteError where the mode says so."""
        is_asked_for = op.name not in self._skipped and (self._only is None or op.name in self._only)
        if not is_asked_for or isinstance(op.vjp, StructuralGradient):  # an `if` gives what its operators gave
            return
        for array in results:
            if hasattr(array, "dtype") and from_np(array.dtype).is_inexact:
                self._check(op.name, array)

    def _check(self, op: str, array: Any) -> None:
        numbers = Numerics.of(array)
        if deserves_report(numbers, from_np(array.dtype), self._mode):
            self._say(array, report_line(array, numbers, op, ""))
        if numbers.are_bad and self._mode == numerics.ABORT:
            raise not_finite(array, numbers, op, "")

    def _say(self, array: Any, line: str) -> None:
        if self._folder is None:
            print(line)
            return
        on = getattr(array, "device", "cpu")
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"worker_{on if isinstance(on, str) else f'gpu.{on.id}'}.log"
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Check the results of operators from here on, eager ones and those of programs, gradients and updates included.

    It begins an iteration of the configuration; outside of its `debug_step` nothing is checked. While a check is on,
    programs run operator by operator, as they were recorded. Raises DTypeError for what is no TensorCheckerConfig,
    UnsupportedError in a function that is compiled with full_graph=True.
    Source: paddle.amp.debugging.enable_tensor_checker.

    Example:
        >>> import vitrify as paddle
        >>> debugging = paddle.amp.debugging
        >>> debugging.enable_tensor_checker(debugging.TensorCheckerConfig(enable=True))
        >>> try:
        ...     paddle.to_tensor([1.0, -1.0]) / 0
        ... except RuntimeError as err:
        ...     print(str(err).splitlines()[0])
        ... finally:
        ...     debugging.disable_tensor_checker()
        [PRECISION] [ERROR] in [device=cpu, op=divide, tensor=, dtype=fp32], numel=2, num_nan=0, num_inf=2, ...
        divide: there are 0 NaN and 2 Inf values in [device=cpu, op=divide, tensor=, dtype=fp32]
    """
    outside_programs("enable_tensor_checker")
    if not isinstance(checker_config, TensorCheckerConfig):
        raise DTypeError(f"enable_tensor_checker: expected a TensorCheckerConfig, got {checker_config!r}")
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Check nothing from here on; backward and updates behind this call are not checked.

    Raises UnsupportedError in a function that is compiled with full_graph=True.
    Source: paddle.amp.debugging.disable_tensor_checker.

    Example:
        >>> import vitrify as paddle
        >>> debugging = paddle.amp.debugging
        >>> debugging.enable_tensor_checker(debugging.TensorCheckerConfig(enable=True))
        >>> debugging.disable_tensor_checker()
        >>> (paddle.to_tensor([1.0]) / 0).tolist()
        [inf]
    """
    outside_programs("disable_tensor_checker")
    dismiss(TensorChecker)
