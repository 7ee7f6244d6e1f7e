# fmt: off
# ruff: noqa
def for_loop(xs):
    total = 0

    def body(item, total):
        i, x = item
        total += i * x
        return (total,)
    (total,) = vt.convert_for(vt.convert_call(enumerate)(xs), body, (total,), ('total',))
    return total
