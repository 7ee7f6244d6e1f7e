# fmt: off
# ruff: noqa
def if_effects(x):
    def then():
        vt.convert_call(print)(x)
        return ()
    vt.convert_ifelse(x > 0, then, vt.unchanged, (), ())
