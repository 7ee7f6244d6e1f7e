# fmt: off
# ruff: noqa
def if_attribute(self, x):
    def then():
        vt.set_attr(self, 'h', x)
        vt.set_attr(self, 'count', vt.inplace('+=', self.count, 1))
        return ()
    vt.convert_ifelse(x > 0, then, vt.unchanged, (), ())
    return self.h
