"""A set that is made again from what was done to it has Python's items in Python's order."""

from hypothesis import given
from hypothesis import strategies as st

from vitrify.core import set_log
from vitrify.core.set_log import first_popped, replayed

KEYS = st.integers(-3, 70)


def test_plainest():
    assert replayed([set_log.ADD, set_log.ADD, set_log.DISCARD], [3, 4, 3]) == {4}


@given(st.lists(st.tuples(st.booleans(), KEYS)), st.lists(KEYS))
def test_order(steps, others):
    made = set()
    for adds, key in steps:
        (made.add if adds else made.discard)(key)
    codes = [set_log.ADD if adds else set_log.DISCARD for adds, _ in steps]
    keys = [key for _, key in steps]
    assert list(replayed(codes, keys)) == list(made)
    for code, expected in {
        set_log.OR: made | set(others), set_log.AND: made & set(others),
        set_log.SUB: made - set(others), set_log.XOR: made ^ set(others),
    }.items():  # fmt: skip
        joint = [*codes, set_log.PUSH, *[set_log.ADD] * len(others), code]
        assert list(replayed(joint, [*keys, *others])) == list(expected)
    if made:
        assert first_popped(codes, keys) == made.pop()
