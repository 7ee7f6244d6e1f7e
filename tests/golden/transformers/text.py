# fmt: off
# ruff: noqa
def text(x, width):
    return vt.convert_fstring(vt.formatted(x, 'repr', vt.convert_fstring('>', vt.formatted(width))),
            ' of ') + vt.percent('%s', x) + vt.convert_call(', '.join)(
            vt.generator(x, lambda y: vt.convert_call(str)(y)))
