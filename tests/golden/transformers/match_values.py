# fmt: off
# ruff: noqa
def match_values(x):
    def then():
        y = 'small'
        return (y,)

    def orelse():
        def then_1():
            y = 'none'
            return (y,)

        def orelse_1():
            n = x

            def then_2():
                y = 'large'
                return (y,)

            def orelse_2():
                y = 'other'
                return (y,)
            return vt.convert_ifelse(n > 5, then_2, orelse_2, (), ('y',))
        return vt.convert_ifelse(x is None, then_1, orelse_1, (), ('y',))
    (y,) = vt.convert_ifelse(vt.convert_or(x == 0, lambda: x == 1), then, orelse, (), ('y',))
    return y
