"""The op registry (D1): one definition holds an op's kernel, meta rule, vjp and mappings to other formats.

`define_op` returns an `OpDef`, which is callable: `op(x, y, axis=0)` runs it or records it (`core.dispatch.bind`).
Argument names are read off the kernel's signature, `kernel(xp, *arrays, **attrs)`, and a vjp's keyword-only
parameters *are* its residuals, so liveness is known without running anything:

- the name of an input or output: that tensor is kept for backward;
- `<name>_like`: only its shape and dtype are used; the eager tape keeps a stand-in without memory;
- the name of an attribute: its value;
- `needs`: the frozenset of input names whose cotangents are wanted (joint rules only).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from importlib import import_module
from typing import Any

import numpy as np

from ..core.dispatch import bind
from ..core.errors import InternalError
from ..core.late import OP_PACKAGES
from ..core.parameters import parameter_names
from .combiner import Combiner
from .homes import HOMES
from .limits import Limit
from .meta_rules import within_reach
from .scalar import scalar_kernel, scalar_ufunc

VARIADIC_OUTPUTS = ("*outs",)
Kernel = Callable[..., Any]
MetaRule = Callable[..., Any]


@dataclass(frozen=True)
class NoGradient:
    """Says that an op has no gradient, and why."""

    reason: str


@dataclass(frozen=True)
class StructuralGradient:
    """Says that autodiff differentiates this op by its blocks, not by a vjp written in ops."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One vjp function with the residuals it asks for."""

    fn: Callable[..., Any]
    residuals: tuple[str, ...]


@dataclass(frozen=True)
class Vjp:
    """The vjp of an op: one rule per input, or one joint rule that returns a dict for all inputs asked for."""

    per_input: Mapping[str, Rule] = field(default_factory=dict)
    joint: Rule | None = None
    # What the eager tape prepares once for each set of inputs that want cotangents; `bits` has one bit for each named
    # input, 0 for those without a cotangent, so that such a set is a number.
    bits: tuple[int, ...] = ()
    plans: dict[int, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def differentiable(self) -> frozenset[str] | None:
        """Names of the inputs that have cotangents; None when a joint rule decides."""
        return None if self.joint is not None else frozenset(self.per_input)

    def rules_for(self, needs: frozenset[str]) -> tuple[Rule, ...]:
        """The rules that run when the inputs `needs` want cotangents."""
        if self.joint is not None:
            return (self.joint,)
        return tuple(rule for name, rule in self.per_input.items() if name in needs)

    def residual_names(self, needs: frozenset[str]) -> tuple[str, ...]:
        """What those rules keep for backward, each name once."""
        return tuple(dict.fromkeys(n for rule in self.rules_for(needs) for n in rule.residuals))


def _rule(fn: Callable[..., Any]) -> Rule:
    return Rule(fn, parameter_names(fn)[2])


def _as_vjp(vjp: Any, inputs: Sequence[str]) -> Vjp | NoGradient | StructuralGradient:
    if isinstance(vjp, (NoGradient, StructuralGradient)):
        return vjp
    if isinstance(vjp, Mapping):
        bits = tuple(1 << i if name in vjp else 0 for i, name in enumerate(inputs))
        return Vjp(per_input={name: _rule(fn) for name, fn in vjp.items()}, bits=bits)
    return Vjp(joint=_rule(vjp), bits=tuple(1 << i for i in range(len(inputs))))


@dataclass(frozen=True)
class Instead:
    """What takes the place of a training op in a program cloned for testing.

    `op` reads the training op's inputs of these names and gives its outputs of the same names; outputs in `unchanged`
    are an input as it was; the others are no more.
    """

    op: OpDef
    inputs: tuple[str, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    unchanged: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class InPlace:
    """`places(n)`: the positions of the inputs that the n outputs overwrite. `run(scratch, *arrays, **attrs)` does it;
    `scratch` is a dict in which it keeps memory from call to call, for one thread at a time.
    `run_many(scratch, columns, **attrs)` does it for several calls at once, where it can: of each array, those of all.
    `native`: how a native program does that at its end.
    """

    places: Callable[[int], Sequence[int]]
    run: Callable[..., None]
    run_many: Callable[..., None] | None = None
    native: NativeInPlace | None = None


@dataclass(frozen=True)
class NativeInPlace:
    """Several calls of an op that works in place, at the end of a native program.

    `numbers(columns, **attrs)`: `count` numbers that all of them use, from the arrays at `small` positions, and what
    undoes what that changed; None where the calls differ. `emit(assembler, numbers, columns, **attrs)` adds the steps
    for the other positions.
    """

    count: int
    small: Callable[[int], bool]
    numbers: Callable[..., tuple[Sequence[float], Callable[[], None]] | None]
    emit: Callable[..., None]


@dataclass(frozen=True, eq=False)
class OpDef:
    """One op. Compared by identity; `name` is unique in the registry and stable in saved programs.

    Fields:
        kernel: `kernel(xp, *arrays, **attrs)` for NumPy and CuPy alike; missing optional inputs arrive as None.
        meta: `meta(*metas, **attrs)` -> Meta or tuple of Meta; raises the errors users see.
        inputs / variadic: positional names; the last one collects a list when `variadic`.
        outputs: names, or VARIADIC_OUTPUTS when their number depends on the attributes.
        promote: inputs brought to one common dtype before the kernel (Paddle's promotion rules).
        weak_0d: whether a floating 0-D tensor among them adapts to the others as a number does; None: it does not, and
            neither do integers, so that the wider dtype of two is the result's.
        broadcast: cotangents are summed back to each input's shape after the vjp.
        elementwise: broadcast and promote all; the kernel itself finds bad shapes, so eager skips `meta`.
        dynamic: attributes that may hold tensors; eager reads their values, programs pass them as inputs.
        fractions: those of them that may hold other tensors than integers.
        view: the output shares memory with input 0 where NumPy makes a view.
        passes: an output may be an input itself, and a value may be missing (None): it runs without checks of shapes.
        random: the kernel takes `key`, a draw from the current generator.
        effect: keeps its place and order even if no output is used (print, assert, host callback).
        raises: the values of its inputs may make it raise what eager code may count on, so it runs even if no output
            is used.
        shape_only: inputs of which the kernel asks the shape alone, so that their memory need not be kept for it.
        work: `work(*metas, **attrs)` -> arithmetic operations, for ops that do more than a few for each result.
        amp: "allow", "deny", "wide" or "keep" under auto_cast (see `amp_policy`); None keeps the dtype it is given.
        version: raised when the meaning of inputs or attributes changes, so that saved programs tell.
        evaluation: `evaluation(**attrs)` -> Instead, for ops that only training uses.
        steps: the kernel of an op that runs blocks, as a generator: it yields (block, arrays), is sent the block's
            outputs, and returns its own. Whoever drives it decides how deep calls may nest.
        on_host: the kernel works in the memory of the host at every place: it calls the user's Python, or functions
            that only NumPy and SciPy have. Every op with an effect is one.
        decides: `decides(**attrs)` -> (positions of inputs, names of blocks): the inputs, and the first outputs of the
            blocks, by which the host decides what an op with blocks runs next.
        empties: `empties(**attrs)` -> positions of inputs: lists of which it needs each item once. One that comes as
            a `HandedList` it empties as it goes.
        limits: what the kernel takes at which place, by dtype and layout, where that is not everything.
        scalar: the scalar expression of an elementwise op (D2), from which other readings of it are made.
        in_place: how it computes in the memory of some of its inputs, for ops that update state.
        combiner: how a reduction over the attribute `axis` combines elements.
        decompose: `decompose(*inputs, **attrs)` -> the outputs, written in simpler ops: the form in which it becomes
            machine code together with its neighbours. None where these inputs and attributes have none.
        bound: `bound(**attrs)` -> the kernel with its attributes given, for one that prepares something of them.
        native: `native(n, *operands, **attrs)` -> its outputs as steps of a native program, written with the methods of
            codegen's Assembler `n`; elementwise ops and views need none.
        native_places: whether that form takes attributes that only the run knows, as arrays of one element.
        native_alone: whether the native form is worth a call of its own, where arrays are large, too.
        native_windows: whether it multiplies with windows of an array, which pays for all around it, however large.
        called_back: `called_back(n, call, *operands, **attrs)` -> its outputs in a native program that may call Python:
            what `call()` gives, which adds the call of the kernel.
        ahead: a form like `native` for programs compiled ahead of time, which run without NumPy and BLAS: of what a
            program that has those leaves to them.
        ahead_places: whether that form takes attributes that only the run knows, as arrays of one element.
        moves: "h2d" or "d2h" for an op that brings a value to the device or to the host.
    """

    name: str
    kernel: Kernel
    meta: MetaRule
    vjp: Vjp | NoGradient | StructuralGradient
    inputs: tuple[str, ...]
    variadic: bool
    attrs: tuple[str, ...]
    outputs: tuple[str, ...]
    promote: frozenset[str]
    broadcast: bool
    elementwise: bool
    dynamic: frozenset[str]
    fractions: frozenset[str]
    random: bool
    effect: bool
    shape_only: frozenset[str]
    on_numpy: Kernel
    on_host: bool
    maps: Mapping[str, str]
    # Whether a call is nothing but the kernel: elementwise, one output, no attribute that may be a tensor.
    is_plain: bool
    # What `define_op` takes as it stands.
    weak_0d: bool | None = True
    view: bool = False
    raises: bool = False
    work: Callable[..., float] | None = None
    amp: str | None = None
    version: int = 1
    evaluation: Callable[..., Instead] | None = None
    steps: Kernel | None = None
    decides: Callable[..., tuple[tuple[int, ...], tuple[str, ...]]] | None = None
    empties: Callable[..., range] | None = None
    moves: str | None = None
    limits: tuple[Limit, ...] = ()
    passes: bool = False
    scalar: Any = None
    in_place: InPlace | None = None
    combiner: Combiner | None = None
    decompose: Callable[..., Any] | None = None
    bound: Callable[..., Callable[..., Any]] | None = None
    native: Callable[..., Any] | None = None
    called_back: Callable[..., Any] | None = None
    native_places: bool = False
    native_alone: bool = False
    native_windows: bool = False
    ahead: Callable[..., Any] | None = None
    ahead_places: bool = False
    # Signatures of eager calls that the meta rule let pass, so that it runs once for each.
    passed: set[Any] = field(default_factory=set, repr=False)

    def __call__(self, *inputs: Any, **attrs: Any) -> Any:
        return bind(self, inputs, attrs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        return get_op, (self.name,)

    @property
    def multiple(self) -> bool:
        """Whether the kernel returns a tuple of outputs."""
        return len(self.outputs) > 1 or self.outputs == VARIADIC_OUTPUTS

    def input_name(self, index: int) -> str:
        """The name of positional input `index`; all inputs of a variadic tail share one name."""
        return self.inputs[min(index, len(self.inputs) - 1)]

    def asks_shape(self, index: int) -> bool:
        """Whether positional input `index` is asked for its shape alone; inputs of attributes, the last, never are."""
        own = index < len(self.inputs) or (self.variadic and not self.dynamic)
        return own and bool(self.shape_only) and self.input_name(index) in self.shape_only


class _Registry:
    """All ops by name."""

    def __init__(self) -> None:
        self._ops: dict[str, OpDef] = {}

    def add(self, op: OpDef) -> None:
        if op.name in self._ops:
            raise InternalError(f"op {op.name!r} is defined twice")
        self._ops[op.name] = op

    def get(self, name: str) -> OpDef:
        found = self._ops.get(name)
        if found is not None:
            return found
        if name in HOMES:
            import_module(HOMES[name])
            if name in self._ops:
                return self._ops[name]
        for _ in OP_PACKAGES.load():
            if name in self._ops:
                return self._ops[name]
        raise InternalError(f"no op is named {name!r}", hint="was the program made by a newer version?")

    def all(self) -> list[OpDef]:
        for _ in OP_PACKAGES.load():
            pass
        return [self._ops[name] for name in sorted(self._ops)]


_REGISTRY = _Registry()
get_op = _REGISTRY.get
all_ops = _REGISTRY.all


def _parameters(kernel: Kernel) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    (_, *inputs), rest, attrs = parameter_names(kernel)
    return (*inputs, *(() if rest is None else (rest,))), rest is not None, attrs


def _driven(steps: Kernel | None) -> Kernel:
    """The kernel that runs the blocks which `steps` asks for on the spot."""
    assert steps is not None

    @wraps(steps)
    def kernel(*args: Any, **attrs: Any) -> Any:
        running, outputs = steps(*args, **attrs), None
        while True:
            try:
                block, arrays = running.send(outputs)
            except StopIteration as end:
                return end.value
            outputs = None  # so that what `steps` gives up is free while the block runs
            outputs = block.consume(arrays)

    return kernel


def define_op(
    name: str,
    *,
    meta: MetaRule,
    vjp: Any,
    kernel: Kernel | None = None,
    steps: Kernel | None = None,
    on_numpy: Kernel | None = None,
    outputs: tuple[str, ...] = ("out",),
    promote: Sequence[str] = (),
    broadcast: bool = False,
    elementwise: bool = False,
    dynamic: Sequence[str] = (),
    fractions: Sequence[str] = (),
    shape_only: Sequence[str] = (),
    view: bool = False,
    random: bool = False,
    effect: bool = False,
    on_host: bool = False,
    maps: Mapping[str, str] | None = None,
    **others: Any,
) -> OpDef:
    """Register an op and return it; see `OpDef` for the fields, of which `others` are taken as they stand.

    `vjp` is a dict of per-input rules, one joint rule, `NoGradient(reason)` or `StructuralGradient(reason)`. Of
    `kernel` and `steps` one is given. Raises TypeError for what is no field.
    """
    kernel = kernel or _driven(steps)
    inputs, variadic, attrs = _parameters(kernel)
    op = OpDef(
        name=name,
        kernel=kernel,
        meta=within_reach(name, meta),
        vjp=_as_vjp(vjp, inputs),
        inputs=inputs,
        variadic=variadic,
        attrs=tuple(a for a in attrs if a != "key") if random else attrs,
        outputs=outputs,
        promote=frozenset(inputs if elementwise and not promote else promote),
        broadcast=broadcast or elementwise,
        elementwise=elementwise,
        dynamic=frozenset(dynamic),
        fractions=frozenset(fractions),
        random=random,
        effect=effect,
        shape_only=frozenset(shape_only),
        on_numpy=on_numpy or partial(kernel, np),
        on_host=on_host or effect,
        maps=maps or {},
        is_plain=elementwise and len(outputs) == 1 and not (dynamic or view or random),
        view=view,
        steps=steps,
        **others,
    )
    _check_rules(op)
    _REGISTRY.add(op)
    return op


def define_elementwise(name: str, *, scalar: Any, meta: MetaRule, vjp: Any, **options: Any) -> OpDef:
    """Register an elementwise op from its scalar expression (D2).

    `scalar` is the name of one scalar primitive ("add"), or `lambda s, x, y, *, alpha: ...` over the primitives
    `s.exp`, `s.where`, ...; positional parameters are the inputs, keyword-only ones the attributes.
    """
    return define_op(
        name,
        kernel=scalar_kernel(scalar),
        meta=meta,
        vjp=vjp,
        elementwise=True,
        on_numpy=scalar_ufunc(scalar),
        scalar=scalar,
        **options,
    )


def _check_rules(op: OpDef) -> None:
    """Fail at import when a vjp asks for something the op does not have."""
    if not isinstance(op.vjp, Vjp):
        return
    outs = ("outs",) if op.outputs == VARIADIC_OUTPUTS else op.outputs
    known = {*op.inputs, *outs, *op.attrs, "needs"} | {f"{n}_like" for n in (*op.inputs, *outs)}
    rules = [*op.vjp.per_input.values()] + ([op.vjp.joint] if op.vjp.joint else [])
    for rule in rules:
        unknown = set(rule.residuals) - known
        if unknown:
            raise InternalError(f"vjp of {op.name} asks for unknown residuals {sorted(unknown)}")
    strangers = set(op.vjp.per_input) - set(op.inputs)
    if strangers:
        raise InternalError(f"vjp of {op.name} gives cotangents for unknown inputs {sorted(strangers)}")
