# fmt: off
# ruff: noqa
def dict_displays(x, d):
    kept = vt.new_dict({'a': x}, d, {'z': -x})
    kept = vt.convert_setitem(kept, 'empty', vt.new_dict({}))
    return kept, {'once': x}['once'], vt.new_dict(d)
