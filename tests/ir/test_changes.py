"""Every change of a program is noted, and the fingerprint follows."""

import copy

import pytest

from vitrify import static
from vitrify.core.dtype import float64
from vitrify.core.meta import Meta
from vitrify.ir.changes import OPERATORS, TrackedDict, TrackedList
from vitrify.ir.fingerprint import fingerprint
from vitrify.ops.registry import get_op


def small():
    """x * 2 summed, with a branch, in a program of its own."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 3])
        (x * 2).sum(axis=[0, 1])
    return main


def test_an_unchanged_program_keeps_its_fingerprint():
    main = small()
    assert fingerprint(main) is fingerprint(main)
    assert fingerprint(main).key == fingerprint(main.clone()).key


CHANGES = {
    "an operator appended": lambda m, b: b.append(get_op("assign"), [b.var("x")], [b.create_var(b.var("x").meta)], {}),
    "an operator inserted": lambda m, b: b.ops.insert(0, b.ops[0]),
    "an operator removed": lambda m, b: b.ops.pop(),
    "operators replaced": lambda m, b: b.ops.__setitem__(slice(None), b.ops[:1]),
    "operators assigned": lambda m, b: setattr(b, "ops", b.ops[:1]),
    "operators deleted": lambda m, b: b.ops.__delitem__(0),
    "operators reversed": lambda m, b: b.ops.reverse(),
    "an attribute set": lambda m, b: b.ops[1].attrs.__setitem__("axis", (0,)),
    "an attribute deleted": lambda m, b: b.ops[1].attrs.pop("keepdim", None),
    "attributes assigned": lambda m, b: setattr(b.ops[1], "attrs", {"axis": (1,)}),
    "attributes updated": lambda m, b: b.ops[1].attrs.update(axis=(0,)),
    "an operator's op": lambda m, b: setattr(b.ops[0], "op", get_op("add")),
    "an operator's inputs": lambda m, b: setattr(b.ops[0], "inputs", b.ops[0].inputs[::-1]),
    "an operator's outputs": lambda m, b: setattr(b.ops[0], "outputs", b.ops[1].outputs),
    "a variable renamed": lambda m, b: setattr(b.var("x"), "name", "y"),
    "a variable's meta": lambda m, b: setattr(b.var("x"), "meta", Meta((3, 3), float64)),
    "a variable made persistable": lambda m, b: setattr(b.var("x"), "persistable", True),
    "a variable that wants a gradient": lambda m, b: setattr(b.var("x"), "stop_gradient", False),
    "a variable declared": lambda m, b: b.create_var(Meta((), float64), "z"),
    "an input added": lambda m, b: b.add_input(Meta((), float64), "z"),
    "inputs cleared": lambda m, b: b.inputs.clear(),
    "an output": lambda m, b: b.outputs.append(b.var("x")),
    "outputs extended": lambda m, b: b.outputs.extend([b.var("x"), None]),
    "a block added": lambda m, b: m.create_block(b),
    "the random seed": lambda m, b: setattr(m, "random_seed", 5),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_are_noted(change):
    main = small()
    before = fingerprint(main)
    assert before.describes(main)
    CHANGES[change](main, main.global_block())
    assert not before.describes(main)


def test_a_list_inside_an_attribute_is_watched():
    main = small()
    operator = main.global_block().ops[1]
    operator.attrs["axis"] = [0, 1]
    before = fingerprint(main)
    operator.attrs["axis"][0] = 1
    assert not before.describes(main) and fingerprint(main).key != before.key


def test_other_programs_are_left_alone():
    main, other = small(), small()
    before = fingerprint(main)
    other.global_block().ops.pop()
    assert fingerprint(main) is before


def test_a_changed_operator_makes_others_look_again_and_find_the_same():
    main, other = small(), small()
    before = fingerprint(main)
    other.global_block().ops[1].attrs["axis"] = (0,)
    assert before.operators != OPERATORS.value and fingerprint(main).key == before.key


def test_lines_count_for_the_fingerprint():
    main, other = small(), static.Program()
    with static.program_guard(other, static.Program()):
        (static.data("x", [None, 3]) * 2).sum(axis=[0, 1])
    assert fingerprint(main).key != fingerprint(other).key


def test_programs_that_cannot_be_stored_equal_themselves_only():
    main = small()
    main.global_block().append(get_op("print"), [], [], {"fn": len})
    twin = main.clone()
    assert fingerprint(main) is fingerprint(main) and fingerprint(main).key != fingerprint(twin).key


def test_programs_have_numbers_of_their_own():
    numbers = {static.Program().uid for _ in range(100)}
    assert len(numbers) == 100


def test_copies_of_tracked_containers_are_plain():
    main = small()
    block = main.global_block()
    assert type(block.ops) is TrackedList and type(block.vars) is TrackedDict
    assert type(copy.copy(block.ops)) is list and type(copy.copy(block.vars)) is dict
