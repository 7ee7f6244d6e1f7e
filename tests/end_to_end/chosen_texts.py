"""Texts that a tensor chooses, and the text of values of several kinds: given back, printed, put together."""

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


CASES = [
    (fn, [(X,), (N,), ([0.1, 0.2, 0.1],)])
    for fn in (
        of_a_caught_error, of_none_or_text, of_tuple_or_text, printed, printed_in_containers, raised, asserted, label,
        looked_up,
    )
]  # fmt: skip
