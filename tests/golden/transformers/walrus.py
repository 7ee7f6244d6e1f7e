# fmt: off
# ruff: noqa
def walrus(x):
    value = x > 0
    y = vt.Undefined('y', 193)

    def then(value, y):
        value = (y := x * 2) > 4
        return value, y

    def orelse(value, y):
        return value, y
    value, y = vt.convert_ifelse(value, then, orelse, (value, y), ('value', 'y'))

    def then_1():
        result = vt.load(y)
        return result,

    def orelse_1():
        result = x
        return result,
    result, = vt.convert_ifelse(value, then_1, orelse_1, (), ('result',))
    return result
