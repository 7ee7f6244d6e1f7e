# fmt: off
# ruff: noqa
def casts(x):
    return vt.convert_call(int)(x), vt.convert_call(float)(
            vt.convert_call(x.sum)()), vt.convert_call(bool)(x), vt.convert_call(len)(
            x), vt.convert_call(max)(x, 0), vt.convert_shape(x)[0] // 2
