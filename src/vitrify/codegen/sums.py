"""Sums of matrix products that are gathered in the memory of the first one.

The gradient of a weight that several products read, as each step of a recurrent network does, is such a sum. A product
that adds to what is there takes little longer than one that is written, and nothing reads it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ir.program import Block, Operator, Variable
from ..ir.uses import times_read
from ..ops.elementwise import add_op
from ..ops.fused import fused_op
from ..ops.matmul import matmul_op
from .operands import Operand

if TYPE_CHECKING:
    from .assembler import Assembler


class Sum(NamedTuple):
    """What is gathered before, and the products that may be added to it in place, in their order."""

    so_far: Variable
    products: tuple[Variable, ...]


def sums_of_products(operators: Sequence[Operator], outputs: Sequence[Any]) -> dict[Operator, Sum]:
    """By additions and by the products that they add: the sums of what nobody else reads.

    What is gathered before is a product or such a sum. Terms are added in the order in which they are computed.
    """
    uses = times_read(operators, outputs)
    made: dict[Variable, int] = {}  # products and sums of them: where they are computed
    products: dict[Variable, Operator] = {}
    found: dict[Operator, Sum] = {}
    for at, operator in enumerate(operators):
        if operator.op is matmul_op:
            made[operator.outputs[0]] = at
            products[operator.outputs[0]] = operator
            continue
        terms = _terms(operator)
        if not terms or not all(_is_own(v, operator, made, uses) for v in terms):
            continue
        first, *others = [*sorted(terms[:2], key=made.__getitem__), *terms[2:]]
        order = [made[v] for v in (first, *others)]
        if order == sorted(order) and all(v in products for v in others):
            made[operator.outputs[0]] = at
            found[operator] = own = Sum(first, tuple(others))
            found.update((products[v], own) for v in others)
    return found


def _is_own(v: Any, operator: Operator, made: Mapping[Variable, int], uses: Mapping[Variable, int]) -> bool:
    """Whether a term is a product, or a sum of such, that this addition alone reads, of the result's shape."""
    return v in made and uses[v] == 1 and v.meta == operator.outputs[0].meta


def _terms(operator: Operator) -> Sequence[Any]:
    """What an addition, or a group of nothing else, adds up from left to right; empty for other operators."""
    if operator.op is add_op:
        return operator.inputs
    body = operator.attrs.get("body")
    if operator.op is not fused_op or not isinstance(body, Block) or any(own.op is not add_op for own in body.ops):
        return ()
    given = dict(zip(body.inputs, operator.inputs))
    terms, total = list[Any](), None
    for own in body.ops:
        new = [v for v in own.inputs if v is not total]
        if len(new) != (2 if total is None else 1) or any(v not in given for v in new):
            return ()
        terms += [given[v] for v in new]
        (total,) = own.outputs
    return terms if [v is total for v in body.outputs] == [True] else ()


def gathered(
    n: Assembler, known: Sum, operator: Operator, values: Sequence[Operand], found: Mapping[Variable, Operand]
) -> Operand | None:
    """What a product or an addition of such a sum gives; None where it is to be computed as any other."""
    so_far = found[known.so_far]
    if operator.op is matmul_op:
        form: Callable[..., Operand] = operator.op.native  # type: ignore[assignment]
        return form(n, *values, **operator.attrs, onto=so_far)
    others = [found[v] for v in known.products if found[v] is not so_far]
    if len(others) == len(known.products):
        return None
    for product in others:
        n.apply_into(so_far, add_op, so_far, product)
    return so_far


__all__ = ["Sum", "gathered", "sums_of_products"]
