"""What messages say of wrong uses: eager and compiled in segments say the same words."""

import operator

import vitrify as paddle

from .functions import N, X

WRONG = [
    lambda x: x(3),
    lambda x: (x > 0)(),
    lambda x: int(x.sum())(),
    lambda x: int(x.sum()).foo,
    lambda x: x.sum().item().foo,
    lambda x: {[x]: 3},
    lambda x: {{"a": x}: 3},
    lambda x: [x].foo,
    lambda x: {"a": x}.foo,
    lambda x: x + "a",
    lambda x: paddle.exp("a"),
    lambda x: operator.getitem([v for v in x if v > 0], "a"),
    lambda x: "k" in (x if x.sum() > 0 else 3),
    lambda x: "k" in x,
    lambda x: "k" in ({"k": 1} if x.sum() > 0 else x),
    lambda x: paddle.concat([x, 3]),
]


def words(x):
    """What Python and operators say of what is wrong, which a program knows by other classes."""
    found = []
    for wrong in WRONG:
        try:
            found.append(wrong(x))
        except (TypeError, AttributeError, ValueError) as error:
            found.append(str(error).split("\n")[0])
    return found


CASES = [(words, ((X,), (N,)), {"full_graph": False})]
