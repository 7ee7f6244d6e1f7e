# fmt: off
# ruff: noqa
def if_unset(x):
    y = vt.Undefined('y', 36)

    def then(y):
        y = 1
        return (y,)
    (y,) = vt.convert_ifelse(x > 0, then, vt.unchanged, (y,), ('y',))
    return vt.load(y)
