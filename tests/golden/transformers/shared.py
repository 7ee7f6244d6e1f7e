# fmt: off
# ruff: noqa
def shared(n):
    def inc():
        nonlocal n
        n += 1

    def then():
        nonlocal n
        n = 0
        vt.convert_call(inc)()
        return ()
    vt.convert_ifelse(n > 0, then, vt.unchanged, (), (), shared=(vt.name('n', lambda: n),))
    return n
