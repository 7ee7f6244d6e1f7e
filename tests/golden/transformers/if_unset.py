# fmt: off
# ruff: noqa
def if_unset(x):
    y = vt.Undefined('y', 35)

    def then(y):
        y = 1
        return y,

    def orelse(y):
        return y,
    y, = vt.convert_ifelse(x > 0, then, orelse, (y,), ('y',))
    return vt.load(y)
