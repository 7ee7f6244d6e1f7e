"""`paddle.static.amp`: mixed precision for programs written by hand.

`decorate` wraps an optimizer: its `minimize` casts the operators of the forward part, scales the loss, and leaves out
updates whose gradients are not finite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..core import names
from ..core.dtype import as_dtype, float32, int64
from ..core.errors import ArgumentError
from ..core.meta import Meta
from ..core.modes import AmpState, amp_state, grad_enabled, scoped
from ..ir.builder import Builder, building
from ..ir.guard import create_persistable, program_guard
from ..ir.program import Block, Literal, Operator, Program, Variable
from ..ir.surgery import find_op
from ..ir.text import FORWARD
from ..ops.amp_policy import cast_for_amp
from ..ops.compare import isfinite, logical_and
from ..ops.creation import assign, full
from ..ops.like import cast
from ..ops.select import maximum, where

Pairs = list[tuple[Any, Any]]


@contextmanager
def fp16_guard() -> Iterator[None]:
    """A block whose operators may run in float16, where a program is cast as a whole.

    vitrify chooses per operator (`paddle.amp.auto_cast`), so the mark has no effect.
    Source: paddle.static.amp.fp16_guard.

    >>> with fp16_guard():
    ...     pass
    """
    yield


class CustomOpLists:
    """Ops, by our names or Paddle's, that compute in the low precision, and such that never do.

    Raises ArgumentError for an op in both lists, and for names that no op has.
    Source: paddle.static.amp.CustomOpLists.

    Example:
        >>> import vitrify as paddle
        >>> sorted(paddle.static.amp.CustomOpLists(custom_black_list=["matmul_v2", "relu"]).black_list)
        ['matmul', 'relu']
    """

    def __init__(
        self,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None,
        dtype: str = "float16",
    ) -> None:
        self.white_list = frozenset(find_op(name).name for name in custom_white_list or ())
        self.black_list = frozenset(find_op(name).name for name in custom_black_list or ())
        self.black_varnames = frozenset(custom_black_varnames or ())
        self.dtype = dtype
        both = self.white_list & self.black_list
        if both:
            raise ArgumentError(f"CustomOpLists: these ops are in both lists: {', '.join(sorted(both))}")


AutoMixedPrecisionLists = CustomOpLists


def decorate(
    optimizer: Any,
    amp_lists: CustomOpLists | None = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    master_grad: bool = False,
    init_loss_scaling: float = 2.0**15,
    incr_every_n_steps: int = 1000,
    decr_every_n_nan_or_inf: int = 2,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.8,
    use_dynamic_loss_scaling: bool | None = None,
    use_amp_guard: bool = False,
    use_promote: bool = False,
    use_pure_fp16: bool = False,
    use_fp16_guard: bool | None = None,
    use_bf16: bool = False,
) -> MixedPrecisionOptimizer:
    """`optimizer`, whose `minimize` computes the forward part of the program in `dtype` where that is safe.

    level: "O1" or "O2", as in `paddle.amp.auto_cast`; parameters stay float32. The loss is scaled, by default for
    float16 only, and a step whose gradients are not finite changes nothing but the scale. master_weight, master_grad
    and use_amp_guard change nothing here. Older programs say use_pure_fp16=True for level="O2", use_bf16=True for
    dtype="bfloat16", and use_fp16_guard for use_amp_guard. Raises ArgumentError for other levels and dtypes.
    Source: paddle.static.amp.decorate; Micikevicius et al. 2017.

    Example:
        >>> import vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     loss = paddle.static.nn.fc(paddle.static.data("x", [None, 4]), 2).mean()
        ...     optimizer = paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), dtype="bfloat16")
        ...     _ = optimizer.minimize(loss)
        >>> [op.type for op in main.global_block().ops[:4]]
        ['cast', 'cast', 'mul', 'cast']
    """
    level, dtype = "O2" if use_pure_fp16 else level, "bfloat16" if use_bf16 else dtype
    if level not in ("O1", "O2"):
        raise ArgumentError(f"amp.decorate: level must be O1 or O2, got {level!r}")
    if dtype not in ("float16", "bfloat16"):
        raise ArgumentError(f"amp.decorate: dtype must be 'float16' or 'bfloat16', got {dtype!r}")
    lists = amp_lists or CustomOpLists()
    state = AmpState(level, dtype, lists.white_list, lists.black_list, use_promote or level == "O1")
    dynamic = dtype == "float16" if use_dynamic_loss_scaling is None else use_dynamic_loss_scaling
    scaling = _Scaling(
        init_loss_scaling if dynamic or dtype == "float16" else 1.0,
        (incr_every_n_steps, incr_ratio),
        (decr_every_n_nan_or_inf, decr_ratio),
        dynamic,
    )
    return MixedPrecisionOptimizer(optimizer, state, scaling, lists.black_varnames)


class _Scaling:
    """How the scale of the loss changes: by which factor after how many good or bad steps."""

    def __init__(self, start: float, up: tuple[int, float], down: tuple[int, float], dynamic: bool) -> None:
        self.start = float(start)
        self.up = up
        self.down = down
        self.dynamic = dynamic
        self.scale: Any = None

    def make(self) -> Variable:
        """The variable of the scope that holds the scale."""
        scale: Variable = _kept("loss_scaling", self.start, float32)
        self.scale = scale
        return scale

    def update(self, finite: Any) -> None:
        """Record how the scale follows whether the gradients were finite."""
        if not self.dynamic:
            return
        good, bad = _kept("num_good_steps", 0, int64), _kept("num_bad_steps", 0, int64)
        zero = full([], 0, "int64")
        more_good, more_bad = where(finite, good + 1, zero), where(finite, zero, bad + 1)
        grows, shrinks = more_good >= self.up[0], more_bad >= self.down[0]
        smaller = maximum(self.scale * self.down[1], full([], 1.0, "float32"))
        assign(where(grows, self.scale * self.up[1], where(shrinks, smaller, self.scale)), self.scale)
        assign(where(grows, zero, more_good), good)
        assign(where(shrinks, zero, more_bad), bad)


def _kept(key: str, start: float, dtype: Any) -> Variable:
    return create_persistable(Meta((), dtype), names.generate(key), lambda: full([], start, dtype))


class MixedPrecisionOptimizer:
    """An optimizer for programs in mixed precision; `decorate` makes it. What it lacks is asked of the optimizer."""

    def __init__(self, optimizer: Any, state: AmpState, scaling: _Scaling, black_varnames: frozenset[str]) -> None:
        self._optimizer = optimizer
        self._state = state
        self._scaling = scaling
        self._black_varnames = black_varnames

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)

    def get_loss_scaling(self) -> Any:
        """The variable that holds the scale; None before `minimize` or `backward`."""
        return self._scaling.scale

    def amp_init(self, place: Any, scope: Any = None, test_program: Any = None, use_fp16_test: bool = False) -> None:
        """Do nothing: parameters stay float32, and operators cast them."""

    def backward(
        self, loss: Variable, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> Pairs:  # fmt: skip
        """The pairs of parameter and scaled gradient, behind the casts in the forward part."""
        program = loss.block.program
        with program_guard(program, startup_program):
            cast_forward(program.global_block(), self._state, self._black_varnames)
            scaled = cast(loss, "float32") * self._scaling.make()
        pairs: Pairs = self._optimizer.backward(scaled, startup_program or None, parameter_list, no_grad_set)
        return pairs

    def apply_gradients(self, params_grads: Pairs, startup_program: Any = None) -> list[Any]:
        """The update operators, on gradients divided by the scale; they have no effect where one is not finite."""
        program: Program = params_grads[0][0].block.program
        block = program.global_block()
        with program_guard(program, startup_program), scoped(grad_enabled, False), program.adding("optimize"):
            pairs = [(p, cast(g, "float32") / self._scaling.scale) for p, g in params_grads]
            finite = isfinite(pairs[0][1]).all()
            for _, grad in pairs[1:]:
                finite = logical_and(finite, isfinite(grad).all())
            mark = len(block.ops)
            updates: list[Any] = self._optimizer.apply_gradients(pairs)
            _only_where(block, mark, finite)
            self._scaling.update(finite)
        return updates

    def apply_optimize(self, loss: Any, startup_program: Any, params_grads: Pairs) -> list[Any]:
        """`apply_gradients` with the state filled by `startup_program`."""
        return self.apply_gradients(params_grads, startup_program)

    def minimize(
        self, loss: Variable, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], Pairs]:
        """Casts, backward and updates appended to the program; (update operators, pairs with scaled gradients)."""
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        return self.apply_gradients(pairs, startup_program), pairs


def _only_where(block: Block, mark: int, finite: Any) -> None:
    """Let what the operators from `mark` on write into the scope stay as it was unless `finite`."""
    added = block.ops[mark:]
    written = list(dict.fromkeys(v for op in added for v in op.outputs if v.persistable))
    del block.ops[mark:]
    held = [assign(var) for var in written]
    block.ops += added
    for var, before in zip(written, held):
        assign(where(finite, var, before), var)


def cast_forward(block: Block, state: AmpState, black_varnames: frozenset[str] = frozenset()) -> None:
    """Cast the inputs of the forward operators as auto_cast does, and let their outputs be what follows from that.

    Branches and loops keep what they hold, and get what they take in the dtypes that they had.
    """
    pending = list(block.ops)
    block.ops[:] = []
    builder = Builder(block.program)
    before = {var: var.dtype for op in pending for var in op.outputs if isinstance(var.meta, Meta)}
    for operator in pending:
        if operator.role == FORWARD and operator.blocks:
            with building(builder), builder.at(operator.locs), scoped(amp_state, None):
                operator.inputs = tuple([_as_before(v, before) for v in operator.inputs])
        elif operator.role == FORWARD:
            own = AmpState("O1", state.dtype, deny=frozenset([operator.op.name]))
            barred = black_varnames.intersection(operator.input_arg_names)
            with building(builder), builder.at(operator.locs), scoped(amp_state, own if barred else state):
                operator.inputs = tuple(_cast_inputs(operator))
            _settle(operator, builder)
        block.ops.append(operator)


def _as_before(value: Any, before: Mapping[Variable, Any]) -> Any:
    dtype = before.get(value) if isinstance(value, Variable) else None
    return value if dtype is None or value.dtype is dtype else cast(value, dtype)


def _cast_inputs(operator: Operator) -> list[Any]:
    count = len(operator.inputs) - operator.ref_count
    own = [v if isinstance(v, Variable) else None for v in operator.inputs[:count]]
    with_casts = cast_for_amp(operator.op, own)
    floats = [v.dtype for v in with_casts if v is not None and v.dtype.is_floating]
    wide = next((d for d in floats if d is float32), floats[0] if floats else None)
    found: list[Any] = []
    for new, old in zip(with_casts, operator.inputs):
        if isinstance(old, Literal) and old.dtype.is_floating and wide is not None:
            old = Literal(old.value, wide)
        found.append(old if new is None else new)
    return [*found, *operator.inputs[count:]]


def _settle(operator: Operator, builder: Builder) -> None:
    """Give the outputs the dtypes that follow; what lives in a scope keeps its own."""
    metas = operator.op.meta(*[v if v is None else v.meta for v in operator.inputs], **operator.attrs)
    for var, meta in zip(operator.outputs, metas if operator.op.multiple else (metas,)):
        if not var.persistable:
            var.meta = meta
        elif var.meta != meta:
            with building(builder), builder.at(operator.locs), scoped(amp_state, None):
                operator.inputs = tuple([cast(v, as_dtype(var.dtype)) for v in operator.inputs])


__all__ = ["AutoMixedPrecisionLists", "CustomOpLists", "MixedPrecisionOptimizer", "decorate", "fp16_guard"]
