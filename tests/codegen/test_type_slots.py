"""The functions behind a class's operators: found where they lie, exchanged, and put back by Python itself."""

import ctypes

import pytest

from vitrify.codegen.errors import NoNativeForm
from vitrify.codegen.type_slots import slots_of

METHODS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor",
)  # fmt: skip
BINARY = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)


def number_class():
    methods = {f"__{name}__": lambda x, y, name=name: name for name in METHODS}
    methods |= {"__neg__": lambda x: "neg", "__eq__": lambda x, y: "eq", "__hash__": lambda x: 0}
    return type("Number", (), methods)


def test_a_slot_is_what_python_calls():
    kind = number_class()
    x, slots = kind(), slots_of(kind)
    mine = BINARY(lambda x, y: "mine")
    before = slots["nb_add"].value
    slots["nb_add"].set(ctypes.cast(mine, ctypes.c_void_p).value)
    assert (x + x, x + 1, x - x, kind.__add__(x, x)) == ("mine", "mine", "sub", "add")
    slots["nb_add"].set(before)
    assert x + x == "add"


def test_who_assigns_a_method_writes_the_slot():
    kind = number_class()
    below = type("Below", (kind,), {})
    mine = BINARY(lambda x, y: "mine")
    for changed in (kind, below):
        slot = slots_of(below)["nb_multiply"]
        slot.set(ctypes.cast(mine, ctypes.c_void_p).value)
        assert below() * 1 == "mine"
        changed.__mul__ = lambda x, y: "theirs"
        assert below() * 1 == "theirs"


def test_a_class_without_those_operators_has_none():
    with pytest.raises(NoNativeForm):
        slots_of(type("Bare", (), {"__add__": lambda x, y: x}))
