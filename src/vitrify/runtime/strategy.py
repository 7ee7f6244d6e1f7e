"""BuildStrategy and ExecutionStrategy: Paddle's switches, each with what it does here; both end in ExecutionOptions."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

from ..core.errors import ArgumentError, DTypeError
from ..core.suggest import did_you_mean
from .options import ALLOW, ALWAYS, DEFAULT, ExecutionOptions


class Switch:
    """One attribute of a strategy: its default, the types it takes, what it does; `least` bounds numbers."""

    def __init__(self, default: Any, doc: str, *, types: tuple[type, ...] = (), least: int | None = None) -> None:
        self.default = default
        self.types = types or (type(default),)
        self.least = least
        self.__doc__ = doc
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, strategy: Any, owner: type | None = None) -> Any:
        return self if strategy is None else strategy.__dict__.get(self.name, self.default)

    def __set__(self, strategy: Any, value: Any) -> None:
        strategy.__dict__[self.name] = self.checked(value, type(strategy).__name__)

    def checked(self, value: Any, owner: str) -> Any:
        """`value` if it may be stored here; raises DTypeError or ArgumentError."""
        if bool in self.types and type(value) is int and value in (0, 1):
            value = bool(value)
        if type(value) not in self.types:
            wanted = " or ".join("None" if t is type(None) else t.__name__ for t in self.types)
            raise DTypeError(f"{owner}.{self.name} takes {wanted}, but received {value!r}", hint=self.__doc__)
        if self.least is not None and value < self.least:
            raise ArgumentError(f"{owner}.{self.name} is {self.least} or more, but received {value}", hint=self.__doc__)
        return value


class Strategy:
    """Switches by name: unknown ones are refused, values are checked, and what differs from the default is shown."""

    @classmethod
    def switches(cls) -> dict[str, Switch]:
        """The switches by name, in the order in which they are defined."""
        return {name: value for name, value in vars(cls).items() if isinstance(value, Switch)}

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(vars(type(self)).get(name), Switch):
            raise AttributeError(self._unknown(name))
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._unknown(name))

    def _unknown(self, name: str) -> str:
        hint = did_you_mean(name, self.switches())
        return f"{type(self).__name__} has no switch {name!r}" + (f"; {hint}" if hint else "")

    def changed(self) -> dict[str, Any]:
        """The switches that differ from their defaults, with their values."""
        own = {name: getattr(self, name) for name in self.switches() if name in self.__dict__}
        return {name: value for name, value in own.items() if value != self.switches()[name].default}

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value!r}" for name, value in self.changed().items())
        return f"{type(self).__name__}({changed})"


_BY_ITSELF = "Accepted, and does nothing: the compiler finds what it can fuse by itself."
_ONE_PROCESS = "Accepted, and does nothing: a program runs in one process at one place."


class ReduceStrategy(Enum):
    """How several places would share the sum of gradients."""

    AllReduce = 0
    Reduce = 1


def _fusion(default: bool = False) -> Switch:
    return Switch(default, _BY_ITSELF)


class BuildStrategy(Strategy):
    """How a program is prepared for running; give it to CompiledProgram or to_static.

    Those that mean something here are enable_inplace, enable_addto, memory_optimize, sequential_run,
    enable_auto_fusion, build_cinn_pass, allow_cuda_graph_capture and fast_math, which PaddlePaddle does not have; the
    others are Paddle's, accepted so that scripts run, and say in their own help why:
    `help(BuildStrategy.fuse_bn_act_ops)`. Setting an unknown one raises AttributeError, a value of the wrong type
    DTypeError.
    Source: paddle.static.BuildStrategy.

    Example:
        >>> import vitrify as paddle
        >>> strategy = paddle.static.BuildStrategy()
        >>> strategy.enable_addto = True
        >>> strategy
        BuildStrategy(enable_addto=True)
    """

    ReduceStrategy = ReduceStrategy

    enable_inplace = Switch(
        True, "Whether an operator may write its result into the buffer of an input that nothing needs any more."
    )
    enable_addto = Switch(
        False, "Whether the gradients of one variable are added into one buffer, instead of summed from several."
    )
    memory_optimize = Switch(
        None,
        "Whether buffers are freed after their last use. None and True: they are; False: at the end of the run.",
        types=(bool, type(None)),
    )
    sequential_run = Switch(False, "Whether operators run one by one in the order of the program.")
    enable_auto_fusion = Switch(
        None,
        "Whether the program is optimized, elementwise operators fused into groups among other things. None and True: "
        "it is; False: its operators run one by one as they were recorded.",
        types=(bool, type(None)),
    )
    fast_math = Switch(
        False,
        "Whether the program may be optimized as if floats were real numbers, which rounds otherwise and takes no care "
        "of infinities, NaN and the sign of zero.",
    )
    build_cinn_pass = Switch(
        False, "Whether groups of operators become machine code before they first run, not when that has paid."
    )

    fuse_elewise_add_act_ops = _fusion()
    fuse_bn_act_ops = _fusion()
    fuse_bn_add_act_ops = _fusion(True)
    fuse_relu_depthwise_conv = _fusion()
    fuse_gemm_epilogue = _fusion()
    fuse_dot_product_attention = _fusion()
    fuse_resunit = _fusion()
    fused_attention = _fusion()
    fused_feedforward = _fusion()
    fuse_adamw = _fusion()
    fuse_all_optimizer_ops = _fusion()
    fuse_all_reduce_ops = Switch(True, _ONE_PROCESS)
    fuse_broadcast_ops = Switch(True, _ONE_PROCESS)
    sync_batch_norm = Switch(False, _ONE_PROCESS)
    reduce_strategy = Switch(ReduceStrategy.AllReduce, _ONE_PROCESS)
    async_mode = Switch(False, _ONE_PROCESS)
    num_trainers = Switch(1, _ONE_PROCESS, least=1)
    trainer_id = Switch(0, _ONE_PROCESS, least=0)
    trainers_endpoints = Switch((), _ONE_PROCESS, types=(list, tuple))
    nccl_comm_num = Switch(1, _ONE_PROCESS, least=1)
    bkcl_comm_num = Switch(1, _ONE_PROCESS, least=1)
    use_hierarchical_allreduce = Switch(False, _ONE_PROCESS)
    hierarchical_allreduce_inter_nranks = Switch(0, _ONE_PROCESS, least=0)
    enable_backward_optimizer_op_deps = Switch(
        True, "Accepted, and does nothing: updates wait for exactly the gradients that they read."
    )
    allow_cuda_graph_capture = Switch(
        False,
        "Whether a program at a GPU is captured as a CUDA graph, which later runs launch as one piece. One that cannot "
        "be captured runs as ever; `print` of the lowered program says why.",
    )
    cache_runtime_context = Switch(False, "Accepted, and does nothing: what a run needs is always prepared once.")
    debug_graphviz_path = Switch(
        "", "Accepted, and does nothing: `print(program)` shows a program, `Executor.prepared(...)` the one that runs."
    )

    def options(self, base: ExecutionOptions = DEFAULT) -> ExecutionOptions:
        """`base` with what these switches say."""
        return replace(
            base,
            inplace=self.enable_inplace,
            addto=self.enable_addto,
            gc="none" if self.memory_optimize is False else base.gc,
            serial=self.sequential_run,
            graph=ALLOW if self.allow_cuda_graph_capture else base.graph,
            passes=base.passes and self.enable_auto_fusion is not False,
            fast_math=self.fast_math,
            native=ALWAYS if self.build_cinn_pass else base.native,
        )


class ExecutionStrategy(Strategy):
    """How a prepared program runs; give it to CompiledProgram.

    Example:
        >>> import vitrify as paddle
        >>> strategy = paddle.static.ExecutionStrategy()
        >>> strategy.num_threads = 2
        >>> strategy
        ExecutionStrategy(num_threads=2)
    """

    num_threads = Switch(0, "How many threads run operators where several do; 0: one a core.", least=0)
    num_iteration_per_drop_scope = Switch(
        1,
        "After how many runs the scope with a run's temporaries is dropped. 1: temporaries have no scope, a buffer is "
        "free after its last use. More: they stay in a child of the run's scope, where `find_var` sees those of the "
        "last run; this is for looking into a program, and costs the memory.",
        least=1,
    )
    num_iteration_per_run = Switch(1, "How often one call runs the program; it fetches from the last time.", least=1)
    use_thread_barrier = Switch(
        False, "Accepted, and does nothing: threads wait for what they depend on, never for all others."
    )
    allow_op_delay = Switch(
        False, "Accepted, and does nothing: what waits for nothing starts at once, which is never later."
    )

    def options(self, base: ExecutionOptions = DEFAULT) -> ExecutionOptions:
        """`base` with what these switches say."""
        return replace(
            base,
            threads=self.num_threads,
            keep_scopes=self.num_iteration_per_drop_scope,
            iterations=self.num_iteration_per_run,
        )
