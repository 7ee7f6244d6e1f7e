# fmt: off
# ruff: noqa
def handler(x):
    y = 0
    try:
        def then(x):
            nonlocal y
            y = 1
            x = x[0]
            return (x,)
        (x,) = vt.convert_ifelse(x > 0, then, vt.unchanged, (x,), ('x',),
                shared=(vt.name('y', lambda: y),))
    except TypeError:
        vt.pass_on()
        return y
    return x
