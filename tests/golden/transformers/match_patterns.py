# fmt: off
# ruff: noqa
def match_patterns(shape):
    found = vt.match(shape, vt.sequence(vt.capture('x'), 0))
    matched = found.matched
    x = vt.Undefined('x', 168)

    def then(matched, x):
        (x,) = found.captures
        return x > 1, x
    matched, x = vt.convert_ifelse(matched, then, vt.unchanged, (matched, x), ('matched', 'x'))

    def then_1():
        return (vt.load(x),)

    def orelse():
        found_1 = vt.match(shape, vt.either(
                vt.instance(Point, x=vt.same(None),
                y=vt.sequence(vt.capture('y'), vt.star('rest'))),
                vt.mapping(('y', vt.capture('y')), vt.star('rest'))))

        def then_2():
            rest, y = found_1.captures
            return ((y, rest),)

        def orelse_1():
            return (None,)
        return vt.convert_ifelse(found_1.matched, then_2, orelse_1, (), ('result',))
    (result,) = vt.convert_ifelse(matched, then_1, orelse, (), ('result',))
    return result
