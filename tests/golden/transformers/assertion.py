# fmt: off
# ruff: noqa
def assertion(x):
    vt.convert_assert(x > 0, lambda: vt.convert_fstring('bad ', vt.formatted(x)))
    return x
