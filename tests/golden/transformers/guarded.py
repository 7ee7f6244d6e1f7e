# fmt: off
# ruff: noqa
def guarded(mode, x):
    with vt.convert_call(mode)(), vt.convert_call(mode)(1) as (a, b):

        def then():
            nonlocal x
            x = a
            return ()
        vt.convert_ifelse(x > 0, then, vt.unchanged, (), (), shared=(vt.name('x', lambda: x),))
    return x
