"""Corpus: `:=` in operands that may not be evaluated."""

# ruff: noqa: F841

from __future__ import annotations

from tests.transformers.corpus import Corpus

CORPUS = Corpus()
NUMBERS = (-2, 0, 1, 5)


def say(x):
    print("say", x)
    return x


@CORPUS.case(*NUMBERS)
def in_and(x):
    if x > 0 and (y := say(x * 2)) > 4:
        return y
    return x


@CORPUS.case(*NUMBERS)
def in_or(x):
    if x > 0 or (y := say(x)) < 0:
        return "yes"
    return y


@CORPUS.case(*NUMBERS)
def unset_afterwards(x):
    x > 0 and (y := 1)
    return y


@CORPUS.case(*NUMBERS)
def three_operands(x):
    found = say(x) and (y := say(x - 1)) and (z := say(y + 5))
    return found, x and y


@CORPUS.case(*NUMBERS)
def in_ternary(x):
    z = (y := say(1)) if say(x) > 0 else (y := say(2))
    return y + z


@CORPUS.case(*NUMBERS)
def in_chain(x):
    held = 0 < say(x) < (y := say(4)) < say(9)
    return held, y


@CORPUS.case(*NUMBERS)
def in_chain_middle(x):
    held = -1 < (y := say(x)) < 3 != (z := say(y))
    return held, y


@CORPUS.case(*NUMBERS)
def order_in_calls(x):
    def f(*args, **kwargs):
        return args, kwargs

    return f(say(1), *[say(2)], x > 0 and (y := say(3)), say(4), k=say(5), m=x or (z := say(6)), n=say(7))


@CORPUS.case(*NUMBERS)
def order_in_dicts(x):
    return {say(1): say(2), say(3): 0, say("y"): x > 0 and (y := say(4)), **({"z": (z := say(5))} if x else {}), 6: 7}


@CORPUS.case(*NUMBERS)
def order_with_rebinding(x):
    return x + (x and (x := 10)) + x


@CORPUS.case(*NUMBERS)
def nested(x):
    return ((a := say(x)) and ((b := a + 1) or (c := 3)) and (b if b > 1 else (c := 7))), a


@CORPUS.case(*NUMBERS)
def elif_tests(x):
    if (x > 4 and (y := say(1))) or (x > 0 and (y := say(2)) > 1):
        return y
    elif x < 0 or (y := say(3)):
        pass
    else:
        return "never"
    return x, y


@CORPUS.case(*NUMBERS)
def while_tests(x):
    out = []
    while x < 4 and (y := say(x + 2)) < 6:
        out.append(y)
        x += 1
    return out


@CORPUS.case(*NUMBERS)
def in_targets_and_statements(x):
    d = {}
    d[say("key")] = x and (y := say("value"))
    x += x and (w := 3)
    z: int = x or (y := 2)
    assert z or (q := 1)
    for i in (x > 0 and (r := [1, 2])) or (r := [3]):
        d[i] = r
    return d, x, z


@CORPUS.case(*NUMBERS)
def in_generator(x):
    def gen():
        if x > 0 and (y := say(x)):
            yield y
        yield (x and (z := 2)) or (z := (yield 5))
        yield z

    return list(gen())


@CORPUS.case(*NUMBERS)
def in_comprehension(x):
    return [y for v in range(x) if v % 2 and (y := v * 2)], x > 1 and [w := v for v in (1, 2)]


@CORPUS.case(*NUMBERS)
def in_global(x):
    f = lambda: x and (y := x + 1)  # noqa: E731
    return f()


@CORPUS.case(*NUMBERS)
def bound_to_a_lazy_binding(x):
    return (z := say(x) and (y := x + 1)), z


@CORPUS.case(*NUMBERS)
def in_list_comprehension(x):
    v = "outside"
    found = [say(y) for v in range(x) if (y := v * 2) > 1]
    return found, v, [(last := w) for w in (x, x + 1)], last


@CORPUS.case(*NUMBERS)
def in_other_comprehensions(x):
    held = {say(k): (y := k * x) for k in range(3)}, {(z := k + x) for k in range(2)}
    return held, y, z


@CORPUS.case(*NUMBERS)
def in_nested_comprehension(x):
    found = [(y := a * b) + c for a in range(x) if a for b in (1, 2) for c in [k * 2 for k in range(b)]]
    return found, y


@CORPUS.case(*NUMBERS)
def in_any(x):
    if any((y := say(v)) > x for v in (0, 1, 2, 3)):
        return "some", y
    return "none", y


@CORPUS.case(*NUMBERS)
def in_all(x):
    held = say(x) > 0 and all((y := say(v)) + w < x for v in (0, 1) for w in (1, 2))
    return held, y


@CORPUS.case(*NUMBERS)
def in_sum(x):
    return sum((y := v + x) for v in range(3)) + y, max((y := v) for v in (x, -x)), y


@CORPUS.case(*NUMBERS)
def in_loop_over_comprehension(x):
    for v in [(y := w) for w in range(x)]:
        say((v, y))
    while any((y := v) > x for v in (1, 2)) and x < 1:
        x += 1
    return x, y


@CORPUS.case(*NUMBERS)
def in_comprehension_with_closures(x):
    found = [lambda: (v, y) for v in range(x) if (y := v) >= 0]
    return [f() for f in found]
