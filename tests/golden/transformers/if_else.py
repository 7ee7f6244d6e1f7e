# fmt: off
# ruff: noqa
def if_else(x, y):
    def then(x, y):
        x = x - y
        return x, y

    def orelse(x, y):
        z = y
        y = z - x
        return x, y
    x, y = vt.convert_ifelse(x > y, then, orelse, (x, y), ('x', 'y'))
    return x, y
