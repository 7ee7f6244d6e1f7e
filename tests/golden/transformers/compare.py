# fmt: off
# ruff: noqa
def compare(x, n):
    return vt.convert_compare(0, '<=', x, '<', lambda: vt.convert_call(len)(n), '!=', lambda: 3)
