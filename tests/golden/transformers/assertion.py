# fmt: off
# ruff: noqa
def assertion(x):
    vt.convert_assert(x > 0, lambda : f'bad {x}')
    return x
