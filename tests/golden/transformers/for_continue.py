# fmt: off
# ruff: noqa
def for_continue(xs):
    total = 0

    def body(x, total):
        def orelse(total):
            total += x
            return (total,)
        return vt.convert_ifelse(x < 0, vt.unchanged, orelse, (total,), ('total',))
    (total,) = vt.convert_for(xs, body, (total,), ('total',))
    return total
