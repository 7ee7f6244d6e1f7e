# fmt: off
# ruff: noqa
def ternaries(a, b, c):
    def then():
        return (a,)

    def orelse():
        def then_1():
            return (b,)

        def orelse_1():
            value_1 = (d := a)
            return (value_1,)
        (value_1,) = vt.convert_ifelse(c, then_1, orelse_1, (), ('value_1',))
        return (value_1,)
    (value,) = vt.convert_ifelse(b, then, orelse, (), ('value',))
    return value, vt.convert_not(vt.convert_compare(a, 'in', b)), a is not None
