# fmt: off
# ruff: noqa
def walrus(x):
    value = x > 0
    y = vt.Undefined('y', 194)

    def then(value, y):
        value = (y := x * 2) > 4
        return value, y
    value, y = vt.convert_ifelse(value, then, vt.unchanged, (value, y), ('value', 'y'))

    def then_1():
        return (vt.load(y),)

    def orelse():
        return (x,)
    (result,) = vt.convert_ifelse(value, then_1, orelse, (), ('result',))
    return result
