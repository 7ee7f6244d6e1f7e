# fmt: off
# ruff: noqa
def if_function(x):
    def then():
        def scale(y):
            return x * y
        return (scale,)

    def orelse():
        scale = lambda y: -y
        return (scale,)
    (scale,) = vt.convert_ifelse(x > 0, then, orelse, (), ('scale',))
    return vt.convert_call(scale)(x)
