# fmt: off
# ruff: noqa
def if_return(x):

    def then(x):
        result = x
        return (result,)

    def orelse(x):
        x = x + 1
        result = -x
        return (result,)
    (result,) = vt.convert_ifelse(x > 0, then, orelse, (x,), ('result',))
    return result
