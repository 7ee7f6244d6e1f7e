# fmt: off
# ruff: noqa
def generator(xs):
    for x in xs:
        def then():
            y = x
            return (y,)

        def orelse():
            y = -x
            return (y,)
        (y,) = vt.convert_ifelse(x > 0, then, orelse, (), ('y',))
        if y > 5:
            return
        yield y
    yield from xs
