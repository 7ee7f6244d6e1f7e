"""append_backward and gradients: backward operators in the same program, for those who write programs by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.modes import grad_enabled, scoped
from ..core.sequences import as_list_if_given
from ..ir.builder import Builder, builder_of, building
from ..ir.dead_code import drop_unused_blocks
from ..ir.program import Block, Variable
from ..ops.like import full_like
from ..ops.missing import filled
from .reverse import pull_back


def _variables(name: str, value: Any) -> list[Variable]:
    """The Variables given; raises DTypeError for other things and ArgumentError for those of several programs."""
    found = as_list_if_given(value)
    for var in found:
        if not isinstance(var, Variable):
            raise DTypeError(f"{name} must be Variables of a program, but received {type(var).__name__}")
    if len({id(var.block.program) for var in found}) > 1:
        raise ArgumentError(f"{name} belong to several programs: {', '.join(var.name for var in found)}")
    return found


def _blocked(block: Block, no_grad_set: Iterable[Any] | None) -> frozenset[Variable]:
    return frozenset(block.var(v) if isinstance(v, str) else v for v in no_grad_set or ())


def _builder_for(block: Block) -> Builder:
    """A builder that knows of no in-place change: a rule reads what the forward operators read, not what came after."""
    builder = Builder(block.program)
    builder.block = block
    return builder


def gradients(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Iterable[Any] | None = None
) -> list[Variable | None]:
    """The gradient of the sum of `targets` for each of `inputs`, as new Variables of the same block; None where none
    flows. May be applied again to its own results.

    target_gradients: one cotangent (or None for ones) for each target, of the same shape.
    Raises ShapeError when a cotangent has another shape, DTypeError for what is no Variable, ArgumentError for several
    programs' Variables. Source: paddle.static.gradients.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x = paddle.static.data("x", [4])
        ...     x.stop_gradient = False
        ...     (gradient,) = paddle.static.gradients([x * x], [x])
        >>> list(gradient.shape)
        [4]
    """
    return _gradients(targets, inputs, target_gradients, no_grad_set, {})


def _gradients(
    targets: Any,
    inputs: Any,
    target_gradients: Any,
    no_grad_set: Iterable[Any] | None,
    passed: dict[Variable, Variable],
) -> list[Variable | None]:
    """What `gradients` gives; `passed` takes the gradients of the variables on the way."""
    outs, wrt = _variables("gradients: targets", targets), _variables("gradients: inputs", inputs)
    if not outs:
        raise ArgumentError("gradients: there are no targets")
    _variables("gradients: targets and inputs", [*outs, *wrt])
    given = as_list_if_given(target_gradients) or [None] * len(outs)
    if len(given) != len(outs):
        raise ArgumentError(f"gradients: {len(given)} target_gradients for {len(outs)} targets")
    held = builder_of(outs[0].block.program).held  # what a variable means after in-place changes
    outs, given = [held(out) for out in outs], [held(ct) if isinstance(ct, Variable) else ct for ct in given]
    block = outs[0].block
    builder = _builder_for(block)
    with building(builder), scoped(grad_enabled, True), block.program.adding("backward"):
        seeds: dict[Variable, Variable] = {}
        for out, ct in zip(outs, given):
            if ct is not None and list(ct.shape) != list(out.shape):
                raise ShapeError(f"gradients: target {out.name} is {out.meta}, its gradient is {ct.meta}")
            seed = full_like(out, 1.0) if ct is None else ct
            seeds[out] = seeds[out] + seed if out in seeds else seed
        found = pull_back(builder, block, seeds, wrt, _blocked(block, no_grad_set), passed)
        if block is block.program.global_block():
            drop_unused_blocks(block.program)
        return [filled(found[v], builder.value(v)) if v in found else None for v in wrt]


def append_backward(
    loss: Variable,
    parameter_list: Sequence[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
    callbacks: Any = None,
    checkpoints: Sequence[Any] | None = None,
    distop_context: Any = None,
) -> list[tuple[Variable, Variable]]:
    """(parameter, gradient) for every trainable parameter that `loss` depends on; backward operators are appended.

    The gradient of `w` is called `w@GRAD`, or after a fresh name where the program has that already; so are those of
    variables between the parameters and the loss.
    Of a loss of several elements these are the gradients of their sum. parameter_list: parameters or names, by default
    all of the program. checkpoints: Variables or names between which PaddlePaddle computes values again for backward;
    gradients are the same, and what is kept follows from the operators here. Raises DTypeError for a loss or checkpoint
    that is no Variable. Source: paddle.static.append_backward.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main, paddle.static.Program()):
        ...     x = paddle.static.data("x", [4, 2])
        ...     loss = paddle.static.nn.fc(x, 1).mean()
        ...     pairs = paddle.static.append_backward(loss)
        >>> [list(gradient.shape) for _, gradient in pairs]
        [[2, 1], [1]]
    """
    block = _variables("append_backward: loss", [loss])[0].block
    _variables(
        "append_backward: checkpoints",
        [block.var(v) if isinstance(v, str) else v for v in as_list_if_given(checkpoints)],
    )
    parameters = [block.var(p) if isinstance(p, str) else p for p in parameter_list or ()]
    if not parameters:
        parameters = [v for v in block.persistables if v.is_parameter and not v.stop_gradient]
    passed: dict[Variable, Variable] = {}
    found = _gradients([loss], parameters, None, no_grad_set, passed)
    pairs = [(p, g) for p, g in zip(parameters, found) if g is not None]
    _call_gradients(block, [*pairs, *((var, gradient) for var, gradient in passed.items() if gradient.block is block)])
    return pairs


def _call_gradients(block: Block, pairs: Iterable[tuple[Variable, Variable]]) -> None:
    """Let gradients be found by the names of what they are of; one that several share keeps the first one's."""
    names = set(block.vars)
    for var, gradient in pairs:
        name = f"{var.name}@GRAD"
        if name not in names and not gradient.persistable and not gradient.name.endswith("@GRAD"):
            names.add(name)
            gradient.name = name
    known = {var.name: var for var in block.vars.values()}
    block.vars.clear()
    block.vars.update(known)
