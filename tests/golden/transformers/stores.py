# fmt: off
# ruff: noqa
def stores(self, xs, i, v):
    vt.set_attr(self, 'h', v)
    vt.set_attr(self, 'n', vt.inplace('+=', self.n, 1))
    xs = vt.convert_setitem(xs, i, v)
    xs = vt.convert_setitem(xs, vt.index[1:3], vt.inplace('+=', xs[1:3], v))
    vt.convert_setitem_at(vt.attr(self, 'items'), i, v)
    vt.del_item(xs, 0)
    vt.del_attr(self, 'h')
    return vt.convert_shape(xs)[0]
