# fmt: off
# ruff: noqa
def raising(x, cause):
    def then():
        raise vt.convert_raise(vt.convert_call(ValueError)(
                vt.convert_fstring('negative: ', vt.formatted(x, '', '.2f'))), cause)
    vt.convert_ifelse(x < 0, then, vt.unchanged, (), ())
    try:
        x = 1 / x
    except ZeroDivisionError:
        x = 0
        raise vt.convert_raise()
    return x
