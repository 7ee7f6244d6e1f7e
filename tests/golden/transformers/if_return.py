# fmt: off
# ruff: noqa
def if_return(x):
    def then(x):
        return (x,)

    def orelse(x):
        x = x + 1
        return (-x,)
    (result,) = vt.convert_ifelse(x > 0, then, orelse, (x,), ('result',))
    return result
