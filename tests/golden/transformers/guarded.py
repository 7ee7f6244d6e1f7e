# fmt: off
# ruff: noqa
def guarded(mode, x):
    with vt.convert_call(mode)(), vt.convert_call(mode)(1) as (a, b):
        def then(x):
            x = a
            return (x,)
        (x,) = vt.convert_ifelse(x > 0, then, vt.unchanged, (x,), ('x',))
    return x
