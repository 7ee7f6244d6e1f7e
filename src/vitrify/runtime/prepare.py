"""Preparing a program for running: a copy with feed and fetch operators, and with nothing that need not run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.errors import ArgumentError
from ..core.source import user_stacklevel
from ..core.suggest import did_you_mean
from ..ir.clone import clone_program
from ..ir.dead_code import drop_unused_blocks, live_operators, prune
from ..ir.program import Block, Operator, Program, Variable
from ..ops.feed_fetch import feed_op, fetch_op
from ..ops.like import assign_op


@dataclass(frozen=True)
class RunSpec:
    """What is fed and fetched, and how: with the program's content it determines the prepared program.

    prune: run only what the fetched values need, and not what computes a fed one. Without it updates of variables that
    live in a scope run too, as do prints and random draws; what nothing can see is left out in any case.
    """

    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    prune: bool = False
    feed_name: str = "feed"
    fetch_name: str = "fetch"


@dataclass(frozen=True)
class PreparedProgram:
    """A program with feed and fetch operators.

    Fields:
        program: the copy; its inputs are what the feed operators read, its outputs what the fetch operators give.
        fed: the variables that the feeds must fit, in the order of the inputs.
        read, written: variables that a run takes from the scope before it starts, and puts there when it is over.
    """

    program: Program
    fed: tuple[Variable, ...]
    read: tuple[Variable, ...]
    written: tuple[Variable, ...]

    @property
    def block(self) -> Block:
        """The block that runs."""
        return self.program.global_block()


def prepare(program: Program, spec: RunSpec) -> PreparedProgram:
    """The prepared copy of `program`; raises ArgumentError for unknown fetches and for values that nothing gives.

    A feed that no variable takes, or that the program computes itself, is passed over with a warning, as in Paddle.
    """
    copy = clone_program(program)
    block = copy.global_block()
    fetched = [_fetched(block, name) for name in spec.fetches]
    fed = [block.vars[name] for name in spec.feeds if _is_known(block, name)]
    live = _needed(block, fetched, fed) if spec.prune else live_operators(block, fetched)
    fed = _unwritten(fed, live)
    written = tuple(dict.fromkeys(v for v in (*fed, *(v for op in live for v in op.outputs)) if v.persistable))
    read = _read_first(live, [*fetched, *written], fed, spec)
    _surround(block, live, fed, fetched, spec)
    prune(block)
    drop_unused_blocks(copy)
    return PreparedProgram(copy, tuple(fed), tuple(read), written)


def _fetched(block: Block, name: str) -> Variable:
    found = block.vars.get(name)
    if found is None:
        raise ArgumentError(
            f"fetch_list: the program has no variable {name!r}",
            hint=did_you_mean(name, block.vars) or "values inside branches and loops leave them as their outputs only",
        )
    return found


def _is_known(block: Block, name: str) -> bool:
    if name in block.vars:
        return True
    hint = did_you_mean(name, [var.name for var in block.inputs])
    warnings.warn(
        f"feed: the program has no variable {name!r}, the value is not used" + (f"; {hint}" if hint else ""),
        stacklevel=user_stacklevel(),
    )
    return False


def _needed(block: Block, fetched: Sequence[Variable], fed: Sequence[Variable]) -> list[Operator]:
    """The operators that the fetched variables need when those in `fed` are given."""
    given = set(fed)
    needed = set(fetched) - given
    live: list[Operator] = []
    for operator in reversed(block.ops):
        if any(v in needed for v in operator.outputs):
            live.append(operator)
            needed.update(v for v in operator.variables if v not in given)
    live.reverse()
    return live


def _unwritten(fed: Sequence[Variable], live: Iterable[Operator]) -> list[Variable]:
    """The fed variables that no operator computes; those that live in a scope may be given and then changed."""
    makers = {v: op for op in live for v in op.outputs if not v.persistable}
    for var in fed:
        if var in makers:
            line = "".join(f" at {loc.file}:{loc.line}" for loc in makers[var].locs[:1])
            warnings.warn(
                f"feed: the program computes {var.name!r} itself{line}, so the value is not used; "
                "use_prune=True leaves out what computes it",
                stacklevel=user_stacklevel(),
            )
    return [var for var in fed if var not in makers]


def _read_first(
    live: Sequence[Operator], wanted: Sequence[Variable], fed: Sequence[Variable], spec: RunSpec
) -> list[Variable]:
    """Variables that must come from the scope: read before any operator writes them, and not fed."""
    defined: set[Variable] = set(fed)
    read: dict[Variable, Operator | None] = {}
    for op in live:
        for var in op.variables:
            if var not in defined:
                read.setdefault(var, op)
        defined.update(op.outputs)
    for var in wanted:
        if var not in defined:
            read.setdefault(var, None)
    for var, reader in read.items():
        if not var.persistable:
            raise _missing(var, reader, spec)
    return list(read)


def _missing(var: Variable, reader: Operator | None, spec: RunSpec) -> ArgumentError:
    given = f"fed were {', '.join(map(repr, spec.feeds))}" if spec.feeds else "nothing was fed"
    return ArgumentError(
        f"variable {var.name!r} ({var.meta}) is needed but was not fed; {given}",
        loc=reader.locs[0] if reader is not None and reader.locs else None,
        hint=did_you_mean(var.name, spec.feeds) or f"pass feed={{{var.name!r}: ...}}",
    )


def _surround(
    block: Block, live: Sequence[Operator], fed: Sequence[Variable], fetched: Sequence[Variable], spec: RunSpec
) -> None:
    """Put feed operators before and fetch operators behind the live ones."""
    made = {v for op in block.ops for v in op.outputs if not v.persistable}
    for var in (made | set(block.inputs)) - {v for op in live for v in op.outputs} - set(fed):
        del block.vars[var.name]
    block.ops[:] = []
    block.inputs[:] = []
    for col, var in enumerate(fed):
        outer = block.add_input(var.meta, block.program.fresh_name(spec.feed_name))
        if var.persistable:  # what a scope keeps must not be the caller's array
            inner = block.create_var(var.meta, prefix=spec.feed_name)
            block.append(feed_op, [outer], [inner], {"col": col})
            block.append(assign_op, [inner], [var], {})
        else:
            block.append(feed_op, [outer], [var], {"col": col})
    block.ops += live
    block.outputs[:] = []
    for col, var in enumerate(fetched):
        out = block.create_var(var.meta, prefix=spec.fetch_name)
        block.append(fetch_op, [var], [out], {"col": col})
        block.outputs.append(out)
