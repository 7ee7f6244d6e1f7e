# fmt: off
# ruff: noqa
def calls(f, x):
    y = vt.convert_starred(f)(x, vt.spread(x), k=1)
    return vt.convert_call(vt.convert_call(super_free)(y).method)().attribute
