"""What a rule asks for as `<name>_like` goes only where the shape alone is asked for, so nothing is kept for it."""

import pytest

import vitrify as paddle
from tests.ops.test_cases import CASES
from vitrify.autodiff import vjp
from vitrify.ir.program import Variable
from vitrify.ops.sizes import stand_in_op
from vitrify.testing.paths import Call, metas_of, record

looked_up = vjp._Residuals.__getitem__


def with_stand_ins(residuals, name):
    """What a rule asks for; a stand-in for each tensor of which it may see the shape only."""
    found = looked_up(residuals, name)
    if not name.endswith("_like"):
        return found
    values = found if isinstance(found, tuple) else (found,)
    values = tuple(stand_in_op(v) if isinstance(v, Variable) else v for v in values)
    return values if isinstance(found, tuple) else values[0]


@pytest.mark.parametrize("case", [c for c in CASES if c.static and c.grad], ids=lambda case: case.name)
def test_ops_say_that_they_ask_for_the_shape_alone(case, monkeypatch):
    monkeypatch.setattr(vjp._Residuals, "__getitem__", with_stand_ins)
    call = Call(case)
    for block in record(call.on, metas_of(call.arrays), True).program.blocks:
        stand_ins = {v for operator in block.ops if operator.op is stand_in_op for v in operator.outputs}
        for operator in block.ops:
            for place, value in enumerate(operator.inputs):
                if value in stand_ins:
                    assert operator.op.asks_shape(place), f"{operator.op.name} of {operator.op.input_name(place)}"


def test_an_input_asked_for_its_shape_alone_may_change_before_backward():
    def added(state, v):
        first = state["held"][0]
        first.add_(v)
        return first

    def total_gradient(function):
        state, v = {"held": paddle.ones([3])}, paddle.to_tensor(2.0, stop_gradient=False)
        for _ in range(3):
            result = function(state, v)
        result.backward()
        return v.grad.item()

    assert total_gradient(paddle.jit.to_static(added, full_graph=True)) == total_gradient(added)
