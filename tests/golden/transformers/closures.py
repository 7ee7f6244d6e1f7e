# fmt: off
# ruff: noqa
def closures(n):
    total = 0

    def add(x, /, *rest, scale=2):
        nonlocal total

        def then():
            nonlocal total
            total += x * scale
            return ()
        vt.convert_ifelse(x > 0, then, vt.unchanged, (), (),
                shared=(vt.name('total', lambda: total),))
        return vt.list_of(rest, lambda r: r, lambda r: r)

    def body(i):
        vt.convert_call(add)(i)
        return ()
    vt.convert_for(vt.convert_call(range)(n), body, (), ())
    return total
