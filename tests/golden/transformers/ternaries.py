# fmt: off
# ruff: noqa
def ternaries(a, b, c):

    def then():
        value = a
        return (value,)

    def orelse():

        def then_1():
            value_1 = b
            return (value_1,)

        def orelse_1():
            value_1 = (d := a)
            return (value_1,)
        (value_1,) = vt.convert_ifelse(c, then_1, orelse_1, (), ('value_1',))
        value = value_1
        return (value,)
    (value,) = vt.convert_ifelse(b, then, orelse, (), ('value',))
    return value, vt.convert_not(vt.convert_compare(a, 'in', b)), a is not None
