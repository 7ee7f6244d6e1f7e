# fmt: off
# ruff: noqa
def if_containers(xs, d, x):
    def then(d):
        vt.convert_call(xs.append)(x)
        d = vt.convert_setitem(d, 'last', x)
        return ()

    def orelse(d):
        vt.convert_call(xs.pop)(0)
        return ()
    vt.convert_ifelse(x > 0, then, orelse, (d,), ())
    return xs
