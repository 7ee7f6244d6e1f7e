"""What a Graph must be, and its text.

A Graph is written as the Program that it translates to, so its text is that of docs/format.md and reads back.
"""

from __future__ import annotations

from typing import NoReturn

from .parse import parse_program
from .program import Literal
from .ssa import Function, Graph, Op, Value
from .ssa_blocks import block_of, graph_of
from .text import Style, program_text
from .verify import VerifyError, verify


def verify_graph(graph: Graph, *, infer: bool = True) -> None:
    """Return when the graph is well formed; raise VerifyError about the first thing that isn't.

    Every value is defined once, before it is read, and read in the graph that defines it alone; operators have the
    operands, values and attributes that their ops ask for. infer: the metas are those that the ops' rules give.

    >>> verify_graph(Graph((), (), ()))
    """
    _check_values(graph, {}, set())
    verify(block_of(graph).program, infer=infer)


def _check_values(graph: Graph, owners: dict[Value, Graph], functions: set[Function]) -> None:
    known: set[Value] = set()
    for value in graph.inputs:
        _define(value, graph, owners, known, "an input")
    for op in graph.ops:
        for operand in op.inputs:
            if type(operand) is Value:
                if operand not in known:
                    _fail(f"{op.op.name} reads {operand!r}, which is not defined before it in its graph", op)
            elif operand is not None and not isinstance(operand, Literal):
                _fail(f"{op.op.name} has {operand!r} among its operands", op)
        for region in op.regions:
            _check_values(region, owners, functions)
        for function in op.functions:
            if function not in functions:
                functions.add(function)
                _check_values(function.graph, owners, functions)
        for value in op.outputs:
            _define(value, graph, owners, known, op.op.name)
    for output in graph.outputs:
        if output is not None and output not in known:
            raise VerifyError(f"the graph gives {output!r}, which it does not define")


def _define(value: Value, graph: Graph, owners: dict[Value, Graph], known: set[Value], by: str) -> None:
    if value in owners:
        raise VerifyError(f"{value!r} is defined twice, the second time by {by}")
    owners[value] = graph
    known.add(value)


def _fail(what: str, op: Op) -> NoReturn:
    raise VerifyError(what, loc=op.locs[0] if op.locs else None)


def graph_text(graph: Graph, style: Style | None = None) -> str:
    """The graph as text. Names are made unique."""
    return program_text(block_of(graph).program, style or Style())


def parse_graph(text: str) -> Graph:
    """The graph that `graph_text` wrote. Raises what `parse_program` raises for other text."""
    return graph_of(parse_program(text).global_block(), pruned=False)


__all__ = ["graph_text", "parse_graph", "verify_graph"]
