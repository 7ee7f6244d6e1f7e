# fmt: off
# ruff: noqa
def logic(a, b, c):
    return vt.convert_or(vt.convert_and(a, lambda: b), lambda: vt.convert_not(c)), vt.convert_ifexp(
            b, lambda: a, lambda: c)
