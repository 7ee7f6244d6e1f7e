# fmt: off
# ruff: noqa
def for_break_else(xs, wanted):
    broke = False
    x = vt.Undefined()

    def body(item, broke, x):
        x = item

        def then(broke):
            return (True,)
        (broke,) = vt.convert_ifelse(x == wanted, then, vt.unchanged, (broke,), ('broke',))
        return broke, x
    broke, x = vt.convert_for(xs, body, (broke, x), ('broke', 'x'),
            lambda broke, x: vt.convert_not(broke))

    def then_1(x):
        x = None
        return (x,)
    (x,) = vt.convert_ifelse(vt.convert_not(broke), then_1, vt.unchanged, (x,), ('x',))
    return x
