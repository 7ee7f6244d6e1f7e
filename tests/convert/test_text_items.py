"""Texts of lists whose length a tensor decides, and texts made of tensors as their items."""

from collections import deque

import pytest

from tests.end_to_end.differential import compare

CALLS = ([3.0, -1.0, 2.0, 5.0],), ([-2.0, 4.0, 1.0, -1.0],), ([-1.0, -1.0, -1.0, -1.0],)


def grown(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    return found


def numbers(x):
    return [i for i, v in enumerate(x) if v > 0]


def printed(x):
    found = grown(x)
    print(found, len(found), *found)
    print({"found": tuple(found)}, numbers(x), [grown(x), [1]])
    return f"{found} {numbers(x)!r}", f"{numbers(x)}", str(grown(x) + [x[0]])


def raised(x):
    found = numbers(x)
    assert len(found) < 3, f"too many: {found}"
    if len(found) > 1:
        raise ValueError("many", found)
    return x


def queued(x):
    queue = deque(maxlen=2)
    for v in x:
        if v > 0:
            queue.append(int(v))
    print(queue)
    return x


def joined_names(x):
    names = ["start"]
    for v in x:
        names.append("up" if v > 0 else "down")
        if v > 4:
            names.append("top")
    print(" ".join(names))
    return "-".join(names)


def joined_fields(x):
    parts = []
    for v in x:
        if v > 0:
            parts.append(f"{v.item():.1f}")
    print(parts)
    for part in parts:
        print(">", part)
    return ",".join(parts), parts


def joined_numbers(x):
    found = numbers(x)
    return ",".join(str(n) for n in found), ";".join(map(str, found)), " ".join([f"<{n}>" for n in found])


def in_pairs(x):
    found = []
    if x.sum() > 0:
        found.append((x, f"sum {x.sum().item():.1f}"))
    return found


def in_a_tensor_loop(x):
    log = []
    while x.sum() < 20:
        x = x + 1
        log.append(f"{x.sum().item():.0f} of {int(x[0])}")
    return log, log[0], log[-1] + "!"


def told(x):
    text = f"n{int(x[0])}:{int(x[1])}"
    if text.startswith("n-"):
        x = x + text.find(":")
    for digit in "123":
        if digit in text:
            x = x * int(digit)
    return x, len(text), text.count("1"), text.endswith(("1", "4")), text.isdigit(), "x" not in text


def filtered(x):
    names = [f"v{int(v)}" for v in x]
    return [name for name in names if name.endswith("1")], sum(len(name) for name in names)


def repeated(x):
    for v in x:
        print("#" * int(v), int(v) * "ab")
    return "-" * int(x.max()), "=" * (x.sum() > 0).item()


CASES = [
    told, filtered, repeated,
    printed, raised, queued, joined_names, joined_fields, joined_numbers, in_pairs, in_a_tensor_loop,
]  # fmt: skip


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, *CALLS)
