# fmt: off
# ruff: noqa
def if_delete(x):
    y = x

    def then(y):
        y = vt.Undefined('y', 49)
        return (y,)
    (y,) = vt.convert_ifelse(x > 0, then, vt.unchanged, (y,), ('y',))
    return vt.load(y)
