# fmt: off
# ruff: noqa
def for_range(x, n):
    def body(i, x):
        x = x + i
        return (x,)
    (x,) = vt.convert_for(vt.convert_call(range)(n, 0, -2), body, (x,), ('x',))
    return x
