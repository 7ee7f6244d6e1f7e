"""What is known of values of several kinds."""

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
