"""Keyword dicts that get keys on the way, as loops that generate text have them: `past` from the last step."""

from .functions import N, X


def step(x, past=None, **rest):
    return (x + 1 if past is None else x + past) * rest.get("scale", 1)


def update(kwargs, **given):
    kwargs.update(given)
    return kwargs


def set_on_one_path(x, **kwargs):
    """Handed-on keywords are a dict of the function's own."""
    if x.sum() > 0:
        kwargs["late"] = x * 2
    return kwargs.get("late", x) + kwargs["first"]


def keywords_of_a_call(x):
    given = {"first": x}
    return set_on_one_path(x, first=x), set_on_one_path(x, **given), given


def set_behind_a_break(x):
    kwargs, n = {"x": x}, 0
    while n < 5:
        y = step(**kwargs)
        if y.sum() > 20:
            break
        kwargs["past"] = y
        n += 1
    return y, n


def set_before_a_break(x):
    kwargs, n = {"x": x, "scale": 2}, (x * 0).sum()
    while n < 5:
        y = step(**kwargs)
        kwargs = update(kwargs, past=y)
        n += 1
        if y.sum() > 20:
            break
    return y, n, len(kwargs)


def flag_decides(x):
    kwargs = {"x": x}
    is_large = x.sum() > 1
    if is_large:
        kwargs["past"] = x * 3
    if is_large:
        return step(**kwargs)
    return x


def changed_flag_decides(x):
    """The tensor that said whether the key is set says something else later."""
    kwargs = {"x": x}
    is_large = x.sum() > 1
    if is_large:
        kwargs["past"] = x * 3
    is_large.logical_not_()
    if is_large:
        return x + ("past" in kwargs)
    return x * ("past" in kwargs)


CASES = [(f, ((X,), (N,), ([30.0, 1.0, 1.0],))) for f in (
    keywords_of_a_call, set_behind_a_break, set_before_a_break, flag_decides, changed_flag_decides,
)]  # fmt: skip
