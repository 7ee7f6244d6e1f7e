# fmt: off
# ruff: noqa
def comprehensions(xs, ys):
    pairs = vt.list_of(xs, lambda x: vt.each(vt.convert_call(ys)(x), lambda y: x * y, lambda y: y),
            lambda x: x > 0)
    index = vt.dict_of(vt.convert_call(enumerate)(pairs), lambda k, v: (k, v + 1))
    names = vt.set_of(xs, lambda a, b, c: a,
            unpack=lambda item: [(a, b, c) for a, (b, *c) in [item]][0])
    return vt.convert_call(any)(vt.generator(pairs, lambda x: x > 1)), index, names, [
            x for x in xs if (z := x)], z
