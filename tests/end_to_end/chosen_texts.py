"""Texts that a tensor chooses, and the text of values of several kinds: given back, printed, put together."""

from collections import Counter

from .functions import N, X


def of_a_caught_error(x):
    try:
        if x.sum() > 2:
            raise ValueError("big")
        if x.sum() < -2:
            raise ValueError("small")
    except ValueError as err:
        return x * 10, str(err)
    return x, "ok"


def of_none_or_text(x):
    v = None if x.sum() > 0 else "abc"
    return str(v), repr(v), f"{v!r:>8}", x


def of_tuple_or_text(x):
    v = (1, 2) if x.sum() > 0 else "abc"
    return f"{v}", repr(v), "%s" % (v,), "{}".format(v), ascii(v), x  # noqa: UP031, UP032


def printed(x):
    v = (1, float(x.sum()) > 3) if x.sum() > 0 else "abc"
    print(v)
    print(f"a {v!r:>30}", str(v))
    return x


def printed_in_containers(x):
    v = None if x.sum() > 0 else "abc"
    print([v], (v, 1), {"k": v})
    return [v], (v,)


def raised(x):
    v = None if x.sum() > 0 else (1, 2)
    raise ValueError(f"got {v}")


def asserted(x):
    v = None if x.sum() > 0 else (1, 2)
    assert v is None, v
    return x


def label(x):
    name = "pos" if x.sum() > 0 else "neg"
    return f"cls={name}", name + "!", "a %s" % name, "-".join([name, "z"]), name.upper(), len(name)  # noqa: UP031


def looked_up(x):
    name = "pos" if x.sum() > 0 else "neg"
    table = {"pos": 1, "neg": x * 2}
    return table[name], name.startswith("p"), name == "pos", name in ("pos", "zero")


def sign(v):
    return "up" if v > 0 else "down"


def up_of(given):
    return given.get("up", 0)


def in_the_braces_of_a_dict(x):
    key = sign(x[0])
    made = {key: x, "z": 1, sign(x[1]): x * 2}
    return made.get("up"), made.get("down"), len(made), up_of({key: x * 3})


def in_the_braces_of_a_set(x):
    made, names = {sign(x[0]), "z"}, [sign(v) for v in x]
    return "up" in made, len(made), len({sign(v) for v in x}), set(names) == {"up"}


def keys_of_pairs(x):
    pairs = [(sign(x[0]), x), ("z", 1)]
    made = dict(pairs)
    made.update([(sign(x[1]), x * 3)])
    zeros = dict.fromkeys([sign(x[0]), "a"], 0)
    zeros[sign(x[0])] += 1
    return made.get("up"), made.get("down"), len(made), zeros["a"], zeros[sign(x[0])], len(zeros)


def keys_of_a_comprehension(x):
    made = {sign(v): v for v in x}
    return made.get("up"), made.get("down"), len(made)


def tuples_of_several_as_keys(x):
    pair = ("up", 1) if x[0] > 0 else ("down", 2)
    table = {("up", 1): x, ("down", 2): x * 2, ("up", 2): x * 3}
    table[sign(x[1]), 2] = x * 4
    labels = ("up", "down", "up")
    table[labels[int(x.argmax())], 1] = 5
    is_seen = pair in {(1, 2), ("up", 1)}
    return table[pair], pair in table, is_seen, table.get(("down", 2)), table["up", 1]


def counted_each(x):
    counts = Counter(sign(v) for v in x)
    counts.update([sign(v) for v in x])
    counts.subtract(Counter(["up"]))
    return counts["up"], counts["down"], Counter(["up", sign(x[0])])["up"]


def put_together_in_a_loop(x):
    text, marks, n = "", "<", x.sum().astype("int64")
    while n > 0:
        text = str(int(n % 2)) + text
        marks = f"{marks}*"
        n = n // 2
    print(text or "0", marks)
    return len(marks), text, marks == "<*"


def put_together_by_path(x):
    text = "a" if x[0] > 0 else "b"
    while len(text) < 5 + x.sum():
        text += "x" if x[1] > 0 else "y"
    return text.upper()


class Log:
    """What grows as a text, and one that begins as None."""

    def __init__(self):
        self.text, self.last = "", None


def attributes_put_together(x):
    log, n = Log(), 0
    while n < x.sum():
        log.text += "."
        log.last = f"{n}" if log.last is None else f"{log.last},{n}"
        n += 1
    return log


CASES = [
    (fn, [(X,), (N,), ([0.1, 0.2, 0.1],)])
    for fn in (
        of_a_caught_error, of_none_or_text, of_tuple_or_text, printed, printed_in_containers, raised, asserted, label,
        looked_up, in_the_braces_of_a_dict, in_the_braces_of_a_set, keys_of_pairs, keys_of_a_comprehension,
        tuples_of_several_as_keys, counted_each, put_together_in_a_loop, put_together_by_path, attributes_put_together,
    )
]  # fmt: skip
