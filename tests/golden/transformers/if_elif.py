# fmt: off
# ruff: noqa
def if_elif(x):
    def then():
        y = x
        return (y,)

    def orelse():
        def then_1():
            y = -x
            return (y,)

        def orelse_1():
            y = 0
            return (y,)
        return vt.convert_ifelse(x > 0, then_1, orelse_1, (), ('y',))
    (y,) = vt.convert_ifelse(x > 1, then, orelse, (), ('y',))
    return y
