"""What is known of values of several kinds."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.convert.values.one_of import Excluded


class Code:
    """Like a variable of a program: == computes something instead of comparing."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("an operator was recorded")

    __hash__ = object.__hash__


def test_facts_are_about_the_very_same_variable():
    one, other = Code(), Code()
    assert Excluded(one, 0) == Excluded(one, 0) and hash(Excluded(one, 0)) == hash(Excluded(one, 0))
    assert Excluded(one, 0) != Excluded(other, 0) and Excluded(one, 0) != Excluded(one, 1)
    assert Excluded(one, 0) != (one, 0)


def paired_with_itself(x, items):
    total, turns = x.astype("int64").sum(), 0
    while turns < 3 and sum(v for v in x):
        turns += 1
        if total == 0:
            for _ in [x, x]:
                items[x.shape[0] % 2] = x
                items.pop(0)
        else:
            items = [a for a, b in zip(items, items)]
    return len(items), items[0]


@pytest.mark.parametrize("largest", [0.5, 7.0])
def test_a_path_on_which_a_list_can_be_none_of_its_kinds_is_never_run(largest):
    compare(paired_with_itself, (paddle.to_tensor([largest, 0.1, 0.2]), [paddle.ones([3]), paddle.zeros([3])]))


def operands_of_other_kinds(x):
    positive = x.sum() > 0
    kinds = (
        positive or "no",
        (positive and "yes") or "no",
        (positive and [x]) or [],
        positive and None,
        positive and 2.5,
    )
    return kinds, {"k": 1}["k"] if positive and "text" else x


def an_operand_is_looked_into(x):
    settings = ((x[0] > 0) and {"k": 1}) or {"k": 2}
    while x.sum() > 0 and "go on":
        x = x - 1
    return x * settings["k"]


@pytest.mark.parametrize("fn", [operands_of_other_kinds, an_operand_is_looked_into])
def test_and_and_or_give_the_operand_that_a_tensor_chooses(fn):
    compare(fn, ([1.0, -2.0, 3.0],), ([-1.0, -2.0, -0.5],))
