# fmt: off
# ruff: noqa
def comprehensions(xs, ys):
    pairs = vt.list_of(xs, lambda x: vt.each(vt.convert_call(ys)(x), lambda y: x * y, lambda y: y),
            lambda x: x > 0)
    index = vt.dict_of(vt.convert_call(enumerate)(pairs), lambda k, v: (k, v + 1))
    names = vt.set_of(xs, lambda a, b, c: a,
            unpack=lambda item: [(a, b, c) for a, (b, *c) in [item]][0])
    value = vt.convert_call(any)(vt.generator(pairs, lambda x: x > 1))
    value_1 = index
    value_2 = names
    found = vt.new_list([])
    z = vt.Undefined('z', 178)

    def body(x_1, z):
        def then():
            vt.convert_call(found.append)(x_1)
            return ()
        vt.convert_ifelse((z := x_1), then, vt.unchanged, (), ())
        return (z,)
    (z,) = vt.convert_for(xs, body, (z,), ('z',))
    return value, value_1, value_2, found, vt.load(z)
