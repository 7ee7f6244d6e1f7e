# fmt: off
# ruff: noqa
def targets(self, xs, i, j):
    first, *item = xs
    vt.set_attr(self, 'rest', item)
    item_1, item_2 = xs[j], xs[i]
    xs = vt.convert_setitem(xs, i, item_1)
    xs = vt.convert_setitem(xs, j, item_2)
    value = first
    a = value
    vt.set_attr(self, 'b', value)
    vt.convert_setitem_at(vt.item(xs, 0), i, value)
    kept = xs[i]
    vt.convert_setitem(kept, j, vt.inplace('+=', kept[j], a))
    owner = self.items[i]
    vt.set_attr(owner, 'value', vt.inplace('-=', owner.value, a))
    del a
    vt.del_attr(self, 'rest')
    vt.del_item(xs, vt.index[i:])
    return xs
